package driver

import (
	"cmp"
	"fmt"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// stores makes the store of each sequence.
type stores struct {
	cfg      Config
	keyspace *catalog.Keyspace
}

// row is that of sequence tables.
func (s *stores) row() (sequence.RowStore, error) {
	return sequence.NewStore(cmp.Or(s.cfg.Refill, sequence.StrategyForUpdate), s.keyspace.Refills)
}

// open returns the settings of a sequence, or of a generator that takes segments of another system's row.
func (s *stores) open(name sequence.Name) (sequence.Settings, error) {
	if g := s.generator(name.Table); g != nil {
		switch g.Type {
		case vschema.Leaf:
			return sequence.Settings{Store: sequence.Leaf(s.keyspace.Refills, s.keyspace.Database, g.Segments.Table, g.Segments.Key)}, nil
		case vschema.TinyID:
			return sequence.Settings{Store: sequence.TinyID(s.keyspace.Refills, s.keyspace.Database, g.Segments.Table, g.Segments.Key)}, nil
		}
		return sequence.Settings{}, fmt.Errorf("generator %s is a %s, which only seqgate itself serves", name, g.Type)
	}
	store, err := s.row()
	if err != nil {
		return sequence.Settings{}, err
	}
	return sequence.Settings{Store: sequence.Marking(store, s.keyspace.Refills)}, nil
}

// generator returns the generator of the vschema with that name; nil for none.
func (s *stores) generator(name string) *vschema.Generator {
	if s.cfg.VSchema == nil {
		return nil
	}
	k, ok := s.cfg.VSchema.Keyspace(s.keyspace.Name)
	if !ok {
		return nil
	}
	g, _ := k.Generator(name)
	return g
}

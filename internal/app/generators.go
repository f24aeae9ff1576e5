package app

import (
	"log/slog"
	"time"

	"github.com/seqgate/seqgate/internal/generators"
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	seqredis "github.com/seqgate/seqgate/sequence/redis"
	"github.com/seqgate/seqgate/vschema"
)

// warnOfEnds logs which layouts end soon.
func warnOfEnds(v *vschema.VSchema, now time.Time, log *slog.Logger) {
	if v == nil {
		return
	}
	for _, k := range v.Keyspaces() {
		for _, g := range k.Generators() {
			if g.Type != vschema.Snowflake {
				continue
			}
			if l, _, err := generate.Layout(g); err == nil && l.Warning(now) != "" {
				log.Warn("a generator ends soon", "generator", g.Keyspace+"."+g.Name, "why", l.Warning(now))
			}
		}
	}
}

// generator returns the generator of segments of that name; nil for a sequence.
func (s *stores) generator(name sequence.Name) *vschema.Generator {
	v := s.vschema.config().VSchema
	if v == nil {
		return nil
	}
	k, ok := v.Keyspace(name.Keyspace)
	if !ok {
		return nil
	}
	if g, ok := k.Generator(name.Table); ok && g.Segments != nil {
		return g
	}
	return nil
}

// segments returns the store of a generator that takes segments of another system's counter.
func (s *stores) segments(g *vschema.Generator) (sequence.Store, error) {
	p := g.Segments
	k := s.keyspaces[g.Keyspace]
	switch g.Type {
	case vschema.Leaf:
		return sequence.Leaf(k.Refills, k.Database, p.Table, p.Key), nil
	case vschema.TinyID:
		return sequence.TinyID(k.Refills, k.Database, p.Table, p.Key), nil
	}
	own := s.vschema.config().Sequences.Of(p.GuardKeyspace, p.GuardTable)
	if err := generators.FitsSkip(p, own); err != nil {
		return nil, err
	}
	client, err := generators.OpenCounter(p)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.opened = append(s.opened, client.Close)
	s.mu.Unlock()
	guard := s.keyspaces[p.GuardKeyspace]
	store, err := sequence.NewStore(string(own.Refill), guard.Refills)
	if err != nil {
		return nil, err
	}
	return seqredis.Store{Client: client, Key: p.Key, Step: p.Step, Prefix: generators.DatePrefix(p), Guard: ops.Guarded(own, store),
		GuardName: sequence.Name{Keyspace: p.GuardKeyspace, Database: guard.Database, Table: p.GuardTable}}, nil
}

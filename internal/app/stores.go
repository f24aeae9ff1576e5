package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/proxy/catalog"

	"github.com/seqgate/seqgate/sequence"
)

// stores makes the store of each sequence, as the configuration wants it.
type stores struct {
	vschema   *VSchemaFile
	keyspaces map[string]*catalog.Keyspace
	log       *slog.Logger

	dropped func(sequence.Name) bool // whether DROP SEQUENCE took it away: see sequence.Registry

	mu     sync.Mutex
	opened []func() error // close what striped sequences opened
}

// open returns the settings of a sequence. It does not connect yet.
func (s *stores) open(name sequence.Name) (sequence.Settings, error) {
	k, ok := s.keyspaces[name.Keyspace]
	if !ok {
		return sequence.Settings{}, fmt.Errorf("sequence %s: keyspace %q is not configured", name, name.Keyspace)
	}
	if g := s.generator(name); g != nil {
		store, err := s.segments(g)
		return sequence.Settings{Store: store}, err
	}
	own := s.vschema.config().Sequences.Of(name.Keyspace, name.Table)
	store, err := s.store(name, own, k)
	if err != nil {
		return sequence.Settings{}, err
	}
	return sequence.Settings{Store: ops.Guarded(own, store), Ordered: own.Ordered}, nil
}

func (s *stores) store(name sequence.Name, own config.SequenceOverride, k *catalog.Keyspace) (sequence.RowStore, error) {
	if own.Stores != nil {
		return s.striped(name)
	}
	store, err := sequence.NewStore(string(own.Refill), k.Refills)
	cfg := s.vschema.config()
	switch {
	case err != nil || cfg.IsKeyed(name.Keyspace, name.Table):
		return store, err
	case !cfg.Sequences.AutoCreate:
		return sequence.Marking(store, k.Refills), nil
	}
	return sequence.AutoCreate(store, k.Refills, func(ctx context.Context) (next, cache int64, err error) {
		if s.dropped(name) { // its ids would be given again
			return 0, 0, &sequence.Error{Kind: sequence.ErrNoTable, Sequence: name.String(), Text: "was dropped; use CREATE SEQUENCE or seqgate init"}
		}
		next, err = ops.FirstFree(ctx, s.vschema.config(), name)
		return max(1, next), sequence.DefaultCache, ops.SeedError(name, err)
	}), nil
}

func (s *stores) striped(name sequence.Name) (sequence.RowStore, error) {
	store, closeAll, err := ops.OpenStriped(s.vschema.config(), ops.TableName{Keyspace: name.Keyspace, Table: name.Table}, s.log)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, closeAll)
	return store, nil
}

// close closes what open opened, after the registry.
func (s *stores) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, closeAll := range s.opened {
		errs = append(errs, closeAll())
	}
	return errors.Join(errs...)
}

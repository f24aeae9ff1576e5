package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/sequence"
)

// Reserve reserves n ids as a seqgate would that is configured like this. It needs no connections but to the sequence.
func (c *Cluster) Reserve(ctx context.Context, name TableName, n int64) (block sequence.Range, err error) {
	if c.isKeyed(name) {
		return block, inSequence(name, c.oneRow(name))
	}
	k, err := c.unsharded(name.Keyspace)
	if err != nil {
		return block, err
	}
	store, closeStore, err := openStore(c.cfg, k, name)
	if err != nil {
		return block, inSequence(name, err)
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	limited, cancel := context.WithTimeout(ctx, 2*Silence)
	defer cancel()
	reservation, err := store.Reserve(limited, sequence.Request{Database: k.Shards[0].DSN.DBName, Table: name.Table, Need: n, Exact: true})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = inSequence(name, fmt.Errorf("its server cannot be reached: %w", errSilent))
	}
	return reservation.Range, err
}

// openStore opens a sequence's row, or its stripes.
func openStore(cfg *config.Config, k config.Keyspace, name TableName) (store sequence.RowStore, closeStore func() error, err error) {
	o := cfg.Sequences.Of(name.Keyspace, name.Table)
	if len(o.Stores) > 0 {
		striped, closeStriped, err := OpenStriped(cfg, name, nil)
		return Guarded(o, striped), closeStriped, err
	}
	db, err := sequence.NewPool(k.Shards[0].DSN)
	if err != nil {
		return nil, nil, err
	}
	store, err = sequence.NewStore(string(o.Refill), db)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return Guarded(o, store), db.Close, nil
}

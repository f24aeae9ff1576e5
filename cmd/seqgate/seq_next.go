package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/sequence"
)

const seqNextAbout = `Reserves N ids, 1 unless said, in the row of the sequence NAME, and prints the first and the last of them on one line.
They belong to whoever ran the command. The block is of exactly N ids, whatever the sequence's cache, and comes from the
row, past what running seqgates hold in memory: their next ids may be smaller, and are never the same.`

func newSeqNext() *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use: "next --config FILE | --upstream DSN NAME [N]", Short: "Reserve N ids (1) and print the first and the last", Long: seqNextAbout,
		Args: arguments(1, 2, "give the sequence's NAME, and how many ids"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			n := int64(1)
			if len(args) == 2 {
				if n, err = countArgument("N", args[1]); err != nil {
					return err
				}
			}
			if n > sequence.MaxN {
				return usagef("N %d: ask for at most %d ids at once", n, int64(sequence.MaxN))
			}
			return from.withCluster(cmd.Context(), func(c *cluster) error {
				name := c.table(args[0])
				reserved, err := c.reserve(cmd.Context(), name, n)
				if errors.Is(err, sequence.ErrNoTable) {
					return c.noTable(name)
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), reserved.First, reserved.Last())
				return err
			})
		},
	}
	from.flags(cmd.Flags())
	return cmd
}

// reserve reserves n ids as a seqgate would that is configured like this. It needs no connections but to the sequence.
func (c *cluster) reserve(ctx context.Context, name tableName, n int64) (block sequence.Range, err error) {
	if c.isKeyed(name) {
		return block, inSequence(name, c.oneRow(name))
	}
	k, err := c.unsharded(name.keyspace)
	if err != nil {
		return block, err
	}
	store, closeStore, err := openStore(c.cfg, k, name)
	if err != nil {
		return block, inSequence(name, err)
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	limited, cancel := context.WithTimeout(ctx, 2*silence)
	defer cancel()
	reservation, err := store.Reserve(limited, sequence.Request{Database: k.Shards[0].DSN.DBName, Table: name.table, Need: n, Exact: true})
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = inSequence(name, fmt.Errorf("its server cannot be reached: %w", errSilent))
	}
	return reservation.Range, err
}

// openStore opens a sequence's row, or its stripes.
func openStore(cfg *config.Config, k config.Keyspace, name tableName) (store sequence.RowStore, closeStore func() error, err error) {
	o := cfg.Sequences.Of(name.keyspace, name.table)
	if len(o.Stores) > 0 {
		striped, closeStriped, err := openStriped(cfg, name, nil)
		return guarded(o, striped), closeStriped, err
	}
	db, err := sequence.NewPool(k.Shards[0].DSN)
	if err != nil {
		return nil, nil, err
	}
	store, err = sequence.NewStore(string(o.Refill), db)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return guarded(o, store), db.Close, nil
}

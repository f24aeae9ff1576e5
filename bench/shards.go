package main

import (
	"context"
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/bench/internal/results"
	"github.com/seqgate/seqgate/bench/internal/vitess"
)

// shardCounts are the points of the curve.
var shardCounts = []int{2, 4, 8, 16, 32, 64}

func measureShards(ctx context.Context, b *bed, p *results.Part) error {
	for _, n := range b.upTo(shardCounts) {
		err := b.onShards(ctx, n, func(upstream *mysql.Config, s *shards) (err error) {
			t, err := startSharded(ctx, upstream, s, b.seqgate)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, t.stop()) }()
			ts := targets{{name: direct, client: upstream}, t}
			for _, name := range []string{"point select, text", "100-row INSERT"} {
				w := named(name)
				if _, err := b.cell(ctx, p, cell{workload: w, x: n, conns: 8, warm: w.reachAll(n)}, ts); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reachAll is how many statements of one connection have met all of n shards, by all likelihood: a session connects to a shard
// when it first needs it.
func (w *workload) reachAll(n int) int { return 1 + 8*n/max(1, w.inserts) }

// onShards runs f with a database of undivided tables, and n databases among which they are divided.
func (b *bed) onShards(ctx context.Context, n int, f func(upstream *mysql.Config, s *shards) error) error {
	return b.inDatabase(ctx, func(upstream *mysql.Config) (err error) {
		s, err := createShards(ctx, b.db, upstream.DBName, vitess.ShardNames(n))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.drop()) }()
		if err := f(upstream, s); err != nil {
			return err
		}
		return b.check(ctx, shardedKeyspace, s.databases...)
	})
}

// asSharded returns the workload of that name, told as one on shards.
func asSharded(name string) *workload {
	w := *named(name)
	w.name = "sharded " + w.name
	return &w
}

// both are the statements that are measured beside Vitess without shards; those of shardedLoads are measured on two as well.
var both = slices.Concat(shardedLoads, []string{"NEXT VALUE"})

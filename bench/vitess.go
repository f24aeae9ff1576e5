package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/bench/internal/results"
	"github.com/seqgate/seqgate/bench/internal/vitess"
)

// The vschemas of the two keyspaces: those of seqgate, but that Vitess has nothing like seqgate's default of t_seq for t.
const (
	vitessMain = `{"tables": {"points": {}, "filled_seq": {"type": "sequence"}, "tickets_seq": {"type": "sequence"},
		"filled": {"auto_increment": {"column": "id", "sequence": "%[1]s.filled_seq"}}}}`
	vitessSharded = `{"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
		"points": {"column_vindexes": [{"column": "id", "name": "hash"}]},
		"filled": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "%[1]s.filled_seq"}}}}`
)

// measureVitess measures direct, seqgate and Vitess on the same tables, undivided and then on two shards. The seqgates and
// Vitess take ids from the same sequence rows.
func measureVitess(ctx context.Context, b *bed, p *results.Part) error {
	if !slices.Contains(b.cfg.comparison.peers, peerVitess) {
		return nil
	}
	return b.onShards(ctx, len(shardNames), func(upstream *mysql.Config, s *shards) (err error) {
		v, err := vitess.Start(ctx, vitess.Options{Server: b.upstream, Log: b.log, Keyspaces: []vitess.Keyspace{
			{Name: upstream.DBName, Databases: []string{upstream.DBName}, VSchema: fmt.Sprintf(vitessMain, upstream.DBName)},
			{Name: shardedKeyspace, Databases: s.databases, VSchema: fmt.Sprintf(vitessSharded, upstream.DBName)},
		}})
		if errors.Is(err, vitess.ErrUnavailable) {
			p.Notes = append(p.Notes, firstLine(err))
			return nil
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, v.Stop()) }()
		return b.besideVitess(ctx, p, v, upstream, s)
	})
}

func (b *bed) besideVitess(ctx context.Context, p *results.Part, v *vitess.Vitess, upstream *mysql.Config, s *shards) (err error) {
	var started targets
	defer func() { err = errors.Join(err, started.stop()) }()
	if err := started.add(startSeqgate(ctx, upstream, b.seqgate, "")); err != nil {
		return err
	}
	if err := started.add(startSharded(ctx, upstream, s, b.seqgate)); err != nil {
		return err
	}
	beside := func(seqgate *target, keyspace string) targets {
		through := &target{name: "Vitess", peer: true, client: v.Client(keyspace), ids: byVitess, pids: []int{v.Process().Process.Pid}}
		return targets{{name: direct, client: upstream}, seqgate, through}
	}
	plain, sharded := beside(started[0], upstream.DBName), beside(started[1], shardedKeyspace)
	if p.Memory, err = measureIdle(ctx, b.cfg, plain); err != nil {
		return err
	}
	for _, name := range both {
		if err := b.curve(ctx, p, named(name), plain); err != nil {
			return err
		}
	}
	for _, name := range shardedLoads {
		if err := b.curve(ctx, p, asSharded(name), sharded); err != nil {
			return err
		}
	}
	return nil
}

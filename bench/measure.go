package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/seqgate/seqgate/bench/internal/results"
)

// round is one slice per target, by the target's name.
type round map[string]results.Sample

// load is a workload at a number of connections, ready to be measured on every target.
type load struct {
	workload *workload
	conns    int
	targets  []*target // without those that are lost
	warm     int       // statements that each connection runs at least before it is measured
	opened   map[string][]driver.Conn
	ready    map[string][]operation
	done     map[string]int   // statements run, by target
	lost     map[string]error // peers that failed, and why
}

func openLoad(ctx context.Context, w *workload, conns int, targets []*target) (l *load, err error) {
	l = &load{workload: w, conns: conns, targets: targets,
		opened: map[string][]driver.Conn{}, ready: map[string][]operation{}, done: map[string]int{}, lost: map[string]error{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	for _, t := range targets {
		if err := l.open(ctx, t); err != nil {
			if err := l.lose(t, err); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

func (l *load) open(ctx context.Context, t *target) error {
	for i := range l.conns {
		conn, err := connect(ctx, t.clientOf(i))
		if err != nil {
			return fmt.Errorf("connect to %s: %w", t.name, err)
		}
		l.opened[t.name] = append(l.opened[t.name], conn)
		op, err := l.workload.open(ctx, conn, t)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", t.name, l.workload.name, err)
		}
		l.ready[t.name] = append(l.ready[t.name], op)
	}
	return nil
}

// lose goes on without a peer that failed. It returns the error of a target that all others are compared with.
func (l *load) lose(t *target, err error) error {
	if !t.peer {
		return err
	}
	l.lost[t.name] = err
	l.targets = slices.DeleteFunc(slices.Clone(l.targets), func(other *target) bool { return other == t })
	return nil
}

func connect(ctx context.Context, cfg *mysql.Config) (driver.Conn, error) {
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return connector.Connect(ctx)
}

func (l *load) close() error {
	var errs []error
	for _, conns := range l.opened {
		for _, c := range conns {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// rounds warms every target up and measures n rounds of one slice each per target. Each round starts
// with another target, so that none always runs after the same one.
func (l *load) rounds(ctx context.Context, n int, slice time.Duration) ([]round, error) {
	for _, t := range l.targets {
		if _, err := l.slice(ctx, t, slice/4, l.warm); err != nil {
			if err := l.lose(t, err); err != nil {
				return nil, err
			}
		}
	}
	var rounds []round
	for i := range n {
		r, ts := round{}, l.targets
		for j := range ts {
			t := ts[(i+j)%len(ts)]
			s, err := l.slice(ctx, t, slice, 1)
			if err != nil {
				if err := l.lose(t, err); err != nil {
					return nil, err
				}
			}
			r[t.name] = s
		}
		rounds = append(rounds, r)
	}
	return rounds, nil
}

// slice runs the workload on all connections to t for a time, and at least so often on each.
func (l *load) slice(ctx context.Context, t *target, d time.Duration, least int) (s results.Sample, err error) {
	cpu, err := hopCPU(t)
	if err != nil {
		return s, err
	}
	begin := time.Now()
	took := make([][]time.Duration, l.conns)
	var all errgroup.Group
	for i, op := range l.ready[t.name] {
		all.Go(func() (err error) {
			took[i], err = repeat(ctx, op, begin.Add(d), least)
			return err
		})
	}
	err = all.Wait()
	for _, times := range took {
		l.done[t.name] += len(times)
	}
	if err != nil {
		return s, fmt.Errorf("%s, %s: %w", t.name, l.workload.name, err)
	}
	s.Elapsed = time.Since(begin)
	after, err := hopCPU(t)
	if err != nil {
		return s, err
	}
	s.CPU = after - cpu
	latencies := slices.Concat(took...)
	s.Queries = len(latencies)
	slices.Sort(latencies)
	s.P50, s.P99 = percentile(latencies, 50), percentile(latencies, 99)
	return s, nil
}

func hopCPU(t *target) (time.Duration, error) {
	var all time.Duration
	for _, pid := range t.pids {
		cpu, err := cpuTime(pid)
		if err != nil {
			return 0, err
		}
		all += cpu
	}
	return all, nil
}

// repeat runs op at least once, and least times, and until the deadline. It returns how long each run took.
func repeat(ctx context.Context, op operation, deadline time.Time, least int) ([]time.Duration, error) {
	var took []time.Duration
	for begin := time.Now(); ; {
		if err := op(); err != nil {
			return took, err
		}
		now := time.Now()
		took = append(took, now.Sub(begin))
		if begin = now; now.After(deadline) && len(took) >= least || ctx.Err() != nil {
			return took, ctx.Err()
		}
	}
}

// percentile returns the p-th percentile of sorted values, the nearest rank; 0 of none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}

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
)

// sample is what one slice of time gave on one target.
type sample struct {
	queries  int
	elapsed  time.Duration
	p50, p99 time.Duration // from the call to the end of the answer
	cpu      time.Duration // of the hop
}

func (s sample) rate() float64 { return float64(s.queries) / s.elapsed.Seconds() }

// round is one slice per target, by the target's name.
type round map[string]sample

// load is a workload at a number of connections, ready to be measured on every target.
type load struct {
	workload *workload
	conns    int
	targets  []*target
	opened   map[string][]driver.Conn
	ready    map[string][]operation
	done     map[string]int // statements run, by target
}

func openLoad(ctx context.Context, w *workload, conns int, targets []*target) (l *load, err error) {
	l = &load{workload: w, conns: conns, targets: targets,
		opened: map[string][]driver.Conn{}, ready: map[string][]operation{}, done: map[string]int{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.close())
		}
	}()
	for _, t := range targets {
		for range conns {
			conn, err := connect(ctx, t.client)
			if err != nil {
				return l, fmt.Errorf("connect to %s: %w", t.name, err)
			}
			l.opened[t.name] = append(l.opened[t.name], conn)
			op, err := w.open(ctx, conn, t)
			if err != nil {
				return l, fmt.Errorf("%s, %s: %w", t.name, w.name, err)
			}
			l.ready[t.name] = append(l.ready[t.name], op)
		}
	}
	return l, nil
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
		if _, err := l.slice(ctx, t, slice/4); err != nil {
			return nil, err
		}
	}
	var rounds []round
	for i := range n {
		r := round{}
		for j := range l.targets {
			t := l.targets[(i+j)%len(l.targets)]
			s, err := l.slice(ctx, t, slice)
			if err != nil {
				return nil, err
			}
			r[t.name] = s
		}
		rounds = append(rounds, r)
	}
	return rounds, nil
}

// slice runs the workload on all connections to t for a time.
func (l *load) slice(ctx context.Context, t *target, d time.Duration) (s sample, err error) {
	cpu, err := hopCPU(t)
	if err != nil {
		return s, err
	}
	begin := time.Now()
	took := make([][]time.Duration, l.conns)
	var all errgroup.Group
	for i, op := range l.ready[t.name] {
		all.Go(func() (err error) {
			took[i], err = repeat(ctx, op, begin.Add(d))
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return s, fmt.Errorf("%s, %s: %w", t.name, l.workload.name, err)
	}
	s.elapsed = time.Since(begin)
	after, err := hopCPU(t)
	if err != nil {
		return s, err
	}
	s.cpu = after - cpu
	latencies := slices.Concat(took...)
	s.queries = len(latencies)
	l.done[t.name] += s.queries
	slices.Sort(latencies)
	s.p50, s.p99 = percentile(latencies, 50), percentile(latencies, 99)
	return s, nil
}

func hopCPU(t *target) (time.Duration, error) {
	if !t.hop() {
		return 0, nil
	}
	return cpuTime(t.process.Process.Pid)
}

// repeat runs op at least once and until the deadline, and returns how long each run took.
func repeat(ctx context.Context, op operation, deadline time.Time) ([]time.Duration, error) {
	var took []time.Duration
	for begin := time.Now(); ; {
		if err := op(); err != nil {
			return took, err
		}
		now := time.Now()
		took = append(took, now.Sub(begin))
		if begin = now; now.After(deadline) || ctx.Err() != nil {
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

// median of values; 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 1 {
		return values[mid]
	}
	return (values[mid-1] + values[mid]) / 2
}

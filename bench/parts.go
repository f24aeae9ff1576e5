package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/bench/internal/results"
)

// cell is one workload to measure on some targets.
type cell struct {
	*workload
	x     int // what the part counts; 0 for connections
	conns int
	per   int // what a statement counts for in rates; 0 for 1
	warm  int // statements that each connection runs at least before it is measured
}

// cell measures a cell and adds its points to p. It returns them, for facts to be added before the next call.
func (b *bed) cell(ctx context.Context, p *results.Part, c cell, ts targets) ([]results.Point, error) {
	l, err := openLoad(ctx, c.workload, c.conns, ts)
	if err != nil {
		return nil, err
	}
	l.warm = c.warm
	rounds, err := l.rounds(ctx, b.cfg.rounds, b.cfg.slice)
	if err := errors.Join(err, l.close()); err != nil {
		return nil, err
	}
	if c.x == 0 {
		c.x = c.conns
	}
	for _, t := range ts {
		at := b.rows(place{t.client.DBName, insertTable(t.fills())})
		at.acknowledged += l.done[t.name] * c.inserts
		if err := l.lost[t.name]; err != nil {
			at.unsure += c.conns * c.inserts // each connection's last statement
			note := fmt.Sprintf("%s, %s, %d %s: %s", t.name, c.name, c.x, results.KindOf(p.Name).X, firstLine(err))
			p.Notes = append(p.Notes, note)
			fmt.Fprintln(b.log, "not measured:", note)
		}
	}
	from := len(p.Points)
	for _, t := range l.targets {
		point := results.Point{Statement: c.name, Target: t.name, X: c.x, Per: max(1, c.per)}
		for _, r := range rounds {
			point.Samples = append(point.Samples, r[t.name])
		}
		p.Points = append(p.Points, point)
		fmt.Fprintf(b.log, "%s, %d: %s %.0f/s\n", c.name, c.x, t.name, point.Rate())
	}
	return p.Points[from:], nil
}

// named returns the workload of a name.
func named(name string) *workload {
	i := slices.IndexFunc(workloads, func(w workload) bool { return w.name == name })
	return &workloads[i]
}

// relayed are the statements of the part that compares hops.
var relayed = []string{"point select, text", "point select, prepared", "1000-row select", "1-row INSERT, text", "1-row INSERT, prepared", "connect, ping, quit"}

// measureRelaying also measures the memory of idle connections, before any load.
func measureRelaying(ctx context.Context, b *bed, p *results.Part) error {
	return b.inDatabase(ctx, func(upstream *mysql.Config) (err error) {
		ts, err := b.startHops(ctx, upstream, p)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ts.stop()) }()
		if p.Memory, err = measureIdle(ctx, b.cfg, ts); err != nil {
			return err
		}
		for _, name := range relayed {
			for _, conns := range b.cfg.conns {
				if _, err := b.cell(ctx, p, cell{workload: named(name), conns: conns}, ts); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// nextTargets are who gives next values: a row of the server, MariaDB's SEQUENCE where there is one, and seqgate.
func (b *bed) nextTargets(ctx context.Context, upstream *mysql.Config, seqgate *target) (targets, error) {
	ts := targets{{name: direct, client: upstream}}
	if b.isMariaDB() {
		if _, err := b.db.ExecContext(ctx, "CREATE SEQUENCE "+upstream.DBName+".own_seq CACHE 1000"); err != nil {
			return nil, err
		}
		ts = append(ts, &target{name: "MariaDB SEQUENCE", peer: true, client: upstream, ids: byOwnSequence})
	}
	return append(ts, seqgate), nil
}

func measureNextValue(ctx context.Context, b *bed, p *results.Part) error {
	return b.inDatabase(ctx, func(upstream *mysql.Config) (err error) {
		seqgate, err := startSeqgate(ctx, upstream, b.seqgate, "")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, seqgate.stop()) }()
		ts, err := b.nextTargets(ctx, upstream, seqgate)
		if err != nil {
			return err
		}
		for _, conns := range b.cfg.conns {
			if _, err := b.cell(ctx, p, cell{workload: named("NEXT VALUE"), conns: conns}, ts); err != nil {
				return err
			}
		}
		return nil
	})
}

// connectionCounts are the points of the curve.
var connectionCounts = []int{1, 4, 16, 64, 256}

func measureConnections(ctx context.Context, b *bed, p *results.Part) error {
	return b.inDatabase(ctx, func(upstream *mysql.Config) (err error) {
		ts, err := b.startHops(ctx, upstream, p)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ts.stop()) }()
		next, err := b.nextTargets(ctx, upstream, ts[len(ts)-1])
		if err != nil {
			return err
		}
		for _, of := range []struct {
			name    string
			targets targets
		}{{"point select, text", ts}, {"1-row INSERT, text", ts}, {"NEXT VALUE", next}} {
			if err := b.curve(ctx, p, named(of.name), of.targets); err != nil {
				return err
			}
		}
		return nil
	})
}

// curve measures a workload at all numbers of connections.
func (b *bed) curve(ctx context.Context, p *results.Part, w *workload, ts targets) error {
	for _, conns := range b.upTo(connectionCounts) {
		if _, err := b.cell(ctx, p, cell{workload: w, conns: conns}, ts); err != nil {
			return err
		}
	}
	return nil
}

// upTo leaves out the sizes above what --most says.
func (b *bed) upTo(sizes []int) []int {
	if b.cfg.most == 0 {
		return sizes
	}
	return slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > b.cfg.most })
}

// rowCounts are the points of the curve.
var rowCounts = []int{1, 10, 100, 1000}

func measureRows(ctx context.Context, b *bed, p *results.Part) error {
	return b.inDatabase(ctx, func(upstream *mysql.Config) (err error) {
		var ts targets
		defer func() { err = errors.Join(err, ts.stop()) }()
		for _, name := range []string{direct, viaRelay, viaSeqgate} {
			if err := ts.add(startTarget(ctx, name, upstream, b.seqgate)); err != nil {
				return err
			}
		}
		for _, rows := range b.upTo(rowCounts) {
			if _, err := b.cell(ctx, p, cell{workload: insertOf(rows), x: rows, conns: 4, per: rows}, ts); err != nil {
				return err
			}
		}
		return nil
	})
}

package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/seqgate/seqgate/bench/internal/results"
)

// sequenceCounts are the points of the curve.
var sequenceCounts = []int{1, 10, 100, 1000, 10000}

const sequenceConns = 8

func measureSequences(ctx context.Context, b *bed, p *results.Part) error {
	counts := b.upTo(sequenceCounts)
	return b.inDatabase(ctx, func(upstream *mysql.Config) error {
		if err := createSequences(ctx, b.db, upstream.DBName, slices.Max(counts)); err != nil {
			return err
		}
		for _, n := range counts {
			if err := b.measureSequenceCount(ctx, p, upstream, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// createSequences makes sequence tables, which take a server some milliseconds each.
func createSequences(ctx context.Context, db *sql.DB, database string, n int) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(sequenceConns)
	for i := range n {
		all.Go(func() error {
			name := database + "." + sequenceName(i)
			if _, err := db.ExecContext(ctx, "CREATE TABLE "+name+" (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'"); err != nil {
				return err
			}
			_, err := db.ExecContext(ctx, "INSERT INTO "+name+" VALUES (0, 1, 1000)")
			return err
		})
	}
	return all.Wait()
}

func sequenceName(i int) string { return fmt.Sprintf("s%d_seq", i) }

// viaDeclared is a seqgate whose vschema names all sequences, which it need not ask the server for.
const viaDeclared = "seqgate, vschema"

// measureSequenceCount measures with n sequences a seqgate that knows them by convention, and one that knows them by its vschema.
func (b *bed) measureSequenceCount(ctx context.Context, p *results.Part, upstream *mysql.Config, n int) (err error) {
	vschema, err := writeSequences(b.dir, upstream.DBName, n)
	if err != nil {
		return err
	}
	var ts targets
	defer func() { err = errors.Join(err, ts.stop()) }()
	facts := map[string]map[string]float64{}
	for _, of := range []struct{ name, settings string }{{viaSeqgate, ""}, {viaDeclared, fmt.Sprintf("vschema: %q\n", vschema)}} {
		t, err := startSeqgate(ctx, upstream, b.seqgate, of.settings)
		if err := ts.add(t, err); err != nil {
			return err
		}
		t.name = of.name
		if facts[t.name], err = coldFacts(ctx, t, n); err != nil {
			return err
		}
	}
	var next atomic.Int64
	w := &workload{name: "NEXT VALUE", open: func(ctx context.Context, conn driver.Conn, _ *target) (operation, error) {
		return textQuery(ctx, conn, func() string { return "SELECT NEXT VALUE FROM " + sequenceName(int(next.Add(1))%n) }), nil
	}}
	points, err := b.cell(ctx, p, cell{workload: w, x: n, conns: sequenceConns}, ts)
	if err != nil {
		return err
	}
	for i := range points {
		points[i].Facts = facts[points[i].Target]
	}
	return nil
}

// writeSequences writes a vschema that names n sequences of a keyspace.
func writeSequences(dir, keyspace string, n int) (path string, err error) {
	tables := map[string]any{"tickets_seq": map[string]string{"type": "sequence"}}
	for i := range n {
		tables[sequenceName(i)] = map[string]string{"type": "sequence"}
	}
	text, err := json.Marshal(map[string]any{"keyspaces": map[string]any{keyspace: map[string]any{"tables": tables}}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "sequences.json")
	return path, os.WriteFile(path, text, 0o600)
}

// coldFacts takes the first values of n sequences, and tells how fast they come and how much memory it takes.
func coldFacts(ctx context.Context, t *target, n int) (map[string]float64, error) {
	// What is set up once, connections' buffers above all, is not the sequences'.
	if err := firstValues(ctx, t, sequenceConns, func(int) string { return "tickets_seq" }); err != nil {
		return nil, err
	}
	before, err := settledMemory(ctx, t)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := firstValues(ctx, t, n, sequenceName); err != nil {
		return nil, err
	}
	took := time.Since(began)
	after, err := settledMemory(ctx, t)
	return map[string]float64{
		"memory, MiB in all":             float64(after) / (1 << 20),
		"memory, KiB grown per sequence": float64(after-before) / 1024 / float64(n),
		"first values, sequences/s":      float64(n) / took.Seconds(),
	}, err
}

// firstValues takes one value of each of n sequences.
func firstValues(ctx context.Context, t *target, n int, name func(int) string) error {
	all, ctx := errgroup.WithContext(ctx)
	for c := range sequenceConns {
		all.Go(func() (err error) {
			conn, err := connect(ctx, t.client)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, conn.Close()) }()
			for i := c; i < n; i += sequenceConns {
				if err := textQuery(ctx, conn, func() string { return "SELECT NEXT VALUE FROM " + name(i) })(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return all.Wait()
}

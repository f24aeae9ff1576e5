package main

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// table is a table that is loaded.
type table struct {
	key
	sources []source // by writer
	conns   []*sql.Conn
	load    []slice
	single  []slice
	size    size
}

// slice is what was measured while a part of a table was loaded.
type slice struct {
	rows    int
	elapsed time.Duration
	pages   pages // read for it, and written until all of it was in the table's file
}

func (s slice) rate() float64 { return float64(s.rows) / s.elapsed.Seconds() }

// payloadBytes is the length of what a row holds besides its key and its time.
const payloadBytes = 120

// payloads is what payloads are cut from.
var payloads = strings.Repeat("abcdefghijklmnopqrstuvwxyz0123456789", 8)

// createTable has a secondary index over a value that rises, so that what differs is what the primary key costs in both.
func (t *table) createTable() string {
	return "CREATE TABLE " + t.table + " (id " + t.column + " NOT NULL PRIMARY KEY, " +
		"created DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), payload VARCHAR(255) NOT NULL, KEY created (created)) " +
		"ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
}

// insert inserts rows in statements of so many, by all writers at once.
func (t *table) insert(ctx context.Context, rows, statement int) (time.Duration, error) {
	var begun atomic.Int64 // rows
	began := time.Now()
	writers, ctx := errgroup.WithContext(ctx)
	for i, conn := range t.conns {
		writers.Go(func() error {
			var ids []string
			for begun.Add(int64(statement)) <= int64(rows) {
				var err error
				if ids, err = t.sources[i].keys(ctx, ids[:0], statement); err != nil {
					return err
				}
				if _, err := conn.ExecContext(ctx, t.statement(ids)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := writers.Wait()
	return time.Since(began), err
}

// statement is an INSERT of a row for each id.
func (t *table) statement(ids []string) string {
	var b strings.Builder
	b.Grow(len(ids) * (payloadBytes + 50))
	b.WriteString("INSERT INTO " + t.table + " (id, payload) VALUES ")
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		at := rand.IntN(len(payloads) - payloadBytes)
		b.WriteString("(" + id + ",'" + payloads[at:at+payloadBytes] + "')")
	}
	return b.String()
}

// loadAll loads the tables in turn, slice by slice, and then inserts rows one by one. After each slice the table's pages
// are written out: else the next table would be charged with them.
func loadAll(ctx context.Context, cfg *config, s *server, tables []*table) error {
	for i := range parts {
		for j := range tables {
			t := tables[(i+j)%len(tables)]
			part, err := s.measure(ctx, t, cfg.rows/parts, cfg.statement)
			if err != nil {
				return err
			}
			t.load = append(t.load, part)
		}
	}
	for i := range parts {
		for j := range tables {
			t := tables[(i+j)%len(tables)]
			part, err := s.measure(ctx, t, cfg.single/parts, 1)
			if err != nil {
				return err
			}
			t.single = append(t.single, part)
		}
	}
	return nil
}

func (s *server) measure(ctx context.Context, t *table, rows, statement int) (slice, error) {
	before, err := s.pages(ctx)
	if err != nil {
		return slice{}, err
	}
	elapsed, err := t.insert(ctx, rows, statement)
	if err != nil {
		return slice{}, err
	}
	if err := s.writeOut(ctx, t.table); err != nil {
		return slice{}, err
	}
	after, err := s.pages(ctx)
	return slice{rows, elapsed, pages{after.read - before.read, after.written - before.written}}, err
}

package sequencetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// Harness is a store to be tested and the server behind it.
type Harness struct {
	// Addr is the server's host:port.
	Addr string
	// Database exists, and is empty.
	Database string
	// Admin is a pool of connections to the server that may do everything, with the database as its default.
	Admin *sql.DB
	// Open returns a store with connections of its own to addr, which is the server's address or that of a proxy to it.
	// They are closed at the end of the test.
	Open func(tb testing.TB, addr string) sequence.Store
}

// exec runs statements of an operator.
func (h Harness) exec(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := h.Admin.ExecContext(tb.Context(), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

// create makes a sequence and returns its requests without a Need.
func (h Harness) create(tb testing.TB, table string, nextID, cache int64) sequence.Request {
	tb.Helper()
	h.exec(tb, sequence.CreateTableSQL(h.Database, table), sequence.InsertRowSQL(h.Database, table, nextID, cache))
	return sequence.Request{Database: h.Database, Table: table}
}

func (h Harness) row(tb testing.TB, table string) (r Row) {
	tb.Helper()
	query := "SELECT next_id, cache FROM `" + strings.ReplaceAll(table, "`", "``") + "` WHERE id = 0"
	if err := h.Admin.QueryRowContext(tb.Context(), query).Scan(&r.NextID, &r.Cache); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return r
}

func (h Harness) wantRow(tb testing.TB, table string, want Row) {
	tb.Helper()
	if got := h.row(tb, table); got != want {
		tb.Errorf("row of %s: got %+v, want %+v", table, got, want)
	}
}

// registry returns a process of its own: a registry whose connections go to addr.
func (h Harness) registry(tb testing.TB, addr string, cfg sequence.Config) *sequence.Registry {
	tb.Helper()
	reg := Registry(h.Open(tb, addr), cfg)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = reg.Close(ctx) // hands back only if the server still answers
	})
	return reg
}

func (h Harness) sequence(tb testing.TB, reg *sequence.Registry, table string) *sequence.Sequence {
	tb.Helper()
	seq, err := reg.Get(sequence.Name{Keyspace: "main", Database: h.Database, Table: table})
	if err != nil {
		tb.Fatal(err)
	}
	return seq
}

// reserve reserves a block that must be got.
func reserve(tb testing.TB, store sequence.Store, req sequence.Request) sequence.Reservation {
	tb.Helper()
	res, err := store.Reserve(tb.Context(), req)
	if err != nil {
		tb.Fatalf("reserve %+v: %v", req, err)
	}
	return res
}

func wantError(tb testing.TB, err, kind error, texts ...string) {
	tb.Helper()
	if !errors.Is(err, kind) {
		tb.Errorf("got the error %v, want %v", err, kind)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			tb.Errorf("got the error %q, want it to contain %q", err, text)
		}
	}
}

// kill kills the connections that run a statement like running, and returns how many there were.
func (h Harness) kill(tb testing.TB, running string) (killed int) {
	tb.Helper()
	rows, err := h.Admin.QueryContext(tb.Context(), "SELECT id FROM "+servertest.Processlist+" WHERE info LIKE ? AND id <> CONNECTION_ID()", running)
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	for _, id := range ids {
		if _, err := h.Admin.ExecContext(tb.Context(), fmt.Sprintf("KILL %d", id)); err == nil { // else it has just ended
			killed++
		}
	}
	return killed
}

package sequence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// seedAbove finds the first free id as a process does that looks for it in the table of the ids.
func seedAbove(db *sql.DB, query string) func(ctx context.Context) (next, cache int64, err error) {
	return func(ctx context.Context) (next, cache int64, err error) {
		err = db.QueryRowContext(ctx, query).Scan(&next)
		return next + 1, 10, err
	}
}

// Processes that start at the same time on a server without the table, or without its row, create it once, above the ids
// in use, and share it.
func TestAutoCreate(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, missing := range []string{"table", "row"} {
			t.Run(missing, func(t *testing.T) {
				h := harness(t, s, "")
				mustExec(t, h.Admin, "CREATE TABLE users (id BIGINT PRIMARY KEY)", "INSERT INTO users VALUES (7), (500)")
				if missing == "row" {
					mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "users_seq"))
				}
				var ids sequencetest.IDs
				var all sync.WaitGroup
				for i := range 8 {
					db := openPool(t, s.DSN(h.Database))
					store := sequence.AutoCreate(namedStore(t, strategies[i%3], db), db, seedAbove(db, "SELECT MAX(id) FROM users"))
					seq := get(t, sequencetest.Registry(store, sequence.Config{Timeout: time.Minute}), sequence.Name{Database: h.Database, Table: "users_seq"})
					all.Go(func() {
						for range 30 {
							err := ids.Take(func() (sequence.Range, error) {
								r, err := seq.Next(t.Context(), 1)
								if err == nil { // an id that is in use counts for the seeds of those who come later
									_, err = db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO users VALUES (%d)", r.First))
								}
								return r, err
							})
							if err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				ids.NoDuplicates(t)
				if got := ids.Count(); got != 240 {
					t.Errorf("got %d ids, want 240", got)
				}
			})
		}
	})
}

// What AutoCreate leaves alone: errors of other kinds, other rows, and what vanished while it was in use.
func TestAutoCreateDoesNot(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		db := openPool(t, s.DSN(h.Database))
		open := func() sequence.RowStore {
			return sequence.AutoCreate(namedStore(t, sequence.StrategyIncrement, db), db, seedAbove(db, "SELECT 99"))
		}
		req := sequence.Request{Database: h.Database, Table: "s", Need: 1}
		wantKind := func(store sequence.RowStore, kind error) {
			t.Helper()
			if res, err := store.Reserve(t.Context(), req); !errors.Is(err, kind) {
				t.Errorf("got %v, %v, want %v", res, err, kind)
			}
		}
		running := open()
		req.After = 300 // of an explicit id: it gave none
		if res, err := running.Reserve(t.Context(), req); err != nil || res.First != 301 {
			t.Errorf("got %v, %v, want 301", res, err)
		}
		mustExec(t, h.Admin, "DELETE FROM s")
		wantKind(running, sequence.ErrNoRow)
		mustExec(t, h.Admin, "DROP TABLE s")
		wantKind(running, sequence.ErrNoTable)
		req.Row = 1
		wantKind(open(), sequence.ErrNoTable)
		req.Row = 0
		mustExec(t, h.Admin, "CREATE TABLE s (id INT PRIMARY KEY, name TEXT)")
		wantKind(open(), sequence.ErrNotSequence)
		if got := open().String(); got != sequence.StrategyIncrement {
			t.Errorf("got the name %q, want %q", got, sequence.StrategyIncrement)
		}
	})
}

// A sequence that cannot be created stays missing, and the error says why.
func TestAutoCreateFails(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		user := "ac_" + strings.TrimPrefix(h.Database, "test_")
		mustExec(t, h.Admin, "CREATE USER "+user+" IDENTIFIED BY 'x'", "GRANT SELECT, INSERT, UPDATE ON "+h.Database+".* TO "+user)
		t.Cleanup(func() { mustExec(t, h.Admin, "DROP USER "+user) })
		cfg, err := mysql.ParseDSN(s.DSN(h.Database))
		if err != nil {
			t.Fatal(err)
		}
		cfg.User, cfg.Passwd = user, "x"
		db := openPool(t, cfg.FormatDSN())
		for _, tt := range []struct{ name, seed, want string }{
			{"no privilege", "SELECT 99", "auto_create could not: seed sequence " + h.Database + ".s: Error 1142"},
			{"no seed", "SELECT MAX(id) FROM users", "auto_create could not: find the first free id for sequence " + h.Database + ".s: Error 1146"},
		} {
			store := sequence.AutoCreate(namedStore(t, sequence.StrategyCAS, db), db, seedAbove(db, tt.seed))
			reg := sequencetest.Registry(store, sequence.Config{})
			_, err := get(t, reg, sequence.Name{Database: h.Database, Table: "s"}).Next(t.Context(), 1)
			if !errors.Is(err, sequence.ErrNoTable) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want ErrNoTable with %q", tt.name, err, tt.want)
			}
		}
	})
}

func namedStore(tb testing.TB, strategy string, db *sql.DB) sequence.RowStore {
	tb.Helper()
	store, err := sequence.NewStore(strategy, db)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func mustExec(tb testing.TB, db *sql.DB, statements ...string) {
	tb.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			tb.Fatalf("%s: %v", s, err)
		}
	}
}

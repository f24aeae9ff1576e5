package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// A sequence that vanishes while a process holds ids of it is made anew by no other process, whoever made it.
func TestAutoCreateUsedElsewhere(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, made := range []string{"by auto_create", "by hand"} {
			for _, gone := range []string{"DROP TABLE s", "DELETE FROM s"} {
				t.Run(made+", "+gone, func(t *testing.T) {
					h := harness(t, s, "")
					mustExec(t, h.Admin, "CREATE TABLE users (id BIGINT PRIMARY KEY)", "INSERT INTO users VALUES (7)")
					if made == "by hand" {
						mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "s"), sequence.InsertRowSQL(h.Database, "s", 8, 10))
					}
					process := func() *sequence.Sequence {
						db := openPool(t, s.DSN(h.Database))
						store := sequence.AutoCreate(namedStore(t, sequence.StrategyForUpdate, db), db, seedAbove(db, "SELECT MAX(id) FROM users"))
						return get(t, sequencetest.Registry(store, sequence.Config{}), sequence.Name{Database: h.Database, Table: "s"})
					}
					holder, other := process(), process()
					if r, err := holder.Next(t.Context(), 1); err != nil || r.First != 8 {
						t.Fatalf("got %v, %v, want 8", r, err)
					}
					mustExec(t, h.Admin, gone)
					r, err := other.Next(t.Context(), 1)
					if err == nil || !strings.Contains(err.Error(), "it was used before it was dropped") ||
						!errors.Is(err, sequence.ErrNoTable) && !errors.Is(err, sequence.ErrNoRow) {
						t.Errorf("got %v, %v, want that it was used", r, err)
					}
					if r, err := holder.Next(t.Context(), 1); err != nil || r.First != 9 {
						t.Errorf("the one that holds ids got %v, %v, want 9", r, err)
					}
					// Somebody makes it by hand, above what the holder has.
					mustExec(t, h.Admin, strings.Replace(sequence.CreateTableSQL(h.Database, "s"), "TABLE", "TABLE IF NOT EXISTS", 1),
						sequence.InsertRowSQL(h.Database, "s", 500, 10))
					if r, err := other.Next(t.Context(), 1); err != nil || r.First != 500 {
						t.Errorf("got %v, %v, want 500", r, err)
					}
				})
			}
		}
	})
}

// madeLate is a store whose row is made by somebody else just before it is asked.
type madeLate struct {
	sequence.RowStore
	make func()
}

func (s *madeLate) Reserve(ctx context.Context, q sequence.Request) (sequence.Reservation, error) {
	s.make()
	return s.RowStore.Reserve(ctx, q)
}

// A process whose sequence is made while it begins says that it uses it, too.
func TestAutoCreateMadeMeanwhile(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		db := openPool(t, s.DSN(h.Database))
		made := sync.OnceFunc(func() {
			mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "s"), sequence.InsertRowSQL(h.Database, "s", 8, 10))
		})
		store := sequence.AutoCreate(&madeLate{namedStore(t, sequence.StrategyForUpdate, db), made}, db, seedAbove(db, "SELECT 99"))
		r, err := get(t, sequencetest.Registry(store, sequence.Config{}), sequence.Name{Database: h.Database, Table: "s"}).Next(t.Context(), 1)
		if err != nil || r.First < 8 || r.First > 18 {
			t.Errorf("got %v, %v, want 8 or 18", r, err)
		}
		if used, err := sequence.WasUsed(t.Context(), db, h.Database, "s"); err != nil || !used {
			t.Errorf("got %v, %v, want that it is used", used, err)
		}
	})
}

// A user who may not create the table of used sequences goes on with those that are there.
func TestAutoCreateUsedDenied(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "s"), sequence.InsertRowSQL(h.Database, "s", 3, 10))
		for i, grant := range []string{"SELECT, UPDATE", "SELECT, INSERT, UPDATE"} {
			db := openPool(t, limitedUser(t, h, s, fmt.Sprintf("u%d_", i), grant))
			store := sequence.AutoCreate(namedStore(t, sequence.StrategyCAS, db), db, seedAbove(db, "SELECT 99"))
			r, err := get(t, sequencetest.Registry(store, sequence.Config{}), sequence.Name{Database: h.Database, Table: "s"}).Next(t.Context(), 1)
			if want := int64(3 + 10*i); err != nil || r.First != want {
				t.Errorf("%s: got %v, %v, want %d", grant, r, err, want)
			}
		}
	})
}

// limitedUser makes a user with just these rights on the database, and returns how to log in.
func limitedUser(t *testing.T, h sequencetest.Harness, s *servertest.Server, name, grant string) string {
	t.Helper()
	user := name + strings.TrimPrefix(h.Database, "test_")
	mustExec(t, h.Admin, "CREATE USER "+user+" IDENTIFIED BY 'x'", "GRANT "+grant+" ON "+h.Database+".* TO "+user)
	t.Cleanup(func() { mustExec(t, h.Admin, "DROP USER "+user) })
	cfg, err := mysql.ParseDSN(s.DSN(h.Database))
	if err != nil {
		t.Fatal(err)
	}
	cfg.User, cfg.Passwd = user, "x"
	return cfg.FormatDSN()
}

// MarkUsed and WasUsed know a sequence by its name, in any case.
func TestWasUsed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		db := openPool(t, s.DSN(h.Database))
		want := func(name string, want bool) {
			t.Helper()
			if used, err := sequence.WasUsed(t.Context(), db, h.Database, name); err != nil || used != want {
				t.Errorf("%s: got %v, %v, want %v", name, used, err, want)
			}
		}
		want("s", false)
		for range 2 {
			if err := sequence.MarkUsed(t.Context(), db, h.Database, `It's_Seq`); err != nil {
				t.Fatal(err)
			}
		}
		want("s", false)
		want(`it's_seq`, true)
		mustExec(t, h.Admin, "DROP TABLE "+sequence.UsedTable)
		want(`it's_seq`, false)
	})
}

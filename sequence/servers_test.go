package sequence_test

import (
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

var strategies = []string{sequence.StrategyForUpdate, sequence.StrategyCAS, sequence.StrategyIncrement}

func TestStores(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, strategy := range strategies {
			t.Run(strategy, func(t *testing.T) {
				t.Parallel()
				sequencetest.TestStore(t, func(t *testing.T) sequencetest.Harness { return harness(t, s, strategy) })
			})
		}
	})
}

func harness(tb testing.TB, s *servertest.Server, strategy string) sequencetest.Harness {
	database := s.NewDatabase(tb)
	return sequencetest.Harness{
		Addr: s.Addr, Database: database, Admin: s.Open(tb, database),
		Open: func(tb testing.TB, addr string) sequence.Store { return openStore(tb, s, addr, strategy) },
	}
}

// openStore returns a store with a pool of its own that reaches s by addr.
func openStore(tb testing.TB, s *servertest.Server, addr, strategy string) sequence.Store {
	tb.Helper()
	cfg, err := mysql.ParseDSN(s.DSN(""))
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Addr = addr
	cfg.ClientFoundRows = !s.IsMariaDB() // the stores must not care
	store, err := sequence.NewStore(strategy, openPool(tb, cfg.FormatDSN()))
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func openPool(tb testing.TB, dsn string) *sql.DB {
	tb.Helper()
	pool, err := sequence.OpenPool(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = pool.Close() })
	return pool
}

// Processes with different strategies share a row.
func TestStrategiesMixed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		if err := sequence.Seed(t.Context(), h.Admin, h.Database, "s", 1, 10); err != nil {
			t.Fatal(err)
		}
		var ids sequencetest.IDs
		var all sync.WaitGroup
		for range 2 {
			for _, strategy := range strategies {
				reg := sequencetest.Registry(openStore(t, s, s.Addr, strategy), sequence.Config{MaxStep: 20, Timeout: time.Minute})
				defer reg.Close(t.Context())
				seq := get(t, reg, sequence.Name{Database: h.Database, Table: "s"})
				all.Go(func() {
					for n := range int64(500) {
						if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1+n%30) }); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		all.Wait()
		ids.NoDuplicates(t)
	})
}

// Seed makes what is missing, raises what is behind, and leaves the rest.
func TestSeed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		pool := openPool(t, s.DSN(database))
		store := openStore(t, s, s.Addr, sequence.StrategyForUpdate)
		for _, step := range []struct {
			name                string
			next, cache         int64
			wantNext, wantCache int64
		}{
			{"nothing there", 100, 10, 100, 10},
			{"again", 100, 10, 100, 10},
			{"lower", 5, 10, 100, 10},
			{"higher, another cache", 200, 77, 200, 10},
		} {
			if err := sequence.Seed(t.Context(), pool, database, "odd`name", step.next, step.cache); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			var next, cache int64
			if err := pool.QueryRowContext(t.Context(), "SELECT next_id, cache FROM `odd``name`").Scan(&next, &cache); err != nil {
				t.Fatal(err)
			}
			if next != step.wantNext || cache != step.wantCache {
				t.Errorf("%s: got next_id %d, cache %d, want %d, %d", step.name, next, cache, step.wantNext, step.wantCache)
			}
		}
		res, err := store.Reserve(t.Context(), sequence.Request{Database: database, Table: "odd`name", Need: 1})
		if want := (sequence.Range{First: 200, N: 10}); err != nil || res.Range != want {
			t.Errorf("got %v, %v, want %v", res.Range, err, want)
		}
		if err := sequence.Seed(t.Context(), pool, "no_such_database", "s", 1, 10); err == nil || !strings.Contains(err.Error(), "no_such_database.s") {
			t.Errorf("got %v, want an error that names no_such_database.s", err)
		}
	})
}

func TestSeedSQL(t *testing.T) {
	got := []string{
		sequence.CreateTableSQL("d", "user_seq"), sequence.InsertRowSQL("d", "user_seq", 7, 1000), sequence.RaiseSQL("d", "user_seq", 9),
	}
	want := []string{
		"CREATE TABLE `d`.`user_seq` (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = InnoDB COMMENT 'vitess_sequence'",
		"INSERT INTO `d`.`user_seq` (id, next_id, cache) VALUES (0, 7, 1000)",
		"UPDATE `d`.`user_seq` SET next_id = GREATEST(next_id, 9) WHERE id = 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

// Whatever a server's default is, stores rely on REPEATABLE READ.
func TestPoolIsolation(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		var name, level string
		err := openPool(t, s.DSN("")).QueryRowContext(t.Context(),
			"SHOW SESSION VARIABLES WHERE variable_name IN ('tx_isolation', 'transaction_isolation')").Scan(&name, &level)
		if err != nil || level != "REPEATABLE-READ" {
			t.Errorf("got %s %s, %v, want REPEATABLE-READ", name, level, err)
		}
	}, "--transaction-isolation=READ-COMMITTED")
}

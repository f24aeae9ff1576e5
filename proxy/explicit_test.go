package proxy_test

import (
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// After an id of the client's own the sequence goes on above it, as a native
// AUTO_INCREMENT does, however the id was written.
func TestExplicitIDAdvances(t *testing.T) {
	t.Parallel()
	for name, insert := range map[string]string{
		"values":        "INSERT INTO t (id, v) VALUES (500, 1)",
		"many rows":     "INSERT INTO t VALUES (400, 1), (500, 2), (450, 3)",
		"set":           "INSERT INTO t SET v = 1, id = '500'",
		"replace":       "REPLACE INTO t (id, v) VALUES (500, 1)",
		"beside others": "INSERT INTO t (id, v) VALUES (NULL, 1), (500, 2)",
		"upsert":        "INSERT INTO t (id, v) VALUES (500, 1) ON DUPLICATE KEY UPDATE v = 2",
		"several texts": "INSERT INTO t (id, v) VALUES (500, 1); SET @a = 1",
	} {
		for _, column := range []string{"BIGINT PRIMARY KEY", "BIGINT PRIMARY KEY AUTO_INCREMENT"} {
			t.Run(name+" "+column, func(t *testing.T) {
				servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
					g := newGate(t, s, gateOptions{})
					c := conn(t, g.open(t, "multiStatements=true"))
					exec(t, c, "CREATE TABLE t (id "+column+", v INT)")
					createSequence(t, c, "t_seq", 1, 10)
					exec(t, c, "INSERT INTO t (v) VALUES (0)", insert, "INSERT INTO t (v) VALUES (9)")
					if got := value[int](t, c, "SELECT id FROM t WHERE v = 9"); got != 501 {
						t.Errorf("the id after 500 is %d, want 501", got)
					}
				})
			})
		}
	}
}

// A parameter of a prepared statement is an explicit id too; one that no row
// took is none.
func TestExplicitParameterAdvances(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT UNIQUE)")
		createSequence(t, c, "t_seq", 1, 10)
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO t (id, v) VALUES (?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for _, row := range []struct{ id, v, want any }{{nil, 1, 1}, {700, 2, 700}, {nil, 3, 701}, {-5, 4, -5}, {0, 5, 702}} {
			if _, err := stmt.ExecContext(t.Context(), row.id, row.v); err != nil {
				t.Fatal(err)
			}
			if got := value[int](t, c, "SELECT id FROM t WHERE v = ?", row.v); got != row.want {
				t.Errorf("id given as %v: got %d, want %v", row.id, got, row.want)
			}
		}
		if _, err := stmt.ExecContext(t.Context(), 9000, 1); errno(err) != 1062 {
			t.Fatalf("a row that is there already: got %v, want error 1062", err)
		}
		exec(t, c, "INSERT INTO t (v) VALUES (6)")
		if got := value[int](t, c, "SELECT id FROM t WHERE v = 6"); got != 703 {
			t.Errorf("after an INSERT that failed: got id %d, want 703", got)
		}
	})
}

// The row is raised in the background, so that other seqgates and a later start
// see it.
func TestExplicitIDRaisesTheRow(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
		createSequence(t, c, "t_seq", 1, 10)
		exec(t, c, "INSERT INTO t (id, v) VALUES (1000, 1)")
		eventually(t, func() bool { return value[int](t, c, "SELECT next_id FROM t_seq") >= 1001 }, "the row is raised above 1000")
	})
}

// on_explicit_id: ignore leaves the sequence alone, as Vitess does; warn does so
// too.
func TestExplicitIDIgnored(t *testing.T) {
	for _, policy := range []catalog.ExplicitPolicy{catalog.ExplicitIgnore, catalog.ExplicitWarn} {
		t.Run(string(policy), func(t *testing.T) {
			servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
				g := newGate(t, s, gateOptions{onExplicit: policy})
				c := conn(t, g.open(t, ""))
				exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
				createSequence(t, c, "t_seq", 1, 10)
				exec(t, c, "INSERT INTO t (v) VALUES (1)", "INSERT INTO t (id, v) VALUES (3, 2)", "INSERT INTO t (v) VALUES (3)")
				if _, err := c.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (4)"); errno(err) != 1062 {
					t.Errorf("the sequence at the client's own id: got %v, want error 1062", err)
				}
				exec(t, c, "INSERT INTO t (id, v) VALUES (50, 5)")
				if got, want := g.logged("brought an id above"), policy == catalog.ExplicitWarn; got != want {
					t.Errorf("a warning in the log: %v, want %v", got, want)
				}
			})
		})
	}
}

// A row with an explicit id may be there though its answer was lost.
func TestExplicitIDWithoutAnswer(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		cutter := sequencetest.NewProxy(t, s.Addr)
		g := newGate(t, s, gateOptions{via: cutter.Addr(), tlsMode: backend.TLSDisabled})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
		createSequence(t, g.direct, "t_seq", 1, 10)
		db := g.open(t, "")
		exec(t, db, "INSERT INTO t (v) VALUES (0)")
		cutter.CutNext(sequencetest.CutUnanswered, "INSERT")
		if _, err := db.ExecContext(t.Context(), "INSERT INTO t (id, v) VALUES (5, 1)"); err == nil {
			t.Fatal("the cut INSERT has an answer")
		}
		eventually(t, func() bool { return value[int](t, g.direct, "SELECT COUNT(*) FROM t WHERE id = 5") == 1 }, "the row is there")
		for range 9 {
			exec(t, db, "INSERT INTO t (v) VALUES (2)")
		}
	})
}

// eventually waits until a condition holds.
func eventually(t *testing.T, holds func() bool, what string) {
	t.Helper()
	await(t, what, holds)
}

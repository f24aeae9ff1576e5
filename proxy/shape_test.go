package proxy_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// shapeCount is what SHOW SEQGATE STATEMENTS says of a statement, without its times.
type shapeCount struct {
	text, keyspace      string
	calls, failed, rows int64
}

func shapeCounts(t *testing.T, q *sql.Conn) (all []shapeCount) {
	t.Helper()
	rows, err := q.QueryContext(t.Context(), "SHOW SEQGATE STATEMENTS")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var c shapeCount
		var total, p50, p99 int64
		if err := rows.Scan(&c.text, &c.keyspace, &c.calls, &c.failed, &c.rows, &total, &p50, &p99); err != nil {
			t.Fatal(err)
		}
		if total <= 0 || p50 <= 0 || p99 < p50 {
			t.Errorf("%s took %d µs, p50 %d, p99 %d", c.text, total, p50, p99)
		}
		all = append(all, c)
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	slices.SortFunc(all, func(a, b shapeCount) int { return strings.Compare(a.text, b.text) })
	return all
}

// awaitShapes waits until the statements were counted that are wanted, which is when their answers were sent.
func awaitShapes(t *testing.T, c *sql.Conn, want []shapeCount) {
	t.Helper()
	diff := ""
	defer func() {
		if diff != "" {
			t.Error(diff)
		}
	}()
	awaitWithin(t, 10*time.Second, "the statements", func() bool {
		got := shapeCounts(t, c)
		got = slices.DeleteFunc(got, func(c shapeCount) bool { return c.text == "SHOW SEQGATE STATEMENTS" })
		diff = cmp.Diff(want, got, cmp.AllowUnexported(shapeCount{}))
		return diff == ""
	})
}

// Statements are counted by their shapes, as text and prepared, on one server and on shards; each user sees the own ones.
func TestStatementShapes(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		var slow time.Duration
		if s.IsMariaDB() {
			slow = time.Hour // both at once, and alone
		}
		configure := func(c *proxy.Config) {
			c.StatementShapes, c.SlowStatement = 7, slow // with that of SHOW SEQGATE STATEMENTS
			c.Users = append(c.Users, proxy.User{Name: "other", Password: "other"})
		}
		g := newGate(t, s, gateOptions{configure: configure})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))")
		c := conn(t, g.open(t, "interpolateParams=true"))
		exec(t, c, "INSERT INTO t (v) VALUES ('MARKER'), ('MARKER')", "INSERT INTO t (v) VALUES ('MARKER')")
		fails(t, c, 1054, "", "SELECT nosuch FROM t WHERE v = 'MARKER'")
		texts(t, c, "SELECT v FROM t WHERE id < 100")
		texts(t, c, "SELECT v FROM t WHERE id < 3")

		prepared := conn(t, g.open(t, ""))
		stmt, err := prepared.PrepareContext(t.Context(), "SELECT id FROM t WHERE v = ?")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stmt.Close() }()
		for range 2 {
			rows, err := stmt.QueryContext(t.Context(), "MARKER")
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
			}
			if err := rows.Err(); err != nil {
				t.Error(err)
			}
		}
		want := []shapeCount{
			{"INSERT INTO t(v) VALUES(?)", "main", 2, 0, 0}, {"SELECT id FROM t WHERE v = ?", "main", 2, 0, 6},
			{"SELECT nosuch FROM t WHERE v = ?", "main", 1, 1, 0}, {"SELECT v FROM t WHERE id < ?", "main", 2, 0, 5},
		}
		awaitShapes(t, c, want)
		other := conn(t, openDSN(t, fmt.Sprintf("other:other@tcp(%s)/%s", g.addr, g.database)))
		exec(t, other, "DO 1", "DO 1, RAND()", "DO RAND()", "DO RAND(1), 2", "DO 5") // two of the shapes have room
		awaitShapes(t, other, []shapeCount{{"(all others)", "", 2, 0, 0}, {"DO ?", "main", 2, 0, 0}, {"DO ?, RAND()", "main", 1, 0, 0}})
	})
}

// In front of shards, rows are those that the servers sent.
func TestStatementShapesOfShards(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{configure: func(c *proxy.Config) { c.StatementShapes = 100 }})
		c := conn(t, g.open(t, "customer", "interpolateParams=true"))
		exec(t, c, "INSERT INTO user (name) VALUES ('MARKER1'), ('MARKER2'), ('MARKER3')")
		texts(t, c, "SELECT name FROM user WHERE name LIKE 'MARKER%'")
		prepared := conn(t, g.open(t, "customer", ""))
		if got, err := prepared.QueryContext(t.Context(), "SELECT name FROM user WHERE id > ?", 0); err != nil {
			t.Error(err)
		} else if err := got.Close(); err != nil {
			t.Error(err)
		}
		want := []shapeCount{{"INSERT INTO user(name) VALUES(?)", "customer", 1, 0, 0},
			{"SELECT name FROM user WHERE id > ?", "customer", 1, 0, 3}, {"SELECT name FROM user WHERE name LIKE ?", "customer", 1, 0, 3}}
		awaitShapes(t, c, want)
	})
}

// A shape holds no value either where a SET decides how the text reads that seqgate has not followed yet.
func TestShapesHoldNoValues(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		configure := func(c *proxy.Config) { c.StatementShapes, c.SlowStatement = 100, time.Nanosecond }
		holds := func(t *testing.T, g *gate, c *sql.Conn, calls int) {
			t.Helper()
			await(t, "the shapes", func() bool { return len(shapeCounts(t, c)) >= calls })
			for _, shape := range shapeCounts(t, c) {
				if strings.Contains(shape.text, "MARKER") {
					t.Errorf("the shape %s holds a value", shape.text)
				}
			}
			for _, line := range g.slowLines() {
				if strings.Contains(line, "MARKER") {
					t.Errorf("the slow log holds a value: %s", line)
				}
			}
		}
		t.Run("several statements", func(t *testing.T) {
			g := newGate(t, s, gateOptions{configure: configure})
			exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))")
			createSequence(t, g.direct, "t_seq", 1, 10)
			c := conn(t, g.open(t, "multiStatements=true"))
			exec(t, c, "SET sql_mode = 'ANSI_QUOTES'", "INSERT INTO t (v) VALUES ('a\"b')", `SET sql_mode = ''; SELECT v FROM t WHERE v = "MARKER"`)
			holds(t, g, c, 3)
		})
		t.Run("another shard", func(t *testing.T) {
			g := newShardedGate(t, s, 2, gateOptions{configure: configure})
			c := conn(t, g.open(t, "customer", ""))
			exec(t, c, "SET sql_mode = 'ANSI_QUOTES'", "INSERT INTO user (name) VALUES ('a\"b')")
			texts(t, c, `SELECT name FROM user WHERE name = 'a"b'`)
			exec(t, c, "USE main", "SET sql_mode = ''")
			texts(t, c, `SELECT "MARKER"`)
			holds(t, g.gate, c, 6)
		})
	})
}

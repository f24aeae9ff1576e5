package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// looksAtLastID are ways in which a statement may come by LAST_INSERT_ID(), each with a query that tells what it saw.
var looksAtLastID = []struct {
	name, stmt, query string
	args              []any
}{
	{name: "SELECT", query: "SELECT LAST_INSERT_ID()"},
	{name: "an expression", query: "SELECT LAST_INSERT_ID() + 0"},
	{name: "@@identity", query: "SELECT @@identity"},
	{name: "@@last_insert_id", query: "SELECT @@last_insert_id"},
	{name: "a stored function", query: "SELECT f()"},
	{name: "prepared", query: "SELECT LAST_INSERT_ID() + ?", args: []any{0}},
	{name: "a foreign key", stmt: "INSERT INTO child VALUES (%d, LAST_INSERT_ID())", query: "SELECT parent FROM child WHERE k = %d"},
	{name: "a foreign key by a trigger", stmt: "INSERT INTO child (k) VALUES (%d)", query: "SELECT parent FROM child WHERE k = %d"},
	{name: "a foreign key in a sequenced table", stmt: "INSERT INTO t (v) VALUES (LAST_INSERT_ID())", query: "SELECT MAX(v) FROM t"},
	{name: "UPDATE", stmt: "UPDATE seen SET v = LAST_INSERT_ID()", query: "SELECT v FROM seen"},
	{name: "CALL", stmt: "CALL p()", query: "SELECT v FROM seen"},
	{name: "DO", stmt: "DO 1", query: "SELECT LAST_INSERT_ID()"},
}

// A session whose connection to its server was lost while it was idle sees the LAST_INSERT_ID() from before, or an error,
// whichever statement looks first.
func TestLastIDAfterLoss(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v BIGINT)",
			"CREATE TABLE child (k INT PRIMARY KEY, parent BIGINT)", "CREATE TABLE seen (v BIGINT)", "INSERT INTO seen VALUES (0)",
			"CREATE TRIGGER child_parent BEFORE INSERT ON child FOR EACH ROW SET NEW.parent = LAST_INSERT_ID()",
			"CREATE FUNCTION f() RETURNS BIGINT DETERMINISTIC RETURN LAST_INSERT_ID()",
			"CREATE PROCEDURE p() UPDATE seen SET v = LAST_INSERT_ID()")
		createSequence(t, g.direct, "t_seq", 1000, 100)
		key, unseen := 0, 0
		for _, look := range looksAtLastID {
			t.Run(look.name, func(t *testing.T) {
				for range 3 {
					key++
					c := conn(t, g.open(t, ""))
					want := insertID(t, c, "INSERT INTO t (v) VALUES (1)")
					g.killIdle(t, c)
					stmt, query := numberOf(look.stmt, key), numberOf(look.query, key)
					var err error
					if look.stmt != "" {
						_, err = c.ExecContext(t.Context(), stmt)
					}
					var got int64
					if err == nil {
						err = c.QueryRowContext(t.Context(), query, look.args...).Scan(&got)
					}
					switch {
					case err == nil && got != want:
						t.Errorf("%s; %s: got %d, want %d or an error", stmt, query, got, want)
					case err == nil:
						unseen++
					case errno(err) != 1158:
						t.Error(err)
					}
					if look.stmt != "" {
						continue // it may have set another one; and a CALL that is cut ends the session
					}
					if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != want {
						t.Errorf("then: got %d, want %d", got, want)
					}
				}
			})
		}
		if unseen == 0 {
			t.Error("no session went on unseen")
		}
	})
}

// numberOf puts a number into a text that has a place for one.
func numberOf(text string, n int) string {
	if !strings.Contains(text, "%d") {
		return text
	}
	return fmt.Sprintf(text, n)
}

// insertID runs an INSERT and gives the insert id that it tells.
func insertID(t *testing.T, c execer, stmt string) int64 {
	t.Helper()
	result, err := c.ExecContext(t.Context(), stmt)
	if err != nil {
		t.Fatal(err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// killIdle ends the server's side of an idle session, and waits for that.
func (g *gate) killIdle(t *testing.T, c *sql.Conn) {
	t.Helper()
	id := value[int64](t, c, "SELECT CONNECTION_ID()")
	exec(t, g.direct, fmt.Sprintf("KILL %d", id))
	await(t, "the end of the session at its server", func() bool {
		return value[int](t, g.direct, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE ID = %d", servertest.Processlist, id)) == 0
	})
}

// A session whose LAST_INSERT_ID() was not known does not go on with another one after a loss that it was told of.
func TestUnknownLastIDAfterLoss(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE native (id BIGINT PRIMARY KEY AUTO_INCREMENT, v BIGINT)", "CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT)")
		createSequence(t, g.direct, "t_seq", 1000, 100)
		for name, tt := range map[string]struct {
			before, cut string
			known       bool
		}{
			"not known":                   {"INSERT INTO native (v) VALUES (1)", "SELECT SLEEP(30)", false},
			"not known, set by a SELECT":  {"SELECT LAST_INSERT_ID(5)", "SELECT SLEEP(30)", false},
			"known":                       {"INSERT INTO t (v) VALUES (1)", "SELECT SLEEP(30)", true},
			"known, and an INSERT is cut": {"INSERT INTO t (v) VALUES (1)", "INSERT INTO native (v) SELECT SLEEP(30)", true},
		} {
			t.Run(name, func(t *testing.T) {
				c := conn(t, g.open(t, ""))
				want := int64(5)
				if strings.HasPrefix(tt.before, "INSERT") {
					want = insertID(t, c, tt.before)
				} else {
					exec(t, c, tt.before)
				}
				g.cut(t, c, tt.cut)
				var got int64
				err := c.QueryRowContext(t.Context(), "SELECT LAST_INSERT_ID()").Scan(&got)
				if err == nil && got != want || tt.known && err != nil {
					t.Errorf("got %d, %v, want %d", got, err, want)
				}
			})
		}
	})
}

// cut ends the server's side of a session while a statement is under way.
func (g *gate) cut(t *testing.T, c *sql.Conn, stmt string) {
	t.Helper()
	id := value[int64](t, c, "SELECT CONNECTION_ID()")
	lost := make(chan error, 1)
	go func() {
		_, err := c.ExecContext(t.Context(), stmt)
		lost <- err
	}()
	await(t, "the statement's begin", func() bool {
		return value[int](t, g.direct, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE ID = %d AND INFO LIKE '%%SLEEP%%'", servertest.Processlist, id)) == 1
	})
	exec(t, g.direct, fmt.Sprintf("KILL %d", id))
	if err := <-lost; err == nil {
		t.Fatal("the statement was not cut")
	}
}

// What the statement before has left, and variables that an INSERT has set, are not taken from another connection.
func TestLeftAfterLoss(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT)")
		createSequence(t, g.direct, "t_seq", 1000, 100)
		for i, tt := range []struct{ before, look, want string }{
			{"INSERT INTO t (v) VALUES (1), (2)", "SELECT CONCAT(ROW_COUNT())", "2"},
			{"SELECT 1 UNION SELECT 2", "SELECT CONCAT(FOUND_ROWS())", "2"},
			{"INSERT INTO t (v) VALUES (@v := 5)", "SELECT @v", "5"},
			{"INSERT INTO t (v) VALUES (GET_LOCK('seqgate_left', 9))", "SELECT CONCAT(IS_USED_LOCK('seqgate_left') = CONNECTION_ID())", "1"},
		} {
			t.Run(tt.look, func(t *testing.T) {
				for range 3 {
					c := conn(t, g.open(t, ""))
					id := value[int64](t, c, "SELECT CONNECTION_ID()")
					exec(t, c, tt.before)
					exec(t, g.direct, fmt.Sprintf("KILL %d", id))
					await(t, "the end of the session at its server", func() bool {
						return value[int](t, g.direct, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE ID = %d", servertest.Processlist, id)) == 0
					})
					var got sql.NullString
					if err := c.QueryRowContext(t.Context(), tt.look).Scan(&got); err == nil && got.String != tt.want {
						t.Errorf("%d: %s: got %q, want %q or an error", i, tt.look, got.String, tt.want)
					}
				}
			})
		}
	})
}

// The same in front of shards: whichever connection was lost, the LAST_INSERT_ID() that is seen is the session's.
func TestRoutedLastIDAfterLoss(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		for range 2 {
			for _, look := range []string{"SELECT LAST_INSERT_ID()", "SELECT @@identity", "SELECT LAST_INSERT_ID() FROM user WHERE n = 7 LIMIT 1",
				"SELECT LAST_INSERT_ID() FROM ref UNION SELECT LAST_INSERT_ID()"} {
				c := conn(t, g.open(t, "customer", ""))
				exec(t, c, "INSERT INTO user (n) VALUES (7), (7), (7), (7), (7), (7), (7), (7)")
				want := insertID(t, c, "INSERT INTO user (n) VALUES (7)")
				loseConns(t, g)
				var got int64
				if err := c.QueryRowContext(t.Context(), look).Scan(&got); err == nil && got != want {
					t.Errorf("%s: got %d, want %d or an error", look, got, want)
				}
				if err := c.QueryRowContext(t.Context(), look).Scan(&got); err == nil && got != want {
					t.Errorf("%s once more: got %d, want %d or an error", look, got, want)
				}
			}
		}
	})
}

// What sets LAST_INSERT_ID() is told apart from what only reads it.
func TestSetsLastID(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT)")
		createSequence(t, g.direct, "t_seq", 1000, 100)
		for _, set := range []string{"SELECT LAST_INSERT_ID(5), LAST_INSERT_ID()", "SELECT last_insert_id /* */ (2 + 3)", "SELECT LAST_INSERT_ID(/* 1 */ 5)",
			"UPDATE t SET v = Last_Insert_Id( 5 ) LIMIT 1", "SELECT @@last_insert_id, LAST_INSERT_ID(5)"} {
			c := conn(t, g.open(t, ""))
			exec(t, c, "INSERT INTO t (id, v) VALUES (1, 1) ON DUPLICATE KEY UPDATE v = v + 1", set)
			_, _ = c.ExecContext(t.Context(), "INSERT INTO t (v, id) SELECT 1, 1") // fails
			if got := value[int64](t, c, "SELECT LAST_INSERT_ID() + 0"); got != 5 {
				t.Errorf("%s: then %d, want 5", set, got)
			}
		}
	})
}

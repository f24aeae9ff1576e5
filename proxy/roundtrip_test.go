package proxy_test

import (
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A filled INSERT costs the server one statement, as a native one does: what
// seqgate asks for itself is asked once.
func TestStatementsPerInsert(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
		createSequence(t, c, "t_seq", 1, 1000)
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO t (v) VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		questions := func() int {
			var name string
			var n int
			if err := c.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		exec(t, c, "INSERT INTO t (v) VALUES (0)")
		before := questions()
		const inserts = 20
		for i := range inserts {
			exec(t, c, fmt.Sprintf("INSERT INTO t (v) VALUES (%d)", i))
			if _, err := stmt.ExecContext(t.Context(), i); err != nil {
				t.Fatal(err)
			}
		}
		if got := questions() - before - 1; got > 2*inserts {
			t.Errorf("%d statements at the server for %d inserts", got, 2*inserts)
		}
	})
}

// An INSERT that reads what the statement before it left behind gets that, also
// when it is the first one of a session or follows a SET.
func TestRowCountInInsert(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0)",
			"CREATE TABLE audit (n INT, id BIGINT PRIMARY KEY AUTO_INCREMENT)")
		c := conn(t, g.open(t, ""))
		for _, setting := range []string{"DO 1", "SET sql_mode = ''", "SET NAMES utf8mb4"} {
			exec(t, c, setting, "UPDATE t SET v = v + 1", "INSERT INTO audit (n) VALUES (ROW_COUNT())")
			if got := value[int](t, g.direct, "SELECT n FROM audit ORDER BY id DESC LIMIT 1"); got != 3 {
				t.Errorf("after %s: ROW_COUNT() is %d, want 3", setting, got)
			}
		}
	})
}

package proxy_test

import (
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A filled INSERT costs the server one statement, as a native one does: what
// seqgate asks for itself is asked once.
func TestStatementsPerInsert(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
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

package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// Values are for accounts that may use the sequence's table, by any of the privileges that let them write to it or refer to
// it. Who may not is refused with the server's number, whatever the form.
func TestNextValueNeedsRight(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)", "CREATE TABLE mine (a INT)")
		createSequence(t, g.direct, "s", 1, 10)
		suffix := strings.TrimPrefix(g.database, "test_")[:8]
		login := func(name string, grants ...string) string {
			user := name + suffix
			exec(t, g.direct, "CREATE USER "+user+" IDENTIFIED BY 'pw'", "GRANT ALL ON "+g.database+".mine TO "+user)
			t.Cleanup(func() { _, _ = g.direct.Exec("DROP USER " + user) }) // the server may end before
			for _, grant := range grants {
				exec(t, g.direct, "GRANT "+grant+" TO "+user)
			}
			return fmt.Sprintf("%s:pw@tcp(%s)/%s?tls=skip-verify", user, g.addr, g.database)
		}
		forms := []string{"SELECT NEXT VALUE FROM s", "SELECT NEXT 3 VALUES FROM s", "SELECT NEXTVAL(s)", "SELECT s.nextval", "SET @x = NEXTVAL(s)",
			"INSERT INTO mine VALUES (NEXTVAL(s))"}
		for name, grants := range map[string][]string{"nobody": nil, "reads": {"SELECT ON " + g.database + ".*"}} {
			c := conn(t, openDSN(t, login(name, grants...)))
			for _, form := range forms {
				fails(t, c, 1142, "GRANT REFERENCES ON `"+g.database+"`.`s`", form)
			}
			if _, err := c.ExecContext(t.Context(), "SELECT NEXT ? VALUES FROM s", 2); errno(err) != 1142 {
				t.Errorf("%s, prepared: %v, want 1142", name, err)
			}
			if got := value[int64](t, g.direct, "SELECT next_id FROM s"); got != 1 {
				t.Errorf("%s has moved the sequence to %d", name, got)
			}
		}
		for name, grant := range map[string]string{"refers": "REFERENCES ON " + g.database + ".s", "inserts": "INSERT ON " + g.database + ".*",
			"updates": "UPDATE ON " + g.database + ".s"} {
			dsn := login(name, grant)
			for _, begin := range []string{"DO 0", "START TRANSACTION", "SET autocommit = 0", "SET SESSION TRANSACTION READ ONLY"} {
				c := conn(t, openDSN(t, dsn))
				exec(t, c, begin, "SELECT NEXT VALUE FROM s", "SELECT NEXTVAL(s)")
				if _, err := c.ExecContext(t.Context(), "SELECT NEXT ? VALUES FROM s", 2); err != nil {
					t.Errorf("%s after %s, prepared: %v", name, begin, err)
				}
			}
		}
		// What was refused is asked again; what was allowed costs no more statements.
		late := login("late")
		c := conn(t, openDSN(t, late))
		fails(t, c, 1142, "denied", forms[0])
		exec(t, g.direct, "GRANT REFERENCES ON "+g.database+".s TO late"+suffix)
		exec(t, c, forms[0])
		questions := func() (n int64) {
			t.Helper()
			var name string
			if err := c.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := questions()
		for range 20 {
			exec(t, c, "SELECT NEXT VALUE FROM s")
		}
		if n := questions() - before; n != 1 {
			t.Errorf("20 values cost the session %d statements, want none", n-1)
		}
	})
}

// The look at the rights does not fix what a transaction sees, for an account that may write to the sequence.
func TestRightLeavesSnapshot(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		exec(t, g.direct, "CREATE TABLE seen (a INT)")
		c := conn(t, g.open(t, ""))
		exec(t, c, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION", "SELECT NEXT VALUE FROM s")
		exec(t, g.direct, "INSERT INTO seen VALUES (1)")
		if got := value[int64](t, c, "SELECT COUNT(*) FROM seen"); got != 1 {
			t.Errorf("the transaction sees %d rows, want 1", got)
		}
	})
}

// A statement asks for no more values than sequences.max_n. Rows get as many as there are.
func TestMaxValues(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{configure: func(cfg *proxy.Config) { cfg.MaxValues = 5 }})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)")
		createSequence(t, c, "t_seq", 1, 10)
		exec(t, c, "SELECT NEXT 5 VALUES FROM t_seq")
		fails(t, c, 1210, "raise sequences.max_n", "SELECT NEXT 6 VALUES FROM t_seq")
		for n, want := range map[int]uint16{5: 0, 6: 1210, 1_000_000_000: 1210} {
			if _, err := c.ExecContext(t.Context(), "SELECT NEXT ? VALUES FROM t_seq", n); errno(err) != want {
				t.Errorf("prepared, %d values: %v, want %d", n, err, want)
			}
		}
		if got := value[int64](t, g.direct, "SELECT next_id FROM t_seq"); got > 100 {
			t.Errorf("next_id is %d: a refused statement took values", got)
		}
		exec(t, c, "INSERT INTO t (n) VALUES (1), (2), (3), (4), (5), (6), (7), (8)")
		if got := value[int64](t, c, "SELECT COUNT(DISTINCT id) FROM t"); got != 8 {
			t.Errorf("%d rows have ids of their own, want 8", got)
		}
	})
}

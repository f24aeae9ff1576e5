package proxy_test

import (
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Calls of sequences in a prepared INSERT that is run in another way than others.
func TestCallsInPreparedQuery(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		exec(t, g.direct, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
		c := conn(t, g.open(t, ""))
		exec(t, c, "INSERT INTO u (id, v) VALUES (77, 'x')", "SELECT NEXTVAL(s)")
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO u (v) SELECT CONCAT(v, LASTVAL(s)) FROM t WHERE id > ?")
		if err == nil {
			_, err = stmt.ExecContext(t.Context(), 0)
			_ = stmt.Close()
		}
		checkErrno(t, err, mysql.ER_NOT_SUPPORTED_YET)
		if got := g.rowsOf(t, "u"); got != "77/x" {
			t.Errorf("rows %s", got)
		}
	})
}

// A text of several statements is answered whole after a command that failed.
func TestSeveralAfterFailure(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		c := conn(t, g.open(t, "multiStatements=true"))
		if _, err := c.ExecContext(t.Context(), "SELECT nosuch"); err == nil {
			t.Fatal("no error")
		}
		rows, err := c.QueryContext(t.Context(), "SELECT NEXTVAL(s); SELECT 42")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		var got []int
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				var n int
				if err := rows.Scan(&n); err != nil {
					t.Fatal(err)
				}
				got = append(got, n)
			}
		}
		if err := rows.Err(); err != nil || len(got) != 2 || got[0] != 1 || got[1] != 42 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// A PREPARE that fails leaves no statement in the server.
func TestFailedPrepareLeavesNothing(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		_, err := c.ExecContext(t.Context(), "PREPARE p FROM 'INSERT INTO users (u) VALUES (?)"+strings.Repeat(", (?)", 40000)+"'")
		checkErrno(t, err, mysql.ER_PS_MANY_PARAM)
		await(t, "the end of all prepared statements", func() bool {
			var name string
			var count int
			if err := g.direct.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'").Scan(&name, &count); err != nil {
				t.Fatal(err)
			}
			return count == 0
		})
	})
}

// A command that seqgate makes of the client's may take another number of packets.
func TestPacketNumbersOfComposed(t *testing.T) {
	t.Parallel()
	const whole = 1<<24 - 1
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		exec(t, g.direct, "SET GLOBAL max_allowed_packet = 64 << 20")
		c := conn(t, g.open(t, "maxAllowedPacket=0"))
		begin, end := "SELECT NEXTVAL(s), LENGTH('", "')"
		var id, length int
		size := whole - len(begin) - len(end) - 5
		if err := c.QueryRowContext(t.Context(), begin+strings.Repeat("x", size)+end).Scan(&id, &length); err != nil || id != 1 || length != size {
			t.Errorf("%d, %d, %v", id, length, err)
		}
		if _, err := c.ExecContext(t.Context(), "PREPARE p FROM 'INSERT INTO u (v) VALUES (1)' /* "+strings.Repeat("x", whole+1000)+" */"); err != nil {
			t.Fatal(err)
		}
		exec(t, c, "EXECUTE p")
		if got := g.rowsOf(t, "u"); got != "9000/1" {
			t.Errorf("rows %s", got)
		}
	})
}

// ROW_COUNT() in an INSERT is that of the statement before, or it is refused.
func TestRowCountInFilledInsert(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE other (a INT)", "INSERT INTO other VALUES (1), (2), (3)", "INSERT INTO users (id, u) VALUES (5, 'x')", "UPDATE other SET a = a + 1")
		if _, err := c.ExecContext(t.Context(), "INSERT INTO users (u) VALUES (ROW_COUNT())"); errno(err) == mysql.ER_NOT_SUPPORTED_YET {
			g.checkUsers(t, "5/x")
			return
		}
		g.checkUsers(t, "5/x,1000000/3")
	})
}

package proxy_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// An error of seqgate's own is told by all that tell of errors, as one of the server's.
func TestLeftByOwnErrors(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20))", "CREATE TABLE `t'é` (id INT)")
		createSequence(t, g.direct, "t_seq", 1000, 100)
		c := conn(t, g.open(t, ""))
		const refused = "INSERT INTO t (id, u) VALUES (1 + RAND(), 'it''s \\ é')"
		for _, tt := range []struct{ before, look, want string }{
			{"", "SHOW WARNINGS", "{Error true} {1235 true} {seqgate does not yet support"},
			{"", "SHOW ERRORS", "{Error true} {1235 true} {seqgate does not yet support"},
			{"", "SELECT ROW_COUNT()", "ROW_COUNT(): [{-1 true}]"},
			{"", "SELECT @@error_count", "@@error_count: [{1 true}]"},
			{"GET DIAGNOSTICS CONDITION 1 @e = MYSQL_ERRNO, @s = RETURNED_SQLSTATE", "SELECT @e, @s", "[{1235 true} {42000 true}]"},
			{"SELECT 1 FROM t", "SHOW WARNINGS", "Level,Code,Message: "},
		} {
			if _, err := c.ExecContext(t.Context(), refused); errno(err) != 1235 {
				t.Fatalf("%s: %v, want error 1235", refused, err)
			}
			if tt.before != "" {
				exec(t, c, tt.before)
			}
			if got := rowsText(t, c, tt.look); !strings.Contains(got, tt.want) || tt.before != "" && strings.Contains(got, "seqgate") {
				t.Errorf("%s; %s: got %s, want %s", tt.before, tt.look, got, tt.want)
			}
		}
	})
}

// What an execution has left whose values were sent ahead (COM_STMT_SEND_LONG_DATA) is not that of seqgate's own reset.
func TestLeftByLongData(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE, x BLOB)")
		createSequence(t, g.direct, "t_seq", 1000, 100)
		dsn, err := mysql.ParseDSN(g.dsn(""))
		if err != nil {
			t.Fatal(err)
		}
		dsn.MaxAllowedPacket = 4096 // what is longer than a part of it, the driver sends ahead
		c := conn(t, openDSN(t, dsn.FormatDSN()))
		p, err := c.PrepareContext(t.Context(), "INSERT IGNORE INTO t (id, u, x) VALUES (?, ?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for i, tt := range []struct {
			id   any
			u    string
			rows int
			warn string
		}{{nil, "a", 1, ""}, {7, "b", 1, ""}, {nil, "a", 0, "1062"}, {nil, "c", 1, ""}, {8, "c", 0, "1062"}} {
			x := bytes.Repeat([]byte{byte('0' + i)}, 3000)
			if _, err := p.ExecContext(t.Context(), tt.id, tt.u, x); err != nil {
				t.Fatal(err)
			}
			if got := value[int](t, c, "SELECT ROW_COUNT()"); got != tt.rows {
				t.Errorf("row %d: ROW_COUNT() is %d, want %d", i, got, tt.rows)
			}
			if _, err := p.ExecContext(t.Context(), tt.id, tt.u, x); err != nil {
				t.Fatal(err)
			}
			if got := rowsText(t, c, "SHOW WARNINGS"); !strings.Contains(got, "1062") {
				t.Errorf("row %d again: %s", i, got)
			}
		}
		if got := value[string](t, g.direct, "SELECT GROUP_CONCAT(CONCAT(u, LEFT(x, 1), LENGTH(x)) ORDER BY u) FROM t"); got != "a03000,b13000,c33000" {
			t.Error(fmt.Sprint("the rows are ", got))
		}
	})
}

package proxy_test

import (
	"database/sql"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// What a client asks of an INSERT in one SELECT is what it is natively, but for SHOW WARNINGS
// behind that SELECT on MySQL (docs/insert-ids.md, "Limits").
func TestAskedTogether(t *testing.T) {
	tests := []struct {
		name, stmt string
		args       []any
	}{
		{"failed", "INSERT INTO t (u) VALUES ('a')", nil},
		{"failed, prepared", "INSERT INTO t (u) VALUES (?)", []any{"a"}},
		{"ignored", "INSERT IGNORE INTO t (u) VALUES ('a'), ('b')", nil},
		{"ignored, prepared", "INSERT IGNORE INTO t (u) VALUES (?), (?)", []any{"a", "b"}},
		{"updated", "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = n + 1", nil},
		{"updated, prepared", "INSERT INTO t (u) VALUES (?) ON DUPLICATE KEY UPDATE n = n + 1", []any{"a"}},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		native := openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))
		for _, c := range []*sql.DB{native, g.direct} {
			exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0)", "INSERT INTO t (u) VALUES ('a'), ('b')")
		}
		createSequence(t, g.direct, "t_seq", 100, 10)
		a, b := conn(t, native), conn(t, g.open(t, ""))
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				ask := func(c *sql.Conn) (got [6]int64) {
					value[int64](t, c, "SELECT LAST_INSERT_ID(777)")
					_, err := c.ExecContext(t.Context(), tt.stmt, tt.args...)
					got[0] = int64(errno(err))
					const all = "SELECT ROW_COUNT(), LAST_INSERT_ID(), @@warning_count, FOUND_ROWS()"
					if err := c.QueryRowContext(t.Context(), all).Scan(&got[1], &got[2], &got[3], &got[4]); err != nil {
						t.Fatal(err)
					}
					got[5] = countRows(t.Context(), t, c, "SHOW WARNINGS")
					return got
				}
				want, got := ask(a), ask(b)
				if !s.IsMariaDB() {
					want[5] = 0 // the counts are written into the statement: MySQL takes it for one that clears warnings
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("error, ROW_COUNT(), LAST_INSERT_ID(), warnings, FOUND_ROWS(), SHOW WARNINGS (-native +seqgate):\n%s", diff)
				}
			})
		}
	})
}

// MariaDB's INSERT DELAYED of ids that seqgate gives.
func TestInsertDelayed(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MySQL takes DELAYED for nothing")
		}
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE users (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20)) ENGINE=MyISAM")
		createSequence(t, g.direct, "users_seq", firstID, 10)
		c := conn(t, g.open(t, ""))
		exec(t, c, "INSERT DELAYED INTO users (u) VALUES ('a'), ('b')", "INSERT DELAYED INTO users VALUES (0, 'c')", "FLUSH TABLES users")
		eventually(t, func() bool { return value[int](t, g.direct, "SELECT COUNT(*) FROM users") >= 3 }, "delayed rows")
		g.checkUsers(t, "1000000/a,1000001/b,1000002/c")
	})
}

package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Which rights on the columns of a table a client needs for filled statements, as docs/insert-ids.md says. The error
// without them is the server's own, and names the id's column.
func TestColumnGrants(t *testing.T) {
	t.Parallel()
	const account = "seqgate_columns"
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(20) UNIQUE, n INT)",
			"DROP USER IF EXISTS "+account, "CREATE USER "+account+" IDENTIFIED BY 'columns'")
		atEnd(t, g.direct, "DROP USER "+account)
		createSequence(t, g.direct, "t_seq", firstID, 10)
		for _, tt := range []struct {
			grant, statement string
			errno            uint16
		}{
			{"INSERT (a, n)", "INSERT INTO t (a, n) VALUES ('a', 1)", 1143},
			{"INSERT (id, a, n)", "INSERT INTO t (a, n) VALUES ('a', 1)", 0},
			{"INSERT, UPDATE", "INSERT INTO t (a, n) VALUES ('a', 1) ON DUPLICATE KEY UPDATE n = 2", 1143},
			{"INSERT, UPDATE, SELECT", "INSERT INTO t (a, n) VALUES ('a', 1) ON DUPLICATE KEY UPDATE n = 2", 0},
		} {
			exec(t, g.direct, fmt.Sprintf("REVOKE ALL PRIVILEGES, GRANT OPTION FROM %s", account), fmt.Sprintf("GRANT %s ON %s.t TO %s", tt.grant, g.database, account))
			db := openDSN(t, fmt.Sprintf("%s:columns@tcp(%s)/%s?tls=skip-verify", account, g.addr, g.database))
			_, err := db.ExecContext(t.Context(), tt.statement)
			if errno(err) != tt.errno || err != nil && !strings.Contains(err.Error(), "column 'id' in table 't'") {
				t.Errorf("with GRANT %s: %s: %v, want error %d", tt.grant, tt.statement, err, tt.errno)
			}
		}
	})
}

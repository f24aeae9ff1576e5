package proxy_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// User variables of every type in the id's place: the errors, the insert ids and
// the rows are those of a native column.
func TestUserVariableAsID(t *testing.T) {
	values := []string{"NULL", "0", "'0'", "0.4", "0.5", "-0.4", "0.4e0", "0.5e0", "1.5e0", "2.5e0", "true", "false", "5", "'5'", "'7.5'", "' 8 '", "''", "'abc'", "'9x'",
		"X'30'", "X'FF'", "_utf16 X'0030'", "_utf16 X'00310031'", "CAST(0 AS UNSIGNED)", "CAST(12 AS UNSIGNED)", "18446744073709551615", "1e17", "1e30", "123456789012345678901234567890",
		"CAST('2020-01-01' AS DATE)", "-3", "CAST(13 AS DECIMAL(20, 5))"}
	forms := []struct{ mode, stmt string }{
		{"STRICT_TRANS_TABLES", "INSERT INTO %s (id, u) VALUES (@v, 'a')"},
		{"", "INSERT INTO %s (id, u) VALUES (@v, 'a')"},
		{"STRICT_TRANS_TABLES", "INSERT IGNORE INTO %s (u, id) VALUES ('a', @`v`), ('b', 6001)"},
		{"STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO", "INSERT INTO %s SET id = @v, u = 'a'"},
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		a, b := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))), conn(t, g.open(t, ""))
		for i, form := range forms {
			for j, v := range values {
				tt := insertCase{table: fmt.Sprintf("v%d_%d", i, j)}
				tt.stmt = fmt.Sprintf(form.stmt, tt.table)
				before := []string{"SET sql_mode = '" + form.mode + "'", "SET @v = " + v,
					"CREATE TABLE " + tt.table + " (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20), n INT)"}
				exec(t, a, before...)
				exec(t, b, before...)
				createSequence(t, g.direct, tt.table+"_seq", 1, 10)
				want, got := runInsert(t, a, tt), runInsert(t, b, tt)
				want.Warnings = got.Warnings // of a text that is no number, which an id replaces
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("sql_mode %q, @v = %s, %s (-native +seqgate):\n%s", form.mode, v, tt.stmt, diff)
				}
				const ids = "SELECT COALESCE(GROUP_CONCAT(id ORDER BY u), '') FROM "
				if want, got := value[string](t, a, ids+tt.table), value[string](t, b, ids+tt.table); want != got {
					t.Errorf("sql_mode %q, @v = %s, %s: ids %s, natively %s", form.mode, v, tt.stmt, got, want)
				}
			}
		}
	})
}

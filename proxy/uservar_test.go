package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// User variables of every type in the id's place: the errors, the insert ids and
// the rows are those of a native column.
func TestUserVariableAsID(t *testing.T) {
	t.Parallel()
	values := []string{"NULL", "0", "'0'", "0.4", "0.5", "-0.4", "0.4e0", "0.5e0", "1.5e0", "2.5e0", "true", "false", "5", "'5'", "'7.5'", "' 8 '", "''", "'abc'", "'9x'",
		"X'30'", "X'FF'", "_utf16 X'0030'", "_utf16 X'00310031'", "CAST(0 AS UNSIGNED)", "CAST(12 AS UNSIGNED)", "18446744073709551615", "1e17", "1e30", "123456789012345678901234567890",
		"CAST('2020-01-01' AS DATE)", "-3", "CAST(13 AS DECIMAL(20, 5))"}
	forms := []struct {
		mode, stmt string
		args       []any
	}{
		{"STRICT_TRANS_TABLES", "INSERT INTO %s (id, u) VALUES (@v, 'a')", nil},
		{"", "INSERT INTO %s (id, u) VALUES (@v, 'a')", nil},
		{"STRICT_TRANS_TABLES", "INSERT IGNORE INTO %s (u, id) VALUES ('a', @`v`), ('b', 6001)", nil},
		{"STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO", "INSERT INTO %s SET id = @v, u = 'a'", nil},
		{"STRICT_TRANS_TABLES", "INSERT INTO %s (id, u) VALUES (@v, ?)", []any{"a"}},
		{"", "INSERT IGNORE INTO %s (u, id) VALUES (?, @`v`), ('b', ?)", []any{"a", 6001}},
		{"NO_AUTO_VALUE_ON_ZERO", "INSERT INTO %s SET id = @v, u = ?", []any{"a"}},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for i, form := range forms {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				g := newGate(t, s, gateOptions{})
				a, b := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))), conn(t, g.open(t, ""))
				for j, v := range values {
					tt := insertCase{table: fmt.Sprintf("v%d", j), args: form.args}
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
			})
		}
	})
}

// A prepared statement asks for its user variables at each execution, whatever they
// held when it was prepared; it is executed by a client's driver and by SQL.
func TestUserVariablesOfPrepared(t *testing.T) {
	const stmt = "INSERT INTO users (id, u) VALUES (@a, ?), (?, 'p'), (@b, ?), (NULL, 'n')"
	sets := []string{"SET @a = NULL, @b = 7", "SET @a = '0', @b = 8", "SET @a = 9, @b = 0.4", "SET @a = '10', @b = 11", "SET @a = 'x'"}
	const want = "7/y,8/y,9/x,10/x,11/y," +
		"1000000/x,1000001/p,1000002/n,1000003/x,1000004/p,1000005/n,1000006/p,1000007/y,1000008/n,1000009/p,1000010/n"
	forms := []struct {
		name, prepare, execute string
		mariadb                bool
	}{
		{name: "driver"},
		{name: "PREPARE", prepare: "PREPARE p FROM " + quote(stmt), execute: "EXECUTE p USING @x, @null, @y"},
		{name: "EXECUTE IMMEDIATE", prepare: "DO 0", execute: "EXECUTE IMMEDIATE " + quote(stmt) + " USING 'x', NULL, @y", mariadb: true},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, form := range forms {
			if form.mariadb && !s.IsMariaDB() {
				continue
			}
			t.Run(form.name, func(t *testing.T) {
				g := newUsersGate(t, s, gateOptions{})
				c := conn(t, g.open(t, ""))
				exec(t, c, "SET sql_mode = 'STRICT_TRANS_TABLES'", "SET @x = 'x', @y = 'y'")
				run := func() error { _, err := c.ExecContext(t.Context(), form.execute); return err }
				if form.prepare == "" {
					st, err := c.PrepareContext(t.Context(), stmt)
					if err != nil {
						t.Fatal(err)
					}
					defer st.Close()
					run = func() error { _, err := st.ExecContext(t.Context(), "x", nil, "y"); return err }
				} else {
					exec(t, c, form.prepare)
				}
				for i, set := range sets {
					exec(t, c, set)
					want := uint16(0)
					if i == len(sets)-1 {
						want = 1366
					}
					checkErrno(t, run(), want)
				}
				g.checkUsers(t, want)
			})
		}
	})
}

// What a trigger makes of a variable does not change the ids that were judged.
func TestUserVariableOfPreparedAndTrigger(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newUsersGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TRIGGER users_bi BEFORE INSERT ON users FOR EACH ROW SET @a = NULL")
		c := conn(t, g.open(t, ""))
		for i, args := range [][]any{{"x"}, {"y"}} {
			exec(t, c, fmt.Sprintf("SET @a = %d", 5+i))
			if _, err := c.ExecContext(t.Context(), "INSERT INTO users (id, u) VALUES (@a, ?)", args...); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.ExecContext(t.Context(), "INSERT INTO users (id, u) VALUES (@a, ?), (@a := 3, 'z')", "x")
		checkErrno(t, err, 1235)
		_, err = c.ExecContext(t.Context(), "INSERT INTO users (id, u) VALUES (@a, ROW_COUNT() + ?)", 1)
		checkErrno(t, err, 1235)
		g.checkUsers(t, "5/x,6/y")
	})
}

// A value that was sent ahead goes to its place behind a user variable.
func TestUserVariableBesideLongData(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB)")
		createSequence(t, g.direct, "t_seq", 100, 10)
		c := conn(t, g.open(t, "maxAllowedPacket=1000"))
		exec(t, c, "SET @a = 7, @b = NULL")
		long := strings.Repeat("long", 200)
		if _, err := c.ExecContext(t.Context(), "INSERT INTO t (id, b) VALUES (@a, ?), (@b, ?), (NULL, 'c')", []byte(long), []byte("short")); err != nil {
			t.Fatal(err)
		}
		const rows = "SELECT GROUP_CONCAT(CONCAT_WS('/', id, LENGTH(b)) ORDER BY id) FROM t"
		if got, want := value[string](t, g.direct, rows), "7/800,100/5,101/1"; got != want {
			t.Errorf("rows %s, want %s", got, want)
		}
	})
}

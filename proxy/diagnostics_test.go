package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// leaves are statements after which a client may ask what they have left.
var leaves = []insertCase{
	{name: "fails", stmt: "INSERT INTO t (u) VALUES ('a')"},
	{name: "fails at a later row", stmt: "INSERT INTO t (u) VALUES ('a')"},
	{name: "IGNORE, duplicate", stmt: "INSERT IGNORE INTO t (u) VALUES ('a')"},
	{name: "IGNORE, duplicate, new, duplicate", stmt: "INSERT IGNORE INTO t (u) VALUES ('a'), ('b'), ('c')"},
	{name: "ODKU, changed", stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "ODKU, unchanged", stmt: "INSERT INTO t (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = 0"},
	{name: "from a query, fails", stmt: "INSERT INTO t (u) SELECT 'a'"},
	{name: "from a query, IGNORE, duplicate", stmt: "INSERT IGNORE INTO t (u) SELECT 'a'"},
	{name: "prepared, fails", stmt: "INSERT INTO t (u) VALUES (?)", args: []any{"a"}},
	{name: "prepared, IGNORE, duplicate", stmt: "INSERT IGNORE INTO t (u) VALUES (?)", args: []any{"a"}},
}

// looksAtLeft are what a client may ask, each right behind such a statement. The last query of each is told.
var looksAtLeft = [][]string{
	{"SHOW WARNINGS"},
	{"SHOW ERRORS"},
	{"SHOW COUNT(*) WARNINGS"},
	{"SELECT ROW_COUNT()"},
	{"SELECT @@warning_count, @@error_count"},
	{"SELECT ROW_COUNT(), LAST_INSERT_ID()"},
	{"SELECT LAST_INSERT_ID(), @@warning_count, @@session.error_count"},
	{"SELECT @@identity, ROW_COUNT(), FOUND_ROWS()"},
	{"GET DIAGNOSTICS @n = NUMBER, @r = ROW_COUNT", "SELECT @n, @r"},
	{"GET DIAGNOSTICS @n = NUMBER", "SHOW WARNINGS"},
	{"GET DIAGNOSTICS @n = NUMBER", "SELECT LAST_INSERT_ID() + 0"},
	{"GET DIAGNOSTICS CONDITION 1 @e = MYSQL_ERRNO", "SELECT @e"},
	{"INSERT INTO log (v) VALUES (ROW_COUNT())", "SELECT MAX(v) FROM log"},
	{"INSERT INTO log (v) SELECT ROW_COUNT() * 1000 + LAST_INSERT_ID() % 1000", "SELECT MAX(v) FROM log"},
	{"INSERT INTO log (v) VALUES (@@warning_count)", "SELECT MAX(v) FROM log"},
	{"CALL keep(ROW_COUNT())", "SELECT MAX(v) FROM log"},
	{"SET @r = ROW_COUNT()", "SELECT @r"},
}

// What a statement has left (warnings, counts) is its own, though seqgate has things to ask and to set right behind it.
func TestLeftByInserts(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		eachNativePair(t, s, "", func(t *testing.T, w *nativePair) {
			for _, db := range []*sql.DB{w.native, w.through} {
				exec(t, db, "CREATE TABLE log (k INT PRIMARY KEY AUTO_INCREMENT, v BIGINT)", "CREATE PROCEDURE keep(IN x BIGINT) INSERT INTO log (v) VALUES (x)")
			}
			for i, tt := range leaves {
				t.Run(tt.name, func(t *testing.T) {
					tt.setup = []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0), (6, 'c', 0)"}
					tt = tt.on(fmt.Sprintf("t%d", i))
					native, through := w.open(t, tt)
					for _, looks := range looksAtLeft {
						want, got := leftBehind(t, native, tt, looks), leftBehind(t, through, tt, looks)
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("%s; %s (-native +seqgate):\n%s", tt.stmt, strings.Join(looks, "; "), diff)
						}
					}
				})
			}
		})
	})
}

// leftBehind runs a statement, looks at what it has left, and undoes it.
func leftBehind(t *testing.T, c *sql.Conn, tt insertCase, looks []string) string {
	t.Helper()
	exec(t, c, "DELETE FROM log", "DELETE FROM "+tt.table+" WHERE u = 'b'", "UPDATE "+tt.table+" SET n = 0", "DO 1")
	value[int64](t, c, fmt.Sprintf("SELECT LAST_INSERT_ID(%d)", old))
	_, err := c.ExecContext(t.Context(), tt.stmt, tt.args...)
	got := fmt.Sprint(errno(err), " ")
	text := strings.Join(looks, " ")
	if strings.Contains(tt.name, "new") && (strings.Contains(text, "LAST_INSERT_ID") || strings.Contains(text, "identity")) {
		return got // ids differ once both have given some
	}
	if strings.Contains(tt.name, "from a query") && strings.Contains(text, "FOUND_ROWS") {
		return got // the rows were counted
	}
	for _, look := range looks[:len(looks)-1] {
		_, err := c.ExecContext(t.Context(), look)
		got += fmt.Sprint(errno(err), " ")
	}
	return got + rowsText(t, c, looks[len(looks)-1])
}

// rowsText gives the rows of a query, without the names of their columns.
func rowsText(t *testing.T, c *sql.Conn, query string, args ...any) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query, args...)
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(names, ",") + ": "
	for rows.Next() {
		row := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprint(row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return text
}

// A prepared query of ROW_COUNT() and LAST_INSERT_ID() tells both of a statement that failed, or did nothing.
func TestPreparedLooksAtLeft(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		eachNativePair(t, s, "", func(t *testing.T, w *nativePair) {
			tt := insertCase{setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0), (6, 'c', 0)"}}.on("t1")
			native, through := w.open(t, tt)
			for _, stmt := range []string{"INSERT INTO t1 (u) VALUES ('a')", "INSERT IGNORE INTO t1 (u) VALUES ('a')",
				"INSERT INTO t1 (u) VALUES ('a') ON DUPLICATE KEY UPDATE n = 0"} {
				var told [2]string
				for i, c := range []*sql.Conn{native, through} {
					p, err := c.PrepareContext(t.Context(), "SELECT ROW_COUNT(), LAST_INSERT_ID()")
					if err != nil {
						t.Fatal(err)
					}
					value[int64](t, c, fmt.Sprintf("SELECT LAST_INSERT_ID(%d)", old))
					_, _ = c.ExecContext(t.Context(), stmt) // may fail
					var rows, id int64
					if err := p.QueryRowContext(t.Context()).Scan(&rows, &id); err != nil {
						t.Fatal(err)
					}
					told[i] = fmt.Sprint(rows, " ", id)
					_ = p.Close()
				}
				if told[0] != told[1] {
					t.Errorf("%s: natively %s, through seqgate %s", stmt, told[0], told[1])
				}
			}
		})
	})
}

// An INSERT IGNORE that leaves rows out tells the right id at once, though another session waits to change the table;
// what it has left stays.
func TestInsertIgnoreBesideAlter(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE)", "INSERT INTO t VALUES (1, 'a'), (2, 'c')")
		createSequence(t, g.direct, "t_seq", 1000000, 100)
		for i, tt := range []struct {
			stmt       string
			args       []any
			look, want string
		}{
			{"INSERT IGNORE INTO t (u) VALUES ('a'), ('b'), ('d')", nil, "SELECT ROW_COUNT()", "ROW_COUNT(): [{2 true}]"},
			{"INSERT IGNORE INTO t (u) VALUES ('a'), ('b')", nil, "SHOW WARNINGS", "{1062 true} {Duplicate entry 'a'"},
			{"INSERT IGNORE INTO t (u) VALUES (?), (?), (?)", []any{"a", "b", "d"}, "SELECT @@warning_count", "@@warning_count: [{1 true}]"},
			{"INSERT INTO t (u) VALUES ('a'), ('b'), ('c') ON DUPLICATE KEY UPDATE u = VALUES(u)", nil, "SELECT ROW_COUNT()", "ROW_COUNT(): [{1 true}]"},
		} {
			t.Run(tt.stmt, func(t *testing.T) {
				c := conn(t, g.open(t, ""))
				exec(t, c, "BEGIN", "UPDATE t SET u = u WHERE id = 1")
				altered := make(chan error, 1)
				go func() {
					_, err := g.direct.ExecContext(t.Context(), fmt.Sprintf("ALTER TABLE t ADD COLUMN c%d INT", i))
					altered <- err
				}()
				await(t, "an ALTER TABLE that waits", func() bool {
					return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE DB = DATABASE() AND STATE LIKE '%metadata lock%'") > 0
				})
				begun := time.Now()
				result, err := c.ExecContext(t.Context(), tt.stmt, tt.args...)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begun); took > 4*time.Second {
					t.Errorf("it took %v", took)
				}
				if got := rowsText(t, c, tt.look); !strings.Contains(got, tt.want) {
					t.Errorf("%s: got %s, want %s", tt.look, got, tt.want)
				}
				id, err := result.LastInsertId()
				if want := value[int64](t, c, "SELECT id FROM t WHERE u = 'b'"); err != nil || id != want {
					t.Errorf("told %d, %v, stored %d", id, err, want)
				}
				if got := value[int64](t, c, "SELECT LAST_INSERT_ID()"); got != id {
					t.Errorf("LAST_INSERT_ID() is %d, told was %d", got, id)
				}
				exec(t, c, "ROLLBACK")
				if err := <-altered; err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// A text that only mentions a call may have the session asked how it reads: an INSERT with ROW_COUNT() is refused then, as what
// that gave is gone.
func TestLeftBesideMentionedCall(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v BIGINT)", "CREATE TABLE other (v BIGINT)", "INSERT INTO other VALUES (1), (2), (3)")
		createSequence(t, g.direct, "t_seq", 1000, 100)
		c := conn(t, g.open(t, ""))
		exec(t, c, "INSERT INTO t (v) VALUES (0)", "SET SESSION sort_buffer_size = 300000", "UPDATE other SET v = v + 1")
		fails(t, c, 1235, "", `INSERT INTO t (v) VALUES (ROW_COUNT()) /* nextval \ */`)
		exec(t, c, "UPDATE other SET v = v + 1", `INSERT INTO t (v) VALUES (ROW_COUNT()) /* nextval \ */`)
		if got := value[int64](t, c, "SELECT MAX(v) FROM t"); got != 3 {
			t.Errorf("got %d, want the 3 rows of the UPDATE before", got)
		}
	})
}

// Whether a temporary table hides one is asked in the session, which changes what the statement before has left: an INSERT
// that reads that is refused, unless the answer is known.
func TestLeftBesideTemporary(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v BIGINT)", "CREATE TABLE u LIKE t", "CREATE TABLE other (v BIGINT)", "INSERT INTO other VALUES (1), (2), (3)")
		createSequence(t, g.direct, "t_seq", 1000, 100)
		createSequence(t, g.direct, "u_seq", 1000, 100)
		c := conn(t, g.open(t, ""))
		exec(t, c, "INSERT INTO t (v) VALUES (0)", "CREATE TEMPORARY TABLE x (v BIGINT)", "INSERT INTO u (v) VALUES (0)", "UPDATE other SET v = v + 1")
		for _, suffix := range []string{"", " /*!40000 */", " /*!99999 x */"} { // with a version comment a refused text is read again
			fails(t, c, 1235, "", "INSERT INTO t (v) VALUES (ROW_COUNT())"+suffix)
			exec(t, c, "CREATE TEMPORARY TABLE y (v BIGINT)", "DROP TEMPORARY TABLE y", "INSERT INTO u (v) VALUES (0)", "UPDATE other SET v = v + 1") // so that it is asked anew
		}
		exec(t, c, "INSERT INTO t (v) VALUES (0)", "UPDATE other SET v = v + 1", "INSERT INTO t (v) VALUES (ROW_COUNT())")
		if got := value[int64](t, c, "SELECT MAX(v) FROM t"); got != 3 {
			t.Errorf("got %d, want the 3 rows of the UPDATE before", got)
		}
	})
}

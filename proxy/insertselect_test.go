package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// queryCases are INSERT ... SELECT with a table s (a, u) of ('c', 'a', 'b') beside
// the target: B25 to B28 of the list of cases, and what else a native column has
// an answer to.
var queryCases = []insertCase{
	{name: "SELECT", stmt: "INSERT INTO t (u, n) SELECT u, a FROM s"},
	{name: "of one row", stmt: "INSERT INTO t (u) SELECT 'x'"},
	{name: "ORDER BY", stmt: "INSERT INTO t (u, n) SELECT u, a FROM s ORDER BY a DESC"},
	{name: "ORDER BY and LIMIT", stmt: "INSERT INTO t (u, n) SELECT u, a FROM s ORDER BY u LIMIT 1, 2"},
	{name: "in parentheses", stmt: "INSERT INTO t (u, n) (SELECT u, a FROM s ORDER BY a DESC)"},
	{name: "in parentheses, no column list", stmt: "INSERT INTO t (SELECT NULL, u, a FROM s ORDER BY a DESC)"},
	{name: "in more parentheses", stmt: "INSERT INTO t (u) ((SELECT u FROM s ORDER BY a DESC) LIMIT 2)"},
	{name: "UNION", stmt: "INSERT INTO t (u) SELECT u FROM s UNION ALL SELECT 'z' ORDER BY 1 DESC"},
	{name: "WITH", stmt: "INSERT INTO t (u, n) WITH x AS (SELECT a, u FROM s), y (b) AS (SELECT 5) SELECT u, a + b FROM x, y ORDER BY a DESC"},
	{name: "WITH and parentheses", stmt: "INSERT INTO t (u) WITH x AS (SELECT u FROM s) (SELECT u FROM x ORDER BY u DESC)"},
	{name: "WITH RECURSIVE", stmt: "INSERT INTO t (n) WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 9) SELECT n FROM x"},
	{name: "TABLE", stmt: "INSERT INTO t (n, u) TABLE s"},
	{name: "VALUES in parentheses", stmt: "INSERT INTO t (n, u) (VALUES ROW(1, 'x'), ROW(2, 'y'))"},
	{name: "VALUES in parentheses, MariaDB's", stmt: "INSERT INTO t (n, u) (VALUES (1, 'x'), (2, 'y'))"},
	{name: "GROUP BY", stmt: "INSERT INTO t (u, n) SELECT LEFT(u, 0), SUM(a) FROM s GROUP BY 1 ORDER BY SUM(a)"},
	{name: "DISTINCT, hints and comments", stmt: "INSERT INTO t (u) /* a ) */ SELECT /*+ NO_MERGE() */ DISTINCT CONCAT(u, ')') -- '\n FROM s ORDER BY u DESC -- end"},
	{name: "USE INDEX FOR ORDER BY", stmt: "INSERT INTO t (u) SELECT u FROM s USE INDEX FOR ORDER BY (i) WHERE a > 0 ORDER BY u"},
	{name: "FOR UPDATE", stmt: "INSERT INTO t (u) SELECT u FROM s ORDER BY a FOR UPDATE"},
	{name: "LOCK IN SHARE MODE", stmt: "INSERT INTO t (u) SELECT u FROM s ORDER BY a DESC LOCK IN SHARE MODE"},
	{name: "window functions", stmt: "INSERT INTO t (u, n) SELECT u, ROW_NUMBER() OVER (ORDER BY a DESC) FROM s ORDER BY u"},
	{name: "from the target itself", setup: []string{"INSERT INTO t (id, u) VALUES (1, 'a'), (2, 'b')"},
		stmt: "INSERT INTO t (u) SELECT CONCAT(u, 'x') FROM t ORDER BY id DESC"},
	{name: "no rows", stmt: "INSERT INTO t (u) SELECT u FROM s WHERE 1 = 0"},
	{name: "no rows, REPLACE", stmt: "REPLACE INTO t (u) SELECT u FROM s WHERE 1 = 0"},
	{name: "no rows, id in the list", stmt: "INSERT INTO t (id, u) SELECT a, u FROM s WHERE 1 = 0"},
	{name: "id NULL", stmt: "INSERT INTO t (id, u) SELECT NULL, 's'"},
	{name: "id 0", stmt: "INSERT INTO t (id, u) SELECT 0, 's'"},
	{name: "id '0'", stmt: "INSERT INTO t (id, u) SELECT '0', 's'"},
	{name: "id 0.4", stmt: "INSERT INTO t (id, u) SELECT 0.4, 's'"},
	{name: "id 0.5", stmt: "INSERT INTO t (id, u) SELECT 0.5, 's'"},
	{name: "id 4e-1", stmt: "INSERT INTO t (id, u) SELECT 4e-1, 's'"},
	{name: "id explicit", stmt: "INSERT INTO t (id, u) SELECT 900, 's'"},
	{name: "id explicit as text", stmt: "INSERT INTO t (id, u) SELECT ' 900 ', 's'"},
	{name: "id explicit as DOUBLE", stmt: "INSERT INTO t (id, u) SELECT 9e2, 's'"},
	{name: "id explicit above 2^53", stmt: "INSERT INTO t (id, u) SELECT 9007199254740993, 's'"},
	{name: "id explicit, negative", stmt: "INSERT INTO t (id, u) SELECT -5, 's'"},
	{name: "id explicit, rows", stmt: "INSERT INTO t (id, u) SELECT a + 100, u FROM s ORDER BY a DESC"},
	{name: "id explicit, too large", stmt: "INSERT INTO t (id, u) SELECT 18446744073709551615, 's'"},
	{name: "ids open and explicit", stmt: "INSERT INTO t (id, u) SELECT IF(a = 2, 200, NULL), u FROM s ORDER BY a DESC"},
	{name: "ids open and explicit, DOUBLE", stmt: "INSERT INTO t (id, u) SELECT IF(a = 2, 2e2, 0), u FROM s"},
	{name: "id not first", stmt: "INSERT INTO t (u, id, n) SELECT u, IF(a = 1, 100, 0), a FROM s ORDER BY a"},
	{name: "id, NO_AUTO_VALUE_ON_ZERO", setup: []string{"SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"},
		stmt: "INSERT INTO t (id, u) SELECT NULLIF(a * 10 - 10, 20), u FROM s"},
	{name: "no column list", stmt: "INSERT INTO t SELECT NULL, u, a FROM s"},
	{name: "empty column list", stmt: "INSERT INTO t () SELECT NULL, u, a FROM s"},
	{name: "too few columns", stmt: "INSERT INTO t (u, n) SELECT u FROM s"},
	{name: "too many columns", stmt: "INSERT INTO t (u) SELECT u, a FROM s"},
	{name: "no column list, too few columns", stmt: "INSERT INTO t SELECT u, a FROM s"},
	{name: "unknown column in the list", stmt: "INSERT INTO t (nosuch) SELECT u FROM s"},
	{name: "unknown column in the query", stmt: "INSERT INTO t (u) SELECT nosuch FROM s"},
	{name: "unknown table in the query", stmt: "INSERT INTO t (u) SELECT u FROM nosuch"},
	{name: "syntax error", stmt: "INSERT INTO t (u) SELECT u, , 5 FROM s"},
	{name: "column named twice", stmt: "INSERT INTO t (id, id) SELECT 1, 2"},
	{name: "INTO", stmt: "INSERT INTO t (u) SELECT u FROM s ORDER BY u INTO @x"},
	{name: "data too long", stmt: "INSERT INTO t (u) SELECT REPEAT(u, 100) FROM s"},
	{name: "data cut, IGNORE", stmt: "INSERT IGNORE INTO t (u) SELECT REPEAT(u, 100) FROM s"},
	{name: "no such number", stmt: "INSERT INTO t (n) SELECT u FROM s"},
	{name: "error in the query", stmt: "INSERT INTO t (n) SELECT (SELECT a FROM s) FROM s"},
	{name: "duplicate key", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'c')"}, stmt: "INSERT INTO t (u) SELECT u FROM s WHERE a = 3"},
	{name: "REPLACE", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'b')"}, stmt: "REPLACE INTO t (u) SELECT u FROM s"},
	{name: "IGNORE, new", stmt: "INSERT IGNORE INTO t (u) SELECT u FROM s"},
	{name: "IGNORE, duplicate, new", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"}, stmt: "INSERT IGNORE INTO t (u, n) SELECT u, a FROM s ORDER BY u"},
	{name: "IGNORE, all duplicates", setup: []string{"INSERT INTO t (id, u) VALUES (1, 'a'), (2, 'b'), (3, 'c')"}, stmt: "INSERT IGNORE INTO t (u) SELECT u FROM s"},
	{name: "ON DUPLICATE KEY, new", stmt: "INSERT INTO t (u) SELECT u FROM s ON DUPLICATE KEY UPDATE n = 5"},
	{name: "ON DUPLICATE KEY, changed", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (u, n) SELECT u, a FROM s WHERE u = 'a' ON DUPLICATE KEY UPDATE n = VALUES(n) + 7"},
	{name: "ON DUPLICATE KEY, unchanged", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (u) SELECT u FROM s WHERE u = 'a' ON DUPLICATE KEY UPDATE n = 0"},
	{name: "ON DUPLICATE KEY, existing, new, existing", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0), (6, 'c', 0)"},
		stmt: "INSERT INTO t (u) SELECT u FROM s ORDER BY u ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "ON DUPLICATE KEY, two existing", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0), (6, 'c', 0)"},
		stmt: "INSERT INTO t (u) SELECT u FROM s WHERE u <> 'b' ORDER BY u ON DUPLICATE KEY UPDATE n = n + 1"},
	{name: "ON DUPLICATE KEY, two existing, unchanged", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0), (6, 'c', 0)"},
		stmt: "INSERT INTO t (u) SELECT u FROM s WHERE u <> 'b' ON DUPLICATE KEY UPDATE n = 0"},
	{name: "ON DUPLICATE KEY, id = LAST_INSERT_ID(id)", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (u) SELECT u FROM s WHERE u = 'a' ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), n = n + 1"},
	{name: "ON DUPLICATE KEY, explicit existing", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'x', 0)"},
		stmt: "INSERT INTO t (id, u) SELECT 5, 'y' ON DUPLICATE KEY UPDATE n = 7"},
	{name: "ON DUPLICATE KEY, explicit new", stmt: "INSERT INTO t (id, u) SELECT 5, 'x' FROM s LIMIT 1 ON DUPLICATE KEY UPDATE n = 7"},
	{name: "ON DUPLICATE KEY, ambiguous", stmt: "INSERT INTO t (u) SELECT u FROM s ON DUPLICATE KEY UPDATE n = LENGTH(u)"},
	{name: "LAST_INSERT_ID() as a value", stmt: "INSERT INTO t (u, n) SELECT u, LAST_INSERT_ID() FROM s"},
	{name: "LAST_INSERT_ID() in a condition", stmt: "INSERT INTO t (u, n) SELECT u, a FROM s WHERE LAST_INSERT_ID() = 777 AND @@last_insert_id = 777"},
	{name: "variables", setup: []string{"SET @a = 'v', @b = 5"}, stmt: "INSERT INTO t (u, n) SELECT CONCAT(@a, u), @b FROM s"},
	{name: "prepared", stmt: "INSERT INTO t (u, n) SELECT CONCAT(u, ?), ? FROM s WHERE a > ? ORDER BY a DESC LIMIT ?", args: []any{"x", 7, 1, 5}},
	{name: "prepared values", stmt: "INSERT INTO t (u, n) SELECT ?, ? UNION SELECT ?, ?", args: []any{"x", 7, "y", int64(9007199254740993)}},
	{name: "prepared, no rows", stmt: "INSERT INTO t (u, n) SELECT u, ? FROM s WHERE a > ?", args: []any{1, 100}},
	{name: "prepared id NULL", stmt: "INSERT INTO t (id, u) SELECT ?, u FROM s", args: []any{nil}},
	{name: "prepared id explicit", stmt: "INSERT INTO t (id, u) SELECT ? + a, u FROM s ORDER BY a", args: []any{200}},
	{name: "prepared ON DUPLICATE KEY, changed", setup: []string{"INSERT INTO t (id, u, n) VALUES (5, 'a', 0)"},
		stmt: "INSERT INTO t (u) SELECT u FROM s WHERE u = ? ON DUPLICATE KEY UPDATE n = n + ?", args: []any{"a", 3}},
	{name: "prepared IGNORE", setup: []string{"INSERT INTO t (id, u) VALUES (5, 'a')"},
		stmt: "INSERT IGNORE INTO t (u, n) SELECT u, ? FROM s ORDER BY u", args: []any{6}},
	{name: "prepared LAST_INSERT_ID()", stmt: "INSERT INTO t (u, n) SELECT u, LAST_INSERT_ID() + ? FROM s", args: []any{1}},
}

func TestInsertFromQueries(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		eachNativePair(t, s, "", func(t *testing.T, w *nativePair) { testInsertFromQueries(t, s, w, queryCases) })
		eachNativePair(t, s, "clientFoundRows=true", func(t *testing.T, w *nativePair) { testInsertFromQueries(t, s, w, upserts(queryCases)) })
	})
}

func testInsertFromQueries(t *testing.T, s *servertest.Server, w *nativePair, cases []insertCase) {
	for _, db := range []*sql.DB{w.native, w.through} {
		exec(t, db, "CREATE TABLE s (a INT, u VARCHAR(200), KEY i (u))", "INSERT INTO s VALUES (3, 'c'), (1, 'a'), (2, 'b')")
	}
	for i, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "ON DUPLICATE KEY, ambiguous" && s.IsMariaDB() && w.column != autoIncrement {
				t.Skip("MariaDB tells of the id's missing default first")
			}
			tt := numbered(tt, i)
			a, b := w.open(t, tt)
			w.compare(t, a, b, tt, func(want, got *insertOutcome) {
				if want.Errno != 0 && w.column != autoIncrement {
					got.Warnings = want.Warnings // MySQL adds 1364 for a column without a default
				}
			})
			if strings.Contains(tt.stmt, "IF(a") {
				return // a native column goes on above the explicit ids
			}
			const order = "SELECT COALESCE(GROUP_CONCAT(u ORDER BY id), '') FROM "
			if want, got := value[string](t, a, order+tt.table), value[string](t, b, order+tt.table); want != got {
				t.Errorf("%s: in the order of their ids the rows are %s, on a native column %s", tt.stmt, got, want)
			}
		})
	}
}

// newQueryGate gives a gate with a table users and a source of rows beside it.
func newQueryGate(t *testing.T, s *servertest.Server, rows int) *gate {
	t.Helper()
	g := newUsersGate(t, s, gateOptions{})
	exec(t, g.direct, "CREATE TABLE s (a BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20))")
	if rows > 0 {
		exec(t, g.direct, "INSERT INTO s (u) VALUES ('x')")
	}
	for n := 1; n < rows; n *= 2 {
		exec(t, g.direct, fmt.Sprintf("INSERT INTO s (u) SELECT u FROM s LIMIT %d", min(n, rows-n)))
	}
	return g
}

// Queries that cannot be filled exactly are refused by name, and change nothing.
func TestRefusedQueries(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newQueryGate(t, s, 2)
		exec(t, g.direct, "CREATE TABLE f (f FLOAT)", "INSERT INTO f VALUES (16777216)")
		c := conn(t, g.open(t, ""))
		for _, tt := range []struct{ statement, text string }{
			{"INSERT INTO users (u) SELECT @a := u FROM s", "user variable"},
			{"INSERT INTO users (u) SELECT LAST_INSERT_ID(a) FROM s", "LAST_INSERT_ID(expression)"},
			{"INSERT INTO users (u) SELECT `last_insert_id`(a) FROM s", "LAST_INSERT_ID(expression)"},
			{"INSERT INTO users (id, u) SELECT 0x00, u FROM s", "hexadecimal"},
			{"INSERT INTO users (u) SELECT x'41'", "hexadecimal"},
			{"INSERT INTO users (u) SELECT b'1' UNION SELECT 'x'", "bit literal"},
			{"INSERT INTO users (u) SELECT HIGH_PRIORITY u FROM s", "HIGH_PRIORITY"},
			{"INSERT INTO users (u) SELECT ROW_COUNT()", "ROW_COUNT()"},
			{"INSERT INTO users (u) SELECT SQL_CALC_FOUND_ROWS u FROM s", "SQL_CALC_FOUND_ROWS"},
			{"INSERT INTO users (u) SELECT s.u FROM s ON DUPLICATE KEY UPDATE u = a", "ON DUPLICATE KEY UPDATE"},
			{"INSERT INTO users (id, u) SELECT f, 'x' FROM f", "FLOAT"},
		} {
			_, err := c.ExecContext(t.Context(), tt.statement)
			if errno(err) != 1235 || !strings.Contains(err.Error(), "'users'") || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%s: got %v, want error 1235 that names the table and %q", tt.statement, err, tt.text)
			}
		}
		if s.IsMariaDB() {
			_, err := c.ExecContext(t.Context(), "INSERT INTO users (u) SELECT u FROM s RETURNING id, u")
			if errno(err) != 1235 || !strings.Contains(err.Error(), "RETURNING") {
				t.Errorf("with RETURNING: got %v, want error 1235 that names it", err)
			}
		}
		g.checkUsers(t, "")
	})
}

// A prepared statement is judged anew by each execution.
func TestPreparedQueries(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newQueryGate(t, s, 3)
		c := conn(t, g.open(t, ""))
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO users (u) SELECT CONCAT(?, a) FROM s WHERE a <= ? ORDER BY a DESC")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for i, last := range []int{2, 0, 3} {
			want := map[int]int64{2: firstID, 0: 0, 3: firstID + 2}[last]
			result, err := stmt.ExecContext(t.Context(), fmt.Sprint(i), last)
			if err != nil {
				t.Fatal(err)
			}
			if id, _ := result.LastInsertId(); id != want {
				t.Errorf("execution %d: insert id %d, want %d", i, id, want)
			}
		}
		g.checkUsers(t, "1000000/02,1000001/01,1000002/23,1000003/22,1000004/21")
		exec(t, c, "SET sql_mode = 'ANSI_QUOTES'")
		if _, err := stmt.ExecContext(t.Context(), "x", 1); errno(err) != 1615 {
			t.Errorf("in another sql_mode: got %v, want error 1615", err)
		}
	})
}

// A text of several statements, a transaction that is undone, and an engine that
// cannot undo anything.
func TestQueriesAmongOthers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newQueryGate(t, s, 2)
		exec(t, g.direct, "ALTER TABLE users ADD UNIQUE (u)")
		c := conn(t, g.open(t, "multiStatements=true"))
		exec(t, c, "SET @x = 1; INSERT INTO users (u) SELECT a FROM s ORDER BY a DESC; INSERT INTO users (u) (SELECT CONCAT('b', a) FROM s); SET @y = 1")
		g.checkUsers(t, "1000000/2,1000001/1,1000002/b1,1000003/b2")
		exec(t, c, "BEGIN", "INSERT INTO users (u) SELECT CONCAT('c', a) FROM s", "ROLLBACK")
		_, err := c.ExecContext(t.Context(), "INSERT INTO users (u) SELECT IF(a = 2, 'b1', 'new') FROM s")
		checkErrno(t, err, 1062)
		g.checkUsers(t, "1000000/2,1000001/1,1000002/b1,1000003/b2")
		exec(t, c, "ALTER TABLE users ENGINE = MyISAM", "INSERT INTO users (id, u) SELECT IF(a = 1, NULL, 2000000), CONCAT('d', a) FROM s",
			"INSERT INTO users (u) SELECT CONCAT('e', a) FROM s")
		g.checkUsers(t, "1000000/2,1000001/1,1000002/b1,1000003/b2,1000008/d1,2000000/d2,2000001/e1,2000002/e2")
	})
}

// A query whose rows are never the same number is filled all the same, or fails
// as a whole.
func TestQueriesThatChange(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, engine := range []string{"InnoDB", "MyISAM"} {
			t.Run(engine, func(t *testing.T) {
				g := newQueryGate(t, s, 100)
				exec(t, g.direct, "ALTER TABLE users ENGINE = "+engine)
				c := conn(t, g.open(t, ""))
				rows := int64(0)
				for range 20 {
					result, err := c.ExecContext(t.Context(), "INSERT IGNORE INTO users (u) SELECT u FROM s WHERE RAND() < 0.5")
					if errno(err) == 1020 {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					n, _ := result.RowsAffected()
					rows += n
				}
				if got := value[int64](t, g.direct, "SELECT COUNT(*) FROM users WHERE id >= 1000000"); got != rows || rows == 0 {
					t.Errorf("%d rows, told of %d", got, rows)
				}
			})
		}
	})
}

// While other sessions write to the source, and several insert from it at once, no
// id is given twice and none is missing.
func TestQueriesBesideWriters(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newQueryGate(t, s, 50)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var writers, inserters sync.WaitGroup
		for range 2 {
			w := conn(t, g.direct)
			writers.Go(func() {
				for n := 0; n < 300 && ctx.Err() == nil; n++ {
					if _, err := w.ExecContext(t.Context(), "INSERT INTO s (u) VALUES ('w'), ('w')"); err != nil && errno(err) != 1213 {
						t.Error(err)
						return
					}
				}
			})
		}
		var told atomic.Int64
		through := g.open(t, "")
		for i := range 2 {
			c := conn(t, through)
			exec(t, c, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
			inserters.Go(func() {
				for n := range 8 {
					query := "INSERT INTO users (u) SELECT u FROM s ORDER BY a"
					if (n+i)%2 == 0 {
						query = "INSERT INTO users (id, u) SELECT NULL, u FROM s"
					}
					result, err := c.ExecContext(t.Context(), query)
					if errno(err) == 1020 || errno(err) == 1213 {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					rows, _ := result.RowsAffected()
					told.Add(rows)
				}
			})
		}
		inserters.Wait()
		stop()
		writers.Wait()
		if got := value[int64](t, g.direct, "SELECT COUNT(*) FROM users WHERE id >= 1000000"); got != told.Load() || got == 0 {
			t.Errorf("%d rows, told of %d", got, told.Load())
		}
	})
}

// In a REPEATABLE READ transaction an INSERT ... SELECT reads what is committed by
// now, and not what the transaction saw before: so does the count. What it counted
// is locked until the transaction ends.
func TestQueriesReadAsInsertDoes(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newQueryGate(t, s, 1)
		native, c := conn(t, g.direct), conn(t, g.open(t, ""))
		exec(t, g.direct, "CREATE TABLE plain (u VARCHAR(20))")
		for _, tx := range []*sql.Conn{native, c} {
			exec(t, tx, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "BEGIN", "SELECT COUNT(*) FROM s")
		}
		exec(t, g.direct, "INSERT INTO s (u) VALUES ('y'), ('z')")
		exec(t, native, "INSERT INTO plain SELECT u FROM s", "COMMIT")
		exec(t, c, "INSERT INTO users (u) SELECT u FROM s ORDER BY a")
		writer := conn(t, g.direct)
		exec(t, writer, "SET innodb_lock_wait_timeout = 1")
		_, err := writer.ExecContext(t.Context(), "INSERT INTO s (u) VALUES ('late')")
		checkErrno(t, err, 1205)
		exec(t, c, "COMMIT")
		if want, got := value[int](t, g.direct, "SELECT COUNT(*) FROM plain"), value[int](t, g.direct, "SELECT COUNT(*) FROM users"); got != want {
			t.Errorf("%d rows, natively %d", got, want)
		}
	})
}

// The rows of a large query never come to seqgate.
func TestLargeQuery(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const rows = 200_000
		g := newQueryGate(t, s, rows)
		c := conn(t, g.open(t, ""))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, err := c.ExecContext(t.Context(), "INSERT INTO users (u) SELECT a FROM s ORDER BY a DESC")
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := result.LastInsertId(); id != firstID {
			t.Errorf("insert id %d, want %d", id, firstID)
		}
		if got := value[int64](t, g.direct, "SELECT COUNT(*) FROM users"); got != rows {
			t.Errorf("%d rows, want %d", got, rows)
		}
		const disordered = "SELECT COUNT(*) FROM (SELECT u + 0 AS u, LAG(u + 0) OVER (ORDER BY id) AS before_it FROM users) x WHERE before_it <= u"
		if got := value[int64](t, g.direct, disordered) + value[int64](t, g.direct, "SELECT MAX(id) - MIN(id) + 1 FROM users") - rows; got != 0 {
			t.Error("the ids are not in the order of the query's rows, without gaps")
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
			t.Errorf("%d bytes were allocated, want a number that does not depend on the rows", grown)
		}
	})
}

// A name that ON DUPLICATE KEY UPDATE takes from the query, or from the table, is
// never one of seqgate's own.
func TestUpsertNamesOfQueries(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b INT, c1 INT, c INT, k INT, e INT, n INT)",
			"CREATE TABLE u (c1 INT, c2 INT, c3 INT, b INT, k INT, e INT, seqgate_n INT)", "INSERT INTO u VALUES (11, 1, 13, 14, 15, 16, 17)",
			"INSERT INTO t (id, a, b, c1, c, k, e, n) VALUES (1, 1, 0, 1, 2, 3, 4, 5)")
		createSequence(t, c, "t_seq", 2, 10)
		exec(t, c, "CREATE TABLE t2 (id BIGINT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, d INT)", "INSERT INTO t2 VALUES (1, 1, 0)")
		createSequence(t, c, "t2_seq", 2, 10)
		for _, name := range []string{"c1", "c2", "c3", "k", "e", "seqgate_n", "`1`"} {
			for _, columns := range []string{"a", "id, a"} {
				query := "SELECT " + strings.Replace(columns, "id, a", "NULL, c2", 1) + " FROM u"
				query = strings.Replace(query, "SELECT a", "SELECT c2", 1)
				_, err := c.ExecContext(t.Context(), "INSERT INTO t2 ("+columns+") "+query+" ON DUPLICATE KEY UPDATE d = "+name)
				if want := map[bool]uint16{true: 1054, false: 1235}[name == "`1`"]; errno(err) != want {
					t.Errorf("d = %s, columns %s: got %v, want error %d", name, columns, err, want)
				}
			}
		}
		for _, columns := range []string{"INSERT INTO t (a) SELECT c2 FROM (SELECT 1 AS c2) u", "INSERT INTO t (id, a) SELECT NULL, c2 FROM (SELECT 1 AS c2) u"} {
			exec(t, c, columns+" ON DUPLICATE KEY UPDATE c1 = c1 + 1, c = c + 1, k = k + 1, e = e + 1, n = n + 1")
		}
		if got := value[string](t, c, "SELECT CONCAT_WS(' ', id, a, b, c1, c, k, e, n) FROM t"); got != "1 1 0 3 4 5 6 7" {
			t.Errorf("the row is %s", got)
		}
	})
}

// Rows of an engine that cannot undo a statement are inserted in the query's order
// too: those that come first stay.
func TestQueryOrderOfMyISAM(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, a INT UNIQUE, b VARCHAR(200)) ENGINE = MyISAM",
			"CREATE TABLE native LIKE t", "CREATE TABLE u (a INT, b VARCHAR(200))",
			"INSERT INTO u WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 500) SELECT n % 100, CONCAT(n * 7919 % 1000, REPEAT('x', n % 100)) FROM r")
		createSequence(t, c, "t_seq", 1, 10)
		exec(t, c, "SET group_concat_max_len = 1000000")
		for _, query := range []string{"(a, b) SELECT a, b FROM u ORDER BY b", "(id, a, b) SELECT NULL, a, b FROM u ORDER BY b DESC", "(a, b) SELECT a, b FROM u"} {
			exec(t, c, "TRUNCATE TABLE native", "TRUNCATE TABLE t", "INSERT IGNORE INTO native "+query, "INSERT IGNORE INTO t "+query)
			const all = "SELECT CRC32(GROUP_CONCAT(a, b ORDER BY id)) FROM "
			if want, got := value[int64](t, c, all+"native"), value[int64](t, c, all+"t"); want != got {
				t.Errorf("%s: other rows than natively", query)
			}
		}
	})
}

// Values of every kind arrive as they do without seqgate.
func TestQueriesKeepValues(t *testing.T) {
	const columns = "(id BIGINT PRIMARY KEY AUTO_INCREMENT, i TINYINT UNSIGNED, d DECIMAL(65,30), f FLOAT, g DOUBLE, b BIT(9), y YEAR, dt DATETIME(6), ts TIMESTAMP(3) NULL," +
		" ti TIME(6), e ENUM('a','b',''), st SET('x','y'), j JSON, bl BLOB, vb VARBINARY(9), c CHAR(5), l VARCHAR(20) CHARACTER SET latin1, big BIGINT UNSIGNED)"
	const list = "i, d, f, g, b, y, dt, ts, ti, e, st, j, bl, vb, c, l, big"
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE v "+columns, "CREATE TABLE native "+columns, "CREATE TABLE t "+columns,
			"INSERT INTO v VALUES (1, 255, -123456789012345678901234567890.123456789012345678901234567891, 16777217.5, 1.1e-300, 300, 1999, '1000-01-01 00:00:00.000001',"+
				" '2038-01-19 03:14:07.999', '-838:59:59.000000', 'b', 'x,y', '{\"a\": [1, 2.5]}', 0x00FF10, 0x0041, 'x  ', 'grö', 18446744073709551615)",
			"INSERT INTO v (id) VALUES (2)")
		createSequence(t, c, "t_seq", 1, 10)
		for _, query := range []string{
			"SELECT " + list + " FROM v", "SELECT " + list + " FROM v ORDER BY id DESC", "SELECT " + list + " FROM v UNION ALL SELECT " + list + " FROM v",
			"SELECT i + 0, d * 1, f + 0, g / 3, b + 0, y + 0, dt, ts, ti, CONCAT(e), CONCAT(st), j, CONCAT(bl), vb, CONCAT(c, ''), l, big - 1 FROM v WHERE id = 1",
		} {
			exec(t, c, "TRUNCATE TABLE native", "TRUNCATE TABLE t", "INSERT INTO native ("+list+") "+query, "INSERT INTO t ("+list+") "+query)
			const all = "SELECT GROUP_CONCAT(CONCAT_WS('|', i, d, f, g, HEX(b), y, dt, ts, ti, e, st, j, HEX(bl), HEX(vb), c, l, big) ORDER BY id) FROM "
			if want, got := value[string](t, c, all+"native"), value[string](t, c, all+"t"); got != want {
				t.Errorf("%s: got\n%s, natively\n%s", query, got, want)
			}
		}
	})
}

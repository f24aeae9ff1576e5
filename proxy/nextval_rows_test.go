package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// rowsTable has what may make a server evaluate an UPDATE in another way: keys that
// the UPDATE moves, generated columns, a timestamp that follows, triggers.
var rowsTable = []string{
	"CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT, m BIGINT, v VARCHAR(60), g BIGINT AS (n * 2) STORED, w BIGINT AS (m + 1) VIRTUAL," +
		" at TIMESTAMP(6) NULL ON UPDATE CURRENT_TIMESTAMP(6), KEY (n), KEY (v), KEY (w)) STATS_PERSISTENT = 1 STATS_AUTO_RECALC = 0",
	"CREATE TABLE log (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(60))",
	"CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW INSERT INTO log (v) VALUES (CONCAT('before ', OLD.id, ' ', COALESCE(NEW.n, 'NULL'), ' ', COALESCE(NEW.v, 'NULL')))",
	"CREATE TRIGGER a AFTER UPDATE ON t FOR EACH ROW INSERT INTO log (v) SELECT CONCAT('after ', LAST_INSERT_ID(777), ' ', COALESCE(NEW.n, 'NULL'))",
	"INSERT INTO t (id, n, m, v) VALUES (1, 50, 10, 'a'), (2, 40, 10, 'b'), (3, 30, 20, 'c'), (4, 20, 20, 'd'), (5, 10, NULL, 'e')",
}

// rowsUpdates are UPDATEs, one after the other. They give what MariaDB's own
// sequences give.
var rowsUpdates = []struct {
	stmt string
	args []any
}{
	{stmt: "UPDATE t SET n = NEXTVAL(s)"},
	{stmt: "UPDATE t SET n = NEXTVAL(s) WHERE id = 3"},
	{stmt: "UPDATE t SET n = NEXTVAL(s) WHERE id = 99"},
	{stmt: "UPDATE t SET n = NEXTVAL(s) ORDER BY id DESC"},
	{stmt: "UPDATE t SET n = NEXTVAL(s) ORDER BY v DESC, id LIMIT 3"},
	{stmt: "UPDATE t SET n = NEXTVAL(s) + n WHERE n > 0 ORDER BY n"},
	{stmt: "UPDATE t FORCE INDEX (v, n) SET n = NEXTVAL(s) ORDER BY id DESC"},
	{stmt: "UPDATE t AS x SET x.n = NEXT VALUE FOR s, x.v = CONCAT('n', NEXTVAL(s), '-', NEXTVAL(q)) WHERE x.m = 10"},
	{stmt: "UPDATE t SET n = NEXTVAL(q), m = NEXTVAL(s), v = NEXTVAL(q)"},
	{stmt: "UPDATE t SET m = NEXTVAL(s), n = m, v = LASTVAL(q) WHERE id IN (SELECT 2 UNION SELECT 4)"},
	{stmt: "UPDATE t SET id = NEXTVAL(q) + 1000 WHERE id > 2 ORDER BY id"},
	{stmt: "UPDATE t SET id = id - 1, n = NEXTVAL(s) WHERE id > 1000 ORDER BY id"},
	{stmt: "update low_priority ignore `t` set `n` = nextval(`s`) where w is not null /* a ; */ and v <> ';' -- b"},
	{stmt: "UPDATE t SET v = 'same', n = NEXTVAL(s) WHERE m IS NULL OR m > 0 ORDER BY 0 + id LIMIT 1000"},
	{stmt: "UPDATE t SET n = ?, m = NEXTVAL(s) + ?, v = CONCAT(?, NEXTVAL(q)) WHERE id < ? AND v = ? ORDER BY id DESC LIMIT ?", args: []any{7, 5, "p", 1000000, "same", 2}},
	{stmt: "UPDATE t SET n = NEXTVAL(s) WHERE id < ?", args: []any{-1}},
	{stmt: "UPDATE t SET n = NEXTVAL(s) WHERE v LIKE ?", args: []any{"p%"}},
	{stmt: "UPDATE t SET n = NEXTVAL(s), id = 1 WHERE id > 1 ORDER BY id"}, // 1062
	{stmt: "UPDATE t SET n = NEXTVAL(s) WHERE nosuch = 1"},
	{stmt: "UPDATE t SET nosuch = NEXTVAL(s)"},
	{stmt: "UPDATE nosuch SET n = NEXTVAL(s)"},
	{stmt: "UPDATE t SET g = NEXTVAL(s)"},
}

// rowsResult is what a client sees of an UPDATE.
type rowsResult struct {
	Errno                      uint16
	Text                       string
	Affected, InsertID, LastID int64
	RowCount, Warnings         int64
	Rows, Log, LastValues      string
}

func runRowsUpdate(t *testing.T, c *sql.Conn, stmt string, args []any) (r rowsResult) {
	t.Helper()
	result, err := c.ExecContext(t.Context(), stmt, args...)
	r.Errno = errno(err)
	if err != nil && r.Errno == 0 {
		t.Fatal(stmt, err)
	}
	if err == nil {
		r.Affected, _ = result.RowsAffected()
		r.InsertID, _ = result.LastInsertId()
	} else {
		r.Text = err.Error()
	}
	if err := c.QueryRowContext(t.Context(), "SELECT ROW_COUNT(), @@warning_count").Scan(&r.RowCount, &r.Warnings); err != nil {
		t.Fatal(err)
	}
	r.LastID = value[int64](t, c, "SELECT LAST_INSERT_ID()")
	r.Rows = value[string](t, c, "SELECT GROUP_CONCAT(CONCAT_WS('/', id, n, m, v, g, w) ORDER BY id) FROM t")
	r.Log = value[string](t, c, "SELECT COALESCE(GROUP_CONCAT(v ORDER BY id), '') FROM log")
	if err == nil {
		r.LastValues = value[string](t, c, "SELECT CONCAT_WS(',', LASTVAL(s), LASTVAL(q))")
	}
	exec(t, c, "DELETE FROM log")
	return r
}

// The rows, what the triggers saw of them, and what the client is told are those of
// MariaDB's own sequences; MySQL gives the same.
func TestRowsEqualMariaDB(t *testing.T) {
	results := make(map[string][]rowsResult)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, params := range []string{"", "interpolateParams=true", "clientFoundRows=true"} {
			t.Run(params, func(t *testing.T) {
				g := newGate(t, s, gateOptions{})
				createSequence(t, g.direct, "s", 1, 1000)
				createSequence(t, g.direct, "q", 500, 1000)
				exec(t, g.direct, rowsTable...)
				c := conn(t, g.open(t, params))
				var native *sql.Conn
				if s.IsMariaDB() {
					database := s.NewDatabase(t)
					exec(t, s.Open(t, database), append([]string{"CREATE SEQUENCE s", "CREATE SEQUENCE q START WITH 500"}, rowsTable...)...)
					native = conn(t, openDSN(t, nativeDSN(s, database, strings.TrimPrefix(params, "interpolateParams=true"))))
				}
				exec(t, c, "SELECT LAST_INSERT_ID(777)")
				if native != nil {
					exec(t, native, "SELECT LAST_INSERT_ID(777)")
				}
				for _, u := range rowsUpdates {
					got := runRowsUpdate(t, c, u.stmt, u.args)
					got.Text = strings.ReplaceAll(got.Text, g.database, "DB")
					results[s.Name+params] = append(results[s.Name+params], got)
					if native == nil {
						continue
					}
					want := runRowsUpdate(t, native, u.stmt, u.args)
					want.Text = got.Text
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s (-native +seqgate):\n%s", u.stmt, diff)
					}
				}
			})
		}
	})
	for params, mine := range results {
		params, ok := strings.CutPrefix(params, "mysql97")
		others := results["mariadb"+params]
		for i := range mine {
			ordered := strings.Contains(strings.ToLower(rowsUpdates[i].stmt), "order by") // else each server takes its own order
			if ok && others != nil && mine[i].Text == "" && ordered {
				if diff := cmp.Diff(others[i], mine[i]); diff != "" {
					t.Errorf("%s: %s (-MariaDB +MySQL):\n%s", params, rowsUpdates[i].stmt, diff)
				}
			}
		}
	}
}

// newRowsGate gives a gate with a sequence s beside a table t of rows without values.
func newRowsGate(t *testing.T, s *servertest.Server, rows int, suffix string) *gate {
	t.Helper()
	g := newGate(t, s, gateOptions{})
	createSequence(t, g.direct, "s", 1, 1000)
	exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, n BIGINT, m BIGINT NOT NULL DEFAULT 0)"+suffix, "INSERT INTO t () VALUES ()")
	for n := 1; n < rows; n *= 2 {
		exec(t, g.direct, fmt.Sprintf("INSERT INTO t (m) SELECT 0 FROM t LIMIT %d", min(n, rows-n)))
	}
	return g
}

// Where the rows change between counting and updating them, by themselves, no value
// is given twice, and the statement is done whole or not at all.
func TestRowsThatChange(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, engine := range []string{"InnoDB", "MyISAM"} {
			t.Run(engine, func(t *testing.T) {
				g := newRowsGate(t, s, 100, " ENGINE = "+engine)
				c := conn(t, g.open(t, ""))
				failed, updated := 0, int64(0)
				for range 30 {
					result, err := c.ExecContext(t.Context(), "UPDATE IGNORE t SET n = NEXTVAL(s), m = m + 1 WHERE RAND() < 0.5")
					if errno(err) == 1020 && strings.Contains(err.Error(), "cannot undo") == (engine == "MyISAM") {
						failed++
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					n, _ := result.RowsAffected()
					updated += n
				}
				if got := value[int64](t, g.direct, "SELECT COUNT(n) - COUNT(DISTINCT n) FROM t"); got != 0 {
					t.Errorf("%d values were given twice", got)
				}
				if got := value[int64](t, g.direct, "SELECT SUM(m) FROM t"); engine == "InnoDB" && got != updated || updated == 0 {
					t.Errorf("%d rows were updated, told of %d", got, updated)
				}
				if engine == "MyISAM" && failed == 0 {
					t.Error("no statement failed, though rows came")
				}
			})
		}
	})
}

// While other sessions add rows, and several update them at once, no value is given
// twice, and each row that a client was told of has one.
func TestRowsBesideWriters(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newRowsGate(t, s, 50, "")
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var writers, updaters sync.WaitGroup
		for range 2 {
			w := conn(t, g.direct)
			writers.Go(func() {
				for n := 0; n < 300 && ctx.Err() == nil; n++ {
					if _, err := w.ExecContext(t.Context(), "INSERT INTO t (m) VALUES (0), (0)"); err != nil && errno(err) != 1213 {
						t.Error(err)
						return
					}
				}
			})
		}
		through := g.open(t, "")
		for i := range 2 {
			c := conn(t, through)
			exec(t, c, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
			updaters.Go(func() {
				for n := range 10 {
					query := "UPDATE t SET n = NEXTVAL(s)"
					if (n+i)%2 == 0 {
						query = "UPDATE t SET n = NEXTVAL(s) WHERE n IS NULL ORDER BY id DESC"
					}
					if _, err := c.ExecContext(t.Context(), query); err != nil && errno(err) != 1020 && errno(err) != 1213 {
						t.Error(err)
					}
				}
			})
		}
		updaters.Wait()
		stop()
		writers.Wait()
		exec(t, conn(t, through), "UPDATE t SET n = NEXTVAL(s) WHERE n IS NULL")
		if got := value[int64](t, g.direct, "SELECT COUNT(*) - COUNT(DISTINCT n) FROM t"); got != 0 {
			t.Errorf("%d rows have no value of their own", got)
		}
	})
}

// In a transaction the rows that were counted are locked, and an UPDATE that is
// undone gives no value to another.
func TestRowsInTransactions(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newRowsGate(t, s, 4, "")
		c := conn(t, g.open(t, "multiStatements=true"))
		const rows = "SELECT GROUP_CONCAT(CONCAT_WS('/', id, n) ORDER BY id) FROM t"
		ids := strings.Split(value[string](t, g.direct, "SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), ",")
		with := func(values ...int) string {
			var all []string
			for i, v := range values {
				all = append(all, fmt.Sprintf("%s/%d", ids[i], v))
			}
			return strings.Join(all, ",")
		}
		exec(t, c, "BEGIN", "UPDATE t SET n = NEXTVAL(s)", "ROLLBACK", "UPDATE t SET n = NEXTVAL(s)")
		if got, want := value[string](t, c, rows), with(5, 6, 7, 8); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		exec(t, c, "SET @a = 1; UPDATE t SET n = NEXTVAL(s) ORDER BY id DESC; UPDATE t SET n = NEXTVAL(s) WHERE n = 9 OR n = 10; SET @b = 2")
		if got, want := value[string](t, c, rows), with(12, 11, 13, 14); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		exec(t, c, "BEGIN", "UPDATE t SET n = NEXTVAL(s) ORDER BY id LIMIT 2")
		other := conn(t, g.direct)
		exec(t, other, "SET innodb_lock_wait_timeout = 1")
		_, err := other.ExecContext(t.Context(), "UPDATE t SET m = 5 WHERE id = "+ids[0])
		checkErrno(t, err, 1205)
		exec(t, other, "UPDATE t SET m = 5 WHERE id = "+ids[3])
		exec(t, c, "COMMIT")
	})
}

// What the server says of an UPDATE is said, and it takes no more than it needs.
func TestRowsOfTheServer(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newRowsGate(t, s, 3, " PARTITION BY HASH (id) PARTITIONS 3")
		exec(t, g.direct, "CREATE VIEW v AS SELECT id AS i, n AS x FROM t WHERE id > 0",
			"CREATE USER IF NOT EXISTS writer IDENTIFIED BY 'writer'", "GRANT UPDATE ON "+g.database+".t TO writer")
		c := conn(t, g.open(t, ""))
		exec(t, c, "CREATE TABLE o (k BIGINT)", "INSERT INTO o SELECT id FROM t UNION ALL SELECT id FROM t",
			"UPDATE t SET n = NEXTVAL(s) WHERE id IN (SELECT k FROM o)", "UPDATE t PARTITION (p0, p1, p2) SET n = NEXTVAL(s)")
		if got := value[string](t, c, "SELECT CONCAT_WS('/', COUNT(DISTINCT n), MIN(n), MAX(n)) FROM t"); got != "3/4/6" {
			t.Errorf("got %s, want three values of 4 to 6", got)
		}
		exec(t, c, "UPDATE v SET x = NEXTVAL(s)", "UPDATE t SET id = NEXTVAL(s) + 100 ORDER BY id", "UPDATE t SET n = NULLIF(NEXTVAL(s), 0)")
		if got := value[int64](t, c, "SELECT COUNT(DISTINCT n) * 1000 + SUM(id) FROM t"); got != 3000+110+111+112 {
			t.Errorf("got %d: three values, and the ids 110 to 112", got)
		}
		exec(t, c, "UPDATE t SET n = NULL", "SET sql_safe_updates = 1, sql_select_limit = 1")
		_, err := c.ExecContext(t.Context(), "UPDATE t SET n = NEXTVAL(s)")
		checkErrno(t, err, 1175)
		exec(t, c, "UPDATE t SET n = NEXTVAL(s) WHERE id > 0", "SET sql_safe_updates = 0, sql_select_limit = DEFAULT")
		if got := value[int64](t, c, "SELECT COUNT(DISTINCT n) FROM t"); got != 3 {
			t.Errorf("%d rows have values, want 3", got)
		}
		exec(t, c, "SET SESSION TRANSACTION READ ONLY")
		_, err = c.ExecContext(t.Context(), "UPDATE t SET n = NEXTVAL(s)")
		checkErrno(t, err, 1792)
		through := newGate(t, s, gateOptions{passThrough: true, database: g.database})
		writer := conn(t, openDSN(t, fmt.Sprintf("writer:writer@tcp(%s)/%s?tls=skip-verify", through.addr, g.database)))
		_, err = writer.ExecContext(t.Context(), "UPDATE t SET n = NEXTVAL(s)")
		checkErrno(t, err, 1235)
		if err == nil || !strings.Contains(err.Error(), "cannot be counted") {
			t.Errorf("without the right to read: %v", err)
		}
	})
}

// Each execution of a prepared statement counts anew, and what it reads is what it
// was prepared in.
func TestRowsPrepared(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newRowsGate(t, s, 1, "")
		c := conn(t, g.open(t, ""))
		exec(t, c, "INSERT INTO t (id, m) VALUES (10, 1), (20, 2), (30, 3)")
		stmt, err := c.PrepareContext(t.Context(), "UPDATE t SET n = NEXTVAL(s) * ? WHERE m >= ? ORDER BY m DESC")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for _, least := range []int{2, 9, 1} {
			if _, err := stmt.ExecContext(t.Context(), 10, least); err != nil {
				t.Fatal(err)
			}
		}
		if got := value[string](t, c, "SELECT GROUP_CONCAT(n ORDER BY id) FROM t"); got != "50,40,30" {
			t.Errorf("got %s, want 50,40,30", got)
		}
		exec(t, c, "SET sql_mode = 'ANSI_QUOTES'")
		_, err = stmt.ExecContext(t.Context(), 1, 1)
		checkErrno(t, err, 1615)
	})
}

// A view that sets LAST_INSERT_ID() would have the rows counted anew.
func TestRowsBesideViews(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newRowsGate(t, s, 3, "")
		exec(t, g.direct, "CREATE VIEW vr AS SELECT id, LAST_INSERT_ID(1) AS x FROM t",
			"CREATE VIEW v AS SELECT * FROM t WHERE (SELECT MAX(x) FROM vr WHERE vr.id <= t.id) > 0")
		c := conn(t, g.open(t, ""))
		for _, statement := range []string{"UPDATE t SET m = (SELECT MAX(x) FROM vr WHERE vr.id <= t.id), n = NEXTVAL(s)", "UPDATE v SET n = NEXTVAL(s)"} {
			_, err := c.ExecContext(t.Context(), statement)
			checkErrno(t, err, 1235)
		}
		exec(t, g.direct, "DROP VIEW v, vr", "CREATE VIEW v AS SELECT * FROM t")
		exec(t, c, "UPDATE v SET n = NEXTVAL(s) WHERE id IN (SELECT id FROM (SELECT id FROM t) x)")
		if got := value[int64](t, c, "SELECT COUNT(DISTINCT n) FROM t"); got != 3 {
			t.Errorf("%d values, want 3", got)
		}
	})
}

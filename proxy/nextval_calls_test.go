package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// nextGate is a gate with a sequence s, beside an ordinary table t, one whose ids
// come from a sequence, u, and clients that prepare and that do not.
func nextGate(t *testing.T, s *servertest.Server) *gate {
	t.Helper()
	g := newGate(t, s, gateOptions{})
	createSequence(t, g.direct, "s", 1, 1000)
	createSequence(t, g.direct, "q", 500, 1000)
	createSequence(t, g.direct, "u_seq", 9000, 1000)
	exec(t, g.direct, "CREATE TABLE t (id BIGINT, v VARCHAR(50))", "CREATE TABLE u (id BIGINT PRIMARY KEY AUTO_INCREMENT, n BIGINT, v VARCHAR(50))")
	return g
}

// Each form gives its values, in text and prepared, with the column's name that the
// text has.
func TestCallForms(t *testing.T) {
	tests := []struct{ query, want string }{
		{"SELECT NEXTVAL(s)", "NEXTVAL(s) BIGINT|\n\"1\"|\n"},
		{"SELECT nextval('s') AS n", "n BIGINT|\n\"2\"|\n"},
		{"SELECT NEXTVAL(DB.s)", "NEXTVAL(DB.s) BIGINT|\n\"3\"|\n"},
		{"SELECT NEXT VALUE FOR `s`", "nextval BIGINT|\n\"4\"|\n"},
		{"SELECT NEXT VALUE FOR s x", "x BIGINT|\n\"5\"|\n"},
		{"SELECT NEXT VALUE FOR DB.s FROM dual", "NEXT VALUE FOR DB.s BIGINT|\n\"6\"|\n"},
		{"select s.nextval", "s.nextval BIGINT|\n\"7\"|\n"},
		{"SELECT `DB`.`s`.NEXTVAL FROM DUAL;", "`DB`.`s`.NEXTVAL BIGINT|\n\"8\"|\n"},
		{"SELECT s.NEXTVAL FROM dual WHERE COUNT = 3", "s.NEXTVAL BIGINT|\n\"9\"|\n\"10\"|\n\"11\"|\n"},
		{"SELECT s.NEXTVAL WHERE COUNT = 1", "s.NEXTVAL BIGINT|\n\"12\"|\n"},
		{"SELECT LASTVAL(s)", "LASTVAL(s) BIGINT|\n\"12\"|\n"},
		{"SELECT PREVIOUS VALUE FOR s", "PREVIOUS VALUE FOR s BIGINT|\n\"12\"|\n"},
		{"SELECT s.CURRVAL, currval('s'), LASTVAL()", "s.CURRVAL BIGINT|currval('s') BIGINT|LASTVAL() BIGINT|\n\"12\"|\"12\"|\"12\"|\n"},
		{"SELECT LASTVAL(q)", "LASTVAL(q) BIGINT|\n\"\"|\n"},
		{"SELECT NEXTVAL(s), NEXTVAL(q), NEXTVAL(s) + 100 y, LASTVAL(s)", "NEXTVAL(s) BIGINT|NEXTVAL(q) BIGINT|y BIGINT|LASTVAL(s) BIGINT|\n\"13\"|\"500\"|\"114\"|\"14\"|\n"},
		{"SELECT LASTVAL()", "LASTVAL() BIGINT|\n\"14\"|\n"},
		{"SELECT NEXT 5 VALUES FROM s", "nextval BIGINT|\n\"15\"|\n"},
		{"SELECT LASTVAL(s)", "LASTVAL(s) BIGINT|\n\"19\"|\n"},
		{"/* c */ SELECT /* d */ NEXTVAL(s) -- e", "NEXTVAL(s) BIGINT|\n\"20\"|\n"},
		{"SELECT SETVAL(s, 30)", "SETVAL(s, 30) BIGINT|\n\"30\"|\n"},
		{"SELECT NEXTVAL(s)", "NEXTVAL(s) BIGINT|\n\"31\"|\n"},
		{"SELECT SETVAL(s, 40, 0), NEXTVAL(s), SETVAL(s, 5), NEXTVAL(s)",
			"SETVAL(s, 40, 0) BIGINT|NEXTVAL(s) BIGINT|SETVAL(s, 5) BIGINT|NEXTVAL(s) BIGINT|\n\"40\"|\"40\"|\"\"|\"41\"|\n"},
		{"SELECT CONCAT('n', NEXTVAL(s)) FROM dual WHERE 1 = 1", "CONCAT('n', NEXTVAL(s)) VARCHAR|\n\"n42\"|\n"},
		{"SELECT NEXTVAL(s) FROM dual WHERE 1 = 0", "NEXTVAL(s) BIGINT|\n"},
		{"SELECT 'NEXTVAL(s)', 'x' nextval", "NEXTVAL(s) VARCHAR|nextval VARCHAR|\n\"NEXTVAL(s)\"|\"x\"|\n"},
		{"SELECT NEXTVAL(s), `DB`.`s`.NEXTVAL AS `a``b` LIMIT 1", "NEXTVAL(s) BIGINT|a`b BIGINT|\n\"44\"|\"45\"|\n"},
		{"SELECT SETVAL(s, 100000)", "SETVAL(s, 100000) BIGINT|\n\"100000\"|\n"},
		{"SELECT NEXTVAL(s)", "NEXTVAL(s) BIGINT|\n\"100001\"|\n"},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, prepared := range []bool{false, true} {
			t.Run(fmt.Sprintf("prepared=%v", prepared), func(t *testing.T) {
				g := nextGate(t, s)
				c := conn(t, g.open(t, ""))
				for _, test := range tests {
					query := strings.ReplaceAll(test.query, "DB", g.database)
					got := ""
					if prepared {
						got = dumpPrepared(t, c, query)
					} else {
						got = dump(t, c, query)
					}
					if want := strings.ReplaceAll(test.want, "DB", g.database); got != want {
						t.Errorf("%s:\ngot  %q\nwant %q", query, got, want)
					}
				}
			})
		}
	})
}

// dumpPrepared is dump of a statement that is prepared first.
func dumpPrepared(t *testing.T, c *sql.Conn, query string, args ...any) string {
	t.Helper()
	stmt, err := c.PrepareContext(t.Context(), query)
	if err != nil {
		return "error: " + err.Error()
	}
	defer stmt.Close()
	rows, err := stmt.QueryContext(t.Context(), args...)
	if err != nil {
		return "error: " + err.Error()
	}
	return dumpRows(t, rows)
}

// Values are written where they are asked for, by each statement that writes.
func TestCallsThatWrite(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		c := conn(t, g.open(t, "multiStatements=true"))
		exec(t, c,
			"INSERT INTO t VALUES (NEXTVAL(s), 'a'), (NEXTVAL(s)+100, 'NEXTVAL(s)')",
			"INSERT INTO t (v, id) VALUE ('c', s.NEXTVAL)",
			"INSERT t SET v='d', id=NEXT VALUE FOR s",
			"REPLACE INTO t SET id = nextval('s'), v = CONCAT('e', LASTVAL(s))",
			"SET @x = NEXTVAL(s), @y = NEXTVAL(s)", "INSERT INTO t VALUES (@x, 'x'), (@y, 'y')",
			"DO NEXTVAL(s)",
			"UPDATE t SET id = NEXTVAL(s) WHERE v = 'c' LIMIT 1",
			"SELECT NEXTVAL(s) INTO @z", "INSERT INTO t VALUES (@z, 'z')",
			"INSERT INTO t VALUES (NEXTVAL(s), 'm'); INSERT INTO t VALUES (NEXTVAL(s), 'n')",
			"CREATE PROCEDURE p(n BIGINT) INSERT INTO t VALUES (n, 'p')", "CALL p(NEXTVAL(s))",
			"INSERT INTO t VALUES(NEXTVAL(s)DIV 1, 'q')",
			"INSERT INTO t VALUES (/*!40000 NEXTVAL(s) */, 'r')",
		)
		want := "1/a,4/d,5/e5,6/x,7/y,9/c,10/z,11/m,12/n,13/p,14/q,15/r,102/NEXTVAL(s)"
		if got := g.rowsOf(t, "t"); got != want {
			t.Errorf("rows %s, want %s", got, want)
		}
	})
}

func (g *gate) rowsOf(t *testing.T, table string) string {
	t.Helper()
	return value[string](t, g.direct, "SELECT GROUP_CONCAT(CONCAT_WS('/', id, v) ORDER BY id) FROM "+table)
}

// In the id's place a value counts as given: the insert id is that of an explicit
// one, LAST_INSERT_ID() stays. Elsewhere the ids are made as ever.
func TestCallsInSequencedTable(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, params := range []string{"", "interpolateParams=true"} {
			t.Run(params, func(t *testing.T) {
				g := nextGate(t, s)
				exec(t, g.direct, "CREATE TABLE native (id BIGINT PRIMARY KEY AUTO_INCREMENT, n BIGINT, v VARCHAR(50)) AUTO_INCREMENT = 9000")
				c, native := conn(t, g.open(t, params)), conn(t, g.direct)
				for i, step := range []struct {
					query, plain string
					args         []any
				}{
					{"INSERT INTO u (n, v) VALUES (NEXTVAL(s), ?)", "INSERT INTO native (n, v) VALUES (1, ?)", []any{"a"}},
					{"INSERT INTO u VALUES (NEXTVAL(s), ?, 'b')", "INSERT INTO native VALUES (2, ?, 'b')", []any{7}},
					{"INSERT INTO u VALUES (NULL, ?, 'c'), (NULL, NEXTVAL(s), ?)", "INSERT INTO native VALUES (NULL, ?, 'c'), (NULL, 3, ?)", []any{5, "d"}},
					{"INSERT INTO u SET id = NEXT VALUE FOR s, n = ?", "INSERT INTO native SET id = 4, n = ?", []any{1}},
					{"INSERT INTO u SET id = ?, n = NEXT VALUE FOR s", "INSERT INTO native SET id = ?, n = 5", []any{nil}},
					{"REPLACE INTO u VALUES (?, NEXTVAL(s), LASTVAL(s))", "REPLACE INTO native VALUES (?, 6, 6)", []any{0}},
				} {
					got, err := c.ExecContext(t.Context(), step.query, step.args...)
					want, wantErr := native.ExecContext(t.Context(), step.plain, step.args...)
					if err != nil || wantErr != nil {
						t.Fatal(err, wantErr)
					}
					gotID, _ := got.LastInsertId()
					wantID, _ := want.LastInsertId()
					gotLast, wantLast := value[int64](t, c, "SELECT LAST_INSERT_ID()"), value[int64](t, native, "SELECT LAST_INSERT_ID()")
					if gotID != wantID || gotLast != wantLast {
						t.Errorf("step %d: insert id %d, LAST_INSERT_ID() %d; native %d, %d", i, gotID, gotLast, wantID, wantLast)
					}
				}
				const rows = "SELECT GROUP_CONCAT(CONCAT_WS('/', id, COALESCE(n, 'NULL'), v) ORDER BY id) FROM "
				if got, want := value[string](t, g.direct, rows+"u"), value[string](t, g.direct, rows+"native"); got != want {
					t.Errorf("rows %s\nnative %s", got, want)
				}
			})
		}
	})
}

// Where one value would stand for several rows, or nothing says for how many, the
// call is refused, and takes no value.
func TestCallsRefused(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		exec(t, g.direct, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
		c := conn(t, g.open(t, ""))
		for _, query := range []string{
			"SELECT NEXTVAL(s) FROM t", "SELECT NEXTVAL(s) UNION SELECT NEXTVAL(s)", "SELECT (SELECT NEXTVAL(s))", "SELECT 1 FROM t WHERE id = NEXTVAL(s)",
			"SELECT id FROM t ORDER BY NEXTVAL(s)", "(SELECT NEXTVAL(s))", "WITH x AS (SELECT 1) SELECT NEXTVAL(s)", "SELECT * FROM (SELECT NEXTVAL(s)) x",
			"INSERT INTO t SELECT NEXTVAL(s), v FROM t", "INSERT INTO t VALUES ((SELECT NEXTVAL(s)), 'x')",
			"INSERT INTO t VALUES (1, 'x') ON DUPLICATE KEY UPDATE id = NEXTVAL(s)",
			"UPDATE t, u SET t.id = NEXTVAL(s)", "UPDATE t SET id = SETVAL(s, 5)", "UPDATE t SET id = (SELECT NEXTVAL(s))",
			"UPDATE t SET id = NEXTVAL(s)", "UPDATE t SET id = NEXTVAL(s) LIMIT 2", "UPDATE t SET id = NEXTVAL(s) WHERE id = 1",
			"UPDATE t SET v = 'x' WHERE id = NEXTVAL(s) LIMIT 1",
			"DELETE FROM t WHERE id = NEXTVAL(s)", "SELECT SETVAL(s, id) FROM t", "SELECT SETVAL(s, 1+1)", "SELECT SETVAL(s, 5, 1, 1)",
		} {
			_, err := c.ExecContext(t.Context(), query)
			if errno(err) != 1235 || !strings.Contains(err.Error(), "main.s") {
				t.Errorf("%s: %v, want 1235 naming the sequence", query, err)
			}
			if stmt, err := c.PrepareContext(t.Context(), query); errno(err) != 1235 {
				t.Errorf("prepare %s: %v, want 1235", query, err)
				_ = stmt.Close()
			}
		}
		if got := g.rowsOf(t, "t"); got != "1/a,2/b" {
			t.Errorf("rows %s", got)
		}
		if got := value[int64](t, c, "SELECT NEXTVAL(s)"); got != 1 {
			t.Errorf("the next value is %d, want 1: a refused call took some", got)
		}
	})
}

// What is no sequence of seqgate's is the server's: its errors, its functions and,
// on MariaDB, its own sequences.
func TestCallsOfTheServer(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		exec(t, g.direct, "CREATE FUNCTION nextval(n VARCHAR(20)) RETURNS VARCHAR(30) DETERMINISTIC RETURN CONCAT('mine ', n)",
			"CREATE TABLE c (nextval INT, currval INT)", "INSERT INTO c VALUES (1, 2)")
		queries := []string{
			"SELECT NEXTVAL(nosuch)", "SELECT NEXTVAL(t)", "SELECT nosuch.NEXTVAL", "SELECT s.nextval FROM t", "SELECT PREVIOUS VALUE FOR t",
			"SELECT nextval('x')", "SELECT nextval('x'), 1 FROM c", "SELECT `nextval`('s')", "SELECT " + g.database + ".nextval('s')",
			"SELECT c.nextval, s.currval FROM c JOIN c s", "SELECT nextval FROM c", "SELECT s.nextval FROM c AS s", "SELECT SETVAL(nosuch, 1)",
			"SELECT NEXTVAL(@s)", "SELECT NEXTVAL(s", "SELECT NEXTVAL(s, 1)", "INSERT INTO c (nextval) VALUES (3)",
		}
		if g.server.IsMariaDB() {
			exec(t, g.direct, "CREATE SEQUENCE mine START WITH 5", "CREATE SEQUENCE mine2 START WITH 5")
			queries = append(queries, "SELECT NEXTVAL(mine%s), LASTVAL(mine%s)", "SELECT NEXT VALUE FOR mine%s", "SELECT SETVAL(mine%s, 50)", "SELECT PREVIOUS VALUE FOR mine%s AS x",
				"INSERT INTO t SELECT NEXTVAL(mine%s), 'x'")
		}
		c, direct := conn(t, g.open(t, "")), conn(t, g.direct)
		for _, query := range queries {
			got := dump(t, c, strings.ReplaceAll(query, "%s", ""))
			want := strings.ReplaceAll(dump(t, direct, strings.ReplaceAll(query, "%s", "2")), "mine2", "mine")
			if got != want {
				t.Errorf("%s:\ngot    %s\ndirect %s", query, got, want)
			}
		}
	})
}

// LASTVAL() may be a function of the client's.
func TestLastValueOfTheClients(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if s.IsMariaDB() {
			t.Skip("MariaDB has no function of that name without a sequence")
		}
		g := nextGate(t, s)
		exec(t, g.direct, "CREATE FUNCTION lastval() RETURNS INT DETERMINISTIC RETURN 5")
		c := conn(t, g.open(t, ""))
		if got := value[int](t, c, "SELECT lastval()"); got != 5 {
			t.Errorf("lastval() is %d, want the client's own: 5", got)
		}
	})
}

// Calls of the server's own beside seqgate's stay as they are.
func TestCallsBesideTheServers(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		exec(t, g.direct, "CREATE TABLE c (nextval INT, b BIGINT)", "INSERT INTO c VALUES (1, 2)")
		others, want := "nextval('orders')", "mine orders"
		if s.IsMariaDB() {
			exec(t, g.direct, "CREATE SEQUENCE mine START WITH 5")
			others, want = "NEXTVAL(mine)", "5"
		} else {
			exec(t, g.direct, "CREATE FUNCTION nextval(n VARCHAR(20)) RETURNS VARCHAR(30) DETERMINISTIC RETURN CONCAT('mine ', n)")
		}
		c := conn(t, g.open(t, ""))
		var other string
		var own int64
		if err := c.QueryRowContext(t.Context(), "SELECT "+others+", NEXTVAL(s)").Scan(&other, &own); err != nil || other != want || own != 1 {
			t.Errorf("%q, %d, %v; want %q, 1", other, own, err, want)
		}
		stmt, err := c.PrepareContext(t.Context(), "SELECT NEXTVAL(s), "+others+", ?")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stmt.Close() }()
		var echo string
		if err := stmt.QueryRowContext(t.Context(), "x").Scan(&own, &other, &echo); err != nil || own != 2 || echo != "x" {
			t.Errorf("prepared: %d, %q, %q, %v", own, other, echo, err)
		}
		exec(t, c, "UPDATE c SET b = NEXTVAL(s), c.nextval = 3 LIMIT 1")
		if got := value[string](t, g.direct, "SELECT CONCAT(nextval, '/', b) FROM c"); got != "3/3" {
			t.Errorf("row %s, want 3/3", got)
		}
	})
}

// A sequence's table that is dropped past seqgate, and made anew as what the server answers for, is that once the values in
// memory are used up.
func TestSequenceReplacedByTable(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		createSequence(t, g.direct, "s", 1, 2)
		c := conn(t, g.open(t, ""))
		if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != 1 {
			t.Fatalf("got %d, want 1", got)
		}
		exec(t, g.direct, "DROP TABLE s")
		query := "SELECT NEXT VALUE FOR s"
		if s.IsMariaDB() {
			exec(t, g.direct, "CREATE SEQUENCE s START WITH 77")
		} else {
			query = "SELECT NEXT VALUE FROM s" // a column, under another name
			exec(t, g.direct, "CREATE TABLE s (next BIGINT)", "INSERT INTO s VALUES (77)")
		}
		for end := time.Now().Add(time.Minute); ; {
			var got int64
			err := c.QueryRowContext(t.Context(), query).Scan(&got)
			if err == nil && got == 77 {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("got %d, %v, want 77 of what is there now", got, err)
			}
		}
	})
}

// MariaDB has these for its own sequences: seqgate's give the same results.
func TestCallsEqualMariaDB(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MySQL has no sequences")
		}
		g := nextGate(t, s)
		native := s.Open(t, s.NewDatabase(t))
		exec(t, native, "CREATE SEQUENCE s", "CREATE SEQUENCE q START WITH 500", "CREATE TABLE t (id BIGINT, v VARCHAR(50))")
		c, direct := conn(t, g.open(t, "")), conn(t, native)
		for _, query := range []string{
			"SELECT LASTVAL(s)", "SELECT NEXTVAL(s)", "SELECT LASTVAL(s), PREVIOUS VALUE FOR s", "SELECT NEXT VALUE FOR s AS a, NEXTVAL(q)", "SELECT NEXTVAL(s) a, NEXTVAL(s)+1, 'x'",
			"SELECT SETVAL(s, 2)", "SELECT SETVAL(s, 20)", "SELECT SETVAL(s, 20)", "SELECT NEXTVAL(s)", "SELECT SETVAL(s, 30, 0)", "SELECT NEXTVAL(s), LASTVAL(s)", "SELECT SETVAL(s, 30, 0)",
			"INSERT INTO t VALUES (NEXTVAL(s), 'a'), (NEXTVAL(s), 'b')", "SELECT * FROM t", "SELECT * FROM t WHERE id = LASTVAL(s)", "DO NEXTVAL(s)", "SELECT LASTVAL(s) x FROM t",
			"SELECT NEXTVAL(s) FROM dual", "SELECT NEXTVAL(s) INTO @a", "SELECT @a", "SELECT NEXTVAL(s) LIMIT 1", "SELECT -NEXTVAL(s), NEXTVAL(s) DIV 2, IF(NEXTVAL(s), 1, 2)",
		} {
			if got, want := dump(t, c, query), dump(t, direct, query); got != want {
				t.Errorf("%s:\ngot    %q\nnative %q", query, got, want)
			}
			if got, want := dumpPrepared(t, c, query), dumpPrepared(t, direct, query); got != want {
				t.Errorf("prepared %s:\ngot    %q\nnative %q", query, got, want)
			}
		}
	})
}

// Parameters of the client's stand before, between and behind the calls of a
// prepared statement, and each execution takes values of its own.
func TestCallsPrepared(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		c := conn(t, g.open(t, ""))
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO t VALUES (?, CONCAT(?, NEXTVAL(s), ?)), (NEXTVAL(s), ?), (?, LASTVAL(q))")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if _, err := stmt.ExecContext(t.Context(), 10*i, "a", "b", "c", 10*i+5); err != nil {
				t.Fatal(err)
			}
		}
		if err := stmt.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := g.rowsOf(t, "t"), "0/a1b,2/c,4/c,5,6/c,10/a3b,15,20/a5b,25"; got != want {
			t.Errorf("rows %s, want %s", got, want)
		}
		stmt, err = c.PrepareContext(t.Context(), "SELECT s.NEXTVAL FROM dual WHERE COUNT = ?")
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range []int64{1, 3, 2000} {
			rows, err := stmt.QueryContext(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Count(dumpRows(t, rows), "\n"), int(n)+1; got != want {
				t.Errorf("query %d: %d lines, want %d", i, got, want)
			}
		}
		if _, err := stmt.QueryContext(t.Context(), 0); errno(err) != 1210 {
			t.Errorf("COUNT = 0: %v, want 1210", err)
		}
		if got := value[int64](t, c, "SELECT ? + NEXTVAL(s) FROM dual WHERE ? = 1", 1000, 1); got != 1000+2011 {
			t.Errorf("got %d, want 3011", got)
		}
		stmt, err = c.PrepareContext(t.Context(), "UPDATE t SET id = NEXTVAL(s) WHERE v = ? LIMIT 1")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := stmt.ExecContext(t.Context(), "a1b"); err != nil {
				t.Fatal(err)
			}
		}
		if got := value[int64](t, c, "SELECT id FROM t WHERE v = 'a1b'"); got != 2013 {
			t.Errorf("got %d, want 2013", got)
		}
	})
}

// A last value is the session's own, and is forgotten with it.
func TestLastValue(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		one, other := conn(t, g.open(t, "")), conn(t, g.open(t, ""))
		const all = "SELECT CONCAT_WS(',', COALESCE(LASTVAL(s), 'NULL'), COALESCE(LASTVAL(q), 'NULL'), COALESCE(LASTVAL(), 'NULL'))"
		check := func(c *sql.Conn, want string) {
			t.Helper()
			if got := value[string](t, c, all); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
		check(one, "NULL,NULL,NULL")
		exec(t, one, "SELECT NEXTVAL(s)", "SELECT NEXT 3 VALUES FROM q")
		check(one, "1,502,502")
		check(other, "NULL,NULL,NULL")
		exec(t, one, "BEGIN", "INSERT INTO t VALUES (NEXTVAL(s), 'x')", "ROLLBACK")
		check(one, "2,502,2")
		if got := value[sql.NullInt64](t, other, "SELECT LASTVAL(s)"); got.Valid {
			t.Errorf("LASTVAL before the first value is %v, want NULL", got)
		}
		raw := rawClient(t, g.dsn(""))
		for _, step := range []struct{ command, want string }{
			{"\x03SELECT s.NEXTVAL x", "3"}, {"\x03SELECT LASTVAL(s) x", "3"}, {"\x1f", ""}, {"\x03SELECT LASTVAL(s) x", "\xfb"},
		} {
			packet := step.command
			if packet[0] == 3 && !s.IsMariaDB() {
				packet = "\x03\x00\x01" + packet[1:]
			}
			if got := string(answerOf(t, raw, command(packet))); !strings.Contains(got, step.want) {
				t.Errorf("%q: %q, want %q in it", step.command, got, step.want)
			}
		}
	})
}

// SETVAL needs the right to write the sequence's table, takes effect in the row
// before it answers, and never goes back.
func TestSetValue(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		exec(t, g.direct, "CREATE USER IF NOT EXISTS reader IDENTIFIED BY 'reader'", "GRANT SELECT ON "+g.database+".* TO reader")
		c := conn(t, g.open(t, ""))
		if got := value[int64](t, c, "SELECT SETVAL(s, 5000)"); got != 5000 {
			t.Errorf("got %d", got)
		}
		if got := value[int64](t, g.direct, "SELECT next_id FROM s"); got != 5001 {
			t.Errorf("next_id is %d, want 5001", got)
		}
		exec(t, c, "DO SETVAL(s, 4000)", "SET @x = SETVAL(s, 6000, 0)")
		if got := value[int64](t, c, "SELECT NEXTVAL(s)"); got != 6000 {
			t.Errorf("got %d, want 6000", got)
		}
		exec(t, c, "SET SESSION TRANSACTION READ ONLY", "BEGIN")
		if _, err := c.ExecContext(t.Context(), "SELECT SETVAL(s, 7000)"); errno(err) != 1792 {
			t.Errorf("in a read-only transaction: %v, want 1792", err)
		}
		through := newGate(t, s, gateOptions{passThrough: true, database: g.database})
		reader := conn(t, openDSN(t, fmt.Sprintf("reader:reader@tcp(%s)/%s?tls=skip-verify", through.addr, g.database)))
		if _, err := reader.ExecContext(t.Context(), "SELECT SETVAL(s, 8000)"); errno(err) != 1142 {
			t.Errorf("without the right to write: %v, want 1142", err)
		}
		if got := value[int64](t, g.direct, "SELECT next_id FROM s"); got > 7000 { // the block that NEXTVAL reserved
			t.Errorf("next_id is %d: a refused SETVAL took effect", got)
		}
	})
}

// Calls are found in long texts, and in character sets in which a backslash or a
// quote may be a part of a character.
func TestCallsInOddTexts(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		c := conn(t, g.open(t, "multiStatements=true"))
		long := strings.Repeat("x", 100_000)
		if got := value[string](t, c, "SELECT CONCAT(NEXTVAL(s), '"+long+"')"); got != "1"+long {
			t.Errorf("got %.20q...", got)
		}
		single := conn(t, g.open(t, ""))
		if got := value[string](t, single, "SELECT CONCAT(NEXTVAL(q), '"+long+"')"); got != "500"+long {
			t.Errorf("got %.20q...", got)
		}
		if got := value[string](t, single, "SELECT CONCAT('"+long[:15_000]+"', NEXTVAL(q))"); got != long[:15_000]+"501" {
			t.Errorf("got ...%q", got[14_990:])
		}
		if got := dump(t, c, "SELECT 'a'; SELECT NEXTVAL(s); SELECT NEXTVAL(s) + 1 AS n; SELECT LASTVAL(s) AS l"); got !=
			"a VARCHAR|\n\"a\"|\nNEXTVAL(s) BIGINT|\n\"2\"|\nn BIGINT|\n\"4\"|\nl BIGINT|\n\"3\"|\n" {
			t.Errorf("got %q", got)
		}
		exec(t, c, "SET NAMES gbk")
		if got := value[int64](t, c, "SELECT LENGTH(CONCAT('\x81\\', NEXTVAL(s), '\x81\\'))"); got != 5 {
			t.Errorf("gbk: length %d, want 5", got)
		}
		exec(t, c, "SET NAMES utf8mb4", "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'")
		if got := value[string](t, c, `SELECT CONCAT('\', NEXTVAL("s"), '"NEXTVAL(s)"')`); got != `\5"NEXTVAL(s)"` {
			t.Errorf("ANSI_QUOTES: %q", got)
		}
		if got := dump(t, c, "SELECT NEXTVAL(s) AS größe"); got != "größe BIGINT|\n\"6\"|\n" {
			t.Errorf("got %q", got)
		}
	})
}

// The rows of section A of the list of cases that ask for an error, or for what
// becomes of the row.
func TestSequenceCases(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := nextGate(t, s)
		for _, name := range []string{"empty_seq", "badcache_seq", "null_seq", "zero_seq", "neg_seq", "t_seq", "end_seq"} {
			createSequence(t, g.direct, name, 1, 10)
		}
		exec(t, g.direct, "DELETE FROM empty_seq", "UPDATE badcache_seq SET cache = 0", "UPDATE null_seq SET next_id = NULL",
			"UPDATE zero_seq SET next_id = 0", "UPDATE neg_seq SET next_id = -5", "UPDATE end_seq SET next_id = 9223372036854775807")
		c := conn(t, g.open(t, ""))
		for query, want := range map[string]uint16{
			"select next 1+1 values from s": 1064, "select next value from s limit 1": 1064, "select next value as x from s": 1064, // A8, A9
			"select next 2 values from s, q": 1064, "select next value from s union select 1": 1064,
			"SELECT NEXTVAL(empty_seq)": 1467, "SELECT NEXTVAL(badcache_seq)": 1467, "SELECT NEXTVAL(null_seq)": 1467, // A14 to A16
			"select next 9000000000000000000 values from s": 1210, // A31
		} {
			if _, err := c.ExecContext(t.Context(), query); errno(err) != want {
				t.Errorf("%s: %v, want error %d", query, err, want)
			}
		}
		for _, step := range []struct {
			query string
			want  int64
		}{
			{"SELECT NEXTVAL(zero_seq)", 1}, {"SELECT NEXTVAL(neg_seq)", 1}, // A17, A18
			{"SELECT NEXT 25 VALUES FROM t_seq", 1}, {"SELECT next_id FROM t_seq", 31}, {"SELECT NEXTVAL(t_seq)", 26}, // A19
			{"SELECT NEXTVAL(end_seq)", 9223372036854775807}, // A30
		} {
			if got := value[int64](t, c, step.query); got != step.want {
				t.Errorf("%s: got %d, want %d", step.query, got, step.want)
			}
		}
		if _, err := c.ExecContext(t.Context(), "SELECT NEXTVAL(end_seq)"); errno(err) != 1467 {
			t.Errorf("behind the last value: %v, want 1467", err)
		}
		exec(t, g.direct, "INSERT INTO empty_seq VALUES (0, 7, 10)") // A14: without a restart
		if got := value[int64](t, c, "SELECT NEXTVAL(empty_seq)"); got != 7 {
			t.Errorf("got %d, want 7", got)
		}
		exec(t, g.direct, "UPDATE t_seq SET next_id = 5") // A22
		for want := int64(27); want < 50; want++ {
			if got := value[int64](t, c, "SELECT t_seq.NEXTVAL"); got != want {
				t.Fatalf("after the row was set back: got %d, want %d", got, want)
			}
		}
	})
}

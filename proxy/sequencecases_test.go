package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// caseB is a row of the list of sequence cases, section B: inserts into the table
// ua(id, val UNIQUE, n) of an unsharded keyspace, whose ids begin at 1000.
type caseB struct {
	setup    []string
	stmt     string
	args     []any
	errno    uint16
	affected int64
	insertID int64
	rows     string // of ua, as id/val in the order of ids
}

// The rows B25 to B28 are about INSERT ... SELECT; B33 to B39 are in
// TestSequenceCasesBSessions.
var casesB = map[string]caseB{
	"B1":                        {stmt: "insert into ua(val) values('a')", affected: 1, insertID: 1000, rows: "1000/a"},
	"B2":                        {stmt: "insert into ua(val) values('b'),('c'),('d')", affected: 3, insertID: 1000, rows: "1000/b,1001/c,1002/d"},
	"B3":                        {stmt: "insert into ua(id,val) values(null,'e')", affected: 1, insertID: 1000, rows: "1000/e"},
	"B4":                        {stmt: "insert into ua(id,val) values(0,'f')", affected: 1, insertID: 1000, rows: "1000/f"},
	"B5":                        {stmt: "insert into ua(id,val) values(default,'g')", affected: 1, insertID: 1000, rows: "1000/g"},
	"B6 false":                  {stmt: "insert into ua(id,val) values(false,'g')", affected: 1, insertID: 1000, rows: "1000/g"},
	"B6 1-1":                    {stmt: "insert into ua(id,val) values(1-1,'g')", affected: 1, insertID: 1000, rows: "1000/g"},
	"B7":                        {stmt: "insert into ua(id,val) values('0','h')", affected: 1, insertID: 1000, rows: "1000/h"},
	"B8 0.4":                    {stmt: "insert into ua(id,val) values(0.4,'j')", affected: 1, insertID: 1000, rows: "1000/j"},
	"B8 0.6":                    {stmt: "insert into ua(id,val) values(0.6,'j')", affected: 1, insertID: 1, rows: "1/j"},
	"B9":                        {stmt: "insert into ua(id,val) values('abc','i')", errno: 1366},
	"B10":                       {stmt: "insert into ua(id,val) values(-1,'l')", affected: 1, insertID: -1, rows: "-1/l"},
	"B11":                       {stmt: "insert into ua(id,val) values(500,'m')", affected: 1, insertID: 500, rows: "500/m"},
	"B12":                       {stmt: "insert into ua(id,val) values(600,'n'),(null,'o'),(601,'p'),(0,'q')", affected: 4, insertID: 1000, rows: "600/n,601/p,1000/o,1001/q"},
	"B13":                       {setup: []string{"insert into ua(val) values('a')", "insert into ua(id,val) values(1003,'b')", "insert into ua(val) values('c'),('d')"}, stmt: "insert into ua(val) values('e')", affected: 1, insertID: 1006, rows: "1000/a,1003/b,1004/c,1005/d,1006/e"},
	"B14":                       {stmt: "insert into ua set val='t'", affected: 1, insertID: 1000, rows: "1000/t"},
	"B15 with parentheses":      {stmt: "insert into ua() values()", affected: 1, insertID: 1000, rows: "1000/NULL"},
	"B15":                       {stmt: "insert into ua values()", affected: 1, insertID: 1000, rows: "1000/NULL"},
	"B16":                       {stmt: "insert into ua values(null,'u',1)", affected: 1, insertID: 1000, rows: "1000/u"},
	"B17":                       {setup: []string{"set sql_mode='NO_AUTO_VALUE_ON_ZERO'"}, stmt: "insert into ua(id,val) values(0,'z')", affected: 1, rows: "0/z"},
	"B18":                       {setup: []string{"insert into ua(id,val) values(5,'a')"}, stmt: "insert into ua(val) values('a')", errno: 1062, rows: "5/a"},
	"B19":                       {setup: []string{"insert into ua(id,val) values(5,'a')"}, stmt: "insert ignore into ua(val) values('a')", rows: "5/a"},
	"B20":                       {setup: []string{"insert into ua(id,val) values(5,'a')"}, stmt: "insert ignore into ua(val) values('a'),('new')", affected: 1, insertID: 1001, rows: "5/a,1001/new"},
	"B21":                       {setup: []string{"insert into ua(id,val) values(5,'a')"}, stmt: "insert into ua(val) values('a') on duplicate key update n=n+1", affected: 2, insertID: 5, rows: "5/a"},
	"B22":                       {setup: []string{"insert into ua(id,val) values(5,'a')"}, stmt: "insert into ua(val) values('a') on duplicate key update n=n+1, id=last_insert_id(id)", affected: 2, insertID: 5, rows: "5/a"},
	"B23":                       {setup: []string{"insert into ua(id,val) values(5,'a')"}, stmt: "replace into ua(val) values('a')", affected: 2, insertID: 1000, rows: "1000/a"},
	"B24 zero":                  {stmt: "replace into ua(id,val) values(0,'a')", affected: 1, insertID: 1000, rows: "1000/a"},
	"B24 explicit, open":        {stmt: "replace into ua(id,val) values(1,'aa'),(null,'bb')", affected: 2, insertID: 1000, rows: "1/aa,1000/bb"},
	"B29 too many":              {stmt: "insert into ua(val) values('x','y')", errno: 1136},
	"B29 rows of several sizes": {stmt: "insert into ua(id) values(1),(2,3)", errno: 1136},
	"B30":                       {stmt: "insert into ua(id,id) values(1,2)", errno: 1110},
	"B31 NULL":                  {stmt: "insert into ua(id,val) values(?,?)", args: []any{nil, "a"}, affected: 1, insertID: 1000, rows: "1000/a"},
	"B31 zero":                  {stmt: "insert into ua(id,val) values(?,?)", args: []any{0, "a"}, affected: 1, insertID: 1000, rows: "1000/a"},
	"B31 explicit":              {stmt: "insert into ua(id,val) values(?,?)", args: []any{1234, "a"}, affected: 1, insertID: 1234, rows: "1234/a"},
	"B32":                       {stmt: "insert into ua(val) values(?)", args: []any{"a"}, affected: 1, insertID: 1000, rows: "1000/a"},
	"B32 rows":                  {stmt: "insert into ua(id,val) values(?,?),(?,?)", args: []any{nil, "a", 0, "b"}, affected: 2, insertID: 1000, rows: "1000/a,1001/b"},
	"B40":                       {stmt: "insert into ua(id,val) values(18446744073709551615,'x')", errno: 1264},
}

func newCasesGate(t *testing.T, s *servertest.Server) (*gate, *sql.Conn) {
	t.Helper()
	g := newGate(t, s, gateOptions{})
	exec(t, g.direct, "CREATE TABLE ua (id BIGINT PRIMARY KEY, val VARCHAR(64) UNIQUE, n INT DEFAULT 0)")
	createSequence(t, g.direct, "ua_seq", 1000, 10)
	return g, conn(t, g.open(t, ""))
}

const rowsOfUA = "SELECT COALESCE(GROUP_CONCAT(CONCAT(id, '/', COALESCE(val, 'NULL')) ORDER BY id), '') FROM ua"

func TestSequenceCasesB(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for name, tt := range casesB {
			t.Run(name, func(t *testing.T) {
				_, c := newCasesGate(t, s)
				exec(t, c, tt.setup...)
				result, err := c.ExecContext(t.Context(), tt.stmt, tt.args...)
				checkErrno(t, err, tt.errno)
				got := caseB{errno: errno(err), rows: value[string](t, c, rowsOfUA)}
				if err == nil {
					got.affected, _ = result.RowsAffected()
					got.insertID, _ = result.LastInsertId()
				}
				if got.affected != tt.affected || got.insertID != tt.insertID || got.rows != tt.rows {
					t.Errorf("got affected %d, insert id %d, rows %s; want %d, %d, %s", got.affected, got.insertID, got.rows, tt.affected, tt.insertID, tt.rows)
				}
				if tt.errno == 1136 || tt.errno == 1110 {
					exec(t, c, "insert into ua(val) values('next')")
					if id := value[int](t, c, "SELECT id FROM ua"); id != 1000 {
						t.Errorf("the refused statement took ids: the next is %d", id)
					}
				}
			})
		}
	})
}

// The rows B33 to B39, about what a session keeps.
func TestSequenceCasesBSessions(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := newCasesGate(t, s)
		t.Run("B33", func(t *testing.T) {
			exec(t, c, "begin", "insert into ua(val) values('a')", "rollback", "insert into ua(val) values('a')")
			if got := value[string](t, c, rowsOfUA); got != "1001/a" {
				t.Errorf("rows %s, want 1001/a", got)
			}
		})
		t.Run("B34", func(t *testing.T) {
			if got := value[int](t, c, "select last_insert_id()"); got != 1001 {
				t.Errorf("got %d, want 1001", got)
			}
		})
		t.Run("B35", func(t *testing.T) {
			if a, b := value[int](t, c, "select last_insert_id(777)"), value[int](t, c, "select last_insert_id()"); a != 777 || b != 777 {
				t.Errorf("got %d and %d, want 777", a, b)
			}
			result, err := c.ExecContext(t.Context(), "update ua set n=last_insert_id(888)")
			if err != nil {
				t.Fatal(err)
			}
			if id, _ := result.LastInsertId(); id != 888 {
				t.Errorf("insert id %d, want 888", id)
			}
			exec(t, c, "do last_insert_id(777)")
		})
		t.Run("B36", func(t *testing.T) {
			if got := value[string](t, c, "select concat(@@identity, ',', @@last_insert_id)"); got != "777,777" {
				t.Errorf("got %s, want 777,777", got)
			}
		})
		t.Run("B37", func(t *testing.T) {
			rows, err := c.QueryContext(t.Context(), "select last_insert_id(777)")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			if columns, err := rows.Columns(); err != nil || strings.Join(columns, ",") != "last_insert_id(777)" {
				t.Errorf("columns %q, %v", columns, err)
			}
		})
		t.Run("B38", func(t *testing.T) {
			if got := value[int](t, conn(t, g.open(t, "")), "select last_insert_id()"); got != 0 {
				t.Errorf("got %d, want 0", got)
			}
		})
		t.Run("B39", func(t *testing.T) {
			exec(t, c, "CREATE TABLE plain (id BIGINT PRIMARY KEY AUTO_INCREMENT, val VARCHAR(64)) AUTO_INCREMENT = 40")
			result, err := c.ExecContext(t.Context(), "insert into plain(val) values('p'),('q')")
			if err != nil {
				t.Fatal(err)
			}
			id, _ := result.LastInsertId()
			if fn := value[int64](t, c, "select last_insert_id()"); id != 40 || fn != 40 {
				t.Errorf("insert id %d, last_insert_id() %d, want 40", id, fn)
			}
		})
	})
}

// openValues are what a row may say of its id: as a native column judges them, or
// refused by name.
var openValues = []string{"NULL", "null", "DEFAULT", "DEFAULT(id)", "0", "00", "+0", "-0", "- 0", "0.0", "0.4", "-0.4", ".4", "0e0", "0E5", "0.5e0", "1e0", "1-1", "2-1", "0*5", "(0)", "((NULL))",
	"(NULL)", "'0'", "''", "' 0'", "'0 '", "'0.4'", "'0e5'", "'-0'", "'abc'", "'0abc'", "'7abc'", "\"0\"", "'0' '0'", "'' '0'", "X'30'", "x''", "X'00'", "0x", "0x00", "0x30", "0x0000000000000007",
	"b'0'", "B'0'", "0b0", "0b111", "b''", "N'0'", "n'7'", "_utf8mb4'0'", "_utf8'0'", "_latin1'0'", "_binary'0'", "_utf8mb4 '0'", "_utf8mb4 X'30'", "_utf16 X'0030'", "false", "FALSE", "true", "TRUE", "NOT 1", "!1", "!0", "1 = 2",
	"1 > 2", "NULL + 1", "1 <=> NULL", "7 DIV 8", "8 % 4", "8 MOD 4", "1 ^ 1", "5 & 2", "1 << 2", "CAST(0 AS SIGNED)", "CAST(NULL AS SIGNED)", "ABS(0)", "IF(1, 0, 1)", "COALESCE(NULL, 0)", "CASE WHEN 1 THEN 0 END", "@unset", "@zero", "(SELECT 0)", "0 COLLATE binary",
	"DATE'2020-01-01'", "'2020-01-01'", "\\N", "- - 0", "-(0)", "+(NULL)", "1.5", "2.5", "-1.5", "2.5e0", "'2.5'", "-9223372036854775808", "'\\0'", "'\\t0'", "'\\n0'",
	"0 OR 0", "1 AND 0", "1 XOR 1", "NULL IS NULL", "0 IS NULL", "1 BETWEEN 2 AND 3", "1 IN (2)", "INTERVAL(0)", "RAND()*0", "LENGTH('')", "0 -- comment\n", "0 /* comment */", "/* comment */0", "0#\n", "id", "ua.id", "n", "VALUES(id)",
	// What follows leaves a native column no id to generate.
	"9223372036854775807", "9223372036854775808", "18446744073709551615", "1e30", "~0"}

// Each way to write an id: seqgate stores what a native AUTO_INCREMENT column
// stores, gives an id where that generates one, fails as that fails, or refuses the
// statement by name.
func TestOpenValues(t *testing.T) {
	t.Parallel()
	modes := map[string][]string{
		"default": nil, "not strict": {"SET sql_mode = ''"}, "ANSI_QUOTES": {"SET sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES'"},
		"NO_BACKSLASH_ESCAPES":  {"SET sql_mode = 'NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES'"},
		"NO_AUTO_VALUE_ON_ZERO": {"SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"}, "HIGH_NOT_PRECEDENCE": {"SET sql_mode = 'HIGH_NOT_PRECEDENCE,STRICT_ALL_TABLES'"},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for name, session := range modes {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g := newGate(t, s, gateOptions{})
				native := openDSN(t, s.DSN(s.NewDatabase(t)))
				const columns = " (id BIGINT PRIMARY KEY AUTO_INCREMENT, n INT DEFAULT 0)"
				exec(t, native, "CREATE TABLE ua"+columns)
				exec(t, g.direct, "CREATE TABLE ua"+columns)
				createSequence(t, g.direct, "ua_seq", firstID, 100)
				a, b := conn(t, native), conn(t, g.open(t, ""))
				exec(t, a, append(session, "SET @zero = 0")...)
				exec(t, b, append(session, "SET @zero = 0")...)
				refused := 0
				for _, literal := range openValues {
					for _, form := range []string{"INSERT INTO ua (id) VALUES (%s)", "INSERT IGNORE INTO ua (n, id) VALUES (1, %s)"} {
						stmt := fmt.Sprintf(form, literal)
						want, got := storedID(t, a, stmt), storedID(t, b, stmt)
						if got == "error 1235" {
							refused++
						} else if got != want {
							t.Errorf("%s: native %s, through seqgate %s", stmt, want, got)
						}
					}
				}
				t.Logf("%d of %d are refused", refused, 2*len(openValues))
			})
		}
	})
}

// storedID tells what became of an INSERT's id, and takes the row away again.
func storedID(t *testing.T, c *sql.Conn, stmt string) string {
	t.Helper()
	defer exec(t, c, "DELETE FROM ua")
	result, err := c.ExecContext(t.Context(), stmt)
	if err != nil {
		return fmt.Sprint("error ", errno(err))
	}
	reported, _ := result.LastInsertId()
	n, _ := result.RowsAffected()
	var id sql.NullInt64
	if err := c.QueryRowContext(t.Context(), "SELECT MIN(id) FROM ua").Scan(&id); err != nil {
		t.Fatal(err)
	}
	if n == 1 && id.Int64 == reported && value[int64](t, c, "SELECT LAST_INSERT_ID()") == id.Int64 {
		exec(t, c, "DO LAST_INSERT_ID(0)")
		return "generated"
	}
	return fmt.Sprintf("%d rows, id %d, reported %d", n, id.Int64, reported)
}

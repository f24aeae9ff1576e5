package parser

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// connect returns one connection to a database of its own, with several
// statements per text allowed.
func connect(t *testing.T, s *servertest.Server) *sql.Conn {
	t.Helper()
	config, err := mysql.ParseDSN(s.DSN(s.NewDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	config.MultiStatements = true
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func mustExec(t *testing.T, c *sql.Conn, queries ...string) {
	t.Helper()
	for _, query := range queries {
		if _, err := c.ExecContext(context.Background(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}

// errno returns the number of a server's error, 0 for none.
func errno(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	e := (*mysql.MySQLError)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("not a server's error: %v", err)
	}
	return int(e.Number)
}

// outcome is what a statement did. Generated ids, which are 100 and more, are
// numbered in their order: on a duplicate the server may use one again.
type outcome struct {
	Errno    int
	Affected int64
	Rows     []string
}

func execute(t *testing.T, c *sql.Conn, query string) (o outcome) {
	t.Helper()
	result, err := c.ExecContext(context.Background(), query)
	if o.Errno = errno(t, err); o.Errno == 0 {
		if o.Affected, err = result.RowsAffected(); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := c.QueryContext(context.Background(), "select if(id between 100 and 99999, 'generated', id), ifnull(hex(val), 'NULL'), ifnull(n, 'NULL') from ua order by id")
	if err != nil {
		t.Fatal(err)
	}
	largest := 0
	for generated := 0; rows.Next(); {
		var id, val, n string
		if err := rows.Scan(&id, &val, &n); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, len(id))
		if id == "generated" {
			generated++
			id = fmt.Sprintf("generated %d", generated)
		}
		o.Rows = append(o.Rows, id+" "+val+" "+n)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	mustExec(t, c, "delete from ua")
	if largest > len("generated") { // so large an id cannot be taken back
		mustExec(t, c, "truncate table ua", "alter table ua auto_increment=100")
	}
	return o
}

// fillLikeServer fills the statement with ids from 100 on. It returns the text
// unchanged when that is what the server is to refuse. Without an error every
// row is either open or explicit.
func fillLikeServer(query string, m Mode) (string, error) {
	s, err := ParseInsert([]byte(query), m)
	if err != nil {
		return "", err
	}
	slots, err := s.Slots(nil, []byte(query), "id", uaColumns)
	if errors.Is(err, ErrServerRefuses) {
		return query, nil
	}
	if err != nil {
		return "", err
	}
	id := 99
	filled := s.AppendFilled(nil, []byte(query), "id", func(dst []byte, row int) ([]byte, bool) {
		if slots[row].State != Open {
			return dst, false
		}
		id++
		return fmt.Appendf(dst, "LAST_INSERT_ID(%d)", id), true
	}, FillOptions{})
	if states := slotStates(slots); strings.Trim(states, "OE") != "" {
		return "", fmt.Errorf("the rows are %s", states)
	}
	return string(filled), nil
}

// Each statement is run as it is on a table with AUTO_INCREMENT, and filled on a
// table without: the tables must be equal afterwards. A statement that cannot be
// filled must be one that the server refuses.
func TestFilledStatementsOnServers(t *testing.T) {
	modes := []string{
		"STRICT_TRANS_TABLES", "", "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO",
		"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES",
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		native, filled := connect(t, s), connect(t, s)
		mustExec(t, native, "create table ua(id bigint auto_increment primary key, val varchar(64) unique, n int default 0) auto_increment=100")
		mustExec(t, filled, "create table ua(id bigint primary key default 0, val varchar(64) unique, n int default 0)")
		corpus := append(serverOnly(s.IsMariaDB()), insertCorpus...)
		for _, sqlMode := range modes {
			m := NewMode(sqlMode, "utf8mb4", s.IsMariaDB())
			for _, c := range []*sql.Conn{native, filled} {
				mustExec(t, c, "set sql_mode='"+sqlMode+"'", "drop table if exists other", "create table other(u char(1), n int)")
			}
			for _, query := range corpus {
				text, err := fillLikeServer(query, m)
				for _, c := range []*sql.Conn{native, filled} {
					mustExec(t, c, "insert into ua(id, val, n) values (1, 'dup', 1)")
				}
				want, got := execute(t, native, query), execute(t, filled, text)
				if err != nil && want.Errno == 0 {
					t.Errorf("sql_mode %q: the server executes %s, but: %v", sqlMode, query, err)
				}
				if diff := cmp.Diff(want, got); diff != "" && err == nil {
					t.Errorf("sql_mode %q: %s\nfilled as %s\ndiffers (-native +filled):\n%s", sqlMode, query, text, diff)
				}
			}
		}
	})
}

// serverOnly are forms that one of the servers has.
func serverOnly(mariaDB bool) []string {
	if !mariaDB {
		return []string{
			"insert into ua(val) values row('a') on duplicate key update n=values(n)",
			"insert into ua(val) values(_utf16'a'),(x'62')",
		}
	}
	return []string{
		`insert into ua values(\N,'a',1)`,
		"insert into ua(id,val) values(ignore,'a'),(5,ignore)",
		"insert into .ua(val) values('a')",
		"insert into.`ua`(val) values('a')",
		"insert into ua(id,val) values(x'30','a'),(x'35','b')",
	}
}

// integers are values written for an integer column, in spellings that read
// differently from one kind of literal to the next.
var integers = []string{
	"NULL", "DEFAULT", "DEFAULT(id)", "0", "00", "-0", "+0", "- 0", "- -0", "-+-0", "0.4", "-0.4", "0.49999999999999999999",
	"0.5", "-0.5", "1.5", "2.5", ".4", ".5", "0.", "7.", "0e5", "0.4e0", "0.5e0", "1.5e0", "2.5e0", "-0.5e0", "-1.5e0", "1e-5", "5e-1",
	"49e-2", "1e0", "1e2", "1e+2", "0.05e1", "1.e-1", "0e999", "1e400", "-7", "- -7", "12", "012", "0.0000", "-0.0",
	"9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615", "18446744073709551616",
	"9223372036854775807.4", "9223372036854775807.5", "9.3e18",
	"'0'", "'00'", "' 0'", "'0 '", "'\\t0'", "'\\n0'", "'\\r0'", "'\\v0'", "'0\\0'", "'+0'", "'-0'", "'0.4'", "'-0.4'", "'0.5'", "'-0.5'",
	"'.4'", "'.5'", "'0.'", "'5.'", "'0e5'", "'1e-5'", "'5e-1'", "'49e-2'", "'0.5e0'", "'1.5e0'", "'2.5'", "'2.5e0'", "'1e2'", "'12'",
	"' 12 '", "'0x0'", "'0x10'", "'0abc'", "'12abc'", "'12 abc'", "'abc'", "''", "' '", "'.'", "'+'", "'-'", "'- 0'", "'e5'", "'0e'", "'0e+'",
	"'+.'", "'--0'", "'0,5'", "'1,000'", "'1e400'", "'0e999'", "'0.49999999999999999999999999'", "'0.000e1'", "'0.05e1'", "'5.e-1'",
	"'4.e-1'", "'.e1'", "'9223372036854775807'", "'-9223372036854775808'", "'9223372036854775808'", "'99999999999999999999999'",
	"'\\0'", "'\\'0'", "'''0'", "'0''", "'\\5'", "'\\%5'", "\"0\"", "\"5\"", "'0' ''", "'' '0'", "'0' '5'", "'1' /* c */ '5'",
	"0x00", "0x", "0x30", "0x01", "0x0", "0X00", "0x0000000000000000", "0x7fffffffffffffff", "0xffffffffffffffff", "0x000000000000000001",
	"x'00'", "x''", "X'0000'", "x'30'", "X'3132'", "x'61'", "x'0'", "x '00'", "b'0'", "b''", "B'00'", "b'1'", "b'2'", "0b0", "0b1", "0b", "0b11",
	"true", "false", "TRUE", "_utf8mb4'0'", "_utf8mb4 '5'", "_binary'0'", "_latin1 '0'", "_utf8mb4'abc'", "N'0'", "n'5'", "_utf8mb4 0x30", "_binary 0x00",
	"DATE'2020-01-01'", "TIME'00:00:00'", "{t'00:00:00'}", "(0)", "((NULL))", "1-1", "NULL+1", "!1", "not 1", "~0", "0 or 0", "1=2", "null is null",
	"0 div 1", "7 div 2", "-7 % 4", "2-5", "'0'+0", "cast(0 as signed)", "0 collate utf8mb4_bin", "'0' collate utf8mb4_bin", "@nosuch",
	"\\N", "IGNORE", "/*c*/0", "0/*c*/", "-/*c*/0", "- -- c\n0", "interval", "nosuch", "0nosuch", "1 .5", "1..5", "5-", "'5",
}

// Each literal is inserted on its own. Open must be generated, Explicit must be
// stored as it is or refused.
func TestIntegersOnServers(t *testing.T) {
	modes := []string{"STRICT_TRANS_TABLES", "", "STRICT_TRANS_TABLES,NO_AUTO_VALUE_ON_ZERO", "NO_BACKSLASH_ESCAPES"}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		mustExec(t, c, "create table t(id bigint auto_increment primary key, a int) auto_increment=1000")
		for _, ignore := range []string{"", "ignore "} {
			for _, sqlMode := range modes {
				m := NewMode(sqlMode, "utf8mb4", s.IsMariaDB())
				mustExec(t, c, "set sql_mode='"+sqlMode+"'")
				unknown := 0
				for _, literal := range integers {
					unknown += checkInteger(t, c, m, ignore, literal)
				}
				if limit := len(integers) / 5; unknown > limit {
					t.Errorf("sql_mode %q: %d of %d literals are unknown, want at most %d", sqlMode, unknown, len(integers), limit)
				}
			}
		}
	})
}

// checkInteger returns 1 when the literal is Unknown.
func checkInteger(t *testing.T, c *sql.Conn, m Mode, ignore, literal string) int {
	t.Helper()
	query := "insert " + ignore + "into t(a, id) values(1, " + literal + ")"
	mustExec(t, c, "do last_insert_id(0)")
	number, stored, generated := storedInteger(t, c, query)
	slot := Slot{State: Unknown}
	if st, err := ParseInsert([]byte(query), m); err == nil {
		slots, err := st.Slots(nil, []byte(query), "id", nil)
		if err != nil || len(slots) != 1 {
			t.Errorf("Slots(%q) = %v, %v, want one slot", query, slots, err)
			return 0
		}
		slot = slots[0]
	}
	wrong := ""
	switch {
	case slot.State == Open && !generated:
		wrong = "is no generated value"
	case slot.State == Explicit && generated:
		wrong = "is a generated value"
	case slot.HasValue && (number != 0 || stored != fmt.Sprint(slot.Value)):
		wrong = "is another value"
	case slot.State == Explicit && !slot.HasValue && number == 0 && !isLimit(stored) && m.Strict && ignore == "":
		wrong = "is stored"
	}
	if wrong != "" {
		t.Errorf("mode %+v: %q has %+v, but it %s (error %d, stored %q)", m, query, slot, wrong, number, stored)
	}
	if slot.State == Unknown {
		return 1
	}
	return 0
}

// isLimit reports whether a value may be one that was cut to the column's range.
func isLimit(stored string) bool { return len(stored) >= 19 }

// storedInteger runs the INSERT on an empty table and empties it again.
func storedInteger(t *testing.T, c *sql.Conn, query string) (number int, stored string, generated bool) {
	t.Helper()
	_, err := c.ExecContext(context.Background(), query)
	if number = errno(t, err); number != 0 {
		return number, "", false
	}
	err = c.QueryRowContext(context.Background(), "select id, last_insert_id() > 0 from t").Scan(&stored, &generated)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if len(stored) > 7 { // so large an id cannot be taken back
		mustExec(t, c, "truncate table t")
	}
	mustExec(t, c, "delete from t")
	return number, stored, generated
}

// The strings made of lead bytes, trail bytes and backslashes must end where the
// server ends them.
func TestQuotedTextOnServers(t *testing.T) {
	special := []byte{0x30, 0x40, 'a', 0x5c, 0x5c, 0x60, 0x7e, 0x7f, 0x80, 0x81, 0x9f, 0xa0, 0xa1, 0xc1, 0xdf, 0xe0, 0xf9, 0xfc, 0xfd, 0xfe, 0xff}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		random := rand.New(rand.NewPCG(1, 2))
		for _, charset := range []string{"gbk", "gb18030", "big5", "sjis", "cp932", "ujis", "eucjpms", "euckr", "gb2312", "latin1", "cp1251", "utf8mb4", "utf8mb3", "binary"} {
			if _, err := c.ExecContext(context.Background(), "set character_set_client="+charset); charset == "gb18030" && errno(t, err) == 1115 {
				continue // MariaDB 10.11 has none
			}
			for range 500 {
				text := []byte("select 1 from (select 1 as x) as y where '")
				for range 1 + random.IntN(6) {
					text = append(text, special[random.IntN(len(special))])
				}
				text = append(text, `\' or '1' -- `...)
				rows, err := c.QueryContext(context.Background(), string(text))
				if err == nil {
					err = rows.Close()
				}
				want := errno(t, err) != 1064
				if got := readable(text, NewMode("", charset, s.IsMariaDB())); got != want {
					t.Errorf("%s: %q is readable: %v, by the server: %v (%v)", charset, text, got, want, err)
				}
			}
			mustExec(t, c, "set character_set_client=utf8mb4")
		}
	})
}

// readable reports whether the scanner reads the text to its end.
func readable(text []byte, m Mode) bool {
	s := newScanner(text, m)
	for {
		switch s.next() {
		case tokenEOF:
			return true
		case tokenInvalid:
			return false
		}
	}
}

// A text of several statements must be split as the server does.
func TestSplitOnServers(t *testing.T) {
	texts := []string{
		"select 1", "select 1;", "select 1;;", "select 1; select 2", "select 1; select 2;\n", "select ';'; select \";\"", "select 1 as `;`; select 2",
		"select 1;;select 2", "select 1; ;select 2", "select 1; /* c */ ; select 2", ";select 1", " ; ; select 1",
		"select 1 -- ; \n; select 2", "select 1 # ; \n; select 2", "select 1 /* ; */; select 2", "select 1; -- ; select 2", "select 1; /* ; */",
		"select 1--;select 2", "select 5--1; select 2", "select 'it''s;'; select 2", "select 'it\\';'; select 2", "select \"a\"\";\"; select 2",
		"/*!40101 select 1*/; select 2", "select 1 /*!40101 + 2 */; select 2", "select /*!99999 'x */ 1; select 2",
		"select /*!40101 ';' */; select 2", "select 1 /* /* ; */; select 2", "select N';', x'3b', b'0', _utf8mb4';'; select 2",
		"select (1); (select 2); ((select 3))", "select case when 1 then 2 end; select if(1,2,3)", "select 1; select 2; select 3;", "select 1-;select 2",
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		for _, text := range texts {
			want := executedStatements(t, c, text)
			spans, err := Split(nil, []byte(text), Mode{MariaDB: s.IsMariaDB()})
			if err != nil {
				continue // not split, which is always right
			}
			got := 0
			for _, span := range spans {
				n := executedStatements(t, c, text[span.Start:span.End])
				if n > 1 {
					t.Errorf("Split(%q) has %q, which is %d statements", text, text[span.Start:span.End], n)
				}
				got += n
			}
			if got != want {
				t.Errorf("Split(%q) makes %d statements that can be executed, want %d: %v", text, got, want, spans)
			}
		}
	})
}

// executedStatements returns how many statements of the text the server
// executes before it refuses one. A comment is none.
func executedStatements(t *testing.T, c *sql.Conn, text string) int {
	t.Helper()
	rows, err := c.QueryContext(context.Background(), text)
	if errno(t, err) != 0 {
		return 0
	}
	defer rows.Close()
	n := 0
	for more := true; more; more = rows.NextResultSet() {
		if columns, err := rows.Columns(); err == nil && len(columns) > 0 {
			n++
		}
	}
	errno(t, rows.Err())
	return n
}

// Names in the client's character set are the server's names.
func TestNamesOnServers(t *testing.T) {
	names := map[string][]byte{"gbk": []byte("\xba\xc5\x81\x5c"), "sjis": []byte("\x83\x5c\x83\x60"), "big5": []byte("\xa5\x5c"), "latin1": []byte("\xe4\x80"), "cp1251": []byte("\xc6")}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		for charset, name := range names {
			mustExec(t, c, "set character_set_client="+charset, "create table `"+string(name)+"`(id int)", "insert into `"+string(name)+"` values (1)")
			mustExec(t, c, "set character_set_client=utf8mb4")
			st, err := ParseInsert([]byte("insert into `"+string(name)+"` values (1)"), NewMode("", charset, s.IsMariaDB()))
			if err != nil {
				t.Errorf("%s: %v", charset, err)
				continue
			}
			var n int
			if err := c.QueryRowContext(context.Background(), "select count(*) from `"+st.Table+"`").Scan(&n); err != nil || n != 1 {
				t.Errorf("%s: the table %q, read as %q, has %d rows (%v)", charset, name, st.Table, n, err)
			}
		}
	})
}

// The placeholders are those that the server counts.
func TestParamsOnServers(t *testing.T) {
	queries := []string{
		"insert into ua values (?,?,?)",
		"insert into ua(val) values ('?'),(\"?\"),(?) -- ?",
		"insert into ua(val, n) values (concat(?,'\\'?',?), -?),(? /* ? */, ?+?) # ?",
		"insert into ua set val=?, n=? on duplicate key update n=?",
		"replace into ua(n) values ((select count(*) from other where n=? and val=?))",
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		c := connect(t, s)
		mustExec(t, c, "create table ua(id bigint primary key, val varchar(64) unique, n int default 0)", "create table other like ua")
		for _, query := range queries {
			st, err := ParseInsert([]byte(query), Mode{MariaDB: s.IsMariaDB()})
			if err != nil {
				t.Errorf("ParseInsert(%q): %v", query, err)
				continue
			}
			if err := c.Raw(func(raw any) error {
				stmt, err := raw.(driver.ConnPrepareContext).PrepareContext(context.Background(), query)
				if err != nil {
					return err
				}
				if want := stmt.NumInput(); st.Params != want {
					t.Errorf("%q has %d placeholders, by the server %d", query, st.Params, want)
				}
				return stmt.Close()
			}); err != nil {
				t.Errorf("prepare %q: %v", query, err)
			}
		}
	})
}

package parser_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/parser"
)

// TestReadRouteNames holds that every name of a database is found where it stands, and nothing else.
func TestReadRouteNames(t *testing.T) {
	tests := []struct{ sql, want string }{ // want has < > round each name of a database
		{"SELECT 1", "SELECT 1"},
		{"SELECT a.b FROM a", "SELECT a.b FROM a"},
		{"SELECT d.a.b, a.b FROM d.a", "SELECT <d>.a.b, a.b FROM <d>.a"},
		{"SELECT d.a.* FROM d.a", "SELECT <d>.a.* FROM <d>.a"},
		{"SELECT d.* FROM d.d", "SELECT d.* FROM <d>.d"},
		{"SELECT `d`.`a`.`b` FROM `d` . a", "SELECT <`d`>.`a`.`b` FROM <`d`> . a"},
		{"SELECT 'd.a', \"d.a\" /* d.a */ FROM d.a -- d.a", "SELECT 'd.a', \"d.a\" /* d.a */ FROM <d>.a -- d.a"},
		{"SELECT @d.a, @@session.d FROM d.a", "SELECT @d.a, @@session.d FROM <d>.a"},
		{"SELECT 1.5, .5, 5., 1e5, d.5a FROM d", "SELECT 1.5, .5, 5., 1e5, d.5a FROM d"},
		{"SELECT d.f(1) FROM d.a", "SELECT <d>.f(1) FROM <d>.a"},
		{"SELECT * FROM d.a x JOIN e.b y ON x.d = y.e", "SELECT * FROM <d>.a x JOIN <e>.b y ON x.d = y.e"},
		{"UPDATE d.a SET d.a.b = 1 WHERE a.b = 2", "UPDATE <d>.a SET <d>.a.b = 1 WHERE a.b = 2"},
		{"DELETE d.a FROM d.a JOIN b ON d.a.x = b.x", "DELETE <d>.a FROM <d>.a JOIN b ON <d>.a.x = b.x"},
		{"INSERT INTO d.a (d.a.x) SELECT * FROM e.b", "INSERT INTO <d>.a (<d>.a.x) SELECT * FROM <e>.b"},
		{"CREATE TABLE d.a LIKE e.b", "CREATE TABLE <d>.a LIKE <e>.b"},
		{"CREATE TABLE d.a (x INT, FOREIGN KEY (x) REFERENCES e.b (y))", "CREATE TABLE <d>.a (x INT, FOREIGN KEY (x) REFERENCES <e>.b (y))"},
		{"RENAME TABLE d.a TO d.b, c TO e.f", "RENAME TABLE <d>.a TO <d>.b, c TO <e>.f"},
		{"DROP TABLE IF EXISTS a, d.b", "DROP TABLE IF EXISTS a, <d>.b"},
		{"ALTER TABLE d.a RENAME TO d.b", "ALTER TABLE <d>.a RENAME TO <d>.b"},
		{"OPTIMIZE TABLE d.a, b", "OPTIMIZE TABLE <d>.a, b"},
		{"ANALYZE TABLE d.a", "ANALYZE TABLE <d>.a"},
		{"LOCK TABLES d.a WRITE", "LOCK TABLES <d>.a WRITE"},
		{"SHOW COLUMNS FROM a FROM a", "SHOW COLUMNS FROM a FROM <a>"},
		{"SHOW FULL COLUMNS IN a IN `d` LIKE 'x'", "SHOW FULL COLUMNS IN a IN <`d`> LIKE 'x'"},
		{"SHOW INDEX FROM d.a", "SHOW INDEX FROM <d>.a"},
		{"SELECT * FROM d.a WHERE x IN (SELECT d.b.x FROM d.b UNION SELECT y FROM e.c ORDER BY y)",
			"SELECT * FROM <d>.a WHERE x IN (SELECT <d>.b.x FROM <d>.b UNION SELECT y FROM <e>.c ORDER BY y)"},
		{"WITH d AS (SELECT x FROM e.a) SELECT d.x FROM d", "WITH d AS (SELECT x FROM <e>.a) SELECT d.x FROM d"},
		{"SELECT d.a.j->'$.x' FROM d.a", "SELECT <d>.a.j->'$.x' FROM <d>.a"},
		{"SELECT x FROM d.a GROUP BY d.a.x HAVING d.a.x > 1 ORDER BY d.a.x", "SELECT x FROM <d>.a GROUP BY <d>.a.x HAVING <d>.a.x > 1 ORDER BY <d>.a.x"},
		{"SELECT SUM(x) OVER (PARTITION BY d.a.y) FROM d.a", "SELECT SUM(x) OVER (PARTITION BY <d>.a.y) FROM <d>.a"},
		{"SELECT SUM(x) OVER w FROM d.a WINDOW w AS (ORDER BY d.a.y)", "SELECT SUM(x) OVER w FROM <d>.a WINDOW w AS (ORDER BY <d>.a.y)"},
		{"SELECT * FROM d.a AS x FOR UPDATE OF x", "SELECT * FROM <d>.a AS x FOR UPDATE OF x"},
	}
	for _, tt := range tests {
		r, err := parser.ReadRoute([]byte(tt.sql), parser.Mode{})
		if err != nil {
			t.Errorf("ReadRoute(%q): %v", tt.sql, err)
			continue
		}
		if got := markQualifiers(tt.sql, r); got != tt.want {
			t.Errorf("ReadRoute(%q):\n got %s\nwant %s", tt.sql, got, tt.want)
		}
	}
}

func markQualifiers(sql string, r *parser.Route) string {
	var b strings.Builder
	at := 0
	for _, q := range r.Qualifiers {
		fmt.Fprintf(&b, "%s<%s>", sql[at:q.Start], sql[q.Start:q.End])
		at = q.End
	}
	return b.String() + sql[at:]
}

// TestReadRouteRefuses holds what is not guessed.
func TestReadRouteRefuses(t *testing.T) {
	tests := []struct{ name, sql string }{
		{"a column that reads as the table does", "SELECT d.d FROM d.d"},
		{"two statements", "SELECT 1; SELECT 2"},
		{"a version comment", "SELECT /*!99999 a, */ b FROM t"},
		{"an open string", "SELECT 'a"},
		{"what the TiDB parser does not know", "HANDLER t OPEN"},
		{"no statement", ""},
		{"a number that the TiDB parser panics at", "SELECT a FROM t WHERE id = " + strings.Repeat("8", 100)},
		{"deep nesting", "SELECT " + strings.Repeat("(", 400) + "1" + strings.Repeat(")", 400)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parser.ReadRoute([]byte(tt.sql), parser.Mode{})
			var unreadable *parser.UnreadableError
			if !errors.As(err, &unreadable) {
				t.Errorf("ReadRoute(%.40q) = %v, want an UnreadableError", tt.sql, err)
			}
		})
	}
}

// TestReadRouteScopes holds for which tables a condition counts.
func TestReadRouteScopes(t *testing.T) {
	tests := []struct{ name, from, want string }{ // want has the scope of x = 1 and the optional tables
		{"WHERE", "a JOIN b JOIN c WHERE a.x = 1", "[0 3] []"},
		{"an inner join", "a JOIN b ON a.x = 1 JOIN c", "[0 2] []"},
		{"a left join", "a LEFT JOIN b ON a.x = 1", "[1 2] [1]"},
		{"a right join", "a RIGHT JOIN b ON a.x = 1", "[0 1] [0]"},
		{"the right join of two", "a JOIN b RIGHT JOIN c ON a.x = 1", "[0 2] [0 1]"},
		{"a join within a left join", "a LEFT JOIN (b JOIN c ON c.x = 1) ON a.y = b.y", "[1 3] [1 2]"},
		{"a subquery", "a WHERE EXISTS (SELECT 1 FROM b, c WHERE b.x = 1)", "[1 3] []"},
		{"a derived table comes after the tables", "(SELECT 1 FROM b WHERE b.x = 1) d JOIN a", "[1 2] []"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parser.ReadRoute([]byte("SELECT 1 FROM "+tt.from), parser.Mode{})
			if err != nil {
				t.Fatal(err)
			}
			optional := []int{}
			for i, table := range r.Tables {
				if table.Optional {
					optional = append(optional, i)
				}
			}
			i := slices.IndexFunc(r.Ins, func(in parser.RouteIn) bool { return in.Columns[0].Name == "x" })
			if i < 0 {
				t.Fatal("the condition was not read")
			}
			if got := fmt.Sprint([]int{r.Ins[i].First, r.Ins[i].Last}, optional); got != tt.want {
				t.Errorf("scope and optional tables %s, want %s", got, tt.want)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	fingerprint := func(sql string, m parser.Mode) string {
		key, _, ok := parser.Fingerprint(nil, []byte(sql), m, nil)
		if !ok {
			return ""
		}
		return string(key)
	}
	same := [][2]string{
		{"SELECT 1 FROM t WHERE a = 'x'", "SELECT 22 FROM t WHERE a = 'it''s'"},
		{"SELECT -1, 1.5", "SELECT -22, .5e-7"},
		{"SELECT N'a', _utf8mb4'b'", "SELECT N'', _utf8mb4'\\''"},
	}
	for _, pair := range same {
		if a, b := fingerprint(pair[0], parser.Mode{}), fingerprint(pair[1], parser.Mode{}); a != b || a == "" {
			t.Errorf("%q and %q have the fingerprints %q and %q", pair[0], pair[1], a, b)
		}
	}
	different := [][2]string{
		{"SELECT 1", "SELECT 1.0"},
		{"SELECT 1", "SELECT '1'"},
		{"SELECT 1", "SELECT -1"},
		{"SELECT 1", "SELECT ?"},
		{"SELECT 'a'", "SELECT N'a'"},
		{"SELECT 'a'", "SELECT 'a' 'b'"},
		{"SELECT a1", "SELECT a2"},
		{"SELECT t.1a", "SELECT t.2a"},
		{"SELECT 0x1", "SELECT 0x2"},
		{"SELECT 1a", "SELECT 2a"},
		{"SELECT 1 /* 1 */", "SELECT 1 /* 2 */"},
		{"SELECT `1`", "SELECT `2`"},
	}
	for _, pair := range different {
		if a, b := fingerprint(pair[0], parser.Mode{}), fingerprint(pair[1], parser.Mode{}); a == b {
			t.Errorf("%q and %q have one fingerprint %q", pair[0], pair[1], a)
		}
	}
	ansi := parser.Mode{ANSIQuotes: true}
	if fingerprint(`SELECT "a"`, ansi) == fingerprint(`SELECT "b"`, ansi) {
		t.Error("names in double quotes were taken for literals")
	}
	for _, sql := range []string{"SELECT /*!1 */ 1", "SELECT 'a", "SELECT \x00"} {
		if got := fingerprint(sql, parser.Mode{}); got != "" {
			t.Errorf("%q has the fingerprint %q", sql, got)
		}
	}
}

func TestLiteralValue(t *testing.T) {
	gbk := parser.Mode{Charset: parser.CharsetByName("gbk")}
	tests := []struct {
		sql  string
		mode parser.Mode
		want string // empty for none
	}{
		{"0", parser.Mode{}, "0"},
		{"18446744073709551615", parser.Mode{}, "18446744073709551615"},
		{"18446744073709551616", parser.Mode{}, ""},
		{"007", parser.Mode{}, "7"},
		{"1.50", parser.Mode{}, "1.50"},
		{"1e5", parser.Mode{}, "1e5"},
		{"'a'", parser.Mode{}, `"a"`},
		{`'a\'b\n\%'`, parser.Mode{}, `"a'b\n\\%"`},
		{`'a''b'`, parser.Mode{}, `"a'b"`},
		{`"a""b'"`, parser.Mode{}, `"a\"b'"`},
		{`'a\'`, parser.Mode{NoBackslashEscapes: true}, `"a\\"`},
		{"N'a'", parser.Mode{}, `"a"`},
		{"n'é'", parser.Mode{}, ""},
		{"'é'", parser.Mode{}, `"é"`},
		{"'é'", parser.Mode{Charset: parser.CharsetByName("latin1")}, ""},
		{"_latin1'a'", parser.Mode{}, `"a"`},
		{"_utf8mb4 'a'", parser.Mode{}, `"a"`},
		{"'\x95\\'", gbk, ""},
		{"''", parser.Mode{}, `""`},
		{"''", parser.Mode{EmptyStringIsNull: true}, ""},
		{"'a' 'b'", parser.Mode{}, ""},
		{"x'4142'", parser.Mode{}, "x'4142'"},
		{"X'414'", parser.Mode{}, ""},
		{"0x414", parser.Mode{}, "x'0414'"},
		{"b'101'", parser.Mode{}, "x'05'"},
		{"0b100000001", parser.Mode{}, "x'0101'"},
		{"b'2'", parser.Mode{}, ""},
	}
	for _, tt := range tests {
		sql := []byte("SELECT " + tt.sql)
		_, literals, ok := parser.Fingerprint(nil, sql, tt.mode, nil)
		if !ok || len(literals) == 0 {
			t.Errorf("%s: no literal", tt.sql)
			continue
		}
		got := ""
		if v, ok := literals[0].Value(sql, tt.mode); ok {
			got = v.String()
		}
		if got != tt.want {
			t.Errorf("%s: value %s, want %s", tt.sql, got, tt.want)
		}
	}
}

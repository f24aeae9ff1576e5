package parser

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// weight gives the hidden columns that a string is compared by, from number n on.
func weight(e string, n int) string {
	return fmt.Sprintf(", WEIGHT_STRING(%s) AS _seqgate_%d, IF(CONCAT(LEFT(%[1]s,0),' ')=LEFT(%[1]s,0),WEIGHT_STRING(CONCAT(LEFT(%[1]s,0),' ')),'') AS _seqgate_%[3]d",
		e, n, n+1)
}

func TestScatterText(t *testing.T) {
	for _, c := range []struct{ name, sql, want string }{
		{"concatenation", "SELECT * FROM t WHERE a = ? -- b", "SELECT * FROM t WHERE a = ? -- b"},
		{"order", "SELECT a FROM t ORDER BY a", "SELECT a" + weight("a", 0) + " FROM t ORDER BY a"},
		{"comment", "/* x */ select a /* y */ from t order /* z */ by a desc # e",
			"/* x */ select a" + weight("a", 0) + " /* y */ from t order /* z */ by a desc # e"},
		{"star", "SELECT * FROM t ORDER BY `b`;", "SELECT *, `b` AS _seqgate_0" + weight("`b`", 1) + " FROM t ORDER BY `b`;"},
		{"alias", "SELECT a+1 AS b FROM t ORDER BY b", "SELECT a+1 AS b" + weight("a+1", 0) + " FROM t ORDER BY b"},
		{"alias without AS", "SELECT a+1 b FROM t ORDER BY b", "SELECT a+1 b" + weight("a+1", 0) + " FROM t ORDER BY b"},
		{"position", "SELECT a, b FROM t ORDER BY 2", "SELECT a, b" + weight("b", 0) + " FROM t ORDER BY 2"},
		{"order by null", "SELECT a FROM t ORDER BY NULL", "SELECT a FROM t ORDER BY NULL"},
		{"limit", "SELECT a FROM t LIMIT 5", "SELECT a FROM t LIMIT 5"},
		{"offset", "SELECT a FROM t LIMIT 5, 10 FOR UPDATE", "SELECT a FROM t LIMIT 15 FOR UPDATE"},
		{"offset behind", "SELECT a FROM t limit 5 offset 18446744073709551615", "SELECT a FROM t LIMIT 18446744073709551615"},
		{"parameters", "SELECT a FROM t LIMIT ?, ?", "SELECT a FROM t LIMIT ?, ?"},
		{"offset parameter", "SELECT a FROM t LIMIT ?, 10", "SELECT a FROM t LIMIT ?"},
		{"totals", "SELECT COUNT(*), MIN(a) FROM t", "SELECT COUNT(*), MIN(a)" + weight("MIN(a)", 0) + " FROM t"},
		{"average", "SELECT AVG( a ) x FROM t", "SELECT AVG( a ) x, SUM( a ) AS _seqgate_0, COUNT( a ) AS _seqgate_1 FROM t"},
		{"group", "SELECT k, COUNT(*) FROM t WHERE x GROUP BY k LOCK IN SHARE MODE",
			"SELECT k, COUNT(*)" + weight("k", 0) + " FROM t WHERE x ORDER BY k LOCK IN SHARE MODE"},
		{"group order", "SELECT COUNT(*) FROM t GROUP BY a, b ORDER BY b DESC LIMIT 2",
			"SELECT COUNT(*), b AS _seqgate_0" + weight("b", 1) + ", a AS _seqgate_3" + weight("a", 4) + " FROM t GROUP BY a, b ORDER BY b DESC, a LIMIT 2"},
		{"sorted groups", "SELECT k, SUM(a) FROM t GROUP BY k ORDER BY SUM(a) DESC LIMIT 2",
			"SELECT k, SUM(a)" + weight("k", 0) + " FROM t GROUP BY k ORDER BY k "},
		{"having", "SELECT k, SUM(a) FROM t GROUP BY k HAVING k > 1",
			"SELECT k, SUM(a)" + weight("k", 0) + " FROM t GROUP BY k HAVING k > 1 ORDER BY k"},
		{"column before alias", "SELECT a DIV 3 AS a, COUNT(*) FROM t GROUP BY a",
			"SELECT a DIV 3 AS a, COUNT(*), a AS _seqgate_0" + weight("a", 1) + " FROM t GROUP BY a ORDER BY _seqgate_0"},
		{"constant group", "SELECT 5 AS k, a, COUNT(*) FROM t GROUP BY 1, a",
			"SELECT 5 AS k, a, COUNT(*), MIN(WEIGHT_STRING(5)) AS _seqgate_0, MIN(IF(CONCAT(LEFT(5,0),' ')=LEFT(5,0),WEIGHT_STRING(CONCAT(LEFT(5,0),' ')),'')) AS _seqgate_1" +
				weight("a", 2) + " FROM t GROUP BY 1, a ORDER BY 1, a"},
		{"distinct", "SELECT DISTINCT a, b FROM t ORDER BY b LIMIT 3",
			"SELECT DISTINCT a, b" + weight("b", 0) + weight("a", 2) + " FROM t ORDER BY b, 1 "},
		{"CTE", "WITH c AS (SELECT * FROM t) SELECT a FROM c ORDER BY a", "WITH c AS (SELECT * FROM t) SELECT a" + weight("a", 0) + " FROM c ORDER BY a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ReadScatter([]byte(c.sql), Mode{}, ScatterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if c.name == "group" {
				want = strings.Replace(want, "WHERE x ", "WHERE x GROUP BY k ", 1)
			}
			if diff := cmp.Diff(want, string(s.AppendSQL(nil, []byte(c.sql)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScatterRefused(t *testing.T) {
	for _, c := range []struct{ sql, form string }{
		{"SELECT a FROM t UNION SELECT b FROM t", "UNION"},
		{"SELECT SQL_CALC_FOUND_ROWS a FROM t", "SQL_CALC_FOUND_ROWS"},
		{"SELECT 1", "without a table"},
		{"SELECT SUM (a) FROM t", "cannot read"},
		{"SELECT ST_COLLECT(a) FROM t", "expression over aggregates"},
		{"SELECT a FROM t INTO OUTFILE 'f'", "INTO"},
		{"SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP", "ROLLUP"},
		{"SELECT ROW_NUMBER() OVER (ORDER BY a) FROM t", "window"},
		{"SELECT @a := b FROM t", "user variable"},
		{"SELECT COUNT(DISTINCT a) FROM t", "DISTINCT values"},
		{"SELECT GROUP_CONCAT(a) FROM t", "other than COUNT"},
		{"SELECT STDDEV(a) FROM t GROUP BY b", "other than COUNT"},
		{"SELECT COUNT(*) + 1 FROM t", "expression over aggregates"},
		{"SELECT SUM(a)/SUM(b) FROM t", "expression over aggregates"},
		{"SELECT a, COUNT(*) FROM t", "beside an aggregate"},
		{"SELECT COUNT(*) FROM t HAVING COUNT(*) > 1", "HAVING"},
		{"SELECT a, COUNT(*) c FROM t GROUP BY a HAVING c > 1", "HAVING"},
		{"SELECT a, b FROM t GROUP BY a HAVING b > 1", "HAVING"},
		{"SELECT SUM(a) AS k, k FROM t GROUP BY k HAVING k > 1", "HAVING"},
		{"SELECT a FROM t ORDER BY RAND()", "changes"},
		{"SELECT a FROM t ORDER BY a + ?", "parameter"},
		{"SELECT a FROM t ORDER BY (SELECT 1)", "subquery"},
		{"SELECT a + 1 AS b FROM t ORDER BY b * 2", "alias"},
		{"SELECT *, a FROM t ORDER BY 2", "position"},
		{"SELECT *, a+1 AS x, t.* FROM t ORDER BY x", "between two *"},
		{"SELECT DISTINCT * FROM t", "DISTINCT"},
		{"SELECT DISTINCT a FROM t ORDER BY b", "DISTINCT"},
		{"SELECT DISTINCT COUNT(*) FROM t GROUP BY a", "DISTINCT"},
		{"SELECT * FROM (SELECT a FROM t LIMIT 3) d", "subquery in FROM"},
		{"SELECT * FROM (SELECT DISTINCT a FROM t) d", "subquery in FROM"},
		{"SELECT * FROM (SELECT COUNT(*) FROM t) d", "subquery in FROM"},
		{"SELECT * FROM u JOIN (SELECT a FROM t UNION SELECT a FROM t) d", "subquery in FROM"},
		{"WITH c AS (SELECT COUNT(*) n FROM t) SELECT n FROM c", "subquery in FROM"},
		{"SELECT a FROM t USE INDEX FOR ORDER BY (i)", "cannot be told apart"},
		{"SELECT a FROM t /*!50000 ORDER BY a */", "version comment"},
		{"SELECT b % 2 AS odd, COUNT(*) FROM t GROUP BY odd", "may be a column or the alias"},
		{"SELECT (SELECT SUM(t.a)) FROM t", "expression over aggregates"},
		{"SELECT a FROM t HAVING (SELECT COUNT(t.a) FROM u) > 1", "HAVING"},
		{"SELECT a FROM t FETCH FIRST 3 ROWS ONLY", ""},
		{"SELECT a FROM t ORDER BY", "cannot read"},
		{"DELETE FROM t", "no plain SELECT"},
		{"TABLE t", "TABLE"},
	} {
		_, err := ReadScatter([]byte(c.sql), Mode{}, ScatterOptions{})
		var unsupported *UnsupportedError
		if !errors.As(err, &unsupported) || !strings.Contains(unsupported.Form, c.form) {
			t.Errorf("%s: %v, want an UnsupportedError with %q", c.sql, err, c.form)
		}
	}
}

// TestScatterLocalGroups: what is refused otherwise is left to the shards when their
// groups are whole.
func TestScatterLocalGroups(t *testing.T) {
	local := func(columns []ColumnName) bool {
		return len(columns) > 0 && columns[0] == ColumnName{Table: "t", Column: "k"}
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT SUM(a)/COUNT(*) FROM t GROUP BY t.k HAVING COUNT(*) > 1", ""},
		{"SELECT GROUP_CONCAT(a) FROM t GROUP BY t.k ORDER BY COUNT(*) LIMIT 1, 2",
			"SELECT GROUP_CONCAT(a), COUNT(*) AS _seqgate_0" + weight("COUNT(*)", 1) + " FROM t GROUP BY t.k ORDER BY COUNT(*) LIMIT 3"},
		{"SELECT COUNT(DISTINCT t.k) FROM t", ""},
		{"SELECT DISTINCT t.k, a FROM t LIMIT 3", ""},
	} {
		s, err := ReadScatter([]byte(c.sql), Mode{}, ScatterOptions{GroupsLocal: local})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if c.want == "" {
			c.want = c.sql
		}
		if diff := cmp.Diff(c.want, string(s.AppendSQL(nil, []byte(c.sql)))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestScatterKeys(t *testing.T) {
	s, err := ReadScatter([]byte("SELECT a, *, COUNT(*) OVER_, AVG(b) FROM t GROUP BY a, c ORDER BY AVG(b), 4 LIMIT ?, 7"), Mode{}, ScatterOptions{})
	if s != nil || err == nil {
		t.Fatal("a position behind * was understood")
	}
	s, err = ReadScatter([]byte("SELECT a, t.*, AVG(b) FROM t WHERE x = ? GROUP BY a ORDER BY AVG(b) DESC LIMIT ?, 7"), Mode{}, ScatterOptions{Numbers: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	want := &Scatter{
		Hidden: 3, Combine: true, Unique: true,
		Order: []SortKey{{Column: -1, Weight: NoColumn, Pad: NoColumn, Number: true}},
		Sort:  []SortKey{{Column: -4, Weight: NoColumn, Pad: NoColumn, Desc: true, Text: true}},
		Aggregates: []Aggregate{{Func: AggregateAvg, Sum: -3, Count: -2,
			Key: SortKey{Column: -4, Weight: NoColumn, Pad: NoColumn, Text: true}}},
		Limit: &Limit{Offset: LimitValue{Param: 1}, Count: LimitValue{Value: 7, Param: -1}},
		edits: s.edits,
	}
	if diff := cmp.Diff(want, s, cmp.AllowUnexported(Scatter{}, Limit{}, edit{}, part{})); diff != "" {
		t.Error(diff)
	}
}

func TestScatterLimit(t *testing.T) {
	const all = 1<<64 - 1
	for _, c := range []struct {
		sql           string
		args          []uint64
		offset, count uint64
		shards        []uint64
	}{
		{"SELECT a FROM t WHERE b = ? LIMIT ?, ?", []uint64{9, 3, 4}, 3, 4, []uint64{9, 0, 7}},
		{"SELECT a FROM t LIMIT ? OFFSET ?", []uint64{4, 3}, 3, 4, []uint64{7, 0}},
		{"SELECT a FROM t LIMIT ? OFFSET 5", []uint64{4}, 5, 4, []uint64{9}},
		{"SELECT a FROM t LIMIT ?, 5", []uint64{4}, 4, 5, []uint64{9}},
		{"SELECT a FROM t LIMIT ?", []uint64{all}, 0, all, []uint64{all}},
		{"SELECT DISTINCT a FROM t LIMIT ?, ?", []uint64{2, 3}, 2, 3, []uint64{0, all}},
		{"SELECT a FROM t", nil, 0, all, nil},
	} {
		s, err := ReadScatter([]byte(c.sql), Mode{}, ScatterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		offset, count, err := s.Limit.Resolve(func(i int) (uint64, error) { return c.args[i], nil })
		if err != nil || offset != c.offset || count != c.count {
			t.Errorf("%s: offset %d count %d %v, want %d %d", c.sql, offset, count, err, c.offset, c.count)
		}
		if _, _, err := s.Limit.Resolve(nil); (err != nil) != (len(c.args) > 0) {
			t.Errorf("%s: %v without parameters", c.sql, err)
		}
		for i := range c.args {
			got := c.args[i]
			if n, ok := s.Limit.Replaced(i, offset, count); ok {
				got = n
			}
			if got != c.shards[i] {
				t.Errorf("%s: parameter %d is %d for the shards, want %d", c.sql, i, got, c.shards[i])
			}
		}
	}
}

// FuzzScatter: a text that is understood makes one that the parser reads, with the
// client's text in it but for the clauses that are replaced.
func FuzzScatter(f *testing.F) {
	addSeeds(f, "select a, count(*) from t where b = ? group by a order by 2 desc limit ?, 5", "select *, a+1 b from t order by b limit 1,2 for update",
		"select distinct a, 'x' \"y\" from t order by 1", "with c as (select 1) select avg(a) from c -- x", "select `a` from t as u order by u.a asc, null;")
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		m := fuzzMode(mode)
		s, err := ReadScatter([]byte(sql), m, ScatterOptions{Numbers: []int{int(mode) % 3}})
		if err != nil {
			var unsupported *UnsupportedError
			if !errors.As(err, &unsupported) {
				t.Fatalf("%q: %v", sql, err)
			}
			return
		}
		text := s.AppendSQL(nil, []byte(sql))
		if _, err := parseTree(string(text), m); err != nil {
			t.Fatalf("%q became %q: %v", sql, text, err)
		}
		if len(s.edits) == 0 && string(text) != sql {
			t.Fatalf("%q became %q without an edit", sql, text)
		}
	})
}

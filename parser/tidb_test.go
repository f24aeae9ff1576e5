package parser

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// tidbInsert parses the text with the TiDB parser, and returns nil when that
// takes it for no INSERT or REPLACE.
func tidbInsert(sql string, m Mode) *ast.InsertStmt {
	stmt, _ := parseTiDB(sql, m)
	insert, _ := stmt.(*ast.InsertStmt)
	return insert
}

type paramCounter struct{ n int }

func (c *paramCounter) Enter(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*test_driver.ParamMarkerExpr); ok {
		c.n++
	}
	return n, false
}

func (c *paramCounter) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func restored(n ast.Node) string {
	var b strings.Builder
	ctx := format.NewRestoreCtx(format.DefaultRestoreFlags, &b)
	if err := n.Restore(ctx); err != nil {
		return "error: " + err.Error()
	}
	return b.String()
}

// tidbAgrees compares what the scanner and the TiDB parser make of a text that
// both take for an INSERT, and then what TiDB makes of the filled text. It
// reports whether there was anything to compare.
func tidbAgrees(t *testing.T, sql string, m Mode) bool {
	t.Helper()
	var s InsertStmt
	if s.Parse([]byte(sql), m) != nil || hasBackslashInName(sql, m) {
		return false
	}
	stmt := tidbInsert(sql, m)
	if stmt == nil || stmt.Select != nil {
		return false
	}
	if diff := insertDiff(&s, stmt); diff != "" {
		t.Errorf("the scanner and TiDB differ on %q: %s", sql, diff)
		return true
	}
	tidbAgreesOnFilled(t, sql, m, &s, stmt)
	return true
}

func insertDiff(s *InsertStmt, stmt *ast.InsertStmt) string {
	name := stmt.Table.TableRefs.Left.(*ast.TableSource).Source.(*ast.TableName)
	var params paramCounter
	stmt.Accept(&params)
	columns := []string(nil)
	for _, c := range stmt.Columns {
		columns = append(columns, c.Name.O)
	}
	type facts struct {
		Replace, Ignore, OnDuplicate bool
		Schema, Table, Columns       string
		Rows, Params                 int
	}
	want := facts{stmt.IsReplace, stmt.IgnoreErr, len(stmt.OnDuplicate) > 0,
		name.Schema.O, name.Name.O, strings.Join(columns, "\x00"), len(stmt.Lists), params.n}
	got := facts{s.Replace, s.Ignore, s.OnDuplicate, s.Schema, s.Table, strings.Join(s.Columns, "\x00"), s.Rows, s.Params}
	if got != want {
		return fmt.Sprintf("scanner %+v, TiDB %+v", got, want)
	}
	uneven := 0
	for i, list := range stmt.Lists {
		if uneven == 0 && len(list) != len(stmt.Lists[0]) {
			uneven = i
		}
	}
	if values := len(stmt.Lists[0]); s.body.values != values || s.body.uneven != uneven {
		return fmt.Sprintf("the first row has %d values by the scanner, %d by TiDB; row %d has another number, by TiDB row %d",
			s.body.values, values, s.body.uneven, uneven)
	}
	return ""
}

// tidbAgreesOnFilled fills each column of the statement in turn, and one it
// does not have, and compares the rest of what TiDB reads before and after.
func tidbAgreesOnFilled(t *testing.T, sql string, m Mode, s *InsertStmt, before *ast.InsertStmt) {
	t.Helper()
	tableColumns := []string{}
	for i := range before.Lists[0] {
		tableColumns = append(tableColumns, fmt.Sprintf("c%d", i))
	}
	columns := append([]string{"absent column", "c0", "c1"}, s.Columns...)
	for _, column := range columns {
		if _, err := s.Slots(nil, []byte(sql), column, tableColumns); err != nil {
			continue
		}
		index := s.bound.index
		filled := string(s.AppendFilled(nil, []byte(sql), column, func(dst []byte, row int) ([]byte, bool) {
			return append(dst, "LAST_INSERT_ID(4711)"...), true
		}, FillOptions{}))
		after := tidbInsert(filled, m)
		if after == nil {
			t.Errorf("TiDB reads %q, but not filled: %q", sql, filled)
			return
		}
		if diff := filledDiff(before, after, index); diff != "" {
			t.Errorf("filling %q of %q made %q: %s", column, sql, filled, diff)
		}
	}
}

func filledDiff(before, after *ast.InsertStmt, index int) string {
	if len(before.Lists) != len(after.Lists) {
		return fmt.Sprintf("%d rows became %d", len(before.Lists), len(after.Lists))
	}
	for i := range before.Lists {
		want, got := before.Lists[i], after.Lists[i]
		at := index
		if index < 0 {
			at = len(want)
			want = append(want[:at:at], nil)
		}
		if len(got) != len(want) {
			return fmt.Sprintf("row %d has %d values, want %d", i, len(got), len(want))
		}
		for j := range got {
			text := restored(got[j])
			if j == at && text != "LAST_INSERT_ID(4711)" {
				return fmt.Sprintf("the value of row %d is %s", i, text)
			}
			if j != at && text != restored(want[j]) {
				return fmt.Sprintf("value %d of row %d is %s, was %s", j, i, text, restored(want[j]))
			}
		}
	}
	if len(before.Columns) > 0 && index < 0 && len(after.Columns) != len(before.Columns)+1 {
		return fmt.Sprintf("%d columns became %d", len(before.Columns), len(after.Columns))
	}
	strip := func(stmt *ast.InsertStmt) string {
		rest := *stmt
		rest.Columns, rest.Lists = nil, nil
		return restored(&rest)
	}
	if strip(before) != strip(after) {
		return fmt.Sprintf("%s became %s", strip(before), strip(after))
	}
	return ""
}

// isComparable reports whether the text is in the domain in which the TiDB parser
// is held to read as the servers do: UTF-8 without control characters, and no
// version comments, which it always executes.
func isComparable(sql string) bool {
	if !utf8.ValidString(sql) || strings.Contains(sql, "/*!") || strings.Contains(sql, "/*T!") {
		return false
	}
	for _, c := range sql {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0x85 || c == 0xa0 || c >= 0x2000 && c <= 0x3000 {
			return false
		}
	}
	return true
}

// hasBackslashInName reports whether a name in double quotes has a backslash. That is
// a character of the name to the servers in every mode; the TiDB parser takes it for an
// escape, as in a string.
func hasBackslashInName(sql string, m Mode) bool {
	s := newScanner([]byte(sql), m)
	for t := s.next(); t != tokenEOF && t != tokenInvalid; t = s.next() {
		if name := sql[s.start:s.end]; t == tokenName && name[0] == '"' && strings.Contains(name, `\`) {
			return true
		}
	}
	return false
}

func TestTiDBAgrees(t *testing.T) {
	n := 0
	for _, sql := range insertCorpus {
		if tidbAgrees(t, sql, Mode{}) {
			n++
		}
	}
	if want := len(insertCorpus) / 2; n < want {
		t.Errorf("%d of %d statements were compared, want at least %d", n, len(insertCorpus), want)
	}
}

func TestConstant(t *testing.T) {
	tests := []struct {
		sql  string
		want Slot
	}{
		{"1-1", Slot{State: Open}},
		{"(0)", Slot{State: Open}},
		{"((NULL))", Slot{State: Open}},
		{"null+1", Slot{State: Open}},
		{"2*3+1", Slot{State: Explicit, HasValue: true, Value: 7}},
		{"7 div 2 % 2", Slot{State: Explicit, HasValue: true, Value: 1}},
		{"-(5)", Slot{State: Explicit, HasValue: true, Value: -5}},
		{"5 & 2", Slot{State: Open}},
		{"4 | 2 ^ 2", Slot{State: Explicit, HasValue: true, Value: 4}},
		{"!7", Slot{State: Open}},
		{"1 > 2", Slot{State: Open}},
		{"(1 >= 1) = true", Slot{State: Explicit, HasValue: true, Value: 1}},
		{"2 <> 2", Slot{State: Open}},
		{"1 <= null", Slot{State: Open}},
		{"1 < 1 ", Slot{State: Open}},
		{"-9223372036854775807-1", Slot{State: Explicit, HasValue: true, Value: -1 << 63}},
		{"9223372036854775807+1", Slot{State: Unknown}},
		{"-9223372036854775807-2", Slot{State: Unknown}},
		{"4294967296*4294967296", Slot{State: Unknown}},
		{"1 div 0", Slot{State: Unknown}},
		{"1 mod 0", Slot{State: Unknown}},
		{"null <=> null", Slot{State: Unknown}},
		{"1.5+0", Slot{State: Unknown}},
		{"~0", Slot{State: Unknown}},
		{"-1 & 1", Slot{State: Unknown}},
		{"not 1", Slot{State: Unknown}},
		{"0 || 0", Slot{State: Unknown}},
		{"1 1", Slot{State: Unknown}},
		{"id-1", Slot{State: Unknown}},
		{"'1'-1", Slot{State: Unknown}},
		{"1-" + strings.Repeat("8", 100), Slot{State: Unknown}}, // the parser panics
		{strings.Repeat("(", 200) + "0" + strings.Repeat(")", 200), Slot{State: Unknown}},
	}
	for _, test := range tests {
		t.Run(test.sql, func(t *testing.T) {
			l := literals{}
			if got := l.constant([]byte(test.sql)); got != test.want {
				t.Errorf("constant(%q) = %+v, want %+v", test.sql, got, test.want)
			}
		})
	}
}

package parser

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// fuzzMode makes a mode of the bits of n.
func fuzzMode(n uint8) Mode {
	names := [...]string{"utf8mb4", "latin1", "gbk", "gb18030", "big5", "sjis", "nosuchset", "utf8mb4"}
	return Mode{
		ANSIQuotes: n&1 > 0, NoBackslashEscapes: n&2 > 0, NoAutoValueOnZero: n&4 > 0,
		MariaDB: n&8 > 0, Strict: n&16 > 0, Charset: CharsetByName(names[n>>5]),
	}
}

func addSeeds(f *testing.F, more ...string) {
	for i, sql := range append(append(serverOnly(false), serverOnly(true)...), append(insertCorpus, more...)...) {
		f.Add(sql, uint8(0))
		f.Add(sql, uint8(i))
	}
}

// Ids go into a statement without another change: the filled text reads as the same statement with the id in every row, to
// seqgate's own reader and, where that takes the text too, to the TiDB parser; and each byte outside the splices is the
// client's.
func FuzzSplice(f *testing.F) {
	addSeeds(f, "insert into t values (1 /*!40000 2 */)", "insert into t(a) select 1", "insert into t\xa0 values('\x81\\',1)",
		"insert into t(a) values(1) as new on duplicate key update a=new.a", "insert into t values(),()", "insert into t set a=1 on duplicate key update a=2",
		"insert t(a, id) values('x', 1-"+strings.Repeat("8", 100)+")")
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		if isComparable(sql) {
			tidbAgrees(t, sql, fuzzMode(mode&3))
		}
		m := fuzzMode(mode)
		var s InsertStmt
		first := s.Parse([]byte(sql), m)
		if again := s.Parse([]byte(sql), m); fmt.Sprint(first) != fmt.Sprint(again) {
			t.Fatalf("Parse(%q) is %v, the second time %v", sql, first, again)
		}
		if first != nil {
			return
		}
		if sniffed := Sniff([]byte(sql)); s.Replace && sniffed != Replace || !s.Replace && sniffed != Insert {
			t.Errorf("Sniff(%q) = %d, but it reads as an INSERT or REPLACE", sql, sniffed)
		}
		for _, column := range append([]string{"id", "absent column"}, s.Columns...) {
			fuzzFill(t, &s, sql, column, m)
		}
	})
}

func fuzzFill(t *testing.T, s *InsertStmt, sql, column string, m Mode) {
	slots, err := s.Slots(nil, []byte(sql), column, []string{"a", "id", "b"})
	if err != nil {
		return
	}
	if len(slots) != s.Rows {
		t.Fatalf("%q has %d rows and %d slots", sql, s.Rows, len(slots))
	}
	for _, slot := range slots {
		if slot.Param < 0 || slot.Param > s.Params || slot.State == Param && slot.Param == s.Params {
			t.Fatalf("%q has %d placeholders and the slot %+v", sql, s.Params, slot)
		}
	}
	filled := s.AppendFilled(nil, []byte(sql), column, appendFuzzID, FillOptions{})
	checkOutside(t, s, sql, column, string(filled))
	again, err := ParseInsert(filled, m)
	if err != nil {
		t.Fatalf("%q is filled as %q, which does not read: %v", sql, filled, err)
	}
	if again.Rows != s.Rows || again.Table != s.Table || again.Schema != s.Schema || again.OnDuplicate != s.OnDuplicate {
		t.Fatalf("%q is filled as %q: %d rows of %q.%q became %d of %q.%q",
			sql, filled, s.Rows, s.Schema, s.Table, again.Rows, again.Schema, again.Table)
	}
	slots, err = again.Slots(nil, filled, column, []string{"a", "id", "b"})
	if err != nil {
		t.Fatalf("%q is filled as %q: %v", sql, filled, err)
	}
	for _, slot := range slots {
		if slot.Value != 4711 {
			t.Fatalf("%q is filled as %q, with the slot %+v", sql, filled, slot)
		}
	}
	same := again.AppendFilled(nil, filled, column, appendFuzzID, FillOptions{})
	if !bytes.Equal(same, filled) {
		t.Fatalf("%q filled again is %q", filled, same)
	}
}

// checkOutside undoes the splices, by what each of them may be, and holds that what is left is the client's text.
func checkOutside(t *testing.T, s *InsertStmt, sql, column, filled string) {
	t.Helper()
	rest, ok, at := filled, true, 0
	cut := func(prefix string) {
		rest, ok = strings.TrimPrefix(rest, prefix), ok && strings.HasPrefix(rest, prefix)
	}
	if s.bound.index >= 0 {
		if columns := quotedList(s, s.bound.columns...); len(s.Columns) == 0 && len(s.body.assigns) == 0 {
			if !s.HasColumns {
				columns = " (" + columns + ")"
			}
			rest = strings.Replace(rest, columns, "", 1)
		}
		for _, p := range s.bound.places {
			cut(sql[at:p.start] + fuzzID)
			if at = int(p.end); !strings.HasPrefix(sql[at:], " ") {
				rest = strings.TrimPrefix(rest, " ") // so that the id does not run into the next word
			}
		}
		cut(sql[at:])
		if !ok || rest != "" {
			t.Fatalf("%q is filled as %q: more than the values of %q has changed", sql, filled, column)
		}
		return
	}
	splices := spliced(s, column)
	for _, splice := range splices {
		if strings.Contains(sql, splice) || strings.Contains(sql, fuzzID) || strings.Contains(sql, "seqgate_id") {
			return // the splice cannot be told from the text
		}
	}
	for rest != "" {
		if i := slices.IndexFunc(splices, func(splice string) bool { return strings.HasPrefix(rest, splice) }); i >= 0 {
			if rest = rest[len(splices[i]):]; !strings.HasPrefix(sql[at:], " ") {
				rest = strings.TrimPrefix(rest, " ")
			}
			continue
		}
		if at == len(sql) || rest[0] != sql[at] {
			t.Fatalf("%q is filled as %q: there is %.40q in place of %.40q", sql, filled, rest, sql[at:])
		}
		rest, at = rest[1:], at+1
	}
	if at < len(sql) {
		t.Fatalf("%q is filled as %q: %q is lost", sql, filled, sql[at:])
	}
}

// spliced are the texts that may go into a statement without the column: its name into lists, and values.
func spliced(s *InsertStmt, column string) []string {
	columns := s.Columns
	if len(columns) == 0 {
		columns = s.bound.columns
	}
	name := quotedList(s, column)
	all := quotedList(s, append(slices.Clone(s.bound.columns), column)...)
	splices := []string{", " + name + " = " + fuzzID, name + " = " + fuzzID, ", " + fuzzID, fuzzID, ", seqgate_id", "(" + quotedList(s, append(slices.Clone(columns), "seqgate_id")...) + ")"}
	if !s.HasColumns {
		splices = append(splices, " ("+all+")")
	}
	return append(splices, all, ", "+name)
}

func quotedList(s *InsertStmt, columns ...string) string {
	var b []byte
	for _, name := range columns {
		b = append(appendQuoted(b, name, s.mode.Charset), ", "...)
	}
	return strings.TrimSuffix(string(b), ", ")
}

const fuzzID = "4711"

func appendFuzzID(dst []byte, _ int) ([]byte, bool) { return append(dst, fuzzID...), true }

// What the scanner and the TiDB parser both read must be the same to both.
func FuzzTiDB(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		if isComparable(sql) {
			tidbAgrees(t, sql, fuzzMode(mode&3))
		}
	})
}

func FuzzSplit(f *testing.F) {
	addSeeds(f, "a;b;c", ";a", "a; ;b", "/*!40101 a */;b", "create procedure p() begin a; end", "set names gbk; b", "select 1--;b")
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		m := fuzzMode(mode)
		spans, err := Split(nil, []byte(sql), m)
		at := 0
		for i, span := range spans {
			if span.Start < at || span.End < span.Start || span.End > len(sql) {
				t.Fatalf("Split(%q) = %v, spans out of range or order", sql, spans)
			}
			if i > 0 && sql[span.Start-1] != ';' {
				t.Fatalf("Split(%q) = %v, no semicolon before %d", sql, spans, span.Start)
			}
			at = span.End
		}
		if err == nil && Single([]byte(sql)) && len(spans) > 1 {
			t.Fatalf("%q is single, but splits into %v", sql, spans)
		}
		if e := (*SyntaxError)(nil); err != nil && !errors.As(err, &e) && !errors.Is(err, ErrCompound) && !errors.Is(err, ErrModeChange) {
			t.Fatalf("Split(%q): %v", sql, err)
		}
	})
}

// What is read of a NEXT VALUE, written anew in its plainest form, reads as the same; and the TiDB parser, where it takes the
// text, names the same sequence.
func FuzzNext(f *testing.F) {
	for _, test := range nextTests {
		f.Add(test.sql, uint8(0))
		f.Add(test.sql, uint8(1))
	}
	for _, test := range nextErrors {
		f.Add(test.sql, uint8(0))
	}
	for _, sql := range []string{"select next 0 values from s", "select next 99999999999999999999 values from s", "select next value for s where id=0", "select next value for `é`.`漢`"} {
		f.Add(sql, uint8(0))
		f.Add(sql, uint8(2<<5)) // gbk
	}
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		m := fuzzMode(mode)
		next, err := ParseNext([]byte(sql), m)
		if err != nil {
			var syntax *SyntaxError
			var count *CountError
			if !errors.As(err, &syntax) && !errors.As(err, &count) {
				t.Errorf("ParseNext(%q): %T %v", sql, err, err)
			}
			return
		}
		if next.Sequence == "" || next.N < 0 || next.Param != (next.N == 0) || next.Key != "" && (!next.HasKey || next.KeyParam) {
			t.Errorf("ParseNext(%q) = %+v", sql, next)
		}
		if got := Sniff([]byte(sql)); got != Next {
			t.Errorf("Sniff(%q) = %d, but it is a NEXT VALUE", sql, got)
		}
		plain := plainNext(next)
		if again, err := ParseNext(plain, Mode{}); err != nil || again != next {
			t.Errorf("ParseNext(%q) = %+v, of %q it is %+v, %v", sql, next, plain, again, err)
		}
		if again, err := ParseNext([]byte(sql+"\n; # x"), m); err != nil || again != next {
			t.Errorf("ParseNext(%q) = %+v, with a semicolon it is %+v, %v", sql, next, again, err)
		}
		if table, ok := tidbNext(sql, m); ok && isComparable(sql) && m.Charset == 0 && table != (Table{Schema: next.Schema, Name: next.Sequence}) {
			t.Errorf("ParseNext(%q) = %+v, by TiDB it is of %+v", sql, next, table)
		}
	})
}

// plainNext writes a NEXT VALUE in its plainest form.
func plainNext(n NextStmt) []byte {
	b := []byte("SELECT NEXT ")
	if n.Param {
		b = append(b, "? VALUES FROM "...)
	} else {
		b = fmt.Appendf(b, "%d VALUES FROM ", n.N)
	}
	if n.Schema != "" {
		b = append(appendQuoted(b, n.Schema, 0), '.')
	}
	b = appendQuoted(b, n.Sequence, 0)
	switch {
	case n.KeyParam:
		b = append(b, " FOR KEY ?"...)
	case n.HasKey:
		b = fmt.Appendf(b, " FOR KEY x'%x'", n.Key)
	}
	return b
}

// tidbNext gives the table that the TiDB parser reads of the text: of NEXT VALUE FOR as a sequence, of FROM as where the column
// next is.
func tidbNext(sql string, m Mode) (Table, bool) {
	tree, _ := parseTiDB(sql, m)
	stmt, _ := tree.(*ast.SelectStmt)
	if stmt == nil || len(stmt.Fields.Fields) != 1 {
		return Table{}, false
	}
	if call, ok := stmt.Fields.Fields[0].Expr.(*ast.FuncCallExpr); ok && len(call.Args) == 1 {
		name, ok := call.Args[0].(*ast.TableNameExpr)
		if !ok {
			return Table{}, false
		}
		return Table{Schema: name.Name.Schema.O, Name: name.Name.Name.O}, true
	}
	if stmt.From == nil {
		return Table{}, false
	}
	source, ok := stmt.From.TableRefs.Left.(*ast.TableSource)
	if !ok {
		return Table{}, false
	}
	name, ok := source.Source.(*ast.TableName)
	if !ok {
		return Table{}, false
	}
	return Table{Schema: name.Schema.O, Name: name.Name.O}, true
}

// Nothing may panic or hang, and Writes must name the table of every INSERT
// that can be read.
func FuzzSniff(f *testing.F) {
	addSeeds(f, "use db", "kill 5", "prepare s from 'insert\\ninto t values (1)'", "load data infile 'x' into table `a`.`b`", "set statement x=1 for select 1")
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		text, m := []byte(sql), fuzzMode(mode)
		Sniff(text)
		UseTarget(text, m)
		KillTarget(text)
		Literals(text, m)
		MayPrepare(text)
		MentionsLastInsertID(text)
		writes, complete := Writes(nil, text, m)
		var want Table
		load, err := ParseLoad(text, m)
		ok := err == nil
		if ok {
			want = Table{Schema: load.Schema, Name: load.Table}
		}
		var s InsertStmt
		if err := s.ParseTarget(text, m); err == nil {
			want, ok = Table{Schema: s.Schema, Name: s.Table}, true
		}
		if !ok || strings.ContainsAny(want.Schema+want.Name, "`\"\\#-/* \t\r\n") || !isASCII(sql) || isModifier(want.Schema) || isModifier(want.Name) || !complete {
			return
		}
		for _, table := range writes {
			if table == want {
				return
			}
		}
		t.Errorf("Writes(%q) = %v, want %v among them", sql, writes, want)
	})
}

// isModifier reports whether a table has the name of a keyword that may stand
// before it, which Writes passes over. They are reserved words.
func isModifier(name string) bool {
	switch strings.ToLower(name) {
	case "low_priority", "high_priority", "delayed", "ignore", "into", "table":
		return true
	}
	return false
}

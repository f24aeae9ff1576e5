package parser

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
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

// The statement's parts must lie within its text, in order, and the filled text
// must be one of the same shape with the id in every row.
func FuzzParseInsert(f *testing.F) {
	addSeeds(f, "insert into t values (1 /*!40000 2 */)", "insert into t(a) select 1", "insert into t\xa0 values('\x81\\',1)")
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
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

func appendFuzzID(dst []byte, _ int) ([]byte, bool) { return append(dst, "4711"...), true }

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

func FuzzParseNext(f *testing.F) {
	for _, sql := range []string{
		"select next value from s", "select next 5 values for a.b;", "select next ? values from `s``t`", "select next 0 values from s",
		"select next 99999999999999999999 values from s", "select next value from s where id=0",
	} {
		f.Add(sql, uint8(0))
	}
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		next, err := ParseNext([]byte(sql), fuzzMode(mode))
		if err != nil {
			return
		}
		if next.Sequence == "" || next.N < 0 || next.Param != (next.N == 0) {
			t.Errorf("ParseNext(%q) = %+v", sql, next)
		}
		if got := Sniff([]byte(sql)); got != Next {
			t.Errorf("Sniff(%q) = %d, but it is a NEXT VALUE", sql, got)
		}
	})
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
		want, ok := LoadTarget(text, m)
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

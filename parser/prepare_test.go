package parser

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePrepare(t *testing.T) {
	mariaDB, ansi := Mode{MariaDB: true}, Mode{ANSIQuotes: true}
	text := func(name, text string) PrepareStmt {
		return PrepareStmt{Name: name, IsText: true, Text: []byte(text)}
	}
	expr := func(name, expr string) PrepareStmt { return PrepareStmt{Name: name, Expr: []byte(expr)} }
	tests := []struct {
		sql  string
		mode Mode
		want PrepareStmt
		ok   bool
	}{
		{"PREPARE p FROM 'it''s \\'x\\''", Mode{}, text("p", "it's 'x'"), true},
		{"prepare/**/`P p`\nfrom \"x\" -- y\n ;", Mode{}, text("p p", "x"), true},
		{`PREPARE "P" FROM 'x'`, ansi, text("p", "x"), true},
		{`PREPARE "P" FROM 'x'`, Mode{}, PrepareStmt{}, false},
		{"PREPARE p FROM ''", Mode{}, text("p", ""), true},
		{"PREPARE p FROM @x", Mode{}, expr("p", "@x"), true},
		{"PREPARE p FROM @`a b` /* c */;", Mode{}, expr("p", "@`a b`"), true},
		{"PREPARE p FROM @a.b$c", Mode{}, expr("p", "@a.b$c"), true},
		{"PREPARE p FROM @using", Mode{}, expr("p", "@using"), true},
		{"PREPARE p FROM @@sql_mode", mariaDB, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM @ x", Mode{}, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM CONCAT('a', @b)", Mode{}, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM CONCAT('a', @b)", mariaDB, expr("p", "CONCAT('a', @b)"), true},
		{"PREPARE p FROM 'a' 'b'", mariaDB, expr("p", "'a' 'b'"), true},
		{"PREPARE p FROM 'a' 'b'", Mode{}, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM f()", mariaDB, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM x.concat('a')", mariaDB, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM concat.f('a')", mariaDB, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM @a := 'x'", mariaDB, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM X'41'", mariaDB, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM _utf16'41'", mariaDB, PrepareStmt{Name: "p"}, true},
		{"PREPARE p FROM 'a' USING 5", Mode{}, PrepareStmt{}, false},
		{"PREPARE p FROM 'a'; DO 1", Mode{}, PrepareStmt{}, false},
		{"PREPARE p FROM /*!50000 'a' */", Mode{}, PrepareStmt{}, false},
		{"PREPARE p FROM 'a", Mode{}, PrepareStmt{}, false},
		{"PREPARE p 'a'", Mode{}, PrepareStmt{}, false},
		{"EXECUTE p", Mode{}, PrepareStmt{}, false},
	}
	for _, tt := range tests {
		got, ok := ParsePrepare([]byte(tt.sql), tt.mode)
		if got.Raw = nil; !ok {
			got = PrepareStmt{}
		}
		if diff := cmp.Diff(tt.want, got); ok != tt.ok || diff != "" {
			t.Errorf("ParsePrepare(%q) ok=%v (-want +got):\n%s", tt.sql, ok, diff)
		}
	}
}

func TestParseExecute(t *testing.T) {
	tests := []struct {
		sql   string
		name  string
		using []string
		ok    bool
	}{
		{"EXECUTE p", "p", nil, true},
		{"execute `P`;", "p", nil, true},
		{"EXECUTE p USING @a, @`b,c`", "p", []string{"@a", "@`b,c`"}, true},
		{"EXECUTE p USING f(1, 2), 'x,y' /* z */, NULL;", "p", []string{"f(1, 2)", "'x,y'", "NULL"}, true},
		{"EXECUTE p USING", "", nil, false},
		{"EXECUTE p USING @a,", "", nil, false},
		{"EXECUTE p USING (@a", "", nil, false},
		{"EXECUTE p @a", "", nil, false},
		{"EXECUTE p; DO 1", "", nil, false},
		{"EXECUTE /*!50000 p */", "", nil, false},
		{"EXECUTE 'p'", "", nil, false},
	}
	for _, tt := range tests {
		name, using, ok := ParseExecute([]byte(tt.sql), Mode{})
		var got []string
		for _, value := range using {
			got = append(got, string(value))
		}
		if diff := cmp.Diff(tt.using, got); ok != tt.ok || ok && (name != tt.name || diff != "") {
			t.Errorf("ParseExecute(%q) = %q, ok=%v (-want +got):\n%s", tt.sql, name, ok, diff)
		}
	}
}

func TestParseImmediate(t *testing.T) {
	p, ok := ParseImmediate([]byte("EXECUTE IMMEDIATE 'a ? b' USING @x, 5"), Mode{MariaDB: true})
	if !ok || string(p.Text) != "a ? b" || len(p.Using) != 2 || string(p.Using[0]) != "@x" || string(p.Using[1]) != "5" {
		t.Errorf("got %+v, ok=%v", p, ok)
	}
	if p, ok := ParseImmediate([]byte("EXECUTE IMMEDIATE CONCAT(@using, 'x')"), Mode{MariaDB: true}); !ok || string(p.Expr) != "CONCAT(@using, 'x')" {
		t.Errorf("got %+v, ok=%v", p, ok)
	}
}

func TestParseDeallocate(t *testing.T) {
	for sql, want := range map[string]string{
		"DEALLOCATE PREPARE P": "p", "drop prepare `p p`;": "p p", "DROP TABLE p": "", "DEALLOCATE PREPARE 'p'": "", "DROP PREPARE p q": "",
	} {
		if name, ok := ParseDeallocate([]byte(sql), Mode{}); ok != (want != "") || ok && name != want {
			t.Errorf("ParseDeallocate(%q) = %q, %v", sql, name, ok)
		}
	}
}

func TestIsUserVariable(t *testing.T) {
	for text, want := range map[string]bool{
		"@x": true, "@1": true, "@a.b": true, "@_$": true, "@'x y'": true, `@"x"`: true, "@`x``y`": true, "@.x": true,
		"": false, "@": false, "@@x": false, "@ x": false, "@'x' 'y'": false, "@x y": false, "@x:=1": false, "@é": false, "x": false, "@x+1": false, "@/**/x": false,
	} {
		if got := IsUserVariable([]byte(text), Mode{}); got != want {
			t.Errorf("IsUserVariable(%q) = %v", text, got)
		}
	}
}

func TestVariable(t *testing.T) {
	sql := []byte("INSERT INTO t (a, id) VALUES (1, @x), (2, @x + 1), (3, @`y`), (4, NULL)")
	s, err := ParseInsert(sql, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Slots(nil, sql, "id", nil); err != nil {
		t.Fatal(err)
	}
	for row, want := range []string{"@x", "", "@`y`", ""} {
		if got := s.Variable(sql, row); string(got) != want {
			t.Errorf("row %d: %q, want %q", row, got, want)
		}
	}
}

func TestValueSlot(t *testing.T) {
	for text, want := range map[string]SlotState{
		"NULL": Open, "DEFAULT": Open, "0": Open, "'0'": Open, "0.4": Open, "5": Explicit, "'5'": Explicit, "f()": Unknown, "?": Param, "1, 2": Unknown, "": Unknown,
		"DEFAULT(id)": Unknown, "1-1": Open,
	} {
		if got := ValueSlot([]byte(text), Mode{MariaDB: true}, false); got.State != want {
			t.Errorf("ValueSlot(%q) = %v, want %v", text, got.State, want)
		}
	}
}

// A text that AppendLiteral quotes is what PREPARE reads, in each mode.
func FuzzAppendLiteral(f *testing.F) {
	f.Add("INSERT INTO t VALUES ('a\\'b', \"c\")", uint8(0))
	f.Add("\\", uint8(2))
	f.Add("é'\x00", uint8(9))
	f.Fuzz(func(t *testing.T, text string, mode uint8) {
		m := fuzzMode(mode)
		if !isASCII(text) {
			m.Charset = 0
		}
		sql := AppendLiteral([]byte("PREPARE p FROM "), []byte(text), m)
		got, ok := ParsePrepare(sql, m)
		if !ok || !got.IsText || string(got.Text) != text {
			t.Fatalf("%q reads as %q, ok=%v", sql, got.Text, ok)
		}
	})
}

// The parts of EXECUTE are parts of its text.
func FuzzParseExecute(f *testing.F) {
	f.Add("EXECUTE p USING @a, 'b', f(1, (2))", uint8(8))
	f.Add("EXECUTE IMMEDIATE CONCAT('a', @b) USING @`c`", uint8(8))
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		m := fuzzMode(mode)
		_, using, _ := ParseExecute([]byte(sql), m)
		p, _ := ParseImmediate([]byte(sql), m)
		for _, part := range append(append(using, p.Using...), p.Expr) {
			if !bytes.Contains([]byte(sql), part) {
				t.Errorf("%q has no part %q", sql, part)
			}
			ValueSlot(part, m, false)
		}
	})
}

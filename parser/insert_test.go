package parser

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseInsert(t *testing.T) {
	tests := []struct {
		name string
		sql  string
		mode Mode
		want InsertStmt
	}{
		{name: "plain", sql: "insert into ua(val) values('a'),(2)",
			want: InsertStmt{Table: "ua", HasColumns: true, Columns: []string{"val"}, Rows: 2}},
		{name: "no list", sql: "INSERT ua VALUE (1,?)", want: InsertStmt{Table: "ua", Rows: 1, Params: 1}},
		{name: "empty list", sql: "INSERT ua () VALUES ()", want: InsertStmt{Table: "ua", HasColumns: true, Rows: 1}},
		{name: "modifiers", sql: "insert high_priority ignore into main . ua values (1)",
			want: InsertStmt{Ignore: true, Schema: "main", Table: "ua", Rows: 1}},
		{name: "replace", sql: "replace low_priority `m``n`.`u a` set a=1, x.b = ?",
			want: InsertStmt{Replace: true, Schema: "m`n", Table: "u a", HasColumns: true, Columns: []string{"a", "b"}, Rows: 1, Params: 1}},
		{name: "a table without its database", sql: "insert into .ua values (1)", mode: Mode{MariaDB: true}, want: InsertStmt{Table: "ua", Rows: 1}},
		{name: "a keyword before a dot", sql: "insert into.t(values.a) values (1)",
			want: InsertStmt{Schema: "into", Table: "t", HasColumns: true, Columns: []string{"a"}, Rows: 1}},
		{name: "a keyword before a dot and a quote", sql: "insert ignore into.`t` values (1)", mode: Mode{MariaDB: true},
			want: InsertStmt{Ignore: true, Table: "t", Rows: 1}},
		{name: "a table that begins with a digit", sql: "insert into 1db.2t values (1)", want: InsertStmt{Schema: "1db", Table: "2t", Rows: 1}},
		{name: "names that are no reserved words", sql: "insert value(value, row) value (1, 2)",
			want: InsertStmt{Table: "value", HasColumns: true, Columns: []string{"value", "row"}, Rows: 1}},
		{name: "on duplicate key update", sql: "insert into ua values (?) on duplicate key update n=values(n)+?, id = last_insert_id(id)",
			want: InsertStmt{Table: "ua", Rows: 1, Params: 2, OnDuplicate: true, UsesLastInsertID: true}},
		{name: "last insert id in a value", sql: "insert into ua values (`LAST_INSERT_ID`())", want: InsertStmt{Table: "ua", Rows: 1, UsesLastInsertID: true}},
		{name: "identity", sql: "insert into ua set a=@@session.IDENTITY",
			want: InsertStmt{Table: "ua", HasColumns: true, Columns: []string{"a"}, Rows: 1, UsesLastInsertID: true}},
		{name: "last insert id in a literal", sql: "insert into ua values ('last_insert_id')", want: InsertStmt{Table: "ua", Rows: 1}},
		{name: "latin1 names", sql: "insert into t\xe4ble values (1)", mode: NewMode("", "latin1", false), want: InsertStmt{Table: "täble", Rows: 1}},
		{name: "placeholders that are none", sql: "insert into ua values ('?', `?`, ?) /* ? */ -- ?", want: InsertStmt{Table: "ua", Rows: 1, Params: 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var s InsertStmt
			for range 2 { // the second time in used memory
				if err := s.Parse([]byte(test.sql), test.mode); err != nil {
					t.Fatalf("Parse(%q): %v", test.sql, err)
				}
				if diff := cmp.Diff(test.want, s, cmpopts.IgnoreUnexported(InsertStmt{}), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("Parse(%q) differs (-want +got):\n%s", test.sql, diff)
				}
			}
			var target InsertStmt
			if err := target.ParseTarget([]byte(test.sql), test.mode); err != nil {
				t.Fatalf("ParseTarget(%q): %v", test.sql, err)
			}
			got := InsertStmt{Replace: target.Replace, Ignore: target.Ignore, Schema: target.Schema, Table: target.Table}
			want := InsertStmt{Replace: test.want.Replace, Ignore: test.want.Ignore, Schema: test.want.Schema, Table: test.want.Table}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(InsertStmt{})); diff != "" {
				t.Errorf("ParseTarget(%q) differs (-want +got):\n%s", test.sql, diff)
			}
		})
	}
}

func TestParseInsertUnsupported(t *testing.T) {
	maria := Mode{MariaDB: true}
	tests := []struct {
		sql  string
		mode Mode
		form string
	}{
		{"insert into main.ua(val) select 1", Mode{}, "INSERT ... SELECT"},
		{"insert into main.ua(val) (select 1)", Mode{}, "INSERT ... SELECT"},
		{"insert into main.ua (select 1)", Mode{}, "INSERT ... SELECT"},
		{"insert into main.ua ((select 1))", Mode{}, "INSERT ... SELECT"},
		{"replace into main.ua with x as (select 1) select * from x", Mode{}, "REPLACE ... WITH ... SELECT"},
		{"insert into main.ua table other", Mode{}, "INSERT ... TABLE"},
		{"insert into main.ua (values (1))", maria, "INSERT ... (VALUES ...)"},
		{"insert into main.ua values (1 /*!40000 +1 */)", Mode{}, "INSERT with a version comment"},
		{"insert into main.ua values (1) /*M! returning id */", maria, "INSERT with a version comment"},
		{"insert /*+ SET_VAR(sql_mode='NO_AUTO_VALUE_ON_ZERO') */ into main.ua values (1)", Mode{}, "INSERT with a SET_VAR hint on sql_mode or insert_id"},
		{"insert into main.ua values row(1) order by 1", Mode{}, "INSERT of this form (near 'order by 1' at line 1)"},
		{"insert into main.ua values (1) garbage", Mode{}, "INSERT of this form (near 'garbage' at line 1)"},
		{"insert into main.ua values\n(1), ", Mode{}, "INSERT of this form (near '' at line 2)"},
		{"insert into main.ua values (1", Mode{}, "INSERT of this form (near '' at line 1)"},
		{"insert into main.ua values ('1)", Mode{}, "INSERT of this form (near ''1)' at line 1)"},
		{"insert into main.ua values (1; 2)", Mode{}, "INSERT of this form (near '; 2)' at line 1)"},
		{"insert into main.ua values (1); insert into b values (2)", Mode{}, "INSERT of this form (near 'insert into b values (2)' at line 1)"},
		{"insert into main.ua (a,) values (1)", Mode{}, "INSERT of this form (near ') values (1)' at line 1)"},
		{"insert into main.ua (a b) values (1)", Mode{}, "INSERT of this form (near 'b) values (1)' at line 1)"},
		{"insert into main.ua set a", Mode{}, "INSERT of this form (near '' at line 1)"},
		{"insert into main.ua set a=", Mode{}, "INSERT of this form (near '' at line 1)"},
		{"insert into main.ua set a=(1;", Mode{}, "INSERT of this form (near ';' at line 1)"},
		{"insert into main.ua set a=1 on duplicate key update", Mode{}, "INSERT of this form (near '' at line 1)"},
		{"insert into main.ua set a=1 on conflict do nothing", Mode{}, "INSERT of this form (near 'conflict do nothing' at line 1)"},
		{"insert into main.ua", Mode{}, "INSERT of this form (near '' at line 1)"},
		{"insert into main.ua (a) set a=1", Mode{}, "INSERT of this form (near 'set a=1' at line 1)"},
		{"insert into main.ua values (1\xa0)", NewMode("", "latin1", false), "INSERT of this form (near '1\xa0)' at line 1)"},
		{"insert into main.ua values (1\x00)", Mode{}, "INSERT of this form (near '\x00)' at line 1)"},
	}
	for _, test := range tests {
		t.Run(test.sql, func(t *testing.T) {
			s, err := ParseInsert([]byte(test.sql), test.mode)
			e := (*UnsupportedError)(nil)
			if !errors.As(err, &e) {
				t.Fatalf("ParseInsert: %v, want an *UnsupportedError", err)
			}
			want := UnsupportedError{Form: test.form, Schema: "main", Table: "ua"}
			if diff := cmp.Diff(want, *e); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
			if s.Schema != "main" || s.Table != "ua" {
				t.Errorf("statement is of %q.%q, want main.ua", s.Schema, s.Table)
			}
		})
	}
}

func TestParseInsertSyntaxError(t *testing.T) {
	tests := []struct {
		sql  string
		mode Mode
		want SyntaxError
	}{
		{"", Mode{}, SyntaxError{"", 1}},
		{"select 1", Mode{}, SyntaxError{"select 1", 1}},
		{"insert\ninto 'ua' values (1)", Mode{}, SyntaxError{"'ua' values (1)", 2}},
		{"insert into `` values (1)", Mode{}, SyntaxError{"`` values (1)", 1}},
		{"insert /*!40000 delayed */ into ua values (1)", Mode{}, SyntaxError{"/*!40000 delayed */ into ua values (1)", 1}},
		{"insert into ua/*!40000 .b */ values (1)", Mode{}, SyntaxError{"/*!40000 .b */ values (1)", 1}},
		{"insert into \xa0ua values (1)", NewMode("", "latin1", false), SyntaxError{"\xa0ua values (1)", 1}},
		{"insert into \x81\x81 values (1)", NewMode("", "nosuchset", false), SyntaxError{"\x81\x81 values (1)", 1}},
		{"insert into .ua values (1)", Mode{}, SyntaxError{".ua values (1)", 1}},
		{"insert into a.b.c values (1)", Mode{}, SyntaxError{".c values (1)", 1}},
		{"insert /* into ua values (1)", Mode{}, SyntaxError{"/* into ua values (1)", 1}},
		{"insert into " + strings.Repeat("x", 200) + " . ( values", Mode{}, SyntaxError{"( values", 1}},
	}
	for _, test := range tests {
		t.Run(test.sql, func(t *testing.T) {
			_, err := ParseInsert([]byte(test.sql), test.mode)
			e := (*SyntaxError)(nil)
			if !errors.As(err, &e) {
				t.Fatalf("ParseInsert: %v, want a *SyntaxError", err)
			}
			if diff := cmp.Diff(test.want, *e); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
		})
	}
}

// The names of one statement stay as they were when the next one is read into
// the same memory.
func TestParseInsertKeepsNames(t *testing.T) {
	var s InsertStmt
	if err := s.Parse([]byte("insert into one(first) values(1)"), Mode{}); err != nil {
		t.Fatal(err)
	}
	table, column := s.Table, s.Columns[0]
	if err := s.Parse([]byte("insert into two(other) values(1)"), Mode{}); err != nil {
		t.Fatal(err)
	}
	if table != "one" || column != "first" || s.Table != "two" || s.Columns[0] != "other" {
		t.Errorf("names are %q, %q, then %q, %q, want one, first, then two, other", table, column, s.Table, s.Columns[0])
	}
}

// A statement that begins as the last one is read no differently.
func TestParseInsertSameHead(t *testing.T) {
	statements := []string{
		"insert into ua(val) values(1)",
		"insert into ua(val) values(2),(3)",
		"insert into ua(val)values(?) on duplicate key update n=last_insert_id(?)",
		"insert into ua(val) select 1",
		"insert into ua(val) values(1",
		"insert into ua(val, n) values(1, 2)",
		"insert into ua(val) set n=1",
		"insert into ua(val) values(id, 1)",
		"insert into ua values(1)",
		"insert into ua set val=1",
		"replace into ua(val) values(1)",
		"insert into ua(`val`) values(1)",
		"insert into ua(\"val\") values(1)",
	}
	ignore := cmpopts.IgnoreUnexported(InsertStmt{})
	for _, mode := range []Mode{{}, {ANSIQuotes: true}} {
		for _, before := range statements {
			for _, sql := range statements {
				var used InsertStmt
				beforeErr := used.Parse([]byte(before), Mode{})
				usedErr := used.Parse([]byte(sql), mode)
				fresh, freshErr := ParseInsert([]byte(sql), mode)
				if diff := cmp.Diff(*fresh, used, ignore, cmpopts.EquateEmpty()); diff != "" || fmt.Sprint(freshErr) != fmt.Sprint(usedErr) {
					t.Errorf("after %q (%v), Parse(%q) is %v, else %v, and differs (-fresh +used):\n%s", before, beforeErr, sql, usedErr, freshErr, diff)
				}
				if err := used.ParseTarget([]byte(sql), mode); err != nil || used.Table != "ua" || used.Replace != fresh.Replace {
					t.Errorf("after %q, ParseTarget(%q) = %v, table %q", before, sql, err, used.Table)
				}
			}
		}
	}
}

// A backslash is a character of a name, also of one in double quotes (MariaDB 10.11 and
// MySQL 9.7 name a column by it); in a string it is an escape.
func TestBackslashInName(t *testing.T) {
	var s InsertStmt
	if err := s.Parse([]byte(`INSERT INTO "t\" ("a\n", b) VALUES (1, '\'')`), Mode{ANSIQuotes: true}); err != nil {
		t.Fatal(err)
	}
	if s.Table != `t\` || !slices.Equal(s.Columns, []string{`a\n`, "b"}) || s.Rows != 1 {
		t.Errorf("table %q, columns %q, %d rows", s.Table, s.Columns, s.Rows)
	}
}

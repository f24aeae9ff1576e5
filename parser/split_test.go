package parser

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	procedure := "create procedure p() begin insert into t values (1); end"
	syntax := &SyntaxError{}
	tests := []struct {
		name string
		sql  string
		mode Mode
		want []string
		err  error // ErrCompound, ErrModeChange or syntax
	}{
		{name: "empty", sql: ""},
		{name: "blank", sql: " ; \n;"},
		{name: "comment alone", sql: " -- c", want: []string{" -- c"}},
		{name: "comment behind an empty statement", sql: " ; -- c", want: []string{" ; -- c"}},
		{name: "one", sql: "select 1", want: []string{"select 1"}},
		{name: "one with an end", sql: "select 1 ;\n ; -- c", want: []string{"select 1 ", "\n ; -- c"}},
		{name: "comment at the end", sql: "select 1; /* c */ ;\n", want: []string{"select 1", " /* c */"}},
		{name: "semicolons at the end", sql: "select 1;; ;\n", want: []string{"select 1"}},
		{name: "three", sql: "a;b ; c", want: []string{"a", "b ", " c"}},
		{name: "comments belong to a statement", sql: "/* x; */ a -- ;\n;#;\nb", want: []string{"/* x; */ a -- ;\n", "#;\nb"}},
		{name: "quotes", sql: "select ';', \"it\\\";\", `;`, 'it''s;'; b", want: []string{"select ';', \"it\\\";\", `;`, 'it''s;'", " b"}},
		{name: "NO_BACKSLASH_ESCAPES", sql: `select 'a\'; b`, mode: Mode{NoBackslashEscapes: true}, want: []string{`select 'a\'`, " b"}},
		{name: "ANSI_QUOTES", sql: `select "a\"; b`, mode: Mode{ANSIQuotes: true}, want: []string{`select "a\"`, " b"}},
		{name: "gbk", sql: "select '\x81\\'; b", mode: NewMode("", "gbk", false), want: []string{"select '\x81\\'", " b"}},
		{name: "empty in the middle", sql: "a;/* c */;b;c", want: []string{"a", "/* c */;b;c"}},
		{name: "empty at the begin", sql: ";a", want: []string{";a"}},
		{name: "dashes before a semicolon", sql: "select 1--;b", want: []string{"select 1--;b"}},
		{name: "version comments", sql: "/*!40101 a; b */; c", err: syntax, want: []string{"/*!40101 a; b */; c"}},
		{name: "dumped table", sql: "/*!40000 alter table `t` disable keys */; a", want: []string{"/*!40000 alter table `t` disable keys */", " a"}},
		{name: "dumped table before a trigger", sql: "/*!40000 alter table t x */ create trigger t begin; end", err: ErrCompound, want: []string{"/*!40000 alter table t x */ create trigger t begin; end"}},
		{name: "plain version comments", sql: "/*!40101 do ';' */; b", want: []string{"/*!40101 do ';' */", " b"}},
		{name: "unclosed", sql: "a; select 'b; c", err: syntax, want: []string{"a", " select 'b; c"}},
		{name: "procedure", sql: "a;" + procedure + ";c", err: ErrCompound, want: []string{"a", procedure + ";c"}},
		{name: "trigger with definer", sql: "create definer=`a`@'%' trigger x before insert on t for each row begin end", err: ErrCompound,
			want: []string{"create definer=`a`@'%' trigger x before insert on t for each row begin end"}},
		{name: "or replace function", sql: "create or replace aggregate function f() returns int begin end", err: ErrCompound,
			want: []string{"create or replace aggregate function f() returns int begin end"}},
		{name: "dumped trigger", sql: "/*!50003 create*/ /*!50017 definer=`a`@`b`*/ /*!50003 trigger t begin end */", err: ErrCompound,
			want: []string{"/*!50003 create*/ /*!50017 definer=`a`@`b`*/ /*!50003 trigger t begin end */"}},
		{name: "alter event", sql: "alter event e do begin a; end; b", err: ErrCompound, want: []string{"alter event e do begin a; end; b"}},
		{name: "tables with such names", sql: "create table event(a int); create view `trigger` as select 1; alter table t add procedure_id int",
			want: []string{"create table event(a int)", " create view `trigger` as select 1", " alter table t add procedure_id int"}},
		{name: "compound statement", sql: "a; begin not atomic b; end; c", err: ErrCompound, want: []string{"a", " begin not atomic b; end; c"}},
		{name: "set statement with a compound one", sql: "set statement x=1 for begin not atomic a; end", err: ErrCompound,
			want: []string{"set statement x=1 for begin not atomic a; end"}},
		{name: "set statement", sql: "set statement x=1 for select 1; b", want: []string{"set statement x=1 for select 1", " b"}},
		{name: "execute immediate", sql: "execute immediate 'a'; analyze b", want: []string{"execute immediate 'a'", " analyze b"}},
		{name: "sql_mode", sql: "set sql_mode='ansi'; select \"a;\"; b", err: ErrModeChange, want: []string{"set sql_mode='ansi'", ` select "a;"; b`}},
		{name: "sql_mode last", sql: "a; set @@session.SQL_MODE=''; ", want: []string{"a", " set @@session.SQL_MODE=''"}},
		{name: "names", sql: "set names gbk; a", err: ErrModeChange, want: []string{"set names gbk", " a"}},
		{name: "names in a version comment", sql: "/*!40101 set names gbk */; a", err: ErrModeChange, want: []string{"/*!40101 set names gbk */", " a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spans, err := Split(nil, []byte(test.sql), test.mode)
			got := []string(nil)
			for _, span := range spans {
				got = append(got, test.sql[span.Start:span.End])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Split(%q) differs (-want +got):\n%s", test.sql, diff)
			}
			if test.err == syntax {
				if e := (*SyntaxError)(nil); !errors.As(err, &e) {
					t.Errorf("Split(%q): %v, want a *SyntaxError", test.sql, err)
				}
			} else if !errors.Is(err, test.err) || test.err == nil && err != nil {
				t.Errorf("Split(%q): %v, want %v", test.sql, err, test.err)
			}
		})
	}
}

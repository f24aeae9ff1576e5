package parser

import (
	"errors"
	"math"
	"testing"
)

var nextTests = []struct {
	sql  string
	mode Mode
	want NextStmt
}{
	{"select next value from s", Mode{}, NextStmt{Sequence: "s", N: 1}},
	{"SELECT NEXT VALUE FOR s", Mode{}, NextStmt{Sequence: "s", N: 1}},
	{"select next 5 values from main.s", Mode{}, NextStmt{Schema: "main", Sequence: "s", N: 5}},
	{"/* a */ select/* b */next 5 values # c\nfrom`main` . `s``t`; ; -- d", Mode{}, NextStmt{Schema: "main", Sequence: "s`t", N: 5}},
	{"select next ? values from s;", Mode{}, NextStmt{Sequence: "s", Param: true}},
	{"select next 0009 values for s", Mode{}, NextStmt{Sequence: "s", N: 9}},
	{"select next 9223372036854775807 values from s", Mode{}, NextStmt{Sequence: "s", N: math.MaxInt64}},
	{`select next value from "a"."b"`, Mode{ANSIQuotes: true}, NextStmt{Schema: "a", Sequence: "b", N: 1}},
	{"select next value from value", Mode{}, NextStmt{Sequence: "value", N: 1}},
	{"select next value from s for key 'a''b\\n'", Mode{}, NextStmt{Sequence: "s", N: 1, HasKey: true, Key: "a'b\n"}},
	{"SELECT NEXT 3 VALUES FOR d.s FOR KEY 042;", Mode{}, NextStmt{Schema: "d", Sequence: "s", N: 3, HasKey: true, Key: "42"}},
	{"select next value from s for key -7", Mode{}, NextStmt{Sequence: "s", N: 1, HasKey: true, Key: "-7"}},
	{"select next ? values from s for key ? -- both", Mode{}, NextStmt{Sequence: "s", Param: true, HasKey: true, KeyParam: true}},
	{"select next value from s for key 'a' 'b'", Mode{}, NextStmt{Sequence: "s", N: 1, HasKey: true, Key: "ab"}},
	{"select next value from s for key ''", Mode{}, NextStmt{Sequence: "s", N: 1, HasKey: true}},
	{"select next value from s for key x'00ff'", Mode{}, NextStmt{Sequence: "s", N: 1, HasKey: true, Key: "\x00\xff"}},
	{"select next value from s for key '\xe9'", Mode{Charset: CharsetByName("latin1")}, NextStmt{Sequence: "s", N: 1, HasKey: true, Key: "é"}},
}

func TestParseNext(t *testing.T) {
	for _, test := range nextTests {
		t.Run(test.sql, func(t *testing.T) {
			got, err := ParseNext([]byte(test.sql), test.mode)
			if err != nil || got != test.want {
				t.Errorf("ParseNext(%q) = %+v, %v, want %+v", test.sql, got, err, test.want)
			}
		})
	}
}

var nextErrors = []struct {
	sql      string
	near     string
	sequence string
}{
	{"select 1", "1", ""},
	{"select next", "", ""},
	{"select next -1 values from s", "-1 values from s", ""},
	{"select next 1+1 values from s", "+1 values from s", ""},
	{"select next id from s", "id from s", ""},
	{"select next values from s", "values from s", ""},
	{"select next 5 value from s", "value from s", ""},
	{"select next 0x5 values from s", "0x5 values from s", ""},
	{"select next 1.5 values from s", ".5 values from s", ""},
	{"select next value", "", ""},
	{"select next value, a from t", ", a from t", ""},
	{"select next value as x from s", "as x from s", ""},
	{"select next value from", "", ""},
	{"select next value from (select 1) x", "(select 1) x", ""},
	{"select next value from s.", "", ""},
	{"select next value from a.b.c", ".c", ""},
	{"select next value from s where id=0", "where id=0", "s"},
	{"select next value from s limit 1", "limit 1", "s"},
	{"select next 2 values from a, b", ", b", "a"},
	{"select next value from s union select 1", "union select 1", "s"},
	{"select next value from s; select 1", "select 1", "s"},
	{"select next value from s /*!40000 where 1 */", "/*!40000 where 1 */", "s"},
	{"select next\n\nvalue from\ns x", "x", "s"},
	{"select next value from s for", "", "s"},
	{"select next value from s for update", "update", "s"},
	{"select next value from s for key", "", "s"},
	{"select next value from s for key a", "a", "s"},
	{"select next value from s for key null", "null", "s"},
	{"select next value from s for key 1.5", ".5", "s"},
	{"select next value from s for key 'a' + 1", "+ 1", "s"},
	{"select next value from s for key @k", "@k", "s"},
}

func TestParseNextErrors(t *testing.T) {
	for _, test := range nextErrors {
		t.Run(test.sql, func(t *testing.T) {
			got, err := ParseNext([]byte(test.sql), Mode{})
			e := (*SyntaxError)(nil)
			if !errors.As(err, &e) || e.Near != test.near || got.Sequence != test.sequence {
				t.Errorf("ParseNext(%q) = %+v, %v, want a syntax error near %q of the sequence %q", test.sql, got, err, test.near, test.sequence)
			}
		})
	}
	for sql, count := range map[string]string{
		"select next 0 values from s":                    "0",
		"select next 99999999999999999999 values from s": "99999999999999999999",
		"select next 9223372036854775808 values from s;": "9223372036854775808",
	} {
		got, err := ParseNext([]byte(sql), Mode{})
		e := (*CountError)(nil)
		if !errors.As(err, &e) || e.Count != count || e.Sequence != "s" || got.Sequence != "s" {
			t.Errorf("ParseNext(%q) = %+v, %v, want a *CountError for %s of s", sql, got, err, count)
		}
	}
}

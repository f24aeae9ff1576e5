package parser

import "testing"

func TestLiterals(t *testing.T) {
	const none = "?"
	tests := []struct {
		sql, want string
		mode      Mode
	}{
		{"prepare s from 'insert into t values (?)'", "insert into t values (?)", Mode{}},
		{"PREPARE `s t` FROM \"ins\\ert 'a''b' \\\"c\\\"\" 'd''e'; -- f", "insert 'a''b' \"c\"d'e", Mode{}},
		{`prepare s from 'a\'`, `a\`, Mode{NoBackslashEscapes: true}},
		{"prepare s from '\x81\\\\n'", "\x81\\\n", NewMode("", "gbk", false)},
		{"prepare s from @a", "", Mode{}},
		{"execute immediate 'ins' 'ert t'", "insert t", Mode{}},
		{"execute immediate concat('ins', 'ert t')", "insert t", Mode{}},
		{"prepare s from N'insert t'", "insert t", Mode{}},
		{"prepare s from _latin1'insert t'", "insert t", Mode{}},
		{"prepare s from _utf16'insert t'", none, Mode{}},
		{"prepare s from x'41'", none, Mode{}},
		{"prepare s from B'01000001'", none, Mode{}},
		{"prepare s from 0x41", none, Mode{}},
		{"prepare s from /*!50000 'a' */", none, Mode{}},
		{"prepare s from 'a", none, Mode{}},
	}
	for _, test := range tests {
		got, ok := Literals([]byte(test.sql), test.mode)
		if !ok {
			got = []byte(none)
		}
		if string(got) != test.want {
			t.Errorf("Literals(%q) = %q, want %q", test.sql, got, test.want)
		}
	}
}

func TestMayPrepare(t *testing.T) {
	tests := []struct {
		sql  string
		want bool
	}{
		{"prepare s from @a", true},
		{"/*!50000prepare*/ s from 'a'", true},
		{"/*!99999 create */ prepare s from 'a'", true},
		{"execute immediate 'a'", true},
		{"execute/*!*/immediate 'a'", true},
		{"begin not atomic prepare s from 'a'; end", true},
		{"/*!50003 CREATE*/ /*!50003 EVENT e ON SCHEDULE EVERY 1 DAY DO PREPARE s FROM @a */", false},
		{"/*!50001 CREATE VIEW v AS SELECT 'prepare' */", false},
		{"explain analyze select 'prepare'", false},
		{"/*!40101 SET NAMES utf8 */", false},
		{"begin not atomic select 1; end", false},
	}
	for _, test := range tests {
		if got := MayPrepare([]byte(test.sql)); got != test.want {
			t.Errorf("MayPrepare(%q) = %v", test.sql, got)
		}
	}
}

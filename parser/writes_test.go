package parser

import (
	"strings"
	"testing"
)

func TestWrites(t *testing.T) {
	ua := []Table{{Name: "ua"}}
	tests := []struct {
		name string
		sql  string
		mode Mode
		want []Table

		tooMany bool
	}{
		{name: "nothing", sql: "select 1 from ua"},
		{name: "insert", sql: "insert into ua values (1)", want: ua},
		{name: "modifiers", sql: "INSERT LOW_PRIORITY IGNORE ua values (1)", want: ua},
		{name: "qualified", sql: "replace into `ma``in`.`ua` values (1)", want: []Table{{"ma`in", "ua"}}},
		{name: "qualified with space", sql: "insert into main . ua values (1)", want: []Table{{"main", "ua"}}},
		{name: "MariaDB's dot", sql: "insert into .ua values (1)", want: ua},
		{name: "function", sql: "select replace('a', 'b', 'c'), insert('a',1,1,'b')"},
		{name: "load", sql: "load data infile 'x' replace into table ua", want: ua},
		{name: "in a literal", sql: "execute immediate 'insert into ua values (1)'", want: ua},
		{name: "in a literal with escapes", sql: `prepare s from 'insert\ninto \"ua\" values (1)'`, want: ua},
		{name: "in double quotes", sql: `prepare s from 'insert into "ua" values (1)'`, want: ua},
		{name: "with escaped quotes", sql: `prepare s from "insert into \"ua\" values (1)"`, want: ua},
		{name: "set statement", sql: "set statement x=1 for insert into ua values (1)", want: ua},
		{name: "compound", sql: "begin not atomic insert into a values (1); insert b values (2); end", want: []Table{{Name: "a"}, {Name: "b"}}},
		{name: "version comment", sql: "/*!40000 insert */ into/*!40000 ua */values (1)", want: []Table{{Name: "ua"}, {Name: "values"}}},
		{name: "word at the version's number", sql: "/*!50000INSERT*/ ua values (1)", want: ua},
		{name: "word at MariaDB's number", sql: "/*M!100100REPLACE*/ ua values (1)", want: ua},
		{name: "number that is none of a version", sql: "select 50000insert, '!1insert' from ua"},
		{name: "name in a version comment", sql: "insert into /*!99999 x */ ua values (1)", want: []Table{{Name: "x"}, {Name: "ua"}}},
		{name: "keyword in a version comment", sql: "insert /*!99999 into x */ ua values (1)", want: []Table{{Name: "x"}, {Name: "ua"}}},
		{name: "schema in a version comment", sql: "insert into /*M!99999 x. */ ua values (1)", want: []Table{{"x", "ua"}, {Name: "ua"}}},
		{name: "version comment behind the dot", sql: "insert into main./*!99999 x*/ua values (1)", want: []Table{{"main", "x"}, {"main", "ua"}}},
		{name: "version comment before the dot", sql: "insert into main/*!99999 x*/.ua values (1)", want: []Table{{Name: "main"}, {"main", "ua"}}},
		{name: "comment in a version comment", sql: "insert into/*!99999/**/x */ ua values (1)", want: []Table{{Name: "x"}, {Name: "ua"}}},
		{name: "brackets", sql: "insert into [main].[ua] values (1)", want: []Table{{"main", "ua"}}},
		{name: "many version comments", sql: "insert into " + strings.Repeat("/*! */", 200) + " ua", tooMany: true},
		{name: "version comment in the name", sql: "insert a/*!40000 .b */", want: []Table{{Name: "a"}, {"a", "b"}}},
		{name: "comments", sql: "insert/**/into -- x\n#y\n/* z */ua", want: ua},
		{name: "latin1 space", sql: "insert\xa0into\xa0ua\xa0values (1)", mode: NewMode("", "latin1", false), want: ua},
		{name: "gbk name", sql: "insert into \xba\xc5 values (1)", mode: NewMode("", "gbk", false), want: []Table{{Name: "号"}}},
		{name: "at the end", sql: "insert into"},
		{name: "an unclosed name", sql: "insert into `ua"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ok := Writes(nil, []byte(test.sql), test.mode)
			if ok == test.tooMany {
				t.Errorf("Writes(%q) = %v", test.sql, ok)
			}
			seen := map[Table]bool{}
			for _, table := range got {
				seen[table] = true
			}
			for _, table := range test.want {
				if !seen[table] {
					t.Errorf("Writes(%q) = %v, want %v among them", test.sql, got, table)
				}
				delete(seen, table)
			}
			for table := range seen {
				t.Errorf("Writes(%q) has %v too", test.sql, table)
			}
		})
	}
}

func TestUseTarget(t *testing.T) {
	tests := []struct{ sql, want string }{
		{"use db", "db"}, {"USE `d b`;", "d b"}, {"/* c */ use db -- x", "db"}, {"use db x", ""}, {"use", ""}, {"use 'db'", ""}, {"select 1", ""},
	}
	for _, test := range tests {
		if got, ok := UseTarget([]byte(test.sql), Mode{}); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("UseTarget(%q) = %q, %v, want %q", test.sql, got, ok, test.want)
		}
	}
}

func TestKillTarget(t *testing.T) {
	tests := []struct {
		sql   string
		id    uint64
		query bool
	}{
		{"kill 5", 5, false},
		{"KILL CONNECTION 18446744073709551615 ;", 1<<64 - 1, false},
		{"kill query 7", 7, true},
		{"kill hard query 7", 7, true},
		{"kill soft 7 -- x", 7, false},
		{"kill query id 7", 0, false},
		{"kill user u", 0, false},
		{"kill 5+1", 0, false},
		{"kill @a", 0, false},
		{"kill", 0, false},
		{"select 5", 0, false},
	}
	for _, test := range tests {
		id, query, ok := KillTarget([]byte(test.sql))
		if ok != (test.id != 0) || ok && (id != test.id || query != test.query) {
			t.Errorf("KillTarget(%q) = %d, %v, %v, want %d, %v", test.sql, id, query, ok, test.id, test.query)
		}
	}
}

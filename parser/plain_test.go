package parser

import "testing"

func TestParsePlainTarget(t *testing.T) {
	tests := []struct {
		sql   string
		plain bool
		want  Table
	}{
		{sql: "INSERT INTO t VALUES (\"a\\\", 'ä')", plain: true, want: Table{"", "t"}},
		{sql: "insert low_priority ignore into `d b`.`t``x`(a) values (1)", plain: true, want: Table{"d b", "t`x"}},
		{sql: "REPLACE t SET a = 1", plain: true, want: Table{"", "t"}},
		{sql: "INSERT INTO t", plain: true, want: Table{"", "t"}},
		{sql: "INSERT /* it's */ INTO d . t -- x\n(a) VALUES (1)", plain: true, want: Table{"d", "t"}},
		{sql: "INSERT INTO \"t\" VALUES (1)"},
		{sql: "INSERT INTO `t\\` VALUES (1)"},
		{sql: "INSERT INTO größe VALUES (1)"},
		{sql: "INSERT INTO t\xa0VALUES (1)"},
		{sql: "INSERT INTO t/*!50000 .u*/ VALUES (1)"},
		{sql: "INSERT INTO t /*!50000 .u VALUES ('*/') */"},
		{sql: "INSERT INTO d. VALUES (1)", plain: true, want: Table{"d", "VALUES"}}, // the server refuses it
		{sql: "(INSERT INTO t VALUES (1))"},
		{sql: "SELECT 1"},
	}
	for _, test := range tests {
		for _, mariaDB := range []bool{false, true} {
			var s InsertStmt
			plain := s.ParsePlainTarget([]byte(test.sql), mariaDB)
			if plain != test.plain {
				t.Errorf("%q: plain %v, want %v", test.sql, plain, test.plain)
			}
			if got := (Table{s.Schema, s.Table}); plain && got != test.want {
				t.Errorf("%q: table %v, want %v", test.sql, got, test.want)
			}
		}
	}
}

func TestReadings(t *testing.T) {
	for sql, want := range map[string]int{"select 'a'": 1, `select "a"`: 2, `select 'a\'`: 2, `select "a\""`: 4, "select 'ä'": 0} {
		if got := len(Readings([]byte(sql), false)); got != want {
			t.Errorf("%q: %d readings, want %d", sql, got, want)
		}
		if got := Plain([]byte(sql)); got != (want == 1) {
			t.Errorf("%q: plain %v", sql, got)
		}
	}
}

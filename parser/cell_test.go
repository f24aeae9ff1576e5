package parser

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCells(t *testing.T) {
	text := func(s string) Cell { return Cell{Kind: CellString, Text: []byte(s), Raw: []byte(s)} }
	bits := func(s string) Cell { return Cell{Kind: CellBits, Text: []byte(s)} }
	decimal := func(s string) Cell { return Cell{Kind: CellDecimal, Text: []byte(s)} }
	expression := func(s string) Cell { return Cell{Kind: CellExpression, Text: []byte(s)} }
	for _, tt := range []struct {
		name, sql string
		mode      Mode
		want      []Cell
	}{
		{"whole numbers", "INSERT INTO t (v, u) VALUES (1, 42), (1, -7), (1, - 007), (1, +5), (1, --5)", Mode{},
			[]Cell{SignedCell(42), SignedCell(-7), SignedCell(-7), SignedCell(5), SignedCell(5)}},
		{"the ends", "INSERT INTO t (u) VALUES (9223372036854775807), (-9223372036854775808), (9223372036854775808), (18446744073709551615)", Mode{},
			[]Cell{SignedCell(1<<63 - 1), SignedCell(-1 << 63), {Kind: CellUnsigned, Number: 1 << 63}, {Kind: CellUnsigned, Number: 1<<64 - 1}}},
		{"beyond them", "INSERT INTO t (u) VALUES (-9223372036854775809), (18446744073709551616)", Mode{},
			[]Cell{decimal("-9223372036854775809"), decimal("18446744073709551616")}},
		{"decimals", "INSERT INTO t (u) VALUES (1.5), (-.5), (7.)", Mode{}, []Cell{decimal("1.5"), decimal("-.5"), decimal("7.")}},
		{"floats", "INSERT INTO t (u) VALUES (1e3), (-1.5E-2)", Mode{}, []Cell{expression("1e3"), expression("-1.5E-2")}},
		{"truth", "INSERT INTO t (u) VALUES (TRUE), (false)", Mode{}, []Cell{SignedCell(1), SignedCell(0)}},
		{"strings", `INSERT INTO t (u) VALUES ('5002'), ("a\nb"), ('it''s' ' so'), ('a' 'b'), ('')`, Mode{},
			[]Cell{text("5002"), text("a\nb"), text("it's so"), text("ab"), text("")}},
		{"empty is null", "INSERT INTO t (u) VALUES ('')", Mode{EmptyStringIsNull: true}, []Cell{expression("''")}},
		{"bits", "INSERT INTO t (u) VALUES (0x6162), (X'00ff'), (0x162), (b'1'), (0b0110000101100010)", Mode{},
			[]Cell{bits("ab"), bits("\x00\xff"), bits("\x01b"), bits("\x01"), bits("ab")}},
		{"bits that are none", "INSERT INTO t (u) VALUES (X'0'), (b'2'), (x)", Mode{}, []Cell{expression("X'0'"), expression("b'2'"), expression("x")}},
		{"none", "INSERT INTO t (u) VALUES (NULL), (DEFAULT), ((NULL))", Mode{}, []Cell{{Kind: CellNull}, {Kind: CellDefault}, {Kind: CellNull}}},
		{"absent", "INSERT INTO t (v) VALUES (1), (2)", Mode{}, []Cell{{}, {}}},
		{"placeholders", "INSERT INTO t (v, u) VALUES (?, ?), (1, 'k'), (?, ?)", Mode{}, []Cell{{Kind: CellParam, Param: 1}, text("k"), {Kind: CellParam, Param: 3}}},
		{"parentheses", "INSERT INTO t (u) VALUES ((5)), (((- 7))), (('a')), ((1.5)), ((1)+(2))", Mode{},
			[]Cell{SignedCell(5), SignedCell(-7), text("a"), decimal("1.5"), expression("(1)+(2)")}},
		{"expressions", "INSERT INTO t (u) VALUES (1 + 1), (@k), ('a' COLLATE utf8mb4_bin), ((SELECT 5)), (DEFAULT(u)), (-'5'), (1 -- c\n)", Mode{},
			[]Cell{expression("1 + 1"), expression("@k"), expression("'a' COLLATE utf8mb4_bin"), expression("(SELECT 5)"),
				expression("DEFAULT(u)"), expression("-'5'"), SignedCell(1)}},
		{"set", "INSERT INTO t SET v = 1, u = 'a' ON DUPLICATE KEY UPDATE v = 2", Mode{}, []Cell{text("a")}},
		{"no list", "INSERT INTO t VALUES (-1, 2)", Mode{}, []Cell{SignedCell(-1)}},
		{"charset", "INSERT INTO t (u) VALUES ('\xd6\xd0')", Mode{Charset: CharsetByName("gbk")}, []Cell{{Kind: CellString, Text: []byte("中"), Raw: []byte("\xd6\xd0")}}},
		{"charset without table", "INSERT INTO t (u) VALUES ('\xd6')", Mode{Charset: CharsetByName("hp8")}, []Cell{expression("'\xd6'")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stmt, err := ParseInsert([]byte(tt.sql), tt.mode)
			if err != nil {
				t.Fatal(err)
			}
			got, err := stmt.Cells(nil, []byte(tt.sql), "U", []string{"u", "v"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsConstant(t *testing.T) {
	for _, tt := range []struct {
		expression string
		want       bool
	}{
		{"(select 5)", true},
		{"length('abc')+20000", true},
		{"-'5'", true},
		{"1e3 * 1.5 - .5", true},
		{"CONCAT(UPPER('a'), LOWER('B'))", true},
		{"cast('7' as signed)", true},
		{"case when 1 then 2 else 3 end", true},
		{"rand()*1000", false},
		{"now()", false},
		{"uuid()", false},
		{"last_insert_id()", false},
		{"@x", false},
		{"@@server_id", false},
		{"?", false},
		{"(select max(x) from t)", false},
		{"(select 1 from dual)", false},
		{"name", false},
		{"`length`", false},
		{"t.length", false},
		{"1.length", true}, // a syntax error
		{"default(id)", false},
		{"1 /*!40000 + rand() */", false},
		{"'open", false},
	} {
		if got := IsConstant([]byte(tt.expression), Mode{}); got != tt.want {
			t.Errorf("IsConstant(%q) = %t, want %t", tt.expression, got, tt.want)
		}
	}
}

func TestInsertIsConstant(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want bool
	}{
		{"insert into t(a, b) values (1, 'x'), (default, null)", true},
		{"insert into t(a) values (1), (concat('a', 'b'))", true},
		{"insert into t(a) values (1), (now())", false},
		{"insert into t set a = 1, b = default", true},
		{"insert into t set a = 1, b = uuid()", false},
		{"insert into t(a) values (1) on duplicate key update a = a + 1, `b` = values(a), t.b = 2", true},
		{"insert into t(a) values (1) on duplicate key update b = now()", false},
		{"insert into t(a) values (1) on duplicate key update b = f(a)", false},
	} {
		stmt, err := ParseInsert([]byte(tt.sql), Mode{})
		if err != nil {
			t.Fatalf("%s: %v", tt.sql, err)
		}
		if got := stmt.IsConstant([]byte(tt.sql), []string{"a", "b"}); got != tt.want {
			t.Errorf("IsConstant(%s) = %t, want %t", tt.sql, got, tt.want)
		}
	}
}

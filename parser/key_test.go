package parser

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeys(t *testing.T) {
	known := func(text string) Key { return Key{State: Explicit, Text: text, Raw: text} }
	bytes := func(text string) Key { return Key{State: Explicit, Text: text, Raw: text, Hex: true} }
	for _, tt := range []struct {
		name, sql string
		mode      Mode
		want      []Key
	}{
		{"strings", `INSERT INTO t (u, v) VALUES ('a', 1), ("b\n", 2), ('it''s' ' so', 3)`, Mode{}, []Key{known("a"), known("b\n"), known("it's so")}},
		{"numbers", "INSERT INTO t (v, u) VALUES (1, 42), (1, -042), (1, + 7), (1, 18446744073709551615)", Mode{},
			[]Key{known("42"), known("-42"), known("7"), known("18446744073709551615")}},
		{"bytes", "INSERT INTO t (u) VALUES (0x6162), (X'00FF'), (0x162)", Mode{}, []Key{bytes("ab"), bytes("\x00\xff"), bytes("\x01b")}},
		{"none", "INSERT INTO t (u) VALUES (NULL), (DEFAULT)", Mode{}, []Key{{}, {}}},
		{"absent", "INSERT INTO t (v) VALUES (1)", Mode{}, []Key{{}}},
		{"placeholders", "INSERT INTO t (v, u) VALUES (?, ?), (1, 'k'), (?, ?)", Mode{}, []Key{{State: Param, Param: 1}, known("k"), {State: Param, Param: 3}}},
		{"expressions", "INSERT INTO t (u) VALUES (CONCAT('a', 'b')), (1 + 1), (1.5), (@k), ('a' COLLATE utf8mb4_bin), (x), (X 'aa'), (0b1), ((1))", Mode{},
			[]Key{{State: Unknown}, {State: Unknown}, {State: Unknown}, {State: Unknown}, {State: Unknown}, {State: Unknown}, {State: Unknown}, {State: Unknown}, {State: Unknown}}},
		{"set", "INSERT INTO t SET v = 1, u = 'a'", Mode{}, []Key{known("a")}},
		{"no list", "INSERT INTO t VALUES ('a', 2)", Mode{}, []Key{known("a")}},
		{"charset", "INSERT INTO t (u) VALUES ('\xd6\xd0')", Mode{Charset: CharsetByName("gbk")}, []Key{{State: Explicit, Text: "中", Raw: "\xd6\xd0"}}},
		{"charset without table", "INSERT INTO t (u) VALUES ('\xd6')", Mode{Charset: CharsetByName("hp8")}, []Key{{State: Unknown}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stmt, err := ParseInsert([]byte(tt.sql), tt.mode)
			if err != nil {
				t.Fatal(err)
			}
			got, err := stmt.Keys(nil, []byte(tt.sql), "U", []string{"u", "v"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The slots asked for after the keys are those that AppendFilled edits.
func TestKeysBeforeSlots(t *testing.T) {
	sql := []byte("INSERT INTO t (u, v) VALUES ('a', 1), ('b', 2)")
	stmt, err := ParseInsert(sql, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stmt.Keys(nil, sql, "u", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := stmt.Slots(nil, sql, "seq", nil); err != nil {
		t.Fatal(err)
	}
	got := stmt.AppendFilled(nil, sql, "seq", func(dst []byte, row int) ([]byte, bool) { return append(dst, '7'+byte(row)), true }, FillOptions{})
	if want := "INSERT INTO t (u, v, `seq`) VALUES ('a', 1, 7), ('b', 2, 8)"; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

package parser

import "testing"

// A text written as a literal reads as that text.
func FuzzAppendText(f *testing.F) {
	for _, text := range []string{"", "a", `it's "so"`, `back\slash`, "nul\x00", "\xd6\\", "日本"} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(2))
		f.Add(text, uint8(2<<5))
	}
	f.Fuzz(func(t *testing.T, text string, mode uint8) {
		m := fuzzMode(mode)
		literal, ok := m.AppendText([]byte("insert into t(a) values ("), []byte(text))
		if !ok {
			return
		}
		sql := append(literal, ')')
		stmt, err := ParseInsert(sql, m)
		if err != nil {
			t.Fatalf("%q is written as %q, which does not read: %v", text, sql, err)
		}
		cells, err := stmt.Cells(nil, sql, "a", nil)
		if err != nil || len(cells) != 1 {
			t.Fatalf("%q is written as %q, with the values %+v, %v", text, sql, cells, err)
		}
		if c := cells[0]; c.Kind == CellString && string(c.Raw) != text {
			t.Fatalf("%q is written as %q, which is %q", text, sql, c.Raw)
		}
	})
}

func TestQuerySpan(t *testing.T) {
	for sql, want := range map[string]string{
		"insert into t(a) select b from u where c = 1 on duplicate key update a = 2": "select b from u where c = 1",
		"insert into t (select 1) ;":                         "(select 1)",
		"replace t(a, b) /*x*/ table u limit 1 --":           "table u limit 1",
		"insert into t with x as (select 1) select * from x": "with x as (select 1) select * from x",
	} {
		var s InsertStmt
		if err := s.ParseQuery([]byte(sql), Mode{}); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		span := s.QuerySpan()
		if got := sql[span.Start:span.End]; got != want {
			t.Errorf("%s: the query is %q, want %q", sql, got, want)
		}
	}
}

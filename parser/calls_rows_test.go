package parser

import "testing"

func TestAppendRowCount(t *testing.T) {
	const begin, end = "SELECT COUNT(*) + LAST_INSERT_ID(0) FROM (SELECT 1 FROM ", "\nFOR UPDATE) AS `seqgate_rows` LIMIT 1"
	for _, test := range []struct {
		sql, rows, tail string
		table           Table
		params          int
	}{
		{"UPDATE t SET a = NEXTVAL(s)", "t \n", "", Table{"", "t"}, 0},
		{"UPDATE t SET a = NEXTVAL(s), b = ? ;", "t \n", "", Table{"", "t"}, 1},
		{"update low_priority ignore `d`.`t` AS x set a = NEXTVAL(s) + ? where b = ? limit ?", "`d`.`t` AS x \n", "where b = ? limit ?", Table{"d", "t"}, 1},
		{"UPDATE /*+ h */ t USE INDEX (i, j) SET a = s.NEXTVAL WHERE b = LASTVAL(q) ORDER BY c -- end", "t USE INDEX (i, j) \n",
			"WHERE b = <1> ORDER BY c -- end", Table{"", "t"}, 0},
		{"UPDATE t PARTITION (p) SET a = IF(b, NEXTVAL(s), (SELECT 1 WHERE 2 LIMIT 3)) LIMIT 10; -- ;", "t PARTITION (p) \n", "LIMIT 10", Table{"", "t"}, 0},
	} {
		s := FindCalls([]byte(test.sql), Mode{})
		if !s.PerRow() || s.Table() != test.table || s.TailParams() != test.params || s.Calls[0].Fault != "" {
			t.Errorf("FindCalls(%q) = %+v", test.sql, s)
			continue
		}
		got := string(s.AppendRowCount(nil, []byte(test.sql), func(dst []byte, call int, _ bool) ([]byte, bool) {
			return append(dst, '<', '0'+byte(call), '>'), true
		}))
		if want := begin + test.rows + test.tail + end; got != want {
			t.Errorf("of %q:\ngot  %q\nwant %q", test.sql, got, want)
		}
	}
	for _, sql := range []string{
		"UPDATE t SET a = NEXTVAL(s) LIMIT 1", "UPDATE t, u SET a = NEXTVAL(s)", "UPDATE t SET a = NEXTVAL(s) RETURNING a", "INSERT INTO t VALUES (NEXTVAL(s))", "UPDATE t",
	} {
		if s := FindCalls([]byte(sql), Mode{}); s.PerRow() {
			t.Errorf("%q is taken for an UPDATE of many rows", sql)
		}
	}
}

func TestRowValue(t *testing.T) {
	for _, test := range []struct {
		value RowValue
		want  string
	}{
		{RowValue{First: 7, Step: 1, Places: 1, Rows: 3},
			"CAST(IF(LAST_INSERT_ID(LAST_INSERT_ID() + 1) <= 3, 7 + (LAST_INSERT_ID() - 1) DIV 1 * 1, ~0 + UUID_SHORT()) AS SIGNED)"},
		{RowValue{First: 7, Step: 2, Index: 1, Place: 2, Places: 3, Rows: 4},
			"CAST(IF(LAST_INSERT_ID(LAST_INSERT_ID() + 1 + MOD(5 - MOD(LAST_INSERT_ID(), 3), 3)) <= 12, 8 + (LAST_INSERT_ID() - 1) DIV 3 * 2, ~0 + UUID_SHORT()) AS SIGNED)"},
	} {
		if got := string(test.value.Append(nil)); got != test.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", test.value, got, test.want)
		}
	}
}

package parser

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppendSomeRows(t *testing.T) {
	for _, tt := range []struct {
		name, sql string
		columns   []string
		mode      Mode
		rows      []int
		fill      string // the column that is filled with the row's number and 100
		database  string
		options   FillOptions
		want      string
	}{
		{name: "first", sql: "insert into t(a) values (1), (2), (3)", rows: []int{0}, want: "insert into t(a) values (1)"},
		{name: "middle", sql: "insert into t(a) values (1), (2), (3);", rows: []int{1}, want: "insert into t(a) values  (2);"},
		{name: "last", sql: "insert into t(a) values(1),(2),(3)", rows: []int{2}, want: "insert into t(a) values (3)"},
		{name: "ends", sql: "insert into t(a) values(1),(2) ,(3)", rows: []int{0, 2}, want: "insert into t(a) values(1) ,(3)"},
		{name: "all", sql: "insert into t(a) values(1)/*c*/,(2)", rows: []int{0, 1}, want: "insert into t(a) values(1)/*c*/,(2)"},
		{name: "rows", sql: "insert into t values row(1),row(2)", columns: []string{"a"}, rows: []int{1}, want: "insert into t values row(2)"},
		{name: "comments", sql: "insert into t(a) values /*x*/ (1) -- one, (\n, -- two\n(2) /*tail*/ on duplicate key update a=1", rows: []int{1},
			want: "insert into t(a) values  -- two\n(2) /*tail*/ on duplicate key update a=1"},
		{name: "alias", sql: "insert into t(a) values (1), (2) as new on duplicate key update a=new.a", rows: []int{1},
			want: "insert into t(a) values  (2) as new on duplicate key update a=new.a"},
		{name: "set", sql: "insert into t set a=1 on duplicate key update a=2", rows: []int{0}, want: "insert into t set a=1 on duplicate key update a=2"},
		{name: "filled", sql: "insert into t(a) values (1), (2), (3)", rows: []int{1, 2}, fill: "id",
			want: "insert into t(a, `id`) values  (2, 101), (3, 102)"},
		{name: "filled alias", sql: "insert into t(a) values (1), (2) as new on duplicate key update a=new.a", rows: []int{0}, fill: "id",
			want: "insert into t(a, `id`) values (1, 100) as new(`a`, `seqgate_id`) on duplicate key update a=new.a"},
		{name: "filled set", sql: "insert into t set a=1", rows: []int{0}, fill: "id", want: "insert into t set a=1, `id` = 100"},
		{name: "replaced", sql: "insert into t(id,a) values (null,1),(0,2),(7,3)", rows: []int{1, 2}, fill: "id",
			want: "insert into t(id,a) values (101,2),(7,3)"},
		{name: "no list", sql: "insert into t values (null,1),(0,2)", columns: []string{"id", "a"}, rows: []int{1}, fill: "id",
			want: "insert into t (`id`, `a`) values (101,2)"},
		{name: "told", sql: "insert into t(id) values (1),(2) on duplicate key update a=1", rows: []int{1}, fill: "id", options: FillOptions{TellUpdated: true},
			want: "insert into t(id) values (2) on duplicate key update a=1, `t`.`id` = LAST_INSERT_ID(`t`.`id`)"},
		{name: "database", sql: "insert into `user` . t(a) values (1),(2)", rows: []int{0}, database: "user`0", want: "insert into `user``0`.t(a) values (1)"},
		{name: "no database", sql: "insert into user(a) values (1)", rows: []int{0}, database: "user_0", want: "insert into user(a) values (1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sql := []byte(tt.sql)
			stmt, err := ParseInsert(sql, tt.mode)
			if err != nil {
				t.Fatal(err)
			}
			edits := RowEdits{Rows: rowsIn(tt.rows), Database: tt.database, FillOptions: tt.options}
			if tt.fill != "" {
				slots, err := stmt.Slots(nil, sql, tt.fill, tt.columns)
				if err != nil {
					t.Fatal(err)
				}
				edits.Column, edits.Value = tt.fill, func(dst []byte, row int) ([]byte, bool) {
					if slots[row].State != Open {
						return dst, false
					}
					return fmt.Appendf(dst, "%d", 100+row), true
				}
			}
			if got := string(stmt.AppendRows(nil, sql, edits)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func rowsIn(rows []int) func(int) bool {
	return func(row int) bool {
		for _, r := range rows {
			if r == row {
				return true
			}
		}
		return false
	}
}

// The head of a statement that is read once only has its qualifier where it was.
func TestAppendRowsOfSameHead(t *testing.T) {
	var stmt InsertStmt
	for i := range 3 {
		sql := fmt.Appendf(nil, "insert into user.t(a) values (%d)", i)
		if err := stmt.Parse(sql, Mode{}); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("insert into `d`.t(a) values (%d)", i)
		if got := string(stmt.AppendRows(nil, sql, RowEdits{Database: "d"})); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestHasForeignNames(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want bool
	}{
		{"insert into t(a) values (1), ('x')", false},
		{"insert into t(a) values (1.5), (concat('a', t.b)), (case a.b when c.d then 1 end)", false},
		{"insert into t(a) values (trim(leading 'x' from b))", false},
		{"insert into t(a) values ((select 5))", false},
		{"insert into t(a) values ((select x from u))", true},
		{"insert into t(a) values ((table u))", true},
		{"insert into t(a) values (1), (d.t.b)", true},
		{"insert into t(d.t.a) values (1)", true},
		{"insert into t set d.t.a = 1", true},
		{"insert into t set t.a = 1", false},
		{"insert into d.t(t.a) values (1)", false},
		{"insert into t(a) values (1) on duplicate key update a = d.t.a", true},
		{"insert into t(a) values (1) on duplicate key update a = (select max(x) from u)", true},
	} {
		stmt, err := ParseInsert([]byte(tt.sql), Mode{})
		if err != nil {
			t.Fatalf("%s: %v", tt.sql, err)
		}
		if got := stmt.HasForeignNames([]byte(tt.sql)); got != tt.want {
			t.Errorf("HasForeignNames(%s) = %t, want %t", tt.sql, got, tt.want)
		}
	}
}

func TestUpdatesTo(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want bool
	}{
		{"insert into t(id) values (1)", false},
		{"insert into t(id) values (1) on duplicate key update n=n+1, a = concat(id, 'x', 1)", false},
		{"insert into t(id) values (1) on duplicate key update n=n+1, ID = values(id)", false},
		{"insert into t(id) values (1) on duplicate key update id = values(`t`.`id`), n=1", false},
		{"insert into t(id) values (1) on duplicate key update t.id = id", false},
		{"insert into t(id) values (1) as new on duplicate key update id = new.id", false},
		{"insert into t(id) values (1) as new(id) on duplicate key update id = t.id", false},
		{"insert into t(a, id) values (1, 2) as new(id, b) on duplicate key update t.id = new.id", true},
		{"insert into t(id) values (1) on duplicate key update id = 7", true},
		{"insert into t(id) values (1) on duplicate key update n=1, `id` = last_insert_id(id)", true},
		{"insert into t(id) values (1) on duplicate key update id = values(n)", true},
		{"insert into t(id) values (1) on duplicate key update id = values(id) + 1", true},
		{"insert into t(id) values (1) on duplicate key update id := 1", true},
	} {
		stmt, err := ParseInsert([]byte(tt.sql), Mode{})
		if err != nil {
			t.Fatalf("%s: %v", tt.sql, err)
		}
		if got := stmt.UpdatesTo([]byte(tt.sql), "id"); got != tt.want {
			t.Errorf("UpdatesTo(%s) = %t, want %t", tt.sql, got, tt.want)
		}
	}
}

// A statement divided in two has all its rows once, in their order, whichever go
// where.
func FuzzAppendRows(f *testing.F) {
	for i, sql := range append(serverOnly(false), insertCorpus...) {
		f.Add(sql, uint8(i), uint64(i)*0x9e3779b97f4a7c15)
	}
	f.Fuzz(func(t *testing.T, sql string, mode uint8, first uint64) {
		m := fuzzMode(mode)
		var s InsertStmt
		if s.Parse([]byte(sql), m) != nil {
			return
		}
		columns := []string{"a", "id", "b"}
		whole, err := s.Cells(nil, []byte(sql), "id", columns)
		if err != nil {
			return
		}
		var halves [2][]Cell
		for half := range halves {
			in := func(row int) bool { return first>>(row%64)&1 == uint64(half) }
			if !anyRow(s.Rows, in) {
				continue
			}
			text := s.AppendRows(nil, []byte(sql), RowEdits{Rows: in, Database: "d"})
			part, err := ParseInsert(text, m)
			if err != nil {
				t.Fatalf("%q is divided as %q, which does not read: %v", sql, text, err)
			}
			if part.Table != s.Table || s.Schema != "" && part.Schema != "d" || part.OnDuplicate != s.OnDuplicate {
				t.Fatalf("%q is divided as %q: %q.%q became %q.%q", sql, text, s.Schema, s.Table, part.Schema, part.Table)
			}
			if halves[half], err = part.Cells(nil, text, "id", columns); err != nil {
				t.Fatalf("%q is divided as %q: %v", sql, text, err)
			}
		}
		for row, cell := range whole {
			half := &halves[first>>(row%64)&1]
			if len(*half) == 0 || (*half)[0].Kind != cell.Kind || !bytes.Equal((*half)[0].Text, cell.Text) {
				t.Fatalf("row %d of %q is %+v, divided %+v", row, sql, cell, *half)
			}
			*half = (*half)[1:]
		}
		if diff := cmp.Diff(0, len(halves[0])+len(halves[1])); diff != "" {
			t.Fatalf("%q has more rows when divided: %s", sql, diff)
		}
	})
}

func anyRow(rows int, in func(int) bool) bool {
	for row := range rows {
		if in(row) {
			return true
		}
	}
	return false
}

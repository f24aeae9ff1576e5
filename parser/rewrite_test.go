package parser

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fillAll gives the ids 101, 102, ... to every row that asks for one, and says
// what each row asked for.
func fillAll(s *InsertStmt, sql, column string, tableColumns []string, opts FillOptions) (text, states string, err error) {
	slots, err := s.Slots(nil, []byte(sql), column, tableColumns)
	if err != nil {
		return "", "", err
	}
	id := 100
	value := func(dst []byte, row int) ([]byte, bool) {
		switch slots[row].State {
		case Explicit:
			return dst, false
		case Param:
			return append(dst, fmt.Sprintf("P%d", slots[row].Param)...), true
		case Unknown:
			return append(dst, 'U'), true
		}
		id++
		return append(dst, fmt.Sprintf("%d", id)...), true
	}
	text = string(s.AppendFilled([]byte("KEPT "), []byte(sql), column, value, opts))
	rest, kept := strings.CutPrefix(text, "KEPT ")
	if !kept {
		return "", "", fmt.Errorf("what was in dst is gone: %q", text)
	}
	return rest, slotStates(slots), nil
}

func slotStates(slots []Slot) string {
	var b strings.Builder
	for _, slot := range slots {
		b.WriteByte("OEPU"[slot.State])
	}
	return b.String()
}

var uaColumns = []string{"id", "val", "n"}

func TestAppendFilled(t *testing.T) {
	update := FillOptions{TellUpdated: true}
	tests := []struct {
		name    string
		sql     string
		want    string
		columns []string
		mode    Mode
		opts    FillOptions
	}{
		{name: "absent", sql: "insert into ua(val) values('a')", want: "insert into ua(val, `id`) values('a', 101)"},
		{name: "absent rows", sql: "INSERT INTO ua (val, n) VALUES ('b',1), ('c',2) ,('d', 3);",
			want: "INSERT INTO ua (val, n, `id`) VALUES ('b',1, 101), ('c',2, 102) ,('d', 3, 103);"},
		{name: "null", sql: "insert into ua(id,val) values(null,'e')", want: "insert into ua(id,val) values(101,'e')"},
		{name: "default", sql: "insert into ua(id,val) values( DEFAULT ,'e')", want: "insert into ua(id,val) values( 101 ,'e')"},
		{name: "default of the column", sql: "insert into ua(id,val) values(default(ua.id),default(val))",
			want: "insert into ua(id,val) values(101,default(val))"},
		{name: "mixed", sql: "insert into ua(id,val) values(600,'n'),(null,'o'),(601,'p'),(0,'q')",
			want: "insert into ua(id,val) values(600,'n'),(101,'o'),(601,'p'),(102,'q')"},
		{name: "none", sql: "insert into ua(id,val) values(600,'n')", want: "insert into ua(id,val) values(600,'n')"},
		{name: "in the middle", sql: "insert into ua(val,id,n) values('a,)',null,(1+(2)))",
			want: "insert into ua(val,id,n) values('a,)',101,(1+(2)))"},
		{name: "last", sql: "insert into ua(val,id) values(concat('a','b'),0)", want: "insert into ua(val,id) values(concat('a','b'),101)"},
		{name: "quoted and qualified columns", sql: "insert into ua(ua.val, `main`.`ua`.`ID`) values('a',0)",
			want: "insert into ua(ua.val, `main`.`ua`.`ID`) values('a',101)"},
		{name: "set", sql: "insert into ua set val='t' -- end", want: "insert into ua set val='t', `id` = 101 -- end"},
		{name: "set null", sql: "insert ua set val='t', ua.id = NULL , n:=1", want: "insert ua set val='t', ua.id = 101 , n:=1"},
		{name: "set expression", sql: "insert into ua set val=cast(1 as char), n=2 on duplicate key update n=3;",
			want: "insert into ua set val=cast(1 as char), n=2, `id` = 101 on duplicate key update n=3;"},
		{name: "empty list and rows", sql: "insert into ua() values(),( )", want: "insert into ua(`id`) values(101),( 102)"},
		{name: "empty rows", sql: "insert into ua values()", want: "insert into ua (`id`) values(101)"},
		{name: "no list", sql: "insert into ua values(null,'u',1)", columns: uaColumns,
			want: "insert into ua (`id`, `val`, `n`) values(101,'u',1)"},
		{name: "no list, invisible column", sql: "insert into ua values('u',1)", columns: []string{"val", "n"},
			want: "insert into ua (`val`, `n`, `id`) values('u',1, 101)"},
		{name: "empty list with values", sql: "insert into ua() values(null,'u',1)", columns: uaColumns,
			want: "insert into ua(`id`, `val`, `n`) values(101,'u',1)"},
		{name: "no list, explicit", sql: "insert into ua values(5,'u',1)", columns: uaColumns,
			want: "insert into ua values(5,'u',1)"},
		{name: "partition", sql: "insert into ua partition (p0, p1) values()", want: "insert into ua partition (p0, p1) (`id`) values(101)"},
		{name: "values row", sql: "insert into ua values row(null,'a',1),row(7,'b',2)", columns: uaColumns,
			want: "insert into ua (`id`, `val`, `n`) values row(101,'a',1),row(7,'b',2)"},
		{name: "comments stay", sql: "/* a */insert/*+ b */into /*c*/ua(val/*d*/)values/*e*/(/*f*/'x'/*g*/)/*h*/",
			want: "/* a */insert/*+ b */into /*c*/ua(val/*d*/, `id`)values/*e*/(/*f*/'x'/*g*/, 101)/*h*/"},
		{name: "line comments", sql: "insert into ua(val -- (\n)values(1 # )\n)--", want: "insert into ua(val -- (\n, `id`)values(1 # )\n, 101)--"},
		{name: "comments beside a replaced value", sql: "insert into ua(id)values(/*a*/null/*b*/)", want: "insert into ua(id)values(/*a*/101/*b*/)"},
		{name: "parameters", sql: "insert into ua(id,val) values(?,?),(null,'?'),(?,?)",
			want: "insert into ua(id,val) values(P0,?),(101,'?'),(P2,?)"},
		{name: "an expression with a parameter", sql: "insert into ua(id,val) values(?+1,?)", want: "insert into ua(id,val) values(U,?)"},
		{name: "row alias", sql: "insert into ua(val) values('a') as new on duplicate key update n=id",
			want: "insert into ua(val, `id`) values('a', 101) as new(`val`, `seqgate_id`) on duplicate key update n=id"},
		{name: "row alias in use", sql: "insert into ua(val) values('seqgate_id') as new on duplicate key update n=1",
			want: "insert into ua(val, `id`) values('seqgate_id', 101) as new(`val`, `seqgate_id_`) on duplicate key update n=1"},
		{name: "column aliases", sql: "insert into ua(val,n) values('a',1) as new(x, y ) on duplicate key update n=y",
			want: "insert into ua(val,n, `id`) values('a',1, 101) as new(x, y , seqgate_id) on duplicate key update n=y"},
		{name: "row alias, column present", sql: "insert into ua(id) values(0) as new on duplicate key update n=new.id",
			want: "insert into ua(id) values(101) as new on duplicate key update n=new.id"},
		{name: "set without a space", sql: "insert into ua set id=''on duplicate key update n=1",
			want: "insert into ua set id=101 on duplicate key update n=1"},
		{name: "absent in set without a space", sql: "insert into ua set val='a'on duplicate key update n=1",
			want: "insert into ua set val='a', `id` = 101 on duplicate key update n=1"},
		{name: "variables named as keywords", sql: "insert into ua set val=@as, id=null, n=ua.on on duplicate key update n=@@on",
			want: "insert into ua set val=@as, id=101, n=ua.on on duplicate key update n=@@on"},
		{name: "set with alias", sql: "insert into ua set val=1 as new on duplicate key update n=new.val",
			want: "insert into ua set val=1, `id` = 101 as new(`val`, `seqgate_id`) on duplicate key update n=new.val"},
		{name: "alias without columns", sql: "insert into ua values() as new on duplicate key update n=1",
			want: "insert into ua (`id`) values(101) as new(`seqgate_id`) on duplicate key update n=1"},
		{name: "update clause", sql: "insert into ua(val) values('a') on duplicate key update n=n+1 /*c*/;", opts: update,
			want: "insert into ua(val, `id`) values('a', 101) on duplicate key update n=n+1, `ua`.`id` = LAST_INSERT_ID(`ua`.`id`) /*c*/;"},
		{name: "update clause without update", sql: "insert into ua(val) values('a')", opts: update,
			want: "insert into ua(val, `id`) values('a', 101)"},
		{name: "update clause, nothing open", sql: "insert into ua(id) values(5) on duplicate key update n=(select 1)", opts: update,
			want: "insert into ua(id) values(5) on duplicate key update n=(select 1), `ua`.`id` = LAST_INSERT_ID(`ua`.`id`)"},
		{name: "replace", sql: "replace delayed ua(id,val) value(0,'a')", want: "replace delayed ua(id,val) value(101,'a')"},
		{name: "ANSI_QUOTES", sql: `insert into "ua"("val", "id") values('"',0)`, mode: Mode{ANSIQuotes: true},
			want: `insert into "ua"("val", "id") values('"',101)`},
		{name: "double quotes", sql: `insert into ua(val) values("a\"')b")`, want: "insert into ua(val, `id`) values(\"a\\\"')b\", 101)"},
		{name: "NO_BACKSLASH_ESCAPES", sql: `insert into ua(val) values('a\'),('b''),(')`, mode: Mode{NoBackslashEscapes: true},
			want: "insert into ua(val, `id`) values('a\\', 101),('b''),(', 102)"},
		{name: "NO_AUTO_VALUE_ON_ZERO", sql: "insert into ua(id) values(0),(null),(default),(1-1)", mode: Mode{NoAutoValueOnZero: true},
			want: "insert into ua(id) values(0),(101),(default),(1-1)"},
		{name: "gbk", sql: "insert into ua(val) values('\x81\\'),('\\'')", mode: NewMode("", "gbk", false),
			want: "insert into ua(val, `id`) values('\x81\\', 101),('\\'', 102)"},
		{name: "sjis identifiers", sql: "insert into `\x83`\x83\\`(\x83`) values(1)", mode: NewMode("", "sjis", false),
			want: "insert into `\x83`\x83\\`(\x83`, `id`) values(1, 101)"},
		{name: "subqueries", sql: "insert into ua(val,n) values((select max(val) from ua where n in (1,2)), 1)",
			want: "insert into ua(val,n, `id`) values((select max(val) from ua where n in (1,2)), 1, 101)"},
		{name: "a subquery that has such a column", sql: "insert into ua(id,n) values(null,(select max(id) from other))",
			want: "insert into ua(id,n) values(101,(select max(id) from other))"},
		{name: "MariaDB", sql: `insert into ua(id) values(\N),(ignore)`, mode: Mode{MariaDB: true},
			want: "insert into ua(id) values(101),(102)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := ParseInsert([]byte(test.sql), test.mode)
			if err != nil {
				t.Fatalf("ParseInsert(%q): %v", test.sql, err)
			}
			got, _, err := fillAll(s, test.sql, "id", test.columns, test.opts)
			if err != nil {
				t.Fatalf("Slots(%q): %v", test.sql, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("AppendFilled(%q) differs (-want +got):\n%s", test.sql, diff)
			}
		})
	}
}

func TestAppendFilledColumnNames(t *testing.T) {
	tests := []struct {
		name, sql, column, want string
		mode                    Mode
	}{
		{"a backtick", "insert into t(a) values(1)", "i`d", "insert into t(a, `i``d`) values(1, 101)", Mode{}},
		{"a backtick, given", "insert into t(`I``D`) values(0)", "i`d", "insert into t(`I``D`) values(101)", Mode{}},
		{"utf8mb4", "insert into t(a) values(1)", "号", "insert into t(a, `号`) values(1, 101)", Mode{}},
		{"gbk", "insert into t(a) values(1)", "号", "insert into t(a, `\xba\xc5`) values(1, 101)", NewMode("", "gbk", false)},
		{"gbk, given", "insert into t(\xba\xc5) values(0)", "号", "insert into t(\xba\xc5) values(101)", NewMode("", "gbk", false)},
		{"latin1", "insert into t(\xfc) values(0)", "ü", "insert into t(\xfc) values(101)", NewMode("", "latin1", false)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := ParseInsert([]byte(test.sql), test.mode)
			if err != nil {
				t.Fatalf("ParseInsert(%q): %v", test.sql, err)
			}
			got, _, err := fillAll(s, test.sql, test.column, nil, FillOptions{})
			if err != nil || got != test.want {
				t.Errorf("AppendFilled(%q) = %q, %v, want %q", test.sql, got, err, test.want)
			}
		})
	}
	s, err := ParseInsert([]byte("insert into t(a) values(1)"), NewMode("", "latin1", false))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Slots(nil, []byte("insert into t(a) values(1)"), "号", nil)
	if e := (*UnsupportedError)(nil); !errors.As(err, &e) {
		t.Errorf("Slots of a column that latin1 cannot spell: %v, want an *UnsupportedError", err)
	}
}

// A row that is not given a value although another one is keeps its own.
func TestAppendFilledSome(t *testing.T) {
	tests := []struct{ name, sql, want string }{
		{"absent", "insert into t(a) values(1),(2)", "insert into t(a, `id`) values(1, DEFAULT),(2, 9)"},
		{"present", "insert into t(id) values(null),(null)", "insert into t(id) values(null),(9)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := ParseInsert([]byte(test.sql), Mode{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Slots(nil, []byte(test.sql), "id", nil); err != nil {
				t.Fatal(err)
			}
			got := s.AppendFilled(nil, []byte(test.sql), "id", func(dst []byte, row int) ([]byte, bool) {
				return append(dst, '9')[:len(dst)+row], row == 1
			}, FillOptions{})
			if string(got) != test.want {
				t.Errorf("AppendFilled(%q) = %q, want %q", test.sql, got, test.want)
			}
		})
	}
}

// A session reads all its statements into one InsertStmt: nothing of one may
// show in the next.
func TestAppendFilledInUsedMemory(t *testing.T) {
	var used InsertStmt
	for range 2 {
		for _, sql := range insertCorpus {
			fresh, freshErr := ParseInsert([]byte(sql), Mode{})
			usedErr := used.Parse([]byte(sql), Mode{})
			if fmt.Sprint(freshErr) != fmt.Sprint(usedErr) {
				t.Fatalf("Parse(%q) in used memory: %v, else %v", sql, usedErr, freshErr)
			}
			if freshErr != nil {
				continue
			}
			want, wantStates, freshErr := fillAll(fresh, sql, "id", uaColumns, FillOptions{})
			got, gotStates, usedErr := fillAll(&used, sql, "id", uaColumns, FillOptions{})
			if got != want || gotStates != wantStates || fmt.Sprint(freshErr) != fmt.Sprint(usedErr) {
				t.Errorf("%q in used memory is %q, %s, %v, else %q, %s, %v", sql, got, gotStates, usedErr, want, wantStates, freshErr)
			}
		}
	}
}

// What is flushed and what is left are together the text that is filled at once.
func TestFlush(t *testing.T) {
	blob := []byte("insert into orders(a) values ('" + strings.Repeat("some data ", 1<<16) + "'),('b')")
	for _, sql := range [][]byte{benchRows(3000, "customer, name, email, price, at", ""), benchRows(3000, "id, customer, name, email, price, at", "null,"), blob, []byte("insert into orders(a) values (1)")} {
		var s InsertStmt
		if err := s.ParseFor(sql, Mode{}, "id", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Slots(nil, sql, "id", nil); err != nil {
			t.Fatal(err)
		}
		want := s.AppendFilled(nil, sql, "id", appendID, FillOptions{})
		var got []byte
		largest := 0
		rest := s.AppendFilled(nil, sql, "id", appendID, FillOptions{Flush: func(dst []byte) []byte {
			largest = max(largest, len(dst))
			got = append(got, dst...)
			return dst[:0]
		}})
		if got = append(got, rest...); !bytes.Equal(got, want) {
			t.Errorf("%.60q: %d bytes in parts differ from %d at once", sql, len(got), len(want))
		}
		if limit := flushSize + 100; largest > limit || len(rest) > limit {
			t.Errorf("%.60q: parts of %d and %d bytes, want at most %d", sql, largest, len(rest), limit)
		}
	}
}

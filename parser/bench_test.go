package parser

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// benchRows returns an INSERT of n rows of five columns, the id as the first
// value when it is given.
func benchRows(n int, columns, id string) []byte {
	var b strings.Builder
	b.WriteString("insert into orders(" + columns + ") values ")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "(%s%d,'customer %d','someone@example.com',%d.95,'2024-05-06 07:08:09')", id, i+1, i, i%100)
	}
	return []byte(b.String())
}

// appendID is the value function of a caller that fills every row.
func appendID(dst []byte, row int) ([]byte, bool) {
	return strconv.AppendInt(dst, int64(1<<40+row), 10), true
}

func BenchmarkFill(b *testing.B) {
	absent, present := "customer, name, email, price, at", "id, customer, name, email, price, at"
	blob := []byte("insert into orders(a, b) values (1, '" + strings.Repeat("some data ", 1<<20/10) + "')")
	tests := []struct {
		name string
		sql  []byte
	}{
		{"rows=1", benchRows(1, absent, "")},
		{"rows=1/null", benchRows(1, present, "NULL,")},
		{"rows=1/params", []byte("insert into orders(" + absent + ") values (?,?,?,?,?)")},
		{"rows=100", benchRows(100, absent, "")},
		{"rows=1000", benchRows(1000, absent, "")},
		{"rows=1000/null", benchRows(1000, present, "NULL,")},
		{"rows=1000/last", bytes.ReplaceAll(benchRows(1000, absent+", id", ""), []byte("')"), []byte("',0)"))},
		{"blob=1MiB", blob},
	}
	for _, test := range tests {
		b.Run(test.name, func(b *testing.B) {
			var s InsertStmt
			var slots []Slot
			var dst []byte
			b.SetBytes(int64(len(test.sql)))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.ParseFor(test.sql, Mode{}, "id", nil); err != nil {
					b.Fatal(err)
				}
				var err error
				if slots, err = s.Slots(slots[:0], test.sql, "id", nil); err != nil {
					b.Fatal(err)
				}
				dst = s.AppendFilled(dst[:0], test.sql, "id", appendID, FillOptions{})
			}
		})
	}
}

// BenchmarkYardstick is what only looking at a text, or copying it, takes in the
// same run: machines and their load differ more than the code does.
func BenchmarkYardstick(b *testing.B) {
	sql := benchRows(1000, "customer, name, email, price, at", "")
	dst := make([]byte, len(sql))
	for _, test := range []struct {
		name string
		do   func()
	}{
		{"bytes one by one", func() {
			quotes := 0
			for _, c := range sql {
				if classes[c] == classQuote {
					quotes++
				}
			}
			if quotes != 6000 {
				b.Fatal(quotes)
			}
		}},
		{"IndexByte", func() {
			if bytes.IndexByte(sql, 0) >= 0 {
				b.Fatal("found")
			}
		}},
		{"copy", func() { copy(dst, sql) }},
	} {
		b.Run(test.name, func(b *testing.B) {
			b.SetBytes(int64(len(sql)))
			for b.Loop() {
				test.do()
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1, 1000} {
		sql := benchRows(n, "customer, name, email, price, at", "")
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			var s InsertStmt
			b.SetBytes(int64(len(sql)))
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Parse(sql, Mode{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	sql := benchRows(1000, "customer, name, email, price, at", "")
	b.Run("target", func(b *testing.B) {
		var s InsertStmt
		b.ReportAllocs()
		for b.Loop() {
			if err := s.ParseTarget(sql, Mode{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	gbk := NewMode("", "gbk", false)
	b.Run("gbk/rows=1000", func(b *testing.B) {
		var s InsertStmt
		b.SetBytes(int64(len(sql)))
		b.ReportAllocs()
		for b.Loop() {
			if err := s.Parse(sql, gbk); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSniff(b *testing.B) {
	for _, sql := range []string{
		"SELECT c FROM sbtest1 WHERE id=5",
		"INSERT INTO t(a) VALUES (1)",
		"select next value from user_seq",
		"UPDATE t SET a = a + 1 WHERE id = 5",
		"SET NAMES utf8mb4",
		"/* trace 0123456789 */ COMMIT",
	} {
		b.Run(strings.Fields(strings.TrimPrefix(sql, "/* trace 0123456789 */"))[0], func(b *testing.B) {
			text := []byte(sql)
			b.ReportAllocs()
			for b.Loop() {
				Sniff(text)
			}
		})
	}
}

func BenchmarkSplit(b *testing.B) {
	sql := []byte(strings.Repeat("update accounts set balance = balance - 10, note = 'it''s paid' where id = 12345;\n", 100))
	var spans []Span
	b.SetBytes(int64(len(sql)))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if spans, err = Split(spans[:0], sql, Mode{}); err != nil || len(spans) != 100 {
			b.Fatal(len(spans), err)
		}
	}
}

func BenchmarkMentionsLastInsertID(b *testing.B) {
	for _, sql := range [][]byte{
		[]byte("select c, d, e from sbtest1 where id = 5 and name = 'somebody' order by d limit 10"),
		benchRows(1000, "customer, name, email, price, at", ""),
	} {
		b.Run(fmt.Sprint(len(sql)), func(b *testing.B) {
			b.SetBytes(int64(len(sql)))
			b.ReportAllocs()
			for b.Loop() {
				if MentionsLastInsertID(sql) {
					b.Fatal("found")
				}
			}
		})
	}
}

func BenchmarkParseNext(b *testing.B) {
	sql := []byte("SELECT NEXT 10 VALUES FROM main.user_seq")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseNext(sql, Mode{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTiDB is the yardstick: the TiDB parser on the same texts.
func BenchmarkTiDB(b *testing.B) {
	for _, n := range []int{1, 1000} {
		sql := string(benchRows(n, "customer, name, email, price, at", ""))
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(sql)))
			b.ReportAllocs()
			for b.Loop() {
				if tidbInsert(sql, Mode{}) == nil {
					b.Fatal("not parsed")
				}
			}
		})
	}
}

func BenchmarkMayCall(b *testing.B) {
	for _, sql := range [][]byte{
		[]byte("SELECT c FROM sbtest1 WHERE id=5"),
		[]byte("select c, d, e from sbtest1 where id = 5 and name = 'somebody' order by d limit 10"),
		[]byte("INSERT INTO t(a) VALUES (1)"),
		benchRows(1000, "customer, name, email, price, at", ""),
		[]byte("SELECT '" + strings.Repeat("have VALUES vary every Valuable vivid evening? ", 2000) + "'"),
	} {
		b.Run(fmt.Sprint(len(sql)), func(b *testing.B) {
			b.SetBytes(int64(len(sql)))
			b.ReportAllocs()
			for b.Loop() {
				if MayCall(sql) {
					b.Fatal("found")
				}
			}
		})
	}
}

func BenchmarkFindCalls(b *testing.B) {
	sql := []byte("SELECT NEXTVAL(main.user_seq) AS id")
	b.ReportAllocs()
	for b.Loop() {
		if s := FindCalls(sql, Mode{}); !s.Alone {
			b.Fatal("not found")
		}
	}
}

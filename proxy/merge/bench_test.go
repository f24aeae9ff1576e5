package merge_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/merge"
)

// repeated gives rows without copying them.
type repeated struct {
	rows [][]byte
	at   int
}

func (r *repeated) Next() ([]byte, error) {
	if r.at == len(r.rows) {
		return nil, io.EOF
	}
	r.at++
	return r.rows[r.at-1], nil
}

// BenchmarkRows: rows of four shards per second.
func BenchmarkRows(b *testing.B) {
	const rowsEach, shards = 1000, 4
	weight := parser.SortKey{Column: 1, Weight: -2, Pad: -1}
	for _, c := range []struct {
		name    string
		scatter parser.Scatter
		types   []byte
		row     func(i int) []byte
	}{
		{"concatenation", parser.Scatter{}, []byte{long, text}, func(i int) []byte { return textRow(fmt.Sprint(i), "some text") }},
		{"order by number", parser.Scatter{Order: []parser.SortKey{keyOf(0)}}, []byte{long, text},
			func(i int) []byte { return textRow(fmt.Sprint(i), "some text") }},
		{"order by text", parser.Scatter{Hidden: 2, Order: []parser.SortKey{weight}}, []byte{long, text, text, text}, func(i int) []byte {
			return textRow(fmt.Sprint(i), fmt.Sprintf("some text %06d", i), fmt.Sprintf("SOME TEXT %06d", i), " ")
		}},
		{"groups", parser.Scatter{Combine: true, Unique: true, Order: []parser.SortKey{keyOf(0)}, Aggregates: []parser.Aggregate{
			{Func: parser.AggregateSum, Key: keyOf(1), Sum: none, Count: none}}}, []byte{long, mysql.MYSQL_TYPE_NEWDECIMAL},
			func(i int) []byte { return textRow(fmt.Sprint(i), "12.50") }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var all [shards]repeated
			for i := range rowsEach * shards {
				n := i
				if c.scatter.Combine {
					n = i / shards
				}
				all[i%shards].rows = append(all[i%shards].rows, c.row(n))
			}
			columns := definitions(c.types...)
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				var sources []merge.Source
				for i := range all {
					all[i].at = 0
					sources = append(sources, &all[i])
				}
				merged, err := merge.New(merge.Config{Scatter: &c.scatter, Columns: columns, Count: allRows}, sources)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = merged.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				rows += rowsEach * shards
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

package merge_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/merge"
)

// definition makes a column definition packet.
func definition(typ byte, flags uint16, decimals byte) []byte {
	p := []byte("\x03def\x00\x00\x00\x01c\x00\x0c\x3f\x00\xff\xff\xff\xff")
	p = append(p, typ)
	p = binary.LittleEndian.AppendUint16(p, flags)
	return append(p, decimals, 0, 0)
}

func definitions(types ...byte) [][]byte {
	var packets [][]byte
	for _, typ := range types {
		packets = append(packets, definition(typ, 0, 31))
	}
	return packets
}

// textRow makes a row of the text protocol; "NULL" is NULL.
func textRow(values ...string) []byte {
	var row []byte
	for _, v := range values {
		if v == "NULL" {
			row = append(row, 0xfb)
		} else {
			row = append(mysql.AppendLengthEncodedInteger(row, uint64(len(v))), v...)
		}
	}
	return row
}

// textRows makes rows of values separated by spaces, one shard's to a string, with "/"
// between rows.
func textRows(shards ...string) []merge.Source {
	var sources []merge.Source
	for _, shard := range shards {
		s := &source{}
		for row := range strings.SplitSeq(shard, "/") {
			if row != "" {
				s.rows = append(s.rows, textRow(strings.Split(row, " ")...))
			}
		}
		sources = append(sources, s)
	}
	return sources
}

// readText reads merged rows as textRows writes them.
func readText(t *testing.T, rows *merge.Rows) (string, error) {
	t.Helper()
	var texts []string
	for {
		row, err := rows.Next()
		if err == io.EOF {
			return strings.Join(texts, "/"), nil
		}
		if err != nil {
			return strings.Join(texts, "/"), err
		}
		var values []string
		for len(row) > 0 {
			if row[0] == 0xfb {
				values, row = append(values, "NULL"), row[1:]
				continue
			}
			n := int(row[0]) // short ones
			values, row = append(values, string(row[1:1+n])), row[1+n:]
		}
		texts = append(texts, strings.Join(values, " "))
	}
}

const (
	long    = mysql.MYSQL_TYPE_LONGLONG
	text    = mysql.MYSQL_TYPE_VAR_STRING
	number  = mysql.MYSQL_TYPE_NEWDECIMAL
	double  = mysql.MYSQL_TYPE_DOUBLE
	none    = parser.NoColumn
	allRows = math.MaxUint64
)

func keyOf(column int) parser.SortKey {
	return parser.SortKey{Column: column, Weight: none, Pad: none}
}

func descending(k parser.SortKey) parser.SortKey {
	k.Desc = true
	return k
}

func TestMergeText(t *testing.T) {
	total := func(f parser.AggregateFunc, column int) parser.Aggregate {
		return parser.Aggregate{Func: f, Key: keyOf(column), Sum: none, Count: none}
	}
	weighed := parser.SortKey{Column: 0, Weight: -2, Pad: -1}
	for _, c := range []struct {
		name          string
		scatter       parser.Scatter
		types         []byte
		shards        []string
		offset, count uint64
		want          string
	}{
		{"concatenation", parser.Scatter{}, []byte{long}, []string{"1/2", "", "0"}, 0, allRows, "1/2/0"},
		{"limit", parser.Scatter{}, []byte{long}, []string{"1/2", "3/4"}, 1, 2, "2/3"},
		{"no rows", parser.Scatter{Order: []parser.SortKey{keyOf(0)}}, []byte{long}, []string{"", ""}, 0, allRows, ""},
		{"order", parser.Scatter{Order: []parser.SortKey{keyOf(0)}}, []byte{long}, []string{"NULL/-10/-9/3", "2/10", "-1"}, 0, allRows, "NULL/-10/-9/-1/2/3/10"},
		{"descending", parser.Scatter{Order: []parser.SortKey{descending(keyOf(0))}}, []byte{number}, []string{"10.5/2.50/-1.50/-1.55/NULL", "2.6/2.49/-1.5"}, 0, allRows,
			"10.5/2.6/2.50/2.49/-1.50/-1.5/-1.55/NULL"},
		{"double", parser.Scatter{Order: []parser.SortKey{keyOf(0)}}, []byte{double}, []string{"-1e20/-0.5/1e-7", "-2/0/1e15"}, 0, allRows, "-1e20/-2/-0.5/0/1e-7/1e15"},
		{"time", parser.Scatter{Order: []parser.SortKey{keyOf(0)}}, []byte{mysql.MYSQL_TYPE_TIME}, []string{"-100:00:00/09:00:00.5/100:00:00", "-10:00:00/09:00:00.45"}, 0, allRows,
			"-100:00:00/-10:00:00/09:00:00.45/09:00:00.5/100:00:00"},
		{"padded text", parser.Scatter{Hidden: 2, Order: []parser.SortKey{weighed}}, []byte{text, text, text},
			[]string{"a\t A\t _/a A _", "a_ A_ _/b B _"}, 0, allRows, "a\t/a/a_/b"},
		{"text without padding", parser.Scatter{Hidden: 2, Order: []parser.SortKey{weighed}}, []byte{text, text, text},
			[]string{"a A /b B ", "a_ A_ "}, 0, allRows, "a/a_/b"},
		{"hidden", parser.Scatter{Hidden: 1, Order: []parser.SortKey{keyOf(-1)}}, []byte{text, long}, []string{"z 1", "y 0"}, 0, allRows, "y/z"},
		{"totals", parser.Scatter{Combine: true, Aggregates: []parser.Aggregate{total(parser.AggregateCount, 0), total(parser.AggregateSum, 1),
			total(parser.AggregateMin, 2), total(parser.AggregateMax, 2+1)}}, []byte{long, number, long, long},
			[]string{"0 NULL NULL NULL", "2 1.50 7 7", "1 -0.75 9 9"}, 0, allRows, "3 0.75 7 9"},
		{"totals of nothing", parser.Scatter{Combine: true, Aggregates: []parser.Aggregate{total(parser.AggregateSum, 0)}}, []byte{number},
			[]string{"NULL", "NULL"}, 0, allRows, "NULL"},
		{"groups", parser.Scatter{Combine: true, Unique: true, Order: []parser.SortKey{keyOf(0)}, Aggregates: []parser.Aggregate{total(parser.AggregateSum, 1)}},
			[]byte{long, double}, []string{"NULL 1/1 1e14/3 0.5", "1 9e14/2 0.25", "NULL 2"}, 0, allRows, "NULL 3/1 1e15/2 0.25/3 0.5"},
		{"sorted groups", parser.Scatter{Combine: true, Unique: true, Order: []parser.SortKey{keyOf(0)}, Sort: []parser.SortKey{descending(keyOf(1))},
			Aggregates: []parser.Aggregate{total(parser.AggregateCount, 1)}},
			[]byte{long, long}, []string{"1 1/2 2/3 3", "1 9/3 1"}, 0, 2, "1 10/3 4"},
		{"distinct", parser.Scatter{Combine: true, Order: []parser.SortKey{keyOf(0)}}, []byte{long}, []string{"1/1/2", "2/3"}, 0, allRows, "1/2/3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := merge.New(merge.Config{Scatter: &c.scatter, Columns: definitions(c.types...), Offset: c.offset, Count: c.count}, textRows(c.shards...))
			if err != nil {
				t.Fatal(err)
			}
			got, err := readText(t, rows)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

func TestMergeAverage(t *testing.T) {
	scatter := &parser.Scatter{Hidden: 2, Combine: true, Aggregates: []parser.Aggregate{
		{Func: parser.AggregateAvg, Key: keyOf(0), Sum: -2, Count: -1}}}
	for _, c := range []struct {
		typ      byte
		decimals byte
		shards   []string
		want     string
	}{
		{number, 4, []string{"0 1 3", "0 1 3"}, "0.3333"},
		{number, 4, []string{"0 -1 3", "0 -1 0"}, "-0.6667"},
		{number, 1, []string{"0 1 10", "0 2.5 60"}, "0.1"},
		{number, 1, []string{"0 -1 10", "0 -2.5 60"}, "-0.1"},
		{number, 4, []string{"NULL NULL 0", "NULL NULL 0"}, "NULL"},
		{double, 31, []string{"0 1 3", "0 1 3"}, "0.3333333333333333"},
		{double, 6, []string{"0 1 3", "0 1 3"}, "0.333333"},
		{double, 31, []string{"0 1e300 1", "0 1 1"}, "5e299"},
	} {
		columns := [][]byte{definition(c.typ, 0, c.decimals), definition(c.typ, 0, 31), definition(long, 0, 0)}
		rows, err := merge.New(merge.Config{Scatter: scatter, Columns: columns, Count: allRows}, textRows(c.shards...))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readText(t, rows); got != c.want || err != nil {
			t.Errorf("average of %v with %d decimals: %s %v, want %s", c.shards, c.decimals, got, err, c.want)
		}
	}
}

// TestMergeBinary cuts off hidden columns so many that the bitmap of NULLs gets shorter.
func TestMergeBinary(t *testing.T) {
	row := func(id, key int32, null byte) []byte {
		p := []byte{0, null << 2, 0} // 7 columns take 2 bytes
		if null == 0 {
			p = binary.LittleEndian.AppendUint32(p, uint32(id))
		}
		p = append(p, "\x01a\x01b\x01c\x01d\x01e"...)
		return binary.LittleEndian.AppendUint32(p, uint32(key))
	}
	columns := definitions(mysql.MYSQL_TYPE_LONG, text, text, text, text, text, mysql.MYSQL_TYPE_LONG)
	scatter := &parser.Scatter{Hidden: 5, Order: []parser.SortKey{keyOf(-1)}}
	sources := []merge.Source{&source{rows: [][]byte{row(1, -5, 0), row(2, 7, 1)}}, &source{rows: [][]byte{row(3, 6, 0)}}}
	rows, err := merge.New(merge.Config{Scatter: scatter, Columns: columns, Binary: true, Count: allRows}, sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x00\x00\x01\x00\x00\x00\x01a", "\x00\x00\x03\x00\x00\x00\x01a", "\x00\x04\x01a"} {
		got, err := rows.Next()
		if string(got) != want || err != nil {
			t.Errorf("row %q %v, want %q", got, err, want)
		}
	}
	if _, err := rows.Next(); err != io.EOF {
		t.Errorf("%v behind the last row", err)
	}
}

// TestMergeWidths: one shard's INT is another one's SMALLINT.
func TestMergeWidths(t *testing.T) {
	wide, narrow := definitions(mysql.MYSQL_TYPE_LONG), definitions(mysql.MYSQL_TYPE_SHORT)
	sources := []merge.Source{&source{rows: [][]byte{[]byte("\x00\x00\x01\x00\x00\x00")}}, &source{rows: [][]byte{[]byte("\x00\x00\xfe\xff")}}}
	config := merge.Config{Scatter: &parser.Scatter{}, Columns: wide, Each: [][][]byte{wide, narrow}, Binary: true, Count: allRows}
	rows, err := merge.New(config, sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x00\x00\x01\x00\x00\x00", "\x00\x00\xfe\xff\xff\xff"} {
		if got, err := rows.Next(); string(got) != want || err != nil {
			t.Errorf("row %q %v, want %q", got, err, want)
		}
	}
	config.Each[1] = definitions(text)
	if _, err := merge.New(config, sources); !errors.As(err, new(*merge.UnsupportedError)) {
		t.Errorf("a number and a string: %v, want an UnsupportedError", err)
	}
}

func TestMergeRefused(t *testing.T) {
	order := func(k parser.SortKey) *parser.Scatter { return &parser.Scatter{Order: []parser.SortKey{k}} }
	shown := keyOf(0)
	shown.Text = true
	for _, c := range []struct {
		name       string
		scatter    *parser.Scatter
		definition []byte
		row        string
		want       error
	}{
		{"JSON", order(keyOf(0)), definition(mysql.MYSQL_TYPE_JSON, 0, 0), "1", new(merge.UnsupportedError)},
		{"string without a weight", order(keyOf(0)), definition(text, 0, 0), "a", new(merge.UnsupportedError)},
		{"ENUM", order(parser.SortKey{Weight: 0, Pad: 0}), definition(text, mysql.ENUM_FLAG, 0), "a", new(merge.NumberError)},
		{"FLOAT", order(keyOf(0)), definition(mysql.MYSQL_TYPE_FLOAT, 0, 31), "1", new(merge.NumberError)},
		{"sorted by MIN of an ENUM", &parser.Scatter{Combine: true, Sort: []parser.SortKey{{Text: true, Weight: 0, Pad: 0}}},
			definition(text, mysql.ENUM_FLAG, 0), "a", new(merge.UnsupportedError)},
		{"NULL for a weight", order(parser.SortKey{Column: 0, Weight: 0, Pad: 1}), definition(text, 0, 0), "a", nil},
		{"not sorted", order(keyOf(0)), definition(long, 0, 0), "2/1", new(merge.UnsupportedError)},
		{"groups twice", &parser.Scatter{Combine: true, Unique: true, Order: []parser.SortKey{keyOf(0)}}, definition(long, 0, 0), "1/1", new(merge.UnsupportedError)},
		{"too many", &parser.Scatter{Sort: []parser.SortKey{keyOf(0)}}, definition(long, 0, 0), "1/2/3/4", new(merge.LimitError)},
		{"SUM of strings", &parser.Scatter{Combine: true, Aggregates: []parser.Aggregate{{Func: parser.AggregateSum, Key: shown}}},
			definition(mysql.MYSQL_TYPE_DATE, 0, 0), "1", new(merge.UnsupportedError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, err := merge.New(merge.Config{Scatter: c.scatter, Columns: [][]byte{c.definition}, Count: allRows, MaxRows: 3}, textRows(c.row))
			if err == nil {
				_, err = readText(t, rows)
			}
			if got, want := fmt.Sprintf("%T", err), fmt.Sprintf("%T", c.want); c.want != nil && got != want || err == nil {
				t.Errorf("%v (%s), want %s", err, got, want)
			}
		})
	}
}

// TestMergeKeepsFirst: a LIMIT keeps the rows held few.
func TestMergeKeepsFirst(t *testing.T) {
	s := &source{}
	for i := range 10_000 {
		s.rows = append(s.rows, textRow(fmt.Sprint(10_000-i)))
	}
	scatter := &parser.Scatter{Sort: []parser.SortKey{keyOf(0)}}
	rows, err := merge.New(merge.Config{Scatter: scatter, Columns: definitions(long), Offset: 2, Count: 3, MaxRows: 100}, []merge.Source{s})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readText(t, rows); got != "3/4/5" || err != nil {
		t.Errorf("%s %v, want 3/4/5", got, err)
	}
}

// failing is a source that fails.
type failing struct{ err error }

func (f failing) Next() ([]byte, error) { return nil, f.err }

func TestMergeSourceFails(t *testing.T) {
	lost := errors.New("lost")
	for _, scatter := range []*parser.Scatter{{}, {Order: []parser.SortKey{keyOf(0)}}, {Combine: true}} {
		rows, err := merge.New(merge.Config{Scatter: scatter, Columns: definitions(long), Count: allRows}, append(textRows("1"), failing{lost}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = readText(t, rows); !errors.Is(err, lost) {
			t.Errorf("%v, want the source's error", err)
		}
	}
}

// TestMergeBoundsBytes: long rows are held no more than short ones.
func TestMergeBoundsBytes(t *testing.T) {
	long := strings.Repeat("x", 1000)
	rows := func(n int) []merge.Source {
		s := &source{}
		for i := range n {
			s.rows = append(s.rows, textRow(fmt.Sprint(n-i), long))
		}
		return []merge.Source{s}
	}
	scatter := &parser.Scatter{Sort: []parser.SortKey{keyOf(0)}}
	columns := [][]byte{definition(mysql.MYSQL_TYPE_LONGLONG, 0, 0), definition(mysql.MYSQL_TYPE_VAR_STRING, 0, 0)}
	for _, c := range []struct {
		name    string
		count   uint64
		refused bool
	}{{"all", allRows, true}, {"the first ones", 3, false}} {
		merged, err := merge.New(merge.Config{Scatter: scatter, Columns: columns, Count: c.count, MaxBytes: 100_000}, rows(1000))
		if err != nil {
			t.Fatal(err)
		}
		_, err = merged.Next()
		var limit *merge.LimitError
		if errors.As(err, &limit) != c.refused || err != nil && limit == nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

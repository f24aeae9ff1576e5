package merge_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/merge"
)

// FuzzRows: rows and definitions that are malformed are errors, and rows without
// hidden columns come out as they went in.
func FuzzRows(f *testing.F) {
	f.Add([]byte{long, text, text}, textRow("1", "a", "_"), textRow("2", "b", "_"), false, uint8(0))
	f.Add([]byte{3, 253, 253}, []byte("\x00\x00\x01\x00\x00\x00\x01a\x01_"), []byte("\x00\x08\x02\x00\x00\x00\x01b"), true, uint8(1))
	f.Add([]byte{12, 11, 246}, []byte("\x00\x00\x04\xe8\x07\x01\x01\x08\x00\x01\x00\x00\x00\x01\x02\x03\x031.5"), []byte("\x00\x1c"), true, uint8(2))
	f.Add([]byte{5, 8, 8}, textRow("1e5", "NULL", "3"), []byte{0xfc}, false, uint8(3))
	f.Fuzz(func(t *testing.T, types, a, b []byte, binary bool, kind uint8) {
		if len(types) < 3 || len(types) > 20 {
			return
		}
		key := parser.SortKey{Column: 0, Weight: 1, Pad: 2}
		total := parser.Aggregate{Func: parser.AggregateFunc(kind%5) + 1, Key: key, Sum: 1, Count: 2}
		scatter := []parser.Scatter{
			{}, {Order: []parser.SortKey{key}}, {Hidden: 1}, {Combine: true, Aggregates: []parser.Aggregate{total}},
			{Combine: true, Order: []parser.SortKey{key}, Sort: []parser.SortKey{key}, Hidden: 2},
		}[kind%5]
		rows, err := merge.New(merge.Config{Scatter: &scatter, Columns: definitions(types...), Binary: binary, Count: allRows},
			[]merge.Source{&source{rows: [][]byte{a}}, &source{rows: [][]byte{b}}})
		for err == nil {
			var row []byte
			if row, err = rows.Next(); err == nil && kind%5 < 2 && !bytes.Equal(row, a) && !bytes.Equal(row, b) {
				t.Fatalf("row %q is neither %q nor %q", row, a, b)
			}
		}
		if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	})
}

// FuzzDefinition: a column definition that is malformed is an error.
func FuzzDefinition(f *testing.F) {
	f.Add(definition(long, 0, 0))
	f.Add([]byte("\x03def\x00\x00\x00\x01c\x00\x06\x00\x04json\x0c\x3f\x00\xff\xff\xff\xff\xfc\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, packet []byte) {
		_, err := merge.New(merge.Config{Scatter: &parser.Scatter{}, Columns: [][]byte{packet}}, nil)
		if err == nil && len(packet) < 19 {
			t.Fatalf("%q is no column definition", packet)
		}
	})
}

package merge

import (
	"bytes"
	"fmt"

	"github.com/seqgate/seqgate/parser"
)

// sortKey is a parser.SortKey in a result of which the columns are known.
type sortKey struct {
	column, weight, pad int // weight is -1 where the value itself compares
	desc                bool
	kind                kind
}

// aggregate is a parser.Aggregate in such a result.
type aggregate struct {
	kind       parser.AggregateFunc
	key        sortKey
	sum, count int // of an AVG
}

// keys are all of a result.
type keys struct {
	order, sort []sortKey
	aggregates  []aggregate
}

// newKeys settles how a result's columns compare.
func newKeys(s *parser.Scatter, f *format) (*keys, error) {
	k := &keys{}
	var numbers []int
	for i, key := range append(append([]parser.SortKey(nil), s.Order...), s.Sort...) {
		settled, err := f.key(key)
		if err != nil {
			return nil, err
		}
		if f.isExtremeOnly(key, settled) {
			return nil, &UnsupportedError{"ORDER BY of MIN() or MAX() of an ENUM, SET or FLOAT over several shards"}
		}
		if f.needsNumber(key, settled) {
			numbers = append(numbers, i)
		}
		if i < len(s.Order) {
			k.order = append(k.order, settled)
		} else {
			k.sort = append(k.sort, settled)
		}
	}
	if numbers != nil {
		return nil, &NumberError{append(numbers, asked(s)...)}
	}
	for _, a := range s.Aggregates {
		settled, err := f.aggregate(a)
		if err != nil {
			return nil, err
		}
		k.aggregates = append(k.aggregates, settled)
	}
	return k, nil
}

// asked returns the keys that are compared by their number already.
func asked(s *parser.Scatter) (numbers []int) {
	for i, key := range append(append([]parser.SortKey(nil), s.Order...), s.Sort...) {
		if key.Number {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// needsNumber reports whether the values in the rows do not tell how they sort: an ENUM
// shows its string, and a FLOAT in the text protocol fewer digits than it has.
func (f *format) needsNumber(key parser.SortKey, settled sortKey) bool {
	if key.Number || key.Text {
		return false
	}
	return f.columns[settled.column].isEnum() || settled.kind == kindFloat && !f.binary
}

// isExtremeOnly reports whether the key, a MIN() or MAX(), cannot be sorted by: MariaDB
// sorts that of an ENUM by its number, and a FLOAT shows fewer digits than it has.
func (f *format) isExtremeOnly(key parser.SortKey, settled sortKey) bool {
	return key.Text && (f.columns[settled.column].isEnum() || settled.kind == kindFloat && !f.binary)
}

// index returns the index of a column that may be counted from the end.
func (f *format) index(i int) (int, error) {
	if i < 0 {
		i += len(f.columns)
	}
	if i < 0 || i >= len(f.columns) {
		return 0, errMalformed
	}
	return i, nil
}

// key settles a sort key.
func (f *format) key(k parser.SortKey) (s sortKey, err error) {
	s = sortKey{weight: -1, pad: -1, desc: k.Desc}
	if s.column, err = f.index(k.Column); err != nil {
		return s, err
	}
	s.kind = f.columns[s.column].kind()
	switch {
	case s.kind == kindOther:
		return s, &UnsupportedError{fmt.Sprintf("merging the rows of several shards by a column of type %d (JSON, GEOMETRY, VECTOR, ...)", f.columns[s.column].typ)}
	case s.kind != kindString:
		return s, nil
	case k.Weight == parser.NoColumn || k.Pad == parser.NoColumn:
		return s, &UnsupportedError{"merging the rows of several shards by a string that the server gave no weight of"}
	}
	if s.weight, err = f.index(k.Weight); err != nil {
		return s, err
	}
	s.pad, err = f.index(k.Pad)
	return s, err
}

// value is one of the values that rows are compared by.
type value struct {
	null  bool
	bytes []byte // of which the order is the values' order
	pad   []byte // what follows bytes without end, as to comparisons
}

// values are those of a row. They are copies.
type values struct {
	list  []value
	arena []byte
}

// read sets the values of a row. Its fields are split.
func (v *values) read(f *format, keys []sortKey, fields []field) error {
	v.list, v.arena = v.list[:0], v.arena[:0]
	for i := range keys {
		if err := v.add(f, &keys[i], fields); err != nil {
			return err
		}
	}
	return nil
}

// add adds the value of a key.
func (v *values) add(f *format, k *sortKey, fields []field) error {
	if fields[k.column].null {
		v.list = append(v.list, value{null: true})
		return nil
	}
	begin, ok := len(v.arena), true
	if k.weight >= 0 {
		if fields[k.weight].null {
			return &UnsupportedError{"merging the rows of several shards by a string that the server gave no weight of"}
		}
		v.arena = append(v.arena, fields[k.weight].text...)
	} else if v.arena, ok = f.appendComparable(v.arena, k, fields[k.column].text); !ok {
		return errMalformed
	}
	middle := len(v.arena)
	if k.pad >= 0 {
		v.arena = append(v.arena, fields[k.pad].text...)
	}
	// A longer arena may have moved: earlier values keep the old one, which stays as it is.
	v.list = append(v.list, value{bytes: v.arena[begin:middle:middle], pad: v.arena[middle:len(v.arena):len(v.arena)]})
	return nil
}

// set makes v a copy of w.
func (v *values) set(w *values) {
	v.list, v.arena = append(v.list[:0], w.list...), v.arena[:0]
	for i := range v.list {
		v.list[i].bytes, v.list[i].pad = v.keep(v.list[i].bytes), v.keep(v.list[i].pad)
	}
}

func (v *values) keep(text []byte) []byte {
	begin := len(v.arena)
	v.arena = append(v.arena, text...)
	return v.arena[begin:len(v.arena):len(v.arena)]
}

// compare compares rows by their keys.
func compare(keys []sortKey, a, b *values) int {
	for i := range keys {
		if c := a.list[i].compare(&b.list[i]); c != 0 {
			if keys[i].desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// compare compares values; NULL is the least.
func (a *value) compare(b *value) int {
	switch {
	case a.null && b.null:
		return 0
	case a.null:
		return -1
	case b.null:
		return 1
	}
	n := min(len(a.bytes), len(b.bytes))
	if c := bytes.Compare(a.bytes[:n], b.bytes[:n]); c != 0 || len(a.bytes) == len(b.bytes) {
		return c
	}
	if len(a.bytes) > n {
		return compareRest(a.bytes[n:], b.pad)
	}
	return -compareRest(b.bytes[n:], a.pad)
}

// compareRest compares what is left of a longer value with the shorter one's padding:
// a collation that pads takes spaces at the end for nothing.
func compareRest(rest, pad []byte) int {
	if len(pad) == 0 {
		return 1
	}
	for len(rest) > 0 {
		n := min(len(rest), len(pad))
		if c := bytes.Compare(rest[:n], pad[:n]); c != 0 {
			return c
		}
		rest = rest[n:]
	}
	return 0
}

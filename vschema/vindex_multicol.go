package vschema

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// multiColVindex is the first bytes of the keyspace ids that a vindex of its own gives each column.
type multiColVindex struct {
	columns []multiColColumn
	cost    int
}

type multiColColumn struct {
	vindex Vindex
	bytes  int // of the vindex's keyspace id, at most
}

var multiColParams = []string{"column_count", "column_bytes", "column_vindex"}

// maxIDBytes is how long the keyspace id of a multicol may be, and so how many columns it may have.
const maxIDBytes = 8

func newMultiCol(p vindexParams) (Vindex, error) {
	value, err := p.required("column_count", "2")
	if err != nil {
		return nil, err
	}
	count, err := strconv.Atoi(value)
	if err != nil || count < 1 || count > maxIDBytes {
		return nil, &ParamError{"column_count", fmt.Sprintf("write a number from 1 to %d, not %q", maxIDBytes, value)}
	}
	m := multiColVindex{columns: make([]multiColColumn, count)}
	if err := errors.Join(m.setVindexes(p), m.setBytes(p)); err != nil {
		return nil, err
	}
	return m, nil
}

// setVindexes builds the vindex of each column, hash where none is named.
func (m *multiColVindex) setVindexes(p vindexParams) error {
	names := subVindexNames(p.values)
	if len(names) > len(m.columns) {
		return &ParamError{"column_vindex", fmt.Sprintf("%d vindexes for %d columns", len(names), len(m.columns))}
	}
	for i := range m.columns {
		name := "hash"
		if i < len(names) && names[i] != "" {
			name = names[i]
		}
		v, err := newSubVindex(name, p.values, p.read)
		if err != nil {
			return &ParamError{"column_vindex", err.Error()}
		}
		m.columns[i].vindex = v
		m.cost += v.Cost()
	}
	return nil
}

// setBytes reads how many bytes each column has, and divides what is left of the eight among those without a number.
func (m *multiColVindex) setBytes(p vindexParams) error {
	written := splitParam(p.values, "column_bytes")
	if len(written) > len(m.columns) {
		return &ParamError{"column_bytes", fmt.Sprintf("%d numbers for %d columns", len(written), len(m.columns))}
	}
	left, open := maxIDBytes, len(m.columns)
	for i, number := range written {
		if number == "" {
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > maxIDBytes {
			return &ParamError{"column_bytes", fmt.Sprintf("write numbers from 1 to %d between commas, not %q", maxIDBytes, number)}
		}
		m.columns[i].bytes = n
		left, open = left-n, open-1
	}
	if open > left {
		return &ParamError{"column_bytes", fmt.Sprintf("a keyspace id has %d bytes, too few for these and a byte of each other column", maxIDBytes)}
	}
	for i := range m.columns {
		if c := &m.columns[i]; c.bytes == 0 {
			c.bytes = (left + open - 1) / open
			left, open = left-c.bytes, open-1
		}
	}
	return nil
}

func splitParam(params map[string]string, name string) []string {
	value, ok := params[name]
	if !ok {
		return nil
	}
	parts := strings.Split(value, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func subVindexNames(params map[string]string) []string { return splitParam(params, "column_vindex") }

// subVindexParams are the params that a multicol hands on to the vindexes of its columns.
func subVindexParams(params map[string]string) []string {
	var known []string
	for _, name := range subVindexNames(params) {
		if slices.Contains(subVindexTypes, name) {
			known = append(known, vindexTypes[name].params...)
		}
	}
	return known
}

// subVindexTypes are those that Vitess lets another vindex use.
var subVindexTypes = []string{
	"hash", "xxhash", "numeric", "reverse_bits", "binary", "binary_md5", "unicode_loose_md5", "unicode_loose_xxhash",
	"numeric_static_map",
}

func newSubVindex(name string, params map[string]string, read ReadFile) (Vindex, error) {
	if !slices.Contains(subVindexTypes, name) {
		return nil, fmt.Errorf("no vindex of type %q can be used here: %s", name, Suggest(name, subVindexTypes))
	}
	return vindexTypes[name].build(vindexParams{params, read})
}

func (m multiColVindex) Columns() int { return len(m.columns) }
func (m multiColVindex) Cost() int    { return m.cost }

func (m multiColVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	begin := len(dst)
	first := begin // where the column's own bytes begin
	for i, c := range m.columns[:len(values)] {
		for len(dst) < first {
			dst = append(dst, 0) // the column before gave less than its bytes
		}
		at := len(dst)
		var err error
		if dst, err = c.vindex.Map(dst, values[i:i+1]); err != nil {
			return dst[:begin], columnError(err, i)
		}
		dst = dst[:min(len(dst), at+c.bytes)]
		first += c.bytes
	}
	return dst, nil
}

// columnError says which column a vindex of one column failed for. As in Vitess, a value that any of the vindexes does
// not take is one that no row has.
func columnError(err error, column int) error {
	var v *ValueError
	if errors.As(err, &v) {
		v.Index, v.noShard = column, true
	}
	return err
}

func (m multiColVindex) MapPrefix(values []Value) (KeyRange, error) {
	prefix, err := m.Map(nil, values)
	if err != nil {
		return KeyRange{}, err
	}
	return prefixRange(prefix), nil
}

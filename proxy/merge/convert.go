package merge

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// newFormat returns the format of the first source, and the sources so that all have it.
// Servers may differ in the type of a column: MySQL's YEAR() is a YEAR or an INT, as a
// temporary table is used or not, and the shards need not have the same tables.
func newFormat(c Config, sources []Source) (*format, []Source, error) {
	columns, err := readColumns(c.Columns)
	if err != nil {
		return nil, nil, err
	}
	first := &format{binary: c.Binary, columns: columns}
	if c.Each == nil {
		return first, sources, nil
	}
	if len(c.Each) != len(sources) {
		return nil, nil, fmt.Errorf("column definitions of %d sources for %d", len(c.Each), len(sources))
	}
	sources = slices.Clone(sources)
	for i := range sources {
		if columns, err = readColumns(c.Each[i]); err != nil {
			return nil, nil, err
		}
		f := &format{binary: c.Binary, columns: columns}
		for j := range min(len(columns), len(first.columns)) { // a server may lose these in a temporary table
			first.columns[j].flags |= columns[j].flags & (mysql.ENUM_FLAG | mysql.SET_FLAG)
		}
		same, err := first.sameAs(f)
		if err != nil {
			return nil, nil, err
		}
		if !same {
			sources[i] = &converted{source: sources[i], from: f, to: first}
		}
	}
	return first, sources, nil
}

// sameAs reports whether rows of g read as rows of f. It is an error when they cannot
// be made to.
func (f *format) sameAs(g *format) (bool, error) {
	if len(f.columns) != len(g.columns) {
		return false, &UnsupportedError{fmt.Sprintf("merging rows of %d and %d columns: the shards' tables differ", len(f.columns), len(g.columns))}
	}
	same := true
	for i := range f.columns {
		a, b := f.columns[i], g.columns[i]
		if a.typ == b.typ && (a.isUnsigned() == b.isUnsigned() || a.kind() != kindInteger) {
			continue
		}
		kind := a.kind()
		if kind != b.kind() && kind != kindNull && b.kind() != kindNull || kind == kindOther {
			return false, &UnsupportedError{fmt.Sprintf("merging values of the types %d and %d: column %d differs in the shards' tables", a.typ, b.typ, i+1)}
		}
		same = same && (kind == kindString || !f.binary)
	}
	return same, nil
}

// converted returns the rows of a source in another format: whole numbers of another
// width, in the binary protocol.
type converted struct {
	source   Source
	from, to *format
	row      row
	out      []byte
}

// Next implements Source.
func (c *converted) Next() ([]byte, error) {
	packet, err := c.source.Next()
	if err != nil {
		return nil, err
	}
	c.row.set(packet)
	if err := c.from.split(&c.row); err != nil {
		return nil, err
	}
	for i := range c.row.fields {
		a, b := c.from.columns[i], c.to.columns[i]
		v := &c.row.fields[i]
		if v.null || a.typ == b.typ && a.isUnsigned() == b.isUnsigned() || a.kind() != kindInteger {
			continue
		}
		if v.raw, err = a.convert(v.text, b); err != nil {
			return nil, err
		}
	}
	c.out = c.to.appendRow(c.out[:0], c.row.fields)
	return c.out, nil
}

// convert returns a whole number in the width of another type.
func (c column) convert(text []byte, to column) ([]byte, error) {
	n, ok := c.integer(text)
	if !ok {
		return nil, errMalformed
	}
	if !c.isUnsigned() {
		n ^= 1 << 63
	}
	wide := binary.LittleEndian.AppendUint64(nil, n)
	width, _, ok := to.width(wide)
	if !ok {
		return nil, errMalformed
	}
	back, _ := to.integer(wide[:width])
	if !to.isUnsigned() {
		back ^= 1 << 63
	}
	if back != n || c.isUnsigned() != to.isUnsigned() && int64(n) < 0 {
		return nil, &UnsupportedError{"merging whole numbers of different types: the shards' tables differ"}
	}
	return wide[:width], nil
}

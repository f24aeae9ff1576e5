package merge

import (
	"fmt"
	"io"

	"github.com/seqgate/seqgate/parser"
)

// Source returns the rows of one shard. Next returns the payload of the next row's
// packet, valid until the next call, and io.EOF behind the last row.
type Source interface {
	Next() (row []byte, err error)
}

// Config says what is merged.
type Config struct {
	// Scatter says how, as parser.ReadScatter gave it.
	Scatter *parser.Scatter
	// Columns are the payloads of the column definition packets of the first source,
	// hidden columns included. The client gets these.
	Columns [][]byte
	// Each has those of each source, as servers may differ in the type of a column; nil:
	// all are the same.
	Each [][][]byte
	// Binary: rows are in the binary protocol.
	Binary bool
	// Offset and Count are what Scatter.Limit.Resolve gave.
	Offset, Count uint64
	// MaxRows and MaxBytes are how many rows, and of what size together, are held at most
	// where they have to be collected; 0 is no bound.
	MaxRows, MaxBytes int
}

// A LimitError says that an answer has more rows to collect than are held, or longer ones.
type LimitError struct{ Rows, Bytes int }

func (e *LimitError) Error() string {
	return fmt.Sprintf("the result has more than %d groups or %d MiB of them, which have to be collected to be sorted; "+
		"sort by the GROUP BY columns", e.Rows, e.Bytes>>20)
}

// A NumberError says that the sort keys with these numbers have to be compared by
// their number (ENUM, SET, FLOAT): the statement is to be read again with
// parser.ScatterOptions.Numbers and sent again, once the answers were read away.
type NumberError struct{ Keys []int }

func (e *NumberError) Error() string {
	return fmt.Sprintf("the sort keys %v are to be compared by their number", e.Keys)
}

// An UnsupportedError says that rows cannot be merged by a column of this type, or
// that the server sorts or tells apart its values in a way that is not known here.
type UnsupportedError struct{ Form string }

func (e *UnsupportedError) Error() string { return "not supported: " + e.Form }

// Rows is a merged result.
type Rows struct {
	stage   stage
	format  *format
	visible int
	offset  uint64
	left    uint64
	out     []byte
}

// stage returns rows that are valid until the next call.
type stage interface {
	next() (*row, error)
}

// New makes the merged result of the sources. It reads no row yet. Errors are a
// *NumberError, an *UnsupportedError, or a definition packet that is malformed.
func New(c Config, sources []Source) (*Rows, error) {
	f, sources, err := newFormat(c, sources)
	if err != nil {
		return nil, err
	}
	keys, err := newKeys(c.Scatter, f)
	if err != nil {
		return nil, err
	}
	r := &Rows{format: f, visible: len(f.columns) - c.Scatter.Hidden, offset: c.Offset, left: c.Count}
	if r.visible < 1 {
		return nil, errMalformed
	}
	raw := !c.Scatter.Combine && len(c.Scatter.Sort) == 0
	if len(c.Scatter.Order) == 0 && raw {
		r.stage = &concatenation{sources: sources}
		return r, nil
	}
	merged := newOrdered(f, keys.order, sources, c.Scatter)
	r.stage = merged
	if c.Scatter.Combine {
		r.stage = newCombined(merged, f, keys)
	}
	if len(keys.sort) > 0 {
		r.stage = &sorted{from: r.stage, format: f, keys: keys.sort, limit: LimitError{c.MaxRows, c.MaxBytes}, keep: kept(c.Offset, c.Count)}
	}
	return r, nil
}

// Visible is how many columns the client gets: the first ones of Columns.
func (r *Rows) Visible() int { return r.visible }

// Next returns the payload of the next row, valid until the next call, and io.EOF
// behind the last one. The sources may have more rows then. Errors of sources are
// returned as they are.
func (r *Rows) Next() ([]byte, error) {
	for r.left > 0 {
		row, err := r.stage.next()
		if err != nil {
			return nil, err
		}
		if r.offset > 0 {
			r.offset--
			continue
		}
		r.left--
		return r.cut(row)
	}
	return nil, io.EOF
}

// cut returns the row without its hidden columns.
func (r *Rows) cut(w *row) ([]byte, error) {
	if r.visible == len(r.format.columns) && w.packet != nil {
		return w.packet, nil
	}
	if err := r.format.split(w); err != nil {
		return nil, err
	}
	r.out = r.format.appendRow(r.out[:0], w.fields[:r.visible])
	return r.out, nil
}

// concatenation returns the rows of one source after the other.
type concatenation struct {
	sources []Source
	row     row
}

func (c *concatenation) next() (*row, error) {
	for len(c.sources) > 0 {
		packet, err := c.sources[0].Next()
		if err == nil {
			c.row.set(packet)
			return &c.row, nil
		}
		if err != io.EOF {
			return nil, err
		}
		c.sources = c.sources[1:]
	}
	return nil, io.EOF
}

package merge

import (
	"bytes"
	"io"

	"github.com/seqgate/seqgate/parser"
)

// head is a source with the row that is next of it.
type head struct {
	source Source
	index  int // of the source
	row    row
	key    values
	before values // the key of the row before
	some   bool   // there was one
}

// ordered merges the rows of sources that are sorted: a heap of their next rows.
type ordered struct {
	format  *format
	keys    []sortKey
	heads   []*head // the heap; without keys in the order of the sources
	sources []Source
	combine bool // equal rows are to come one after the other
	unique  bool // a source has no equal rows
	begun   bool
	taken   bool // the row of heads[0] was given out
}

func newOrdered(f *format, keys []sortKey, sources []Source, s *parser.Scatter) *ordered {
	return &ordered{format: f, keys: keys, sources: sources, combine: s.Combine, unique: s.Unique}
}

// next returns the least row.
func (o *ordered) next() (*row, error) {
	switch {
	case !o.begun:
		if err := o.begin(); err != nil {
			return nil, err
		}
	case o.taken:
		if err := o.advance(); err != nil {
			return nil, err
		}
	}
	if len(o.heads) == 0 {
		return nil, io.EOF
	}
	o.taken = true
	return &o.heads[0].row, nil
}

// key returns the values of the row that next gave.
func (o *ordered) key() *values { return &o.heads[0].key }

// begin reads the first row of each source.
func (o *ordered) begin() error {
	o.begun = true
	for i, source := range o.sources {
		h := &head{source: source, index: i}
		err := o.read(h)
		if err == io.EOF {
			continue
		}
		if err != nil {
			return err
		}
		o.heads = append(o.heads, h)
	}
	for i := len(o.heads)/2 - 1; i >= 0; i-- {
		o.down(i)
	}
	return nil
}

// advance replaces the row that was given out by the next one of its source.
func (o *ordered) advance() error {
	o.taken = false
	err := o.read(o.heads[0])
	switch {
	case err == io.EOF && len(o.keys) == 0:
		o.heads = o.heads[1:]
		return nil
	case err == io.EOF:
		last := len(o.heads) - 1
		o.heads[0] = o.heads[last]
		o.heads = o.heads[:last]
	case err != nil:
		return err
	}
	o.down(0)
	return nil
}

// read reads the next row of a source.
func (o *ordered) read(h *head) error {
	packet, err := h.source.Next()
	if err != nil {
		return err
	}
	h.row.set(packet)
	if err := o.format.split(&h.row); err != nil {
		return err
	}
	h.key, h.before = h.before, h.key
	if err := h.key.read(o.format, o.keys, h.row.fields); err != nil {
		return err
	}
	if h.some && !o.follows(&h.before, &h.key) {
		return &UnsupportedError{"merging the rows of several shards by values that the server sorts in a way of its own " +
			"(a type such as UUID or INET6, values that differ beyond max_sort_length only, or an alias with the name of a column)"}
	}
	h.some = true
	return nil
}

// sortedBytes is how much of a weight the server looks at when it sorts: the default
// of max_sort_length.
const sortedBytes = 1024

// follows reports whether a source gave its rows in the order that the merge relies on.
// Where rows only stream, the server may leave what differs late as it comes.
func (o *ordered) follows(before, key *values) bool {
	c := compare(o.keys, before, key)
	switch {
	case c == 0 && o.unique && len(o.keys) > 0:
		return false
	case c <= 0:
		return true
	case o.combine:
		return false
	}
	for i := range o.keys {
		a, b := &before.list[i], &key.list[i]
		if a.compare(b) != 0 {
			return !a.null && !b.null && o.keys[i].weight >= 0 && min(len(a.bytes), len(b.bytes)) >= sortedBytes &&
				bytes.Equal(a.bytes[:sortedBytes], b.bytes[:sortedBytes])
		}
	}
	return true
}

// less compares two heads. Equal rows come in the order of their sources.
func (o *ordered) less(i, j int) bool {
	a, b := o.heads[i], o.heads[j]
	c := compare(o.keys, &a.key, &b.key)
	return c < 0 || c == 0 && a.index < b.index
}

// down moves a head down the heap to its place.
func (o *ordered) down(i int) {
	if len(o.keys) == 0 {
		return
	}
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(o.heads); child++ {
			if o.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		o.heads[i], o.heads[least] = o.heads[least], o.heads[i]
		i = least
	}
}

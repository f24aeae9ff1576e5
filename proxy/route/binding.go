package route

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seqgate/seqgate/vschema"
)

// A binding is one way in which a statement is bound to keyspace ids: a vindex with the values of its columns, of which
// each row gives an id, or the id of a pinned table.
type binding struct {
	vindex  vschema.ColumnVindex
	classes []class // of its columns
	rows    [][]slot
	prefix  bool // rows have the vindex's first columns only
	pinned  vschema.KeyspaceID
}

// slot is where the value of a column comes from.
type slot struct {
	kind  slotKind
	index int // of the plan's values, or of the statement's placeholders
}

type slotKind uint8

const (
	slotNull slotKind = iota
	slotValue
	slotParam
)

// single says whether the binding gives one id at most.
func (b *binding) single() bool { return b.pinned != nil || len(b.rows) == 1 && !b.prefix }

// same says whether both give the same ids, whatever the parameters are.
func (b *binding) same(c *binding) bool {
	if b.pinned != nil || c.pinned != nil {
		return b.pinned != nil && slices.Equal(b.pinned, c.pinned)
	}
	return b.vindex.NamedVindex == c.vindex.NamedVindex && slices.Equal(b.classes, c.classes) && b.prefix == c.prefix &&
		slices.EqualFunc(b.rows, c.rows, slices.Equal)
}

// shards appends the shards of the binding. It is not known for values that rows may equal which the vindex does not put
// where the value is, such as '5.0' of a number.
func (b *binding) shards(dst []int, p *Plan, args func(i int) (vschema.Value, error)) (_ []int, known bool, err error) {
	if b.pinned != nil {
		return append(dst, p.shards.Find(b.pinned)), true, nil
	}
	room := mapRooms.Get().(*mapRoom)
	defer room.done()
	for _, row := range b.rows {
		values := room.values[:0]
		null := false
		for i, s := range row {
			v, err := p.value(s, args)
			if err != nil {
				return dst, false, err
			}
			null = null || v.IsNull()
			v, known = b.classes[i].exact(v)
			if !known {
				return dst, false, nil
			}
			values = append(values, v)
		}
		room.values = values
		if null {
			continue // equal to nothing
		}
		if dst, err = b.find(dst, room.id[:0], p.shards, values); err != nil {
			return dst, false, err
		}
	}
	return dst, true, nil
}

// mapRoom is room for the values and the keyspace id of a row, which a vindex gets.
type mapRoom struct {
	values []vschema.Value
	id     [32]byte
}

var mapRooms = sync.Pool{New: func() any { return new(mapRoom) }}

// done gives the room back, without the values.
func (r *mapRoom) done() {
	clear(r.values[:cap(r.values)])
	mapRooms.Put(r)
}

// find appends the shards of one row of values.
func (b *binding) find(dst []int, id vschema.KeyspaceID, shards *vschema.Shards, values []vschema.Value) ([]int, error) {
	if b.prefix {
		r, err := b.vindex.Vindex.(vschema.PrefixVindex).MapPrefix(values)
		if err != nil {
			return dst, b.mapError(err)
		}
		first, last := shards.Overlapping(r)
		for i := first; i <= last; i++ {
			dst = append(dst, i)
		}
		return dst, nil
	}
	id, err := b.vindex.Map(id, values)
	if err != nil {
		return dst, b.mapError(err)
	}
	return append(dst, shards.Find(id)), nil
}

// mapError is nil for a value that no row has.
func (b *binding) mapError(err error) error {
	if errors.Is(err, vschema.ErrNoShard) {
		return nil
	}
	return errorf(errUnknown, "could not map a value to a keyspace id: %s", err)
}

// value returns the value of a slot.
func (p *Plan) value(s slot, args func(i int) (vschema.Value, error)) (vschema.Value, error) {
	switch s.kind {
	case slotValue:
		return p.values[s.index], nil
	case slotParam:
		if args == nil {
			return vschema.Value{}, errorf(errUnknown, "the value of placeholder %d is missing", s.index+1)
		}
		return args(s.index)
	}
	return vschema.Null(), nil
}

func (b *binding) describe(p *Plan) string {
	if b.pinned != nil {
		return fmt.Sprintf("pinned to %x", []byte(b.pinned))
	}
	var rows []string
	for _, row := range b.rows {
		var values []string
		for _, s := range row {
			switch s.kind {
			case slotValue:
				values = append(values, p.values[s.index].String())
			case slotParam:
				values = append(values, fmt.Sprintf("?%d", s.index))
			default:
				values = append(values, "NULL")
			}
		}
		rows = append(rows, strings.Join(values, ","))
	}
	return fmt.Sprintf("%s(%s): %s", b.vindex.Name, strings.Join(b.vindex.Columns, ","), strings.Join(rows, " | "))
}

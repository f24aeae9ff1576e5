package vschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NamedVindex is a vindex that a keyspace declares.
type NamedVindex struct {
	Name   string
	Type   string
	Params map[string]string // as written
	Owner  string            // the table whose rows keep the vindex's own table filled; of lookup vindexes only
	Unique bool              // it gives one keyspace id for a value; all but some lookup vindexes do
	Vindex Vindex            // nil for a lookup vindex, which needs queries

	columns int // that it takes
}

// ColumnVindex binds columns of a table to a vindex.
type ColumnVindex struct {
	*NamedVindex
	Columns []string // in the order in which the vindex takes them
}

// Map is Vindex.Map of the columns' values, of a functional vindex. Its error names the vindex and the column.
func (c ColumnVindex) Map(dst KeyspaceID, values []Value) (KeyspaceID, error) {
	dst, err := c.Vindex.Map(dst, values)
	if err != nil {
		return dst, c.named(err)
	}
	return dst, nil
}

func (c ColumnVindex) named(err error) error {
	var v *ValueError
	if errors.As(err, &v) {
		return fmt.Errorf("vindex %s: column %s: %w", c.Name, c.Columns[v.Index], err)
	}
	return fmt.Errorf("vindex %s: %w", c.Name, err)
}

// TableName is a table of a keyspace.
type TableName struct {
	Keyspace, Table string
}

// Vindex returns the vindex that the keyspace declares under exactly that name.
func (k *Keyspace) Vindex(name string) (*NamedVindex, bool) {
	v, ok := k.vindexes[name]
	return v, ok
}

// Vindexes returns all vindexes that the keyspace declares, in the order of their names.
func (k *Keyspace) Vindexes() []*NamedVindex { return sorted(k.vindexes) }

// NewShards is NewShards of the names of the keyspace's servers. They need be no key ranges where a vindex of type
// modulo lists them: then they divide the keyspace ids evenly, in the order of the list.
func (k *Keyspace) NewShards(names []string) (*Shards, error) {
	var lists []*NamedVindex
	for _, v := range k.Vindexes() {
		m, ok := v.Vindex.(moduloVindex)
		if !ok {
			continue
		}
		if !slices.Equal(slices.Sorted(slices.Values(m.shards)), slices.Sorted(slices.Values(names))) {
			return nil, fmt.Errorf("the vindex %q lists the shards %s, but the keyspace has %s: let them be the same",
				v.Name, strings.Join(m.shards, ", "), strings.Join(names, ", "))
		}
		lists = append(lists, v)
	}
	if len(lists) == 0 {
		return NewShards(names)
	}
	first := lists[0].Vindex.(moduloVindex).shards
	for _, v := range lists[1:] {
		if !slices.ContainsFunc(first, isKeyRange) && !slices.Equal(first, v.Vindex.(moduloVindex).shards) {
			return nil, fmt.Errorf("the vindexes %q and %q list the shards in different orders: let them be the same", lists[0].Name, v.Name)
		}
	}
	return moduloShards(first)
}

package vschema

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// shardedOnly reads a key that only sharded keyspaces have.
func (d *decoder) shardedOnly(what string, read func(*node)) func(*node) {
	return func(n *node) {
		read(n)
		if !d.current.Sharded {
			d.fail(n, `%s only in a sharded keyspace: write "sharded": true there, or leave the key out`, what)
		}
	}
}

// pinned reads the keyspace id, in hexadecimal, of the shard that holds a whole table.
func (d *decoder) pinned(n *node) KeyspaceID {
	s, ok := n.value.(string)
	if !ok {
		d.wrongType(n, "a string")
		return nil
	}
	id, err := hex.DecodeString(s)
	if err != nil || len(id) == 0 {
		d.fail(n, `%q is no keyspace id: write it in hexadecimal, such as "00" for the first shard`, s)
		return nil
	}
	return id
}

// checkShardedTable checks what the keys of a table of a sharded keyspace say together.
func (d *decoder) checkShardedTable(t *Table, n *node) {
	obj, ok := n.value.(object)
	if !ok {
		return
	}
	vindexes, pinned := obj.get("column_vindexes"), obj.get("pinned")
	if vindexes != nil {
		if items, ok := vindexes.value.(array); ok && len(items) == 0 {
			d.fail(vindexes, "an empty list: write a vindex, or leave the key out")
		}
	}
	switch {
	case t.Type == Sequence:
		d.fail(obj.get("type"), "a sequence has to be in an unsharded keyspace: move the table there")
	case t.Type == Reference && vindexes != nil:
		d.fail(vindexes, "a reference table has all rows in all shards: leave the vindexes out")
	case t.Type == Reference && pinned != nil:
		d.fail(pinned, "a reference table is in all shards, and cannot be pinned to one: leave one out")
	case t.Type == Reference:
	case pinned != nil && vindexes != nil:
		d.fail(pinned, "a pinned table is in one shard, and has no vindexes: leave one out")
	case pinned == nil && vindexes == nil:
		d.fail(n, `nothing says where the table's rows are: write "column_vindexes": [{"column": "id", "name": "VINDEX"}], or "pinned", or "type": "reference"`)
	}
}

// sourceRef is the "source" of a reference table, to resolve when all tables are known.
type sourceRef struct {
	table    *Table
	keyspace *Keyspace
	node     *node
}

// source reads the table that a reference table is a copy of.
func (d *decoder) source(t *Table, n *node) {
	d.name(n)
	d.sources = append(d.sources, sourceRef{t, d.current, n})
}

func (d *decoder) resolveSources() {
	copies := map[TableName]map[*Keyspace]bool{} // which keyspaces have a copy of a table
	for _, ref := range d.sources {
		s, ok := ref.node.value.(string)
		if !ok || s == "" {
			continue
		}
		if ref.table.Type != Reference {
			d.fail(ref.node, `only reference tables have a source: add "type": "reference", or leave it out`)
			continue
		}
		keyspace, table, ok := splitName(s)
		if !ok || keyspace == "" {
			d.fail(ref.node, "%q is no table of another keyspace: write keyspace.table", s)
			continue
		}
		name := TableName{keyspace, table}
		if !d.checkSource(ref, name) {
			continue
		}
		ref.table.Source = &name
		if copies[name] == nil {
			copies[name] = map[*Keyspace]bool{}
		}
		if copies[name][ref.keyspace] {
			d.fail(ref.node, "another table of this keyspace is a copy of %s too: remove one", s)
		}
		copies[name][ref.keyspace] = true
	}
}

func (d *decoder) checkSource(ref sourceRef, name TableName) bool {
	k, ok := d.keyspaces[name.Keyspace]
	if !ok {
		d.fail(ref.node, "there is no keyspace %q: %s", name.Keyspace, Suggest(name.Keyspace, slices.Collect(maps.Keys(d.keyspaces))))
		return false
	}
	t, ok := k.tables[name.Table]
	switch {
	case k == ref.keyspace:
		d.fail(ref.node, "the source is in the same keyspace: write a table of another one")
	case !ok:
		d.fail(ref.node, "there is no table %q in keyspace %q%s", name.Table, name.Keyspace, suggestAfter(": ", name.Table, k.tableNames()))
	case t.Type == Sequence:
		d.fail(ref.node, "the source is a sequence: write a table with rows to copy")
	case t.hasSource:
		d.fail(ref.node, "the source is a copy itself: write the table that it is a copy of")
	default:
		return true
	}
	return false
}

func (k *Keyspace) tableNames() []string  { return slices.Collect(maps.Keys(k.tables)) }
func (k *Keyspace) vindexNames() []string { return slices.Collect(maps.Keys(k.vindexes)) }

func (t *Table) columnNames() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
}

// suggestAfter is Suggest after the word that joins it to the sentence, and empty when nothing is known.
func suggestAfter(join, word string, known []string) string {
	if suggestion := Suggest(word, known); suggestion != "" {
		return join + suggestion
	}
	return ""
}

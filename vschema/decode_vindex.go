package vschema

import (
	"errors"
	"fmt"
)

// vindex reads what a keyspace declares under "vindexes".
func (d *decoder) vindex(name string, n *node) {
	v := &NamedVindex{Name: name, Params: map[string]string{}}
	d.current.vindexes[name] = v
	params := map[string]*node{"": n} // where to show an error of a param; of a missing one, at the vindex
	before := len(d.errs)
	d.object(n, fields{
		"type": func(n *node) { v.Type = d.oneOf(n, vindexTypeNames()...); params["type"] = n },
		"params": func(n *node) {
			d.names(n, "param", func(param string, n *node) { v.Params[param], params[param] = d.string(n), n })
		},
		"owner": func(n *node) { v.Owner, params["owner"] = d.name(n), n; d.owners = append(d.owners, ownerRef{v, n}) },
	})
	if obj, ok := n.value.(object); ok && obj.get("type") == nil {
		d.fail(n, `the key "type" is missing: write "type": "hash" or another`)
	}
	if len(d.errs) == before {
		d.buildVindex(v, params)
	}
}

func (d *decoder) buildVindex(v *NamedVindex, nodes map[string]*node) {
	t := vindexTypes[v.Type]
	p := vindexParams{v.Params, d.read}
	var err error
	if t.lookup != nil {
		v.Unique, v.columns = t.lookup.unique, p.lookupColumns()
		err = errors.Join(t.unknownParams(v.Params), p.checkLookup())
		if v.Owner != "" {
			d.unserve(nodes["owner"], fmt.Sprintf("the rows of a lookup vindex are not kept by this version when those of its owner %q change: "+
				"leave the owner out, and the vindex is not used, or drop it", v.Owner))
		}
	} else if v.Vindex, err = t.new(p); err == nil {
		v.Unique, v.columns = true, v.Vindex.Columns()
	}
	eachParamError(err, func(e *ParamError) { d.fail(nodes[e.Param], "%s", e.Message) })
}

// eachParamError finds the errors that NewVindex joins.
func eachParamError(err error, do func(*ParamError)) {
	switch e := err.(type) {
	case *ParamError:
		do(e)
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			eachParamError(err, do)
		}
	}
}

// ownerRef is the "owner" of a vindex, to check when the keyspace's tables are known.
type ownerRef struct {
	vindex *NamedVindex
	node   *node
}

func (d *decoder) checkOwners(k *Keyspace) {
	for _, ref := range d.owners {
		t, known := vindexTypes[ref.vindex.Type]
		_, ok := k.tables[ref.vindex.Owner]
		switch {
		case known && t.lookup == nil:
			d.fail(ref.node, "only lookup vindexes have an owner: leave it out")
		case !ok && ref.vindex.Owner != "":
			d.fail(ref.node, "there is no table %q in this keyspace%s", ref.vindex.Owner, suggestAfter(": ", ref.vindex.Owner, k.tableNames()))
		}
	}
	d.owners = nil
}

// columnVindexRef is one of a table's "column_vindexes", to resolve when the keyspace's vindexes are known.
type columnVindexRef struct {
	table   *Table
	columns []string
	vindex  string
	primary bool // the first of its table
	node    *node
	name    *node // nil when missing
}

func (d *decoder) columnVindexes(t *Table, n *node) {
	first := true
	d.list(n, func(n *node) {
		d.columnVindex(columnVindexRef{table: t, primary: first, node: n})
		first = false
	})
}

func (d *decoder) columnVindex(ref columnVindexRef) {
	n := ref.node
	before := len(d.errs)
	d.object(n, fields{
		"column": func(n *node) { ref.columns = append(ref.columns, d.name(n)) },
		"columns": func(n *node) {
			d.list(n, func(n *node) { ref.columns = append(ref.columns, d.name(n)) })
		},
		"name": func(n *node) { ref.vindex, ref.name = d.name(n), n },
	})
	obj, ok := n.value.(object)
	if !ok {
		return
	}
	switch one, several := obj.get("column"), obj.get("columns"); {
	case one != nil && several != nil:
		d.fail(several, `both "column" and "columns": leave one out`)
	case one == nil && several == nil:
		d.fail(n, `the key "column" is missing: write "column": "id", or "columns" for a vindex of several`)
	}
	if ref.name == nil {
		d.fail(n, `the key "name" is missing: write the name of a vindex of this keyspace`)
	}
	if len(d.errs) == before {
		d.vindexRefs = append(d.vindexRefs, ref)
	}
}

// resolveVindexes binds the tables of a keyspace to its vindexes.
func (d *decoder) resolveVindexes(k *Keyspace) {
	for _, ref := range d.vindexRefs {
		v, ok := k.vindexes[ref.vindex]
		if !ok {
			d.fail(ref.name, "there is no vindex %q in this keyspace%s", ref.vindex, suggestAfter(": ", ref.vindex, k.vindexNames()))
			continue
		}
		ref.table.ColumnVindexes = append(ref.table.ColumnVindexes, ColumnVindex{NamedVindex: v, Columns: ref.columns})
		if v.columns > 0 { // its own errors are told already where it is not known
			d.checkColumnVindexUse(ref, v)
		}
	}
	d.vindexRefs = nil
}

func (d *decoder) checkColumnVindexUse(ref columnVindexRef, v *NamedVindex) {
	if got, want := len(ref.columns), v.columns; got != want {
		d.fail(ref.node, "the vindex %q takes %s, not %d", v.Name, plural(want, "column"), got)
	}
	switch {
	case ref.primary && v.Vindex == nil:
		d.fail(ref.name, "the first vindex of a table says where its rows are, and %q looks that up itself: put a functional one, such as hash, before it", v.Name)
	case !ref.primary && v.Vindex != nil && v.columns > 1:
		d.fail(ref.name, "a vindex of several columns can only be the first of a table: put %q first", v.Name)
	}
	d.checkVindexColumns(ref)
}

func (d *decoder) checkVindexColumns(ref columnVindexRef) {
	for i, column := range ref.columns {
		if containsFold(ref.columns[:i], column) {
			d.fail(ref.node, "column %q is listed twice: remove one", column)
		}
		if _, ok := ref.table.Column(column); !ok && ref.table.Authoritative && len(ref.table.Columns) > 0 {
			d.fail(ref.node, "column %q is not in the authoritative columns: %s", column, Suggest(column, ref.table.columnNames()))
		}
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

package proxy

import (
	"slices"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/vschema"
)

// A reference table has the same rows in all shards. So no shard may be left to compute
// a value for itself, and writes have one order: the first shard does each before the
// others get it, so that of two that meet one waits there.

// reference reports whether each shard gets all rows.
func (in *shardedInsert) reference() bool { return in.table.Type == vschema.Reference }

// checkComputed refuses rows of which a reference table's shards would compute values.
func (in *shardedInsert) checkComputed() error {
	if len(in.keyspace.Shards) == 1 {
		return nil
	}
	var cells []parser.Cell
	for i := range in.described.Columns {
		c := &in.described.Columns[i]
		filled := in.binding != nil && strings.EqualFold(c.Name, in.binding.Column)
		if c.ComputesUpdate() && in.stmt.OnDuplicate {
			return in.computes(c, "leave ON DUPLICATE KEY UPDATE away, and UPDATE that column too")
		}
		if filled || !c.AutoIncrement() && !c.ComputesDefault() {
			continue
		}
		var err error
		if cells, err = in.stmt.Cells(cells[:0], in.sql, c.Name, in.columns); err != nil {
			return err
		}
		if slices.ContainsFunc(cells, c.LeavesOpen) {
			return in.computes(c, "write its value, or give the table a sequence in the vschema for its ids")
		}
	}
	return nil
}

// computes is the error for a value that each shard would compute.
func (in *shardedInsert) computes(c *catalog.Column, advice string) error {
	return in.unsupported("a value of column '"+c.Name+"' that each shard would compute for itself", advice+
		": a reference table has the same rows in all shards")
}

// checkUpdates refuses an UPDATE of reference tables of which each shard would compute
// values of columns for itself.
func (r *textRouter) checkUpdates(shards []*catalog.Keyspace, p *route.Plan, sql []byte) error {
	first := shards[0]
	for _, u := range p.Updates {
		e, err := r.s.srv.catalog.Lookup(r.s.ctx, first, first.Database, u.Table)
		if err != nil {
			return err
		}
		for i := range e.Table.Columns {
			c := &e.Table.Columns[i]
			set := slices.ContainsFunc(u.Columns, func(name string) bool { return strings.EqualFold(name, c.Name) })
			switch {
			case c.ComputesUpdate() && !set:
				return r.unsupported("UPDATE of the reference table '"+u.Table+"' without its column '"+c.Name+"', which each shard would set for itself",
					"set that column too")
			case (c.ComputesDefault() || c.AutoIncrement()) && set && parser.ContainsWord(sql, "default"):
				return r.unsupported("UPDATE of column '"+c.Name+"' of the reference table '"+u.Table+"' to its DEFAULT, which each shard would compute for itself",
					"write the value itself")
			}
		}
	}
	return nil
}

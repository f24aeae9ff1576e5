package proxy

import (
	"slices"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/vschema"
)

// A reference table has the same rows in all shards. So no shard may be left to compute
// a value for itself, and writes have one order: the first shard does each before the
// others get it, so that of two that meet one waits there.

// reference reports whether each shard gets all rows.
func (in *shardedInsert) reference() bool { return in.table.Type == vschema.Reference }

// computesDefault reports whether the column's default may differ from server to
// server: an expression, or the current time.
func (c *columnInfo) computesDefault() bool {
	if !c.valueIsSQL {
		return strings.HasPrefix(strings.ToUpper(c.value), "CURRENT_TIMESTAMP") // MySQL 5.7 has no mark for it
	}
	return c.value != "" && !parser.IsConstant([]byte(c.value), parser.Mode{})
}

// computesUpdate reports whether a server sets the column in rows that are changed.
func (c *columnInfo) computesUpdate() bool {
	return strings.Contains(strings.ToLower(c.extra), "on update")
}

// checkComputed refuses rows of which a reference table's shards would compute values.
func (in *shardedInsert) checkComputed() error {
	if len(in.keyspace.Shards) == 1 {
		return nil
	}
	var cells []parser.Cell
	for i := range in.described.columns {
		c := &in.described.columns[i]
		filled := in.binding != nil && strings.EqualFold(c.name, in.binding.Column)
		if c.computesUpdate() && in.stmt.OnDuplicate {
			return in.computes(c, "leave ON DUPLICATE KEY UPDATE away, and UPDATE that column too")
		}
		if filled || !c.autoIncrement() && !c.computesDefault() {
			continue
		}
		var err error
		if cells, err = in.stmt.Cells(cells[:0], in.sql, c.name, in.columns); err != nil {
			return err
		}
		if slices.ContainsFunc(cells, c.leavesOpen) {
			return in.computes(c, "write its value, or give the table a sequence in the vschema for its ids")
		}
	}
	return nil
}

// leavesOpen reports whether a server may compute the column's value itself where a row
// says this of it.
func (c *columnInfo) leavesOpen(v parser.Cell) bool {
	switch v.Kind {
	case parser.CellAbsent, parser.CellDefault:
		return true
	case parser.CellNull: // a TIMESTAMP may take it for the current time
		return c.autoIncrement() || strings.HasPrefix(strings.ToLower(c.columnType), "timestamp")
	case parser.CellSigned:
		return c.autoIncrement() && v.Number == 0
	case parser.CellUnsigned:
		return false
	}
	return c.autoIncrement()
}

// computes is the error for a value that each shard would compute.
func (in *shardedInsert) computes(c *columnInfo, advice string) error {
	return in.unsupported("a value of column '"+c.name+"' that each shard would compute for itself", advice+
		": a reference table has the same rows in all shards")
}

// checkUpdates refuses an UPDATE of reference tables of which each shard would compute
// values of columns for itself.
func (r *router) checkUpdates(shards []*Keyspace, p *route.Plan, sql []byte) error {
	first := shards[0]
	for _, u := range p.Updates {
		e, err := r.s.srv.catalog.lookup(r.s.ctx, first, first.Database, u.Table)
		if err != nil {
			return err
		}
		for i := range e.table.columns {
			c := &e.table.columns[i]
			set := slices.ContainsFunc(u.Columns, func(name string) bool { return strings.EqualFold(name, c.name) })
			switch {
			case c.computesUpdate() && !set:
				return r.unsupported("UPDATE of the reference table '"+u.Table+"' without its column '"+c.name+"', which each shard would set for itself",
					"set that column too")
			case (c.computesDefault() || c.autoIncrement()) && set && parser.Mentions(sql, "default"):
				return r.unsupported("UPDATE of column '"+c.name+"' of the reference table '"+u.Table+"' to its DEFAULT, which each shard would compute for itself",
					"write the value itself")
			}
		}
	}
	return nil
}

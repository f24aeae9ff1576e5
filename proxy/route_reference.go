package proxy

import (
	"slices"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
)

// A reference table has the same rows in all shards. So no shard may be left to compute
// a value for itself, and writes have one order: the first shard does each before the
// others get it, so that of two that meet one waits there.

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
				return r.Unsupported("UPDATE of the reference table '"+u.Table+"' without its column '"+c.Name+"', which each shard would set for itself",
					"set that column too")
			case (c.ComputesDefault() || c.AutoIncrement()) && set && parser.ContainsWord(sql, "default"):
				return r.Unsupported("UPDATE of column '"+c.Name+"' of the reference table '"+u.Table+"' to its DEFAULT, which each shard would compute for itself",
					"write the value itself")
			}
		}
	}
	return nil
}

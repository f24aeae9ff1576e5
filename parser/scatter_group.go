package parser

import (
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// readTotals: each shard gives one row, of which one is made.
func (r *scatterReader) readTotals() error {
	if r.stmt.Having != nil {
		return unsupportedSelect("HAVING without GROUP BY")
	}
	r.scatter.Combine = true
	for _, e := range r.list {
		if e.node == nil || !inspect(e.node).aggregates && len(inspect(e.node).columns) > 0 {
			return unsupportedSelect("a column beside an aggregate, without GROUP BY")
		}
		if err := r.aggregate(e); err != nil {
			return err
		}
	}
	return nil
}

// readGrouped: rows of several shards that are equal in the GROUP BY expressions make
// one. The shards sort by those.
func (r *scatterReader) readGrouped(groups []expression, order []orderItem) error {
	if err := r.refuseHaving(groups); err != nil {
		return err
	}
	r.scatter.Combine, r.scatter.Unique = true, true
	for _, e := range r.list {
		if err := r.aggregate(e); err != nil {
			return err
		}
	}
	rank, streams := rankGroups(groups, order)
	for i, item := range order {
		if streams && rank[i] >= 0 {
			if err := r.groupKey(groups[rank[i]], item.desc, copied(item.span)); err != nil {
				return err
			}
		}
	}
	for i, g := range groups {
		if streams && slices.Contains(rank, i) {
			continue
		}
		if err := r.groupKey(g, false, copied(g.span)); err != nil {
			return err
		}
	}
	if !streams {
		return r.sortGroups(order)
	}
	return nil
}

// groupKey adds a key that the shards sort their groups by.
func (r *scatterReader) groupKey(g expression, desc bool, by part) error {
	key, err := r.key(g, desc, len(r.scatter.Order))
	r.scatter.Order = append(r.scatter.Order, key)
	switch c, column := g.node.(*ast.ColumnNameExpr); {
	case g.index >= 0 && r.firstStar < 0 && len(inspect(g.node).columns) == 0:
		by = literal(strconv.Itoa(g.index + 1)) // the text of a number would be a position
	case g.index < 0 && column && c.Name.Table.L == "" && r.hidesColumn(c.Name.Name.L) && !desc:
		by = literal(hiddenName(key.Column - len(r.text.list()))) // ORDER BY takes the alias first
	}
	r.orderBy = append(r.orderBy, []part{by})
	return err
}

// rankGroups returns the group that each item of ORDER BY is, -1 for an item that
// repeats another; it reports false when one is no group.
func rankGroups(groups []expression, order []orderItem) (rank []int, ok bool) {
	for _, item := range order {
		at := -1
		for i, g := range groups {
			if item.index >= 0 && item.index == g.index || item.text == g.text {
				at = i
			}
		}
		if at < 0 {
			return nil, false
		}
		if slices.Contains(rank, at) {
			at = -1
		}
		rank = append(rank, at)
	}
	return rank, true
}

// sortGroups: the groups are collected and sorted by what ORDER BY says.
func (r *scatterReader) sortGroups(order []orderItem) error {
	if r.scatter.Limit != nil {
		r.scatter.Limit.pushed = false
	}
	for i, item := range order {
		key, err := r.sortKey(item, len(r.scatter.Order)+i)
		if err != nil {
			return err
		}
		r.scatter.Sort = append(r.scatter.Sort, key)
	}
	return nil
}

// sortKey returns the key of an item of ORDER BY over groups.
func (r *scatterReader) sortKey(item orderItem, number int) (SortKey, error) {
	if !inspect(item.node).aggregates {
		return r.key(item.expression, item.desc, number)
	}
	if item.index < 0 {
		item.index = r.hide(item.parts())
		if err := r.aggregate(item.expression); err != nil {
			return SortKey{}, err
		}
	}
	for _, a := range r.scatter.Aggregates {
		if a.Key.Column == item.index {
			a.Key.Desc = item.desc
			return a.Key, nil
		}
	}
	return SortKey{}, errUnsure
}

// refuseHaving refuses a HAVING that a shard cannot apply: one that looks at more than
// the groups' keys.
func (r *scatterReader) refuseHaving(groups []expression) error {
	if r.stmt.Having == nil {
		return nil
	}
	found := inspect(r.stmt.Having)
	if found.aggregates || found.subqueries || found.changes {
		return unsupportedSelect("HAVING on an aggregate")
	}
	for _, c := range found.columns {
		if !r.isGroup(groups, c) {
			return unsupportedSelect("HAVING on what is not in GROUP BY")
		}
	}
	return nil
}

// isGroup reports whether the column, which HAVING names, is a GROUP BY expression. A
// name without a table is an alias first.
func (r *scatterReader) isGroup(groups []expression, c *ast.ColumnName) bool {
	hidden := c.Table.L == "" && r.hidesColumn(c.Name.L)
	return slices.ContainsFunc(groups, func(g expression) bool {
		if c.Table.L == "" && g.alias != "" && g.alias == c.Name.L {
			return true
		}
		column, ok := g.node.(*ast.ColumnNameExpr)
		return ok && !hidden && column.Name.Name.L == c.Name.L && (c.Table.L == "" || c.Table.L == column.Name.Table.L)
	})
}

// aggregate reads a column that may be an aggregate.
func (r *scatterReader) aggregate(e expression) error {
	if e.node == nil || !inspect(e.node).aggregates {
		return nil
	}
	f, ok := e.node.(*ast.AggregateFuncExpr)
	if !ok {
		return unsupportedSelect("an expression over aggregates")
	}
	a := Aggregate{Key: SortKey{Column: e.index, Weight: NoColumn, Pad: NoColumn, Text: true}, Sum: NoColumn, Count: NoColumn}
	switch name := lowerName(f); {
	case name == "count" && (!f.Distinct || r.isOneLocal(f.Args)):
		a.Func = AggregateCount
	case name == "sum" && (!f.Distinct || r.isOneLocal(f.Args)):
		a.Func = AggregateSum
	case name == "min", name == "max":
		a.Func = AggregateMin
		if name == "max" {
			a.Func = AggregateMax
		}
		a.Key.Weight, a.Key.Pad = r.hide(call(weightOf, e.parts())), r.hide(call(padOf, e.parts()))
	case name == "avg" && !f.Distinct:
		argument, err := r.argument(e)
		if err != nil {
			return err
		}
		a.Func = AggregateAvg
		a.Sum = r.hide(call("SUM(%s)", argument))
		a.Count = r.hide(call("COUNT(%s)", argument))
	default:
		return unsupportedSelect("an aggregate other than COUNT, SUM, MIN, MAX and AVG, or one of DISTINCT values")
	}
	if countParams(r.sql, r.mode, e.span) > 0 && (a.Key.Weight != NoColumn || a.Sum != NoColumn) {
		return unsupportedSelect("MIN, MAX or AVG of an expression with a parameter")
	}
	if inspect(f).changes && (a.Key.Weight != NoColumn || a.Sum != NoColumn) {
		return unsupportedSelect("MIN, MAX or AVG of a value that changes with each call")
	}
	r.scatter.Aggregates = append(r.scatter.Aggregates, a)
	return nil
}

// isOneLocal reports whether equal values of the argument are in one shard, so that
// no value is counted by two.
func (r *scatterReader) isOneLocal(args []ast.ExprNode) bool {
	return len(args) == 1 && r.isLocal([]expression{{node: args[0]}})
}

// argument returns the text of the argument of an AVG.
func (r *scatterReader) argument(e expression) ([]part, error) {
	sc := newScanner(r.sql[:e.span.End], r.mode)
	sc.end = e.span.Start
	if t := sc.next(); !sc.is(t, "avg") || sc.next() != '(' || r.sql[e.span.End-1] != ')' {
		return nil, errUnsure
	}
	inside := expression{node: e.node.(*ast.AggregateFuncExpr).Args[0], span: Span{sc.end, e.span.End - 1}}
	if !r.verify(&inside) {
		return nil, errUnsure
	}
	return inside.parts(), nil
}

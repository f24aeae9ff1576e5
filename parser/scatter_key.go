package parser

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// key makes the sort key of an expression, with the columns that it needs.
func (r *scatterReader) key(e expression, desc bool, number int) (SortKey, error) {
	found := inspect(e.node)
	switch {
	case found.changes:
		return SortKey{}, unsupportedSelect("ORDER BY, GROUP BY or DISTINCT of a value that changes with each call")
	case found.subqueries:
		return SortKey{}, unsupportedSelect("ORDER BY, GROUP BY or DISTINCT of a subquery")
	case countParams(r.sql, r.mode, e.span) > 0:
		return SortKey{}, unsupportedSelect("ORDER BY, GROUP BY or DISTINCT of an expression with a parameter")
	}
	key := SortKey{Column: e.index, Weight: NoColumn, Pad: NoColumn, Desc: desc}
	if slices.Contains(r.options.Numbers, number) {
		key.Column, key.Number = r.hide(r.ofGroup(e, call("(%s)+0", e.parts()))), true
		return key, nil
	}
	if e.index < 0 {
		key.Column = r.hide(e.parts())
	}
	key.Weight = r.hide(r.ofGroup(e, call(weightOf, e.parts())))
	key.Pad = r.hide(r.ofGroup(e, call(padOf, e.parts())))
	return key, nil
}

// The columns by which a string is compared: see SortKey.
const (
	weightOf = "WEIGHT_STRING(%s)"
	padOf    = "IF(CONCAT(LEFT(%s,0),' ')=LEFT(%s,0),WEIGHT_STRING(CONCAT(LEFT(%s,0),' ')),'')"
)

// ofGroup makes what depends on e alone an aggregate where e is a GROUP BY expression:
// MySQL's ONLY_FULL_GROUP_BY knows only columns to be the same throughout a group when
// they stand within another expression.
func (r *scatterReader) ofGroup(e expression, parts []part) []part {
	_, column := e.node.(*ast.ColumnNameExpr)
	if r.stmt.GroupBy == nil || column || inspect(e.node).aggregates {
		return parts
	}
	return call("MIN(%s)", parts)
}

// readPlain: the shards' rows are the rows.
func (r *scatterReader) readPlain(order []orderItem) error {
	for i, item := range order {
		key, err := r.key(item.expression, item.desc, i)
		if err != nil {
			return err
		}
		r.scatter.Order = append(r.scatter.Order, key)
	}
	return nil
}

// readDistinct: rows are told apart by all columns, so they are sorted by all.
func (r *scatterReader) readDistinct(order []orderItem) error {
	if r.firstStar >= 0 {
		return unsupportedSelect("SELECT DISTINCT with * (name the columns)")
	}
	if len(order) == 0 && r.isLocal(r.list) {
		return nil // no row is in two shards
	}
	r.scatter.Combine = true
	if r.scatter.Limit != nil {
		r.scatter.Limit.pushed = false // a shard's rows may differ in weight only
	}
	keyed := map[int]bool{}
	for i, item := range order {
		if item.index < 0 {
			return unsupportedSelect("SELECT DISTINCT with ORDER BY of what is not selected")
		}
		key, err := r.key(item.expression, item.desc, i)
		if err != nil {
			return err
		}
		keyed[item.index] = true
		r.scatter.Order = append(r.scatter.Order, key)
		r.orderBy = append(r.orderBy, []part{copied(item.span)})
	}
	for _, e := range r.list {
		if keyed[e.index] {
			continue
		}
		key, err := r.key(e, false, len(r.scatter.Order))
		if err != nil {
			return err
		}
		r.scatter.Order = append(r.scatter.Order, key)
		r.orderBy = append(r.orderBy, []part{literal(strconv.Itoa(e.index + 1))})
	}
	return nil
}

// lowerName returns the name of a function in lower case.
func lowerName(f *ast.AggregateFuncExpr) string { return strings.ToLower(f.F) }

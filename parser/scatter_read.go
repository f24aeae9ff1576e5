package parser

import (
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// scatterReader reads a SELECT over several shards.
type scatterReader struct {
	sql     []byte
	mode    Mode
	options ScatterOptions
	stmt    *ast.SelectStmt
	text    *selectText
	scatter *Scatter

	list                []expression // the select list, without aliases
	firstStar, lastStar int          // -1 for none
	hidden              [][]part     // columns added to the list
	orderBy             [][]part     // the shards' ORDER BY; nil for the client's own
	err                 error
}

// expression is an expression of the statement.
type expression struct {
	node  ast.ExprNode // nil for a *
	text  string       // as restored from the tree
	alias string       // in lower case
	span  Span
	index int // in the select list with the hidden columns; -1 when it is not there
}

func (e expression) parts() []part { return []part{copied(e.span)} }

// read reads the statement.
func (r *scatterReader) read() (*Scatter, error) {
	if err := r.readList(); err != nil {
		return nil, err
	}
	if err := r.readLimit(); err != nil {
		return nil, err
	}
	order, err := r.readOrder()
	if err != nil {
		return nil, err
	}
	groups, err := r.readGroups()
	if err != nil {
		return nil, err
	}
	local := groups != nil && r.isLocal(groups)
	switch aggregates := r.hasAggregates(); {
	case local && !r.stmt.Distinct, groups == nil && !aggregates && !r.stmt.Distinct:
		err = r.readPlain(order)
	case groups != nil && !local && r.stmt.Distinct:
		err = unsupportedSelect("DISTINCT of groups")
	case groups == nil && aggregates:
		err = r.readTotals()
	case r.stmt.Distinct:
		err = r.readDistinct(order)
	default:
		err = r.readGrouped(groups, order)
	}
	if err != nil {
		return nil, err
	}
	s, err := r.finish()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// readList reads the select list.
func (r *scatterReader) readList() error {
	fields, spans := r.stmt.Fields.Fields, r.text.list()
	r.firstStar, r.lastStar = -1, -1
	if len(fields) != len(spans) {
		return errUnsure
	}
	for i, f := range fields {
		e := expression{node: f.Expr, span: spans[i], index: i, alias: f.AsName.L}
		if f.WildCard != nil {
			if r.firstStar < 0 {
				r.firstStar = i
			}
			r.lastStar = i
			e.node = nil
			r.list = append(r.list, e)
			continue
		}
		if e.alias != "" {
			e.span, _ = withoutLast(r.sql, r.mode, e.span)
			e.span, _ = withoutLast(r.sql, r.mode, e.span, "as")
		}
		if !r.verify(&e) {
			return errUnsure
		}
		r.list = append(r.list, e)
	}
	return nil
}

// errUnsure says that the text and its syntax tree do not agree.
var errUnsure = unsupportedSelect("a SELECT of which the clauses cannot be told apart")

// verify reports whether the text of an expression is the one of its node, and sets
// what it restores to.
func (r *scatterReader) verify(e *expression) bool {
	text := "SELECT " + string(r.sql[e.span.Start:e.span.End])
	stmt, err := parseTree(text, r.mode)
	if err != nil {
		return false
	}
	query, ok := stmt.(*ast.SelectStmt)
	if !ok || len(query.Fields.Fields) != 1 || query.Fields.Fields[0].Expr == nil || query.Fields.Fields[0].AsName.L != "" ||
		query.From != nil || query.Where != nil || query.Limit != nil || query.OrderBy != nil {
		return false
	}
	e.text = restoredText(e.node)
	return e.text != "" && restoredText(query.Fields.Fields[0].Expr) == e.text
}

// readItems reads the items of GROUP BY or ORDER BY.
func (r *scatterReader) readItems(clause string, items []*ast.ByItem) ([]expression, error) {
	spans := r.text.items(clause)
	if len(spans) != len(items) {
		return nil, errUnsure
	}
	var found []expression
	for i, item := range items {
		e, err := r.readItem(clause, item, spans[i])
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// readItem reads one of them: a position, an alias or column of the select list, or
// any expression.
func (r *scatterReader) readItem(clause string, item *ast.ByItem, span Span) (expression, error) {
	span, _ = withoutLast(r.sql, r.mode, span, "asc", "desc")
	if p, ok := item.Expr.(*ast.PositionExpr); ok {
		if p.P != nil || string(r.sql[span.Start:span.End]) != strconv.Itoa(p.N) || p.N < 1 || p.N > len(r.list) || r.firstStar >= 0 {
			return expression{}, unsupportedSelect("a position in ORDER BY or GROUP BY of a select list with *")
		}
		return r.list[p.N-1], nil
	}
	e := expression{node: item.Expr, span: span, index: -1}
	if !r.verify(&e) {
		return e, errUnsure
	}
	if clause == "group" {
		if first, err := r.isColumnFirst(e); first || err != nil {
			return e, err
		}
	}
	return r.inList(e)
}

// isColumnFirst reports whether a GROUP BY expression is a column though an alias has
// its name: the server looks among the tables' columns first (MySQL manual, "SELECT
// Statement"). Where the expression behind the alias does not show that there is such a
// column, and it cannot be grouped by, the caller has to know.
func (r *scatterReader) isColumnFirst(e expression) (bool, error) {
	c, ok := e.node.(*ast.ColumnNameExpr)
	if !ok || c.Name.Table.L != "" || !r.hidesColumn(c.Name.Name.L) {
		return false, nil
	}
	for _, item := range r.list {
		if item.node == nil || item.alias != c.Name.Name.L {
			continue
		}
		found := inspect(item.node)
		names := func(column *ast.ColumnName) bool { return column.Name.L == c.Name.Name.L }
		if found.aggregates || slices.ContainsFunc(found.columns, names) {
			return true, nil
		}
	}
	if r.options.HasColumn != nil {
		if has, known := r.options.HasColumn(c.Name.Name.L); known {
			return has, nil
		}
	}
	return false, unsupportedSelect("GROUP BY " + c.Name.Name.O + ", which may be a column or the alias (repeat the expression)")
}

// inList returns the column of the select list that an expression names or repeats, or
// the expression itself.
func (r *scatterReader) inList(e expression) (expression, error) {
	name := ""
	if c, ok := e.node.(*ast.ColumnNameExpr); ok && c.Name.Table.L == "" {
		name = c.Name.Name.L
	}
	for _, item := range r.list {
		if item.node == nil {
			continue
		}
		c, ok := item.node.(*ast.ColumnNameExpr)
		switch {
		case name != "" && item.alias == name,
			name != "" && item.alias == "" && ok && c.Name.Name.L == name,
			name == "" && item.text == e.text:
			return item, nil
		}
	}
	if name != "" {
		return e, nil
	}
	for _, column := range inspect(e.node).columns {
		if column.Table.L == "" && r.hidesColumn(column.Name.L) {
			return e, unsupportedSelect("an expression in ORDER BY or GROUP BY with an alias of the select list")
		}
	}
	return e, nil
}

// hidesColumn reports whether the name is an alias of something that is no column of
// that name.
func (r *scatterReader) hidesColumn(name string) bool {
	for _, item := range r.list {
		if item.node == nil || item.alias != name {
			continue
		}
		if c, ok := item.node.(*ast.ColumnNameExpr); !ok || c.Name.Name.L != name {
			return true
		}
	}
	return false
}

// orderItem is an item of ORDER BY.
type orderItem struct {
	expression
	desc bool
	span Span // of the whole item
}

func (r *scatterReader) readOrder() ([]orderItem, error) {
	if (r.stmt.OrderBy != nil) != (r.text.clause("order") != nil) {
		return nil, errUnsure
	}
	if r.stmt.OrderBy == nil {
		return nil, nil
	}
	found, err := r.readItems("order", r.stmt.OrderBy.Items)
	if err != nil {
		return nil, err
	}
	var order []orderItem
	for i, e := range found {
		if e.text == "NULL" {
			continue // ORDER BY NULL is no order
		}
		order = append(order, orderItem{e, r.stmt.OrderBy.Items[i].Desc, r.text.items("order")[i]})
	}
	return order, nil
}

func (r *scatterReader) readGroups() ([]expression, error) {
	if (r.stmt.GroupBy != nil) != (r.text.clause("group") != nil) ||
		(r.stmt.Having != nil) != (r.text.clause("having") != nil) ||
		(r.stmt.LockInfo != nil) != (r.text.clause("for") != nil || r.text.clause("lock") != nil) {
		return nil, errUnsure
	}
	if r.stmt.GroupBy == nil {
		return nil, nil
	}
	for _, item := range r.stmt.GroupBy.Items {
		if item.Desc {
			return nil, unsupportedSelect("GROUP BY ... DESC")
		}
	}
	return r.readItems("group", r.stmt.GroupBy.Items)
}

// isLocal reports whether rows with equal values of the expressions are in one shard.
func (r *scatterReader) isLocal(expressions []expression) bool {
	if r.options.GroupsLocal == nil {
		return false
	}
	var columns []ColumnName
	for _, e := range expressions {
		if c, ok := e.node.(*ast.ColumnNameExpr); ok {
			columns = append(columns, ColumnName{c.Name.Schema.O, c.Name.Table.O, c.Name.Name.O})
		}
	}
	return len(columns) > 0 && r.options.GroupsLocal(columns)
}

// hasAggregates reports whether the statement has an aggregate of its own.
func (r *scatterReader) hasAggregates() bool {
	return inspect(r.stmt.Fields).aggregates || r.stmt.Having != nil && inspect(r.stmt.Having).aggregates ||
		r.stmt.OrderBy != nil && inspect(r.stmt.OrderBy).aggregates
}

package parser

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
	"github.com/pingcap/tidb/pkg/parser/test_driver"
)

// conjuncts reads the conditions of which all have to be fulfilled.
func (w *routeWalk) conjuncts(e ast.ExprNode, b int, scope RouteScope) {
	switch c := unparen(e).(type) {
	case *ast.BinaryOperationExpr:
		switch c.Op {
		case opcode.LogicAnd:
			w.conjuncts(c.L, b, scope)
			w.conjuncts(c.R, b, scope)
		case opcode.EQ, opcode.NullEQ:
			w.equal(unparen(c.L), unparen(c.R), b, scope, c.Op == opcode.NullEQ)
		}
	case *ast.PatternInExpr:
		switch {
		case c.Not:
		case c.Sel == nil:
			w.in(c, b, scope)
		default:
			if w.inScope == nil {
				w.inScope = map[*ast.PatternInExpr]RouteScope{}
			}
			w.inScope[c] = scope
		}
	}
}

func unparen(e ast.ExprNode) ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// equal reads l = r, or l <=> r. Rows are equal when each of their values are.
func (w *routeWalk) equal(l, r ast.ExprNode, b int, scope RouteScope, nullSafe bool) {
	left, leftRow := l.(*ast.RowExpr)
	right, rightRow := r.(*ast.RowExpr)
	if leftRow && rightRow {
		if len(left.Values) == len(right.Values) {
			for i := range left.Values {
				w.equal(unparen(left.Values[i]), unparen(right.Values[i]), b, scope, nullSafe)
			}
		}
		return
	}
	lc, leftColumn := w.columnOf(l, b)
	rc, rightColumn := w.columnOf(r, b)
	switch {
	case leftColumn && rightColumn:
		w.route.Equals = append(w.route.Equals, RouteEqual{Left: lc, Right: rc, RouteScope: scope, NotNull: nullSafe})
	case leftColumn:
		w.bind(lc, r, scope, nullSafe)
	case rightColumn:
		w.bind(rc, l, scope, nullSafe)
	}
}

func (w *routeWalk) bind(c RouteColumn, e ast.ExprNode, scope RouteScope, nullSafe bool) {
	o := w.scan.operand(e)
	if o.Kind == OperandOther || nullSafe && o.Kind != OperandLiteral {
		return // a placeholder may be NULL, which <=> finds
	}
	w.route.Ins = append(w.route.Ins, RouteIn{[]RouteColumn{c}, [][]RouteOperand{{o}}, scope})
}

// in reads a IN (1, 2) and (a, b) IN ((1, 2), (3, 4)).
func (w *routeWalk) in(e *ast.PatternInExpr, b int, scope RouteScope) {
	in := RouteIn{RouteScope: scope}
	for _, value := range rowOf(e.Expr) {
		c, ok := w.columnOf(value, b)
		if !ok {
			return
		}
		in.Columns = append(in.Columns, c)
	}
	for _, item := range e.List {
		values := rowOf(item)
		if len(values) != len(in.Columns) {
			return
		}
		row := make([]RouteOperand, len(values))
		for i, value := range values {
			if row[i] = w.scan.operand(value); row[i].Kind == OperandOther {
				return
			}
		}
		in.Rows = append(in.Rows, row)
	}
	w.route.Ins = append(w.route.Ins, in)
}

// rowOf returns the values of a row, or a single one.
func rowOf(e ast.ExprNode) []ast.ExprNode {
	e = unparen(e)
	row, ok := e.(*ast.RowExpr)
	if !ok {
		return []ast.ExprNode{e}
	}
	values := make([]ast.ExprNode, len(row.Values))
	for i, v := range row.Values {
		values[i] = unparen(v)
	}
	return values
}

// inQuery reads a IN (SELECT b ...) and (a, b) IN (SELECT c, d ...), also negated: of the subquery's rows only those
// matter that are equal to a, if a is not NULL; of the rows of a, where it is a condition, only those that are equal to one
// of these.
func (w *routeWalk) inQuery(e *ast.PatternInExpr, b int) {
	w.expression(e.Expr, b)
	inner := len(w.route.Blocks)
	w.query(e.Sel, queryPlace{parent: b, outer: b, derived: w.route.Blocks[b].Derived})
	query, ok := e.Sel.(*ast.SubqueryExpr)
	if !ok {
		return
	}
	s, ok := query.Query.(*ast.SelectStmt)
	left := rowOf(e.Expr)
	if !ok || !isPlainSelect(s) || len(s.Fields.Fields) != len(left) || inner >= len(w.route.Blocks) {
		return
	}
	for i, f := range s.Fields.Fields {
		outside, ok := w.columnOf(left[i], b)
		inside, okInside := w.columnOf(f.Expr, inner)
		if !ok || !okInside {
			continue
		}
		block := w.route.Blocks[inner]
		scope, condition := w.inScope[e]
		equal := RouteEqual{inside, outside, RouteScope{block.First, block.Last}, !condition}
		w.route.Equals = append(w.route.Equals, equal)
		if condition {
			equal.RouteScope = scope
			w.route.Equals = append(w.route.Equals, equal)
		}
	}
}

// isPlainSelect reports whether the result is a column of each row, whatever the other rows are.
func isPlainSelect(s *ast.SelectStmt) bool {
	if s.With != nil || s.From == nil || s.GroupBy != nil || s.Having != nil || s.Limit != nil || len(s.WindowSpecs) > 0 || s.Fields == nil {
		return false
	}
	parts := []ast.Node{s.Fields}
	if s.OrderBy != nil {
		parts = append(parts, s.OrderBy)
	}
	return !slices.ContainsFunc(parts, func(n ast.Node) bool {
		found := inspect(n)
		return found.windows || found.aggregates
	})
}

// columnOf returns the column that the expression is.
func (w *routeWalk) columnOf(e ast.ExprNode, b int) (RouteColumn, bool) {
	if e == nil {
		return RouteColumn{}, false
	}
	c, ok := unparen(e).(*ast.ColumnNameExpr)
	if !ok {
		return RouteColumn{}, false
	}
	return w.route.column(c.Name, b), true
}

// column finds the table of a qualified column from the block outwards.
func (r *Route) column(c *ast.ColumnName, b int) RouteColumn {
	found := RouteColumn{Table: -1, Block: b, Name: c.Name.L}
	if c.Table.L == "" {
		return found
	}
	found.Block = -1 // not to be looked for by its name alone
	for ; b >= 0; b = r.Blocks[b].outer {
		if table, ok := r.Blocks[b].find(c.Schema.L, c.Table.L); ok {
			found.Table = table
			return found
		}
	}
	return found
}

// find returns the one table of the block that the name before a column means. It is -1 when it is a table expression or
// may be one of several.
func (b *RouteBlock) find(schema, name string) (table int, ok bool) {
	table = -1
	for _, s := range b.sources {
		if s.name != name || schema != "" && (s.alias || s.schema != "" && s.schema != schema) {
			continue
		}
		if ok {
			return -1, true
		}
		table, ok = s.table, true
	}
	return table, ok
}

// Shares reports whether tables of the block share columns by USING or NATURAL, and, with first, whether the first of
// them in the FROM clause is the one that a column without a qualifier means.
func (b *RouteBlock) Shares() (shared, first bool) { return b.using, !b.rightTo }

// operand returns the constant that the expression is.
func (r *routeScan) operand(e ast.ExprNode) RouteOperand {
	e = unparen(e)
	negative := false
	if u, ok := e.(*ast.UnaryOperationExpr); ok && (u.Op == opcode.Minus || u.Op == opcode.Plus) {
		negative = u.Op == opcode.Minus
		e = unparen(u.V)
		if v, ok := e.(*test_driver.ValueExpr); !ok || v.Kind() != test_driver.KindInt64 && v.Kind() != test_driver.KindUint64 {
			return RouteOperand{}
		}
	}
	switch v := e.(type) {
	case *test_driver.ParamMarkerExpr:
		i, ok := r.param(v.Offset)
		if !ok {
			return RouteOperand{}
		}
		return RouteOperand{Kind: OperandParam, Index: i}
	case *test_driver.ValueExpr:
		if v.Kind() == test_driver.KindNull {
			return RouteOperand{Kind: OperandNull}
		}
		i, ok := r.literalAt(v.OriginTextPosition())
		if !ok || r.literals[i].joined {
			return RouteOperand{}
		}
		return RouteOperand{Kind: OperandLiteral, Index: i, Negative: negative}
	}
	return RouteOperand{}
}

package parser

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// routeWalk makes a Route of the TiDB parser's tree.
type routeWalk struct {
	route *Route
	scan  *routeScan
	err   error

	names   []routeName                       // every dotted name of the tree
	ctes    []string                          // names that WITH clauses make, the innermost last
	inScope map[*ast.PatternInExpr]RouteScope // of IN (subquery) that is a condition
}

// queryPlace is where a query stands.
type queryPlace struct {
	parent, outer   int
	derived, member bool
}

// block begins a block with the tables that from names. Conditions are read when all tables have their numbers.
func (w *routeWalk) block(p queryPlace, from *ast.TableRefsClause) int {
	b := len(w.route.Blocks)
	first := len(w.route.Tables)
	w.route.Blocks = append(w.route.Blocks, RouteBlock{
		Parent: p.parent, Derived: p.derived, Members: p.member, outer: p.outer, First: first, Last: first,
	})
	if from == nil || from.TableRefs == nil {
		return b
	}
	f := fromClause{walk: w, block: b}
	f.tables(from.TableRefs)
	w.route.Blocks[b].Last = len(w.route.Tables)
	for _, d := range f.derived {
		outer := p.outer
		if d.Lateral {
			outer = b
		}
		w.query(d.Source, queryPlace{parent: b, outer: outer, derived: true})
	}
	for _, on := range f.on {
		w.conjuncts(on.expr, b, on.scope)
		w.expression(on.expr, b)
	}
	return b
}

// query reads a query of any form.
func (w *routeWalk) query(n ast.Node, p queryPlace) {
	switch q := n.(type) {
	case nil:
	case *ast.SelectStmt:
		w.selectBlock(q, p)
	case *ast.SetOprStmt:
		w.setOperation(q.With, q.SelectList.Selects, q.OrderBy, q.Limit, p)
	case *ast.SetOprSelectList:
		w.setOperation(q.With, q.Selects, q.OrderBy, q.Limit, p)
	case *ast.SubqueryExpr:
		w.query(q.Query, p)
	default:
		w.fail("it has a query of an unknown form")
	}
}

func (w *routeWalk) fail(reason string) {
	if w.err == nil {
		w.err = unreadable(reason)
	}
}

func (w *routeWalk) setOperation(with *ast.WithClause, selects []ast.Node, order *ast.OrderByClause, limit *ast.Limit, p queryPlace) {
	w.route.SetOp = true
	defer w.with(with, p)()
	first := len(w.route.Blocks)
	p.member = true
	for _, s := range selects {
		w.query(s, p)
	}
	if first < len(w.route.Blocks) {
		w.expressions(first, orderItems(order), limitItems(limit))
	}
}

// with reads a WITH clause, and returns what ends its names' scope.
func (w *routeWalk) with(with *ast.WithClause, p queryPlace) func() {
	n := len(w.ctes)
	if with != nil {
		for _, cte := range with.CTEs {
			if with.IsRecursive {
				w.ctes = append(w.ctes, cte.Name.L)
			}
			w.query(cte.Query, queryPlace{parent: p.parent, outer: p.outer, derived: true})
			if !with.IsRecursive {
				w.ctes = append(w.ctes, cte.Name.L)
			}
		}
	}
	return func() { w.ctes = w.ctes[:n] }
}

func (w *routeWalk) selectBlock(s *ast.SelectStmt, p queryPlace) {
	defer w.with(s.With, p)()
	b := w.block(p, s.From)
	w.where(s.Where, b)
	if s.Limit != nil && w.route.Varies == "" {
		w.route.Varies = "a SELECT with LIMIT"
	}
	if s.Fields != nil {
		for _, f := range s.Fields.Fields {
			w.wildcard(f.WildCard)
			w.expression(f.Expr, b)
		}
	}
	if s.GroupBy != nil {
		for _, item := range s.GroupBy.Items {
			w.expression(item.Expr, b)
		}
	}
	if s.Having != nil {
		w.expression(s.Having.Expr, b)
	}
	for i := range s.WindowSpecs {
		w.expression(&s.WindowSpecs[i], b)
	}
	for _, row := range s.Lists {
		w.expression(row, b)
	}
	w.expressions(b, orderItems(s.OrderBy), limitItems(s.Limit))
	w.route.Into = w.route.Into || s.SelectIntoOpt != nil
	if s.LockInfo != nil && s.LockInfo.LockType != ast.SelectLockNone {
		w.route.Locks = true
		for _, t := range s.LockInfo.Tables {
			w.name(t.Schema.L, t.Name.L)
		}
	}
}

func orderItems(o *ast.OrderByClause) []ast.Node {
	var items []ast.Node
	if o != nil {
		for _, item := range o.Items {
			items = append(items, item.Expr)
		}
	}
	return items
}

func limitItems(l *ast.Limit) []ast.Node {
	if l == nil {
		return nil
	}
	return []ast.Node{l.Offset, l.Count}
}

func (w *routeWalk) expressions(b int, lists ...[]ast.Node) {
	for _, list := range lists {
		for _, n := range list {
			w.expression(n, b)
		}
	}
}

// where reads the condition that all rows of the block fulfil.
func (w *routeWalk) where(e ast.ExprNode, b int) {
	if e == nil {
		return
	}
	block := &w.route.Blocks[b]
	w.conjuncts(e, b, RouteScope{block.First, block.Last})
	w.expression(e, b)
}

// expression reads what is within an expression of the block: subqueries, functions, names and variables.
func (w *routeWalk) expression(n ast.Node, b int) {
	if n == nil {
		return
	}
	n.Accept(&routeVisitor{w, b})
}

// routeVisitor sees the nodes of an expression.
type routeVisitor struct {
	walk  *routeWalk
	block int
}

// Enter implements ast.Visitor.
func (v *routeVisitor) Enter(n ast.Node) (ast.Node, bool) {
	w := v.walk
	if w.route.Varies == "" {
		w.route.Varies = varying(n)
	}
	switch e := n.(type) {
	case *ast.SubqueryExpr:
		w.query(e.Query, queryPlace{parent: v.block, outer: v.block, derived: w.route.Blocks[v.block].Derived})
		return n, true
	case *ast.PatternInExpr:
		if e.Sel != nil {
			w.inQuery(e, v.block)
			return n, true
		}
	case *ast.ColumnName:
		w.name(e.Schema.L, e.Table.L, e.Name.L)
	case *ast.TableName:
		w.name(e.Schema.L, e.Name.L)
	case *ast.FuncCallExpr:
		w.name(e.Schema.L, e.FnName.L)
		if e.Schema.L == "" && !slices.Contains(w.route.Functions, e.FnName.L) {
			w.route.Functions = append(w.route.Functions, e.FnName.L)
		}
	case *ast.VariableExpr:
		w.route.Assigns = w.route.Assigns || e.Value != nil
		w.route.Reads = w.route.Reads || !e.IsSystem
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *routeVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// wildcard notes the name of t.*.
func (w *routeWalk) wildcard(f *ast.WildCardField) {
	if f != nil && f.Table.L != "" {
		w.name(f.Schema.L, f.Table.L, "")
	}
}

// routeName is a name of the tree with a dot in it, its parts in lower case with dots between.
type routeName struct {
	parts  []string
	schema bool // the first part is a database
}

// name notes a name of the tree, by its parts, of which the first ones may be empty.
func (w *routeWalk) name(parts ...string) {
	schema := true
	if len(parts) == 3 && parts[0] == "" {
		parts, schema = parts[1:], false
	}
	if parts[0] != "" {
		w.names = append(w.names, routeName{parts, schema})
	}
}

// key is the same for a name of the tree and its chain of tokens.
func nameKey(parts []string) string { return strings.Join(parts, "\x00") }

package parser

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// hasOuterAggregate reports whether a subquery has an aggregate of which no column is of the subquery's own tables: it is
// one of the query around it, as SUM(u.age) in SELECT (SELECT SUM(u.age)) FROM user u. A column without a table is taken to
// be of the subquery, when that has tables.
func hasOuterAggregate(subquery ast.Node) bool {
	o := &outerAggregates{}
	subquery.Accept(o)
	return o.found
}

// outerAggregates walks through a subquery, and knows which tables can be named where.
type outerAggregates struct {
	scopes [][]string // of each query around, the names of its tables in lower case
	found  bool
}

// Enter implements ast.Visitor.
func (o *outerAggregates) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		var names sourceNames
		if n.From != nil {
			n.From.Accept(&names)
		}
		o.scopes = append(o.scopes, names)
	case *ast.AggregateFuncExpr:
		o.found = o.found || o.isOuter(n)
	case *ast.FuncCallExpr:
		o.found = o.found || aggregateNames[n.FnName.L] && o.isOuter(n)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (o *outerAggregates) Leave(n ast.Node) (ast.Node, bool) {
	if _, ok := n.(*ast.SelectStmt); ok {
		o.scopes = o.scopes[:len(o.scopes)-1]
	}
	return n, true
}

func (o *outerAggregates) isOuter(aggregate ast.Node) bool {
	columns := inspect(aggregate).columns
	return len(columns) > 0 && !slices.ContainsFunc(columns, func(c *ast.ColumnName) bool {
		return slices.ContainsFunc(o.scopes, func(names []string) bool {
			return c.Table.L == "" && len(names) > 0 || slices.Contains(names, c.Table.L)
		})
	})
}

// sourceNames are the names of the tables of one FROM clause, in lower case.
type sourceNames []string

// Enter implements ast.Visitor.
func (s *sourceNames) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.TableSource:
		name := n.AsName.L
		if table, ok := n.Source.(*ast.TableName); ok && name == "" {
			name = table.Name.L
		}
		*s = append(*s, name)
		return n, true
	case *ast.SubqueryExpr:
		return n, true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (s *sourceNames) Leave(n ast.Node) (ast.Node, bool) { return n, true }

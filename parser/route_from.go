package parser

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// fromClause numbers the tables of one block.
type fromClause struct {
	walk    *routeWalk
	block   int
	derived []derivedTable
	on      []onClause
}

type derivedTable struct {
	Source  ast.Node
	Lateral bool
}

type onClause struct {
	expr  ast.ExprNode
	scope RouteScope
}

// tables numbers the tables of a part of the FROM clause, and returns which they are.
func (f *fromClause) tables(n ast.Node) RouteScope {
	w := f.walk
	scope := RouteScope{First: len(w.route.Tables)}
	switch t := n.(type) {
	case *ast.Join:
		f.join(t)
	case *ast.TableSource:
		f.source(t)
	case *ast.TableName:
		f.table(t, "")
	default:
		w.fail("its FROM clause has an unknown form")
	}
	scope.Last = len(w.route.Tables)
	return scope
}

// join reads a join. Its condition decides about the rows of both sides, of an outer join about those of the side that
// may be filled with NULLs.
func (f *fromClause) join(j *ast.Join) {
	left := f.tables(j.Left)
	if j.Right == nil {
		return
	}
	right := f.tables(j.Right)
	scope := RouteScope{left.First, right.Last}
	block := &f.walk.route.Blocks[f.block]
	switch j.Tp {
	case ast.LeftJoin:
		scope = right
	case ast.RightJoin:
		scope = left
		block.rightTo = true
	}
	if j.Tp != ast.CrossJoin {
		for i := scope.First; i < scope.Last; i++ {
			f.walk.route.Tables[i].Optional = true
		}
	}
	if j.On != nil {
		f.on = append(f.on, onClause{j.On.Expr, scope})
	}
	block.using = block.using || j.NaturalJoin || len(j.Using) > 0
	if left.Last != left.First+1 || right.Last != right.First+1 {
		return // which of the tables have the column is not known here
	}
	for _, c := range j.Using {
		f.walk.route.Equals = append(f.walk.route.Equals, RouteEqual{
			Left: RouteColumn{left.First, f.block, c.Name.L}, Right: RouteColumn{right.First, f.block, c.Name.L}, RouteScope: scope,
		})
	}
}

func (f *fromClause) source(t *ast.TableSource) {
	switch source := t.Source.(type) {
	case *ast.TableName:
		f.table(source, t.AsName.O)
	case *ast.SelectStmt, *ast.SetOprStmt:
		f.addSource(routeSource{name: t.AsName.L, alias: true, table: -1})
		f.derived = append(f.derived, derivedTable{source, t.Lateral})
	default:
		f.tables(source)
	}
}

// table numbers a table, unless it is the name of a WITH clause.
func (f *fromClause) table(t *ast.TableName, alias string) {
	w := f.walk
	w.name(t.Schema.L, t.Name.L)
	source := routeSource{schema: t.Schema.L, name: t.Name.L, table: len(w.route.Tables)}
	if alias != "" {
		source = routeSource{name: strings.ToLower(alias), alias: true, table: source.table}
	}
	if t.Schema.L == "" && w.isCTE(t.Name.L) {
		source.table = -1
		f.addSource(source)
		return
	}
	if t.AsOf != nil || t.TableSample != nil {
		w.fail("it asks for a table of another time or a sample of one")
	}
	f.addSource(source)
	w.route.Tables = append(w.route.Tables, RouteTable{Table: Table{t.Schema.O, t.Name.O}, Alias: alias, Block: f.block})
}

func (f *fromClause) addSource(s routeSource) {
	b := &f.walk.route.Blocks[f.block]
	b.sources = append(b.sources, s)
}

func (w *routeWalk) isCTE(name string) bool {
	for _, cte := range w.ctes {
		if cte == name {
			return true
		}
	}
	return false
}

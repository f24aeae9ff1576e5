package parser

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// outside is where the statement itself stands.
var outside = queryPlace{parent: -1, outer: -1}

// statement reads a statement by its kind.
func (w *routeWalk) statement(stmt ast.StmtNode) {
	r := w.route
	r.Name = statementName(w.scan.sql, w.scan.mode)
	switch s := stmt.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt:
		r.Kind = RouteSelect
		w.query(s, outside)
	case *ast.DoStmt:
		r.Kind = RouteSelect
		b := w.block(outside, nil)
		for _, e := range s.Exprs {
			w.expression(e, b)
		}
	case *ast.UpdateStmt:
		r.Kind = RouteUpdate
		w.update(s)
	case *ast.DeleteStmt:
		r.Kind = RouteDelete
		w.delete(s)
	case *ast.InsertStmt:
		r.Kind = RouteInsert
		w.insert(s)
	case *ast.ExplainStmt:
		r.Explain = true
		w.statement(s.Stmt)
		r.Name = statementName(w.scan.sql, w.scan.mode)
	case *ast.ShowStmt:
		r.Kind = RouteShow
		w.show(s)
	case *ast.CreateTableStmt:
		w.ddl(s, s.TemporaryKeyword == ast.TemporaryNone && s.Select == nil)
	case *ast.DropTableStmt:
		w.ddl(s, s.TemporaryKeyword == ast.TemporaryNone)
	case *ast.AlterTableStmt, *ast.TruncateTableStmt, *ast.RenameTableStmt, *ast.CreateIndexStmt, *ast.DropIndexStmt:
		w.ddl(s, true)
	case *ast.AnalyzeTableStmt:
		r.Kind = RouteMaintain
		w.tableList(s.TableNames)
	case *ast.OptimizeTableStmt:
		r.Kind = RouteMaintain
		w.tableList(s.Tables)
	default:
		w.namesOnly(s)
	}
}

// ddl reads a definition of tables. One that is not plain is RouteOther.
func (w *routeWalk) ddl(n ast.Node, plain bool) {
	if plain {
		w.route.Kind = RouteDDL
	}
	w.namesOnly(n)
}

func (w *routeWalk) update(s *ast.UpdateStmt) {
	defer w.with(s.With, outside)()
	b := w.block(outside, s.TableRefs)
	w.where(s.Where, b)
	for _, a := range s.List {
		w.name(a.Column.Schema.L, a.Column.Table.L, a.Column.Name.L)
		w.expression(a.Expr, b)
		w.route.Sets = append(w.route.Sets, w.route.column(a.Column, b))
	}
	w.expressions(b, orderItems(s.Order), limitItems(s.Limit))
	w.route.Limit = s.Limit != nil
	w.route.Targets = w.targetsOfSets(b)
}

// targetsOfSets returns the tables that UPDATE may write to: all of the statement's when a column does not say.
func (w *routeWalk) targetsOfSets(b int) []int {
	written := map[int]bool{}
	for _, c := range w.route.Sets {
		written[c.Table] = true
	}
	var targets []int
	block := w.route.Blocks[b]
	for t := block.First; t < block.Last; t++ {
		if written[t] || written[-1] {
			targets = append(targets, t)
		}
	}
	return targets
}

func (w *routeWalk) delete(s *ast.DeleteStmt) {
	defer w.with(s.With, outside)()
	b := w.block(outside, s.TableRefs)
	w.where(s.Where, b)
	w.expressions(b, orderItems(s.Order), limitItems(s.Limit))
	w.route.Limit = s.Limit != nil
	block := w.route.Blocks[b]
	if !s.IsMultiTable || s.Tables == nil {
		for t := block.First; t < block.Last; t++ {
			w.route.Targets = append(w.route.Targets, t)
		}
		return
	}
	for _, t := range s.Tables.Tables {
		w.name(t.Schema.L, t.Name.L)
		table, ok := block.find(t.Schema.L, t.Name.L)
		if !ok || table < 0 {
			w.fail("it deletes from " + t.Name.O + ", which its FROM clause does not name")
			return
		}
		w.route.Targets = append(w.route.Targets, table)
	}
}

func (w *routeWalk) show(s *ast.ShowStmt) {
	b := w.block(outside, nil)
	if s.Table != nil {
		w.name(s.Table.Schema.L, s.Table.Name.L)
		w.route.Tables = append(w.route.Tables, RouteTable{Table: Table{s.Table.Schema.O, s.Table.Name.O}, Block: b})
		w.route.Blocks[b].Last = 1
	}
	w.route.Database = s.DBName
	if s.Where != nil {
		w.expression(s.Where, b)
	}
	if s.DBName == "" || s.Table != nil && s.Table.Schema.L != "" && strings.EqualFold(s.Table.Schema.L, s.DBName) && w.isDotted(s.Table) {
		return
	}
	w.showQualifier(s.DBName)
}

// isDotted reports whether the text has the table's name with its database before it.
func (w *routeWalk) isDotted(t *ast.TableName) bool {
	for _, c := range w.scan.chains {
		if len(c) == 2 && c[0].name == t.Schema.L && c[1].name == t.Name.L {
			return true
		}
	}
	return false
}

// showQualifier finds the database of SHOW ... FROM database.
func (w *routeWalk) showQualifier(database string) {
	var found []routePart
	for _, part := range w.scan.from {
		if part.name == strings.ToLower(database) {
			found = append(found, part)
		}
	}
	if len(found) == 0 {
		w.fail("which word of it is the database is not plain")
		return
	}
	last := found[len(found)-1] // SHOW COLUMNS FROM table FROM database
	w.route.Qualifiers = append(w.route.Qualifiers, RouteQualifier{database, last.start, last.end})
}

// insert reads the names of an INSERT. Its target is the one that INTO names.
func (w *routeWalk) insert(s *ast.InsertStmt) {
	v := &nameVisitor{walk: w, block: w.block(outside, nil)}
	if s.Table != nil && s.Table.TableRefs != nil {
		if source, ok := s.Table.TableRefs.Left.(*ast.TableSource); ok {
			v.target, _ = source.Source.(*ast.TableName)
		}
	}
	s.Accept(v)
	w.route.Blocks[v.block].Last = len(w.route.Tables)
	if len(w.route.Targets) != 1 {
		w.fail("the table that it inserts into is not plain")
	}
}

// tableList reads a statement that names tables only.
func (w *routeWalk) tableList(tables []*ast.TableName) {
	v := &nameVisitor{walk: w, block: w.block(outside, nil)}
	for _, t := range tables {
		v.table(t)
	}
	w.route.Blocks[v.block].Last = len(w.route.Tables)
}

// namesOnly reads which tables the statement names, whatever it does with them.
func (w *routeWalk) namesOnly(n ast.Node) {
	b := w.block(outside, nil)
	n.Accept(&nameVisitor{walk: w, block: b})
	w.route.Blocks[b].Last = len(w.route.Tables)
}

// nameVisitor collects the tables of a statement that is not looked at more closely.
type nameVisitor struct {
	walk   *routeWalk
	block  int
	target *ast.TableName // the one that is written to, if it matters
	seen   map[*ast.TableName]bool
}

// Enter implements ast.Visitor.
func (v *nameVisitor) Enter(n ast.Node) (ast.Node, bool) {
	switch e := n.(type) {
	case *ast.TableName:
		v.table(e)
	case *ast.ColumnName:
		v.walk.name(e.Schema.L, e.Table.L, e.Name.L)
	case *ast.FuncCallExpr:
		v.walk.name(e.Schema.L, e.FnName.L)
	case *ast.SelectField:
		v.walk.wildcard(e.WildCard)
	}
	return n, false
}

// table notes a table, once: some trees have one node in two places.
func (v *nameVisitor) table(t *ast.TableName) {
	if v.seen[t] {
		return
	}
	if v.seen == nil {
		v.seen = map[*ast.TableName]bool{}
	}
	v.seen[t] = true
	r := v.walk.route
	v.walk.name(t.Schema.L, t.Name.L)
	if t == v.target {
		r.Targets = append(r.Targets, len(r.Tables))
	}
	r.Tables = append(r.Tables, RouteTable{Table: Table{t.Schema.O, t.Name.O}, Block: v.block})
}

// Leave implements ast.Visitor.
func (v *nameVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// StatementName returns the first words of a statement as a message names it, such as "LOCK TABLES".
func StatementName(sql []byte, m Mode) string { return statementName(sql, m) }

// twoWords are the keywords that alone do not say what a statement does.
const twoWords = " create drop alter lock unlock load show rename truncate analyze optimize repair check "

func statementName(sql []byte, m Mode) string {
	s := newScanner(sql, m)
	t := s.next()
	for t == '(' {
		t = s.next()
	}
	if t != tokenWord {
		return "this statement"
	}
	name := strings.ToLower(string(s.text()))
	if strings.Contains(twoWords, " "+name+" ") {
		if t = s.next(); t == tokenWord {
			name += " " + string(s.text())
		}
	}
	return strings.ToUpper(name[:min(len(name), maxNear)])
}

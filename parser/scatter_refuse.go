package parser

import (
	"errors"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// unsupportedSelect is the error for a SELECT over several shards.
func unsupportedSelect(form string) error {
	return &UnsupportedError{Form: form}
}

// parseSelect returns the syntax tree of a SELECT.
func parseSelect(sql []byte, m Mode) (*ast.SelectStmt, error) {
	if !isASCII(sql) && m.Charset.layout() != layoutSafe && m.Charset.layout() != layoutSingle || m.Brackets {
		return nil, unsupportedSelect("a SELECT in this character set or sql_mode")
	}
	stmt, err := parseTree(string(sql), m)
	var unsupported *UnsupportedError
	switch {
	case errors.As(err, &unsupported):
		return nil, err
	case err != nil:
		return nil, unsupportedSelect("a SELECT that the parser cannot read (" + err.Error() + ")")
	}
	query, ok := stmt.(*ast.SelectStmt)
	if !ok {
		return nil, unsupportedSelect("UNION, or another statement that is no plain SELECT")
	}
	return query, nil
}

// parseTree returns the syntax tree of one statement, without its comments: the TiDB parser runs some that no server runs,
// as /*T! DISTINCT */.
func parseTree(sql string, m Mode) (ast.StmtNode, error) {
	sql, err := blankComments(sql, m)
	if err != nil {
		return nil, err
	}
	return parseTiDB(sql, m)
}

// maxTreeNesting is how deep the parentheses of a text may be that parseTree gives a tree of, which is walked recursively:
// those of a text that is routed, and some that are added to it.
const maxTreeNesting = 2 * maxRouteNesting

// blankComments puts spaces in the place of comments.
func blankComments(sql string, m Mode) (string, error) {
	text := []byte(sql)
	s := newScanner([]byte(sql), m)
	end, depth := 0, 0
	for {
		t := s.next()
		if depth += nesting(t); depth > maxTreeNesting {
			return "", unsupportedSelect("a SELECT that is nested too deeply")
		}
		if t == tokenInvalid || t == tokenVersion {
			return "", unsupportedSelect("a SELECT that cannot be read with certainty (a version comment?)")
		}
		blank(text[end:s.start])
		if end = s.end; t == tokenEOF {
			return string(text), nil
		}
	}
}

// restoredText returns the text of an expression that tells it from others.
func restoredText(node ast.Node) string {
	var b strings.Builder
	if err := node.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &b)); err != nil {
		return ""
	}
	return b.String()
}

// refuseSelect refuses what does not merge whatever else the statement has.
func refuseSelect(stmt *ast.SelectStmt) error {
	switch {
	case stmt.Kind != ast.SelectStmtKindSelect:
		return unsupportedSelect("TABLE or VALUES")
	case stmt.SelectIntoOpt != nil:
		return unsupportedSelect("SELECT ... INTO")
	case stmt.SelectStmtOpts != nil && stmt.CalcFoundRows:
		return unsupportedSelect("SQL_CALC_FOUND_ROWS")
	case stmt.From == nil:
		return unsupportedSelect("a SELECT without a table")
	case stmt.GroupBy != nil && stmt.GroupBy.Rollup:
		return unsupportedSelect("WITH ROLLUP")
	case len(stmt.WindowSpecs) > 0 || inspect(stmt.Fields).windows || stmt.OrderBy != nil && inspect(stmt.OrderBy).windows:
		return unsupportedSelect("a window function")
	}
	if found := inspect(stmt); found.assigns {
		return unsupportedSelect("an assignment to a user variable")
	}
	return refuseDerived(stmt)
}

// refuseDerived refuses subqueries in FROM and WITH that make one row of several.
func refuseDerived(stmt *ast.SelectStmt) error {
	d := &derived{}
	stmt.From.Accept(d)
	if stmt.With != nil {
		for _, cte := range stmt.With.CTEs {
			d.plain(cte.Query.Query)
		}
	}
	if d.found {
		return unsupportedSelect("a subquery in FROM or WITH that has DISTINCT, GROUP BY, an aggregate, LIMIT, a window function or UNION")
	}
	return nil
}

// derived looks for subqueries in FROM of which the rows depend on more than one row.
type derived struct{ found bool }

func (d *derived) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.TableSource:
		switch n.Source.(type) {
		case *ast.SelectStmt, *ast.SetOprStmt:
			d.plain(n.Source)
			return n, true
		}
	case *ast.SubqueryExpr:
		return n, true // in a condition: the caller's part
	}
	return n, false
}

func (d *derived) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (d *derived) plain(n ast.Node) {
	stmt, ok := n.(*ast.SelectStmt)
	if !ok || stmt.Distinct || stmt.GroupBy != nil || stmt.Having != nil || stmt.Limit != nil || stmt.Fields == nil ||
		stmt.Kind != ast.SelectStmtKindSelect {
		d.found = true
		return
	}
	if f := inspect(stmt.Fields); f.aggregates || f.windows {
		d.found = true
	}
	if stmt.OrderBy != nil && inspect(stmt.OrderBy).aggregates {
		d.found = true
	}
	if stmt.From != nil {
		stmt.From.Accept(d)
	}
	if stmt.With != nil {
		d.found = true
	}
}

// findings is what an expression has, outside its subqueries. An aggregate within one may be the expression's own.
type findings struct {
	aggregates, windows, assigns, subqueries, changes bool
	columns                                           []*ast.ColumnName
}

// inspect looks through an expression.
func inspect(n ast.Node) *findings {
	f := &findings{}
	n.Accept(f)
	return f
}

// changing are functions that give another value each time that they are called.
var changing = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "random_bytes": true, "sys_guid": true, "sleep": true, "sysdate": true,
	"nextval": true, "setval": true, "lastval": true, "last_insert_id": true, "get_lock": true, "release_lock": true,
	"row_count": true, "found_rows": true, "benchmark": true,
}

// aggregateNames are aggregates that the TiDB parser may take for plain functions: those
// it does not know, and all with a space before the parenthesis (sql_mode IGNORE_SPACE).
// An aggregate that a user has made (CREATE AGGREGATE FUNCTION) is not known.
var aggregateNames = map[string]bool{
	"count": true, "sum": true, "min": true, "max": true, "avg": true, "bit_and": true, "bit_or": true, "bit_xor": true,
	"group_concat": true, "json_arrayagg": true, "json_objectagg": true, "std": true, "stddev": true, "stddev_pop": true,
	"stddev_samp": true, "var_pop": true, "var_samp": true, "variance": true, "st_collect": true, "median": true,
	"percentile_cont": true, "percentile_disc": true,
}

// Enter implements ast.Visitor.
func (f *findings) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.AggregateFuncExpr:
		f.aggregates = true
	case *ast.WindowFuncExpr:
		f.windows = true
	case *ast.VariableExpr:
		f.assigns = f.assigns || n.Value != nil
		f.changes = f.changes || !n.IsSystem
	case *ast.FuncCallExpr:
		f.changes = f.changes || changing[n.FnName.L] || n.Schema.L != ""
		f.aggregates = f.aggregates || aggregateNames[n.FnName.L]
	case *ast.ColumnName:
		f.columns = append(f.columns, n)
	case *ast.SubqueryExpr:
		f.subqueries = true
		f.aggregates = f.aggregates || hasOuterAggregate(n)
		return n, true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (f *findings) Leave(n ast.Node) (ast.Node, bool) { return n, true }

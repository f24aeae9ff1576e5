package proxy

import (
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
)

// explainCommand is SHOW SEQGATE PLAN in front of sharded keyspaces.
func (r *statementRouter) explainCommand(sql []byte, m parser.Mode) error {
	stmt, err := parser.ParseCommand(sql, m)
	if err != nil {
		return err
	}
	e, err := r.explain([]byte(stmt.Statement), m)
	if err != nil {
		return err
	}
	r.s.noteKind(meter.Admin)
	r.ran(-1, uint64(len(e)))
	return r.s.replyRows(explanationColumns, e)
}

// explain shows the plan of a statement in front of sharded keyspaces.
func (r *statementRouter) explain(sql []byte, m parser.Mode) (e explanation, err error) {
	if sql, err = oneStatement(sql, m); err != nil {
		return nil, err
	}
	sql = r.resolveVersions(sql, m)
	if places, err := parser.Placeholders(nil, sql, m); err == nil && len(places) > 0 {
		return r.explainPrepared(sql, m)
	}
	if t, _ := parser.ParseTransaction(sql, m); t.Verb != parser.NoTransaction {
		e.add("plan", "transaction")
		e.add("shards", "each that the session uses meanwhile, when it is first used")
		return e, nil
	}
	p, err := r.plan(sql, m)
	if err != nil {
		return e, e.refusal(err)
	}
	switch p.Kind {
	case plan.RoutedAt:
		return r.explainAt(p.Keyspace, p.Text)
	case plan.RoutedHome:
		return r.explainAt(r.s.keyspace, p.SQL)
	case plan.RoutedCurrent:
		return r.explainAt(r.Shards()[0], p.SQL)
	case plan.RoutedInsert:
		in := shardedInsert{ShardedInsert: p.Insert, r: &r.textRouter}
		if err := in.denial(); err != nil {
			return e, e.refusal(err)
		}
		in.explain(&e)
	case plan.RoutedInsertQuery:
		e.add("plan", "rows of a query")
		e.add("rows", "are read first, then inserted as those of VALUES are")
	case plan.RoutedTables:
		return r.explainTables(&p)
	case plan.RoutedLocal:
		e.add("plan", "relay")
		e.add("shards", "the one that knows what it asks for")
	default:
		words := 1
		if p.Kind == plan.RoutedShow {
			words = 2
		}
		e.add("plan", "command")
		e.add("command", "%s", strings.Join(parser.Words(sql, words), " "))
	}
	return e, nil
}

// explainAt shows a statement that one server runs as it does for a session of its own.
func (r *statementRouter) explainAt(k *catalog.Keyspace, sql []byte) (explanation, error) {
	conn, err := r.anyShard(k, r.connectedConn)
	if err != nil {
		return nil, err
	}
	return conn.explain(sql)
}

// explainTables shows a statement that goes where its tables and values say.
func (r *statementRouter) explainTables(p *plan.Routed) (e explanation, err error) {
	k := r.planKeyspace(p.Route)
	switch p.Route.Kind {
	case route.Unsharded:
		return r.explainAt(k, p.Route.AppendSQL(nil, p.SQL, false, r.DatabaseAt(k)))
	case route.Local:
		e.add("plan", "relay")
		e.add("shards", "any one")
		e.add(r.Shards()[0].String(), "%s", p.SQL)
		return e, nil
	}
	var shards []*catalog.Keyspace
	for _, index := range p.Shards {
		shards = append(shards, k.Shards[index])
	}
	if p.Route.Kind == route.Any {
		shards = k.EachShard()[:1]
	}
	e.plan(p.Route, len(shards))
	for _, shard := range shards {
		e.add(shard.String(), "%s", p.Route.AppendSQL(nil, p.SQL, len(shards) > 1 && p.Route.Select, r.DatabaseAt(shard)))
	}
	return e, nil
}

// plan adds what the planner of routes says of a statement that goes to so many shards.
func (e *explanation) plan(p *route.Plan, shards int) {
	lines := strings.Split(p.String(), "\n")
	switch {
	case p.Kind == route.Any:
		e.add("plan", "one shard")
		e.add("shards", "any one: all have the same rows")
	case shards == 1:
		e.add("plan", "one shard")
	case p.Select:
		e.add("plan", "scatter, merge")
	case p.Kind == route.Everywhere && !p.SameRows:
		e.add("plan", "all shards")
	default:
		e.add("plan", "several shards, all or none")
	}
	for _, line := range lines[1:] {
		about, says, _ := strings.Cut(line, ": ")
		e.add(about, "%s", says)
	}
}

// explain shows an INSERT or REPLACE whose rows say where it goes.
func (in *shardedInsert) explain(e *explanation) {
	switch in.Kind {
	case plan.Filled:
		e.add("plan", "fill, divide by rows")
		e.binding(&in.Fill)
		e.ids(&in.Fill)
	default:
		e.add("plan", "divide by rows")
		e.add("table", "%s", in.Table.Name)
	}
	if columns := in.VindexColumns(); len(columns) > 0 {
		e.add("vindex", "%s(%s)", in.Table.ColumnVindexes[0].Name, strings.Join(columns, ", "))
	}
	if in.Shards == nil {
		for _, shard := range in.Targets {
			e.add(in.Keyspace.Shards[shard].String(), "%s", in.explainRows(func(int) bool { return true }))
		}
		return
	}
	byID := func(row int) bool { return in.Pending && in.DependsOnID(row) }
	for i, shard := range in.Keyspace.Shards {
		here := func(row int) bool { return !byID(row) && in.Shards[row] == i }
		if in.anyRow(here) {
			e.add(shard.String(), "%s", in.explainRows(here))
		}
	}
	if in.anyRow(byID) {
		e.add("by new id", "%s", in.explainRows(byID))
	}
}

// denial returns a server's error where the client's account may not run the statement: its plan would tell of the table's
// columns.
func (in *shardedInsert) denial() error {
	conn, err := in.r.anyShard(in.Keyspace.Shards[0], in.r.connectedConn)
	if err != nil {
		return err
	}
	return conn.denial(in.Planner.Stmt.AppendRows(nil, in.SQL, parser.RowEdits{Database: conn.keyspace.Database}))
}

func (in *shardedInsert) anyRow(of func(row int) bool) bool {
	for row := range in.Shards {
		if of(row) {
			return true
		}
	}
	return false
}

// explainRows returns the statement with the rows that of reports true for.
func (in *shardedInsert) explainRows(of func(row int) bool) string {
	edits := parser.RowEdits{Database: in.Keyspace.Shards[0].Database, Rows: of}
	if in.Kind == plan.Filled {
		edits.FillOptions, edits.Column = in.r.s.fillOptions(&in.Fill), in.Binding.Column
		numbers, first := in.numberIDs(), -1 // the row that gets the first id of its text
		edits.Value = func(dst []byte, row int) ([]byte, bool) {
			if !in.Planner.IsOpen(row) {
				return dst, false
			}
			if first < 0 {
				first = row
			}
			return appendNamedID(dst, numbers[row], in.Fill.Wrap && row == first), true
		}
	}
	return string(in.Planner.Stmt.AppendRows(nil, in.SQL, edits))
}

// numberIDs tells of each row which of the new ids it gets, from 1.
func (in *shardedInsert) numberIDs() []int {
	numbers := make([]int, in.Planner.Stmt.Rows)
	n := 0
	for row := range numbers {
		if in.Planner.IsOpen(row) {
			n++
		}
		numbers[row] = n
	}
	return numbers
}

// explainPrepared shows what becomes of a statement with placeholders, which drivers prepare.
func (r *statementRouter) explainPrepared(sql []byte, m parser.Mode) (e explanation, err error) {
	st := &routedStmt{sql: sql, mode: m, within: r.Keyspace, database: r.database}
	st.arguments = st.argument
	err = r.planPrepare(st)
	switch {
	case err != nil:
		return e, e.refusal(err)
	case st.Run == plan.OnOneShard:
		conn, err := r.anyShard(st.Prepares, r.connectedConn)
		if err != nil {
			return nil, err
		}
		return conn.explain(r.textFor(st, conn))
	case st.Run == plan.ByPlan:
		e.add("plan", "by the values of each execution")
		for _, line := range strings.Split(st.Route.String(), "\n")[1:] {
			about, says, _ := strings.Cut(line, ": ")
			e.add(about, "%s", says)
		}
	default:
		e.add("plan", "as text, with the values of each execution")
		if kind := parser.Sniff(sql); kind == parser.Insert || kind == parser.Replace {
			e.add("table", "%s", r.s.planner.Stmt.Table)
		}
	}
	return e, nil
}

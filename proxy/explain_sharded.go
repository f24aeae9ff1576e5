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
func (r *statementRouter) explain(sql []byte, m parser.Mode) (e plan.Explanation, err error) {
	if sql, err = oneStatement(sql, m); err != nil {
		return nil, err
	}
	sql = r.resolveVersions(sql, m)
	if places, err := parser.Placeholders(nil, sql, m); err == nil && len(places) > 0 {
		return r.explainPrepared(sql, m)
	}
	if t, _ := parser.ParseTransaction(sql, m); t.Verb != parser.NoTransaction {
		e.Add("plan", "transaction")
		e.Add("shards", "each that the session uses meanwhile, when it is first used")
		return e, nil
	}
	p, err := r.plan(sql, m)
	if err != nil {
		return refused(err)
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
			return refused(err)
		}
		in.Explain(&e)
	case plan.RoutedInsertQuery:
		e.Add("plan", "rows of a query")
		e.Add("rows", "are read first, then inserted as those of VALUES are")
	case plan.RoutedTables:
		return r.explainTables(&p)
	case plan.RoutedLocal:
		e.Add("plan", "relay")
		e.Add("shards", "the one that knows what it asks for")
	default:
		words := 1
		if p.Kind == plan.RoutedShow {
			words = 2
		}
		e.Add("plan", "command")
		e.Add("command", "%s", strings.Join(parser.Words(sql, words), " "))
	}
	return e, nil
}

// explainAt shows a statement that one server runs as it does for a session of its own.
func (r *statementRouter) explainAt(k *catalog.Keyspace, sql []byte) (plan.Explanation, error) {
	conn, err := r.anyShard(k, r.connectedConn)
	if err != nil {
		return nil, err
	}
	return conn.explain(sql)
}

// explainTables shows a statement that goes where its tables and values say.
func (r *statementRouter) explainTables(p *plan.Routed) (e plan.Explanation, err error) {
	k := r.planKeyspace(p.Route)
	switch p.Route.Kind {
	case route.Unsharded:
		return r.explainAt(k, p.Route.AppendSQL(nil, p.SQL, false, r.DatabaseAt(k)))
	case route.Local:
		e.Add("plan", "relay")
		e.Add("shards", "any one")
		e.Add(r.Shards()[0].String(), "%s", p.SQL)
		return e, nil
	}
	var shards []*catalog.Keyspace
	for _, index := range p.Shards {
		shards = append(shards, k.Shards[index])
	}
	if p.Route.Kind == route.Any {
		shards = k.EachShard()[:1]
	}
	e.Route(p.Route, len(shards))
	for _, shard := range shards {
		e.Add(shard.String(), "%s", p.Route.AppendSQL(nil, p.SQL, len(shards) > 1 && p.Route.Select, r.DatabaseAt(shard)))
	}
	return e, nil
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

// explainPrepared shows what becomes of a statement with placeholders, which drivers prepare.
func (r *statementRouter) explainPrepared(sql []byte, m parser.Mode) (e plan.Explanation, err error) {
	st := &routedStmt{sql: sql, mode: m, within: r.Keyspace, database: r.database}
	st.arguments = st.argument
	err = r.planPrepare(st)
	switch {
	case err != nil:
		return refused(err)
	case st.Run == plan.OnOneShard:
		conn, err := r.anyShard(st.Prepares, r.connectedConn)
		if err != nil {
			return nil, err
		}
		return conn.explain(r.textFor(st, conn))
	case st.Run == plan.ByPlan:
		e.Add("plan", "by the values of each execution")
		for _, line := range strings.Split(st.Route.String(), "\n")[1:] {
			about, says, _ := strings.Cut(line, ": ")
			e.Add(about, "%s", says)
		}
	default:
		e.Add("plan", "as text, with the values of each execution")
		if kind := parser.Sniff(sql); kind == parser.Insert || kind == parser.Replace {
			e.Add("table", "%s", r.s.planner.Stmt.Table)
		}
	}
	return e, nil
}

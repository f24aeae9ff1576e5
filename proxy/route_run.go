package proxy

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// statementRouter runs statements, of a text or prepared by the client's driver or by SQL's PREPARE.
type statementRouter struct {
	textRouter

	prepared preparedStmts
	bound    []byte // the text of an execution under way
}

// statement is query, but for what it may have done to the client's transaction.
func (r *statementRouter) statement(attributes, sql []byte) error {
	if err := r.s.refuseLostID(sql); err != nil {
		return err
	}
	m, err := r.mode()
	if err != nil {
		return err
	}
	sql = r.resolveVersions(sql, m)
	kind := parser.Sniff(sql)
	r.s.noteKind(kindOf(kind))
	if err := r.showTimeouts(kind, sql); err != nil {
		return err
	}
	if t, ok := parser.ParseTransaction(sql, m); t.Verb != parser.NoTransaction {
		return r.transact(t, ok, attributes, sql)
	}
	r.assigned = nil
	p, err := r.plan(sql, m)
	if err == nil {
		if err = r.run(&p, attributes); p.Inserts {
			err = r.syntaxOr(err, p.SQL)
		}
	}
	r.forgetNext()
	return err
}

// run runs a planned statement, and answers it. attributes is what stands before its text in a COM_QUERY.
func (r *statementRouter) run(p *plan.Routed, attributes []byte) error {
	r.assigned = p.Assigned
	switch p.Kind {
	case plan.RoutedSet:
		return r.set(attributes, p.SQL, p.Mode)
	case plan.RoutedUse:
		return r.use(p.Database)
	case plan.RoutedKill:
		return r.passKill(attributes, p.SQL)
	case plan.RoutedNamed:
		return r.runNamed(attributes, p.SQL, p.Mode)
	case plan.RoutedExplain:
		return r.explainCommand(p.SQL, p.Mode)
	case plan.RoutedShow:
		return r.show(attributes, p.SQL, p.Mode)
	case plan.RoutedAt:
		get := r.connectedConn
		if p.Joins {
			get = r.conn
		}
		conn, err := get(p.Keyspace)
		if err != nil {
			return err
		}
		return r.passTo(conn, attributes, p.Text)
	case plan.RoutedLocal:
		return r.local(attributes, p.SQL, p.Found)
	case plan.RoutedCurrent:
		return r.runCurrent(p, attributes)
	case plan.RoutedInsert:
		return (&shardedInsert{ShardedInsert: p.Insert, r: &r.textRouter}).run(attributes)
	case plan.RoutedInsertQuery:
		return r.insertFromQuery(attributes, p.SQL, p.Mode)
	case plan.RoutedTables:
		return r.runTables(p, attributes)
	}
	return r.passHome(attributes, p.SQL)
}

// insert runs an INSERT or REPLACE. A syntax error is a server's, of the client's own text.
func (r *statementRouter) insert(attributes, sql []byte, m parser.Mode) error {
	p, err := r.planInsert(sql, m)
	if err == nil {
		p.Assigned = r.assigned
		err = r.run(&p, attributes)
	}
	return r.syntaxOr(err, sql)
}

// insertFromQuery runs the INSERT ... SELECT that is read into the session's
// statement.
func (r *statementRouter) insertFromQuery(attributes, sql []byte, m parser.Mode) error {
	span := r.s.planner.Stmt.QuerySpan()
	if r.s.planner.Stmt.Params > 0 {
		return &parser.SyntaxError{Near: "?", Line: 1}
	}
	if span.Start == 0 || parser.ContainsWord(sql[span.End:], "select") {
		return r.Unsupported("this INSERT ... SELECT", "read the rows, then INSERT ... VALUES")
	}
	q := queryRows{r: &r.textRouter, mode: m}
	q.text = append(append(q.text, sql[:span.Start]...), "VALUES "...)
	if err := q.collect(sql[span.Start:span.End]); err != nil {
		return err
	}
	if q.rows == 0 {
		r.ran(0, 0)
		return r.s.replyOK(wire.OK{Status: r.status(), Rest: insertInfo{}.append(nil)})
	}
	q.text = append(append(q.text, ' '), sql[span.End:]...)
	return r.insert(attributes, q.text, m)
}

package proxy

import (
	"github.com/seqgate/seqgate/parser"
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
	switch {
	case err == nil:
		if err = r.run(&p, attributes); p.inserts {
			err = r.syntaxOr(err, p.sql)
		}
	case p.read:
		err = r.syntaxOr(err, p.sql)
	}
	r.forgetNext()
	return err
}

// run runs a planned statement, and answers it. attributes is what stands before its text in a COM_QUERY.
func (r *statementRouter) run(p *routedStatement, attributes []byte) error {
	r.assigned = p.assigned
	switch p.kind {
	case routedSet:
		return r.set(attributes, p.sql, p.mode)
	case routedUse:
		return r.use(p.database)
	case routedKill:
		return r.passKill(attributes, p.sql)
	case routedNamed:
		return r.runNamed(attributes, p.sql, p.mode)
	case routedPlan:
		return r.explainCommand(p.sql, p.mode)
	case routedShow:
		return r.show(attributes, p.sql, p.mode)
	case routedAt:
		get := r.connectedConn
		if p.joins {
			get = r.conn
		}
		conn, err := get(p.keyspace)
		if err != nil {
			return err
		}
		return r.passTo(conn, attributes, p.text)
	case routedLocal:
		return r.local(attributes, p.sql, p.found)
	case routedCurrent:
		return r.runCurrent(p, attributes)
	case routedInsert:
		return p.insert.run(attributes)
	case routedQuery:
		return r.insertFromQuery(attributes, p.sql, p.mode)
	case routedTables:
		return r.runTables(p, attributes)
	}
	return r.passHome(attributes, p.sql)
}

// insert runs an INSERT or REPLACE. A syntax error is a server's, of the client's own text.
func (r *statementRouter) insert(attributes, sql []byte, m parser.Mode) error {
	p := routedStatement{sql: sql, mode: m, assigned: r.assigned}
	err := r.planInsert(&p)
	if err == nil {
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
		return r.unsupported("this INSERT ... SELECT", "read the rows, then INSERT ... VALUES")
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

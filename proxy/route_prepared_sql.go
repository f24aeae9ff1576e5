package proxy

import (
	"bytes"
	"errors"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
)

// SQL's PREPARE keeps a statement at one server. So it may prepare what one connection runs
// whatever its values are; all else is refused, as its values are not known here.

// prepareSQL runs SQL's PREPARE.
func (r *statementRouter) prepareSQL(attributes, sql []byte, m parser.Mode) error {
	src, ok := parser.ParsePrepare(sql, m)
	if !ok || !src.IsText && src.Expr == nil {
		return r.refusePrepare("a PREPARE that seqgate cannot read")
	}
	text := src.Text
	if src.Expr != nil {
		home, err := r.anyConn()
		if err != nil {
			return err
		}
		value, err := home.evaluate(string(src.Expr))
		if err == nil {
			text, _, err = value.Source(m)
		}
		if err != nil {
			return err
		}
	}
	st := &routedStmt{sql: bytes.Clone(text), mode: m, within: r.Keyspace, database: r.database}
	conn, err := r.connOfSQL(st)
	if err != nil {
		return err
	}
	if changed := r.textFor(st, conn); src.Expr != nil || !bytes.Equal(changed, st.sql) {
		if !parser.IsASCII(changed) {
			return r.refusePrepare("text outside ASCII in a PREPARE of a variable, or with a keyspace's name,")
		}
		sql = parser.AppendLiteral(append(append([]byte("PREPARE "), src.Raw...), " FROM "...), changed, m)
	}
	if err := r.forgetSQL(src.Name, src.Raw, conn); err != nil {
		return err
	}
	if err := r.passTo(conn, attributes, sql); err != nil || conn.Answer.Failed {
		return err
	}
	conn.prepared = true // which no other connection has
	r.prepared.name(src.Name, shardStmt{conn: conn, conns: &r.conns, backend: conn.Conn})
	return nil
}

// connOfSQL returns the connection that runs all executions of a statement.
func (r *statementRouter) connOfSQL(st *routedStmt) (*executor, error) {
	if err := r.planPrepare(st); err != nil {
		return nil, r.syntaxOr(err, st.sql)
	}
	switch st.Run {
	case plan.OnOneShard:
		return r.conn(st.Prepares)
	case plan.ByPlan:
		if indexes, err := st.Route.Shards(nil, nil); err == nil && len(indexes) == 1 {
			return r.conn(r.Keyspaces[st.Route.Keyspace].Shards[indexes[0]])
		}
	}
	return nil, r.refusePrepare("SQL's PREPARE of a statement whose values say where it runs, or that runs on several shards,")
}

func (r *statementRouter) refusePrepare(what string) error {
	return r.Unsupported(what, "use the statement itself, or the driver's prepared statements")
}

// name notes where the statement of a name is.
func (p *preparedStmts) name(name string, at shardStmt) {
	if p.named == nil {
		p.named = make(map[string]shardStmt)
	}
	p.named[name] = at
}

// forgetSQL gives up what a name stands for on another connection than the one that prepares
// it anew.
func (r *statementRouter) forgetSQL(name string, raw []byte, conn *executor) error {
	at, ok := r.prepared.named[name]
	delete(r.prepared.named, name)
	if !ok || at.conn == conn || !at.alive() {
		return nil
	}
	return errors.Join(at.conn.forgetNamed(name), ignoreRefusal(at.conn.Quietly("DEALLOCATE PREPARE "+string(raw))))
}

// executeSQL runs SQL's EXECUTE, or DEALLOCATE PREPARE, of a name where its statement is.
func (r *statementRouter) executeSQL(attributes, sql []byte, name string, gone bool) error {
	at, ok := r.prepared.named[name]
	if gone {
		delete(r.prepared.named, name)
	}
	if !ok || !at.alive() {
		return r.passHome(attributes, sql) // the server says that it knows none
	}
	conn, err := r.conn(at.conn.keyspace)
	if err != nil {
		return err
	}
	if !gone {
		defer func() { r.opaque = conn }() // it may have set any variable
	}
	return r.passTo(conn, attributes, sql)
}

// runNamed runs SQL's PREPARE, EXECUTE and DEALLOCATE PREPARE.
func (r *statementRouter) runNamed(attributes, sql []byte, m parser.Mode) error {
	if r.opaque != nil {
		if err := r.settings.NoteOpaque(&r.opaque.Session, parser.FindSession(sql, m).Variables); err != nil {
			return err
		}
	}
	switch parser.Sniff(sql) {
	case parser.Execute:
		if name, _, ok := parser.ParseExecute(sql, m); ok {
			return r.executeSQL(attributes, sql, name, false)
		}
	case parser.Deallocate:
		if name, ok := parser.ParseDeallocate(sql, m); ok {
			return r.executeSQL(attributes, sql, name, true)
		}
	default:
		return r.prepareSQL(attributes, sql, m)
	}
	return r.passHome(attributes, sql) // for the server's own error
}

package proxy

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/plan"
)

// prepare handles a COM_STMT_PREPARE: a server prepares the text, and its answer
// is passed on with an id of the router's own.
func (r *statementRouter) prepare() error {
	payload, size, err := r.s.frontPacket()
	if err != nil {
		return err
	}
	r.prepared.last = 0
	sql := bytes.Clone(payload[1:])
	r.s.front.Skip(size)
	r.s.noteText(sql)
	if len(r.prepared.all) >= maxPrepared {
		return mysql.NewDefaultError(mysql.ER_MAX_PREPARED_STMT_COUNT_REACHED, maxPrepared)
	}
	m, err := r.mode()
	if err != nil {
		return err
	}
	r.prepared.next++
	st := &routedStmt{id: r.prepared.next, sql: r.resolveVersions(sql, m), mode: m, within: r.Keyspace, database: r.database}
	st.arguments = st.argument
	if err := r.planPrepare(st); err != nil {
		return r.syntaxOr(err, sql)
	}
	conn, err := r.preparing(st)
	if err != nil {
		return err
	}
	last, several, left := r.last, r.several, r.counts
	accepted, err := r.prepareOn(conn, st)
	if err == nil && accepted {
		r.prepared.keep(st)
		r.last, r.several, r.counts = last, several, left // a server's ROW_COUNT() stays, too
	}
	return err
}

// planPrepare plans how a statement is to be executed.
func (r *statementRouter) planPrepare(st *routedStmt) error {
	st.planned = r.s.srv.catalog.Now()
	return r.routed(func() (err error) {
		st.RoutedPrepared, err = r.routes.Prepare(st.sql, st.mode)
		return err
	})
}

// textFor returns the statement's text as a connection gets it.
func (r *statementRouter) textFor(st *routedStmt, conn *executor) []byte {
	stmt := &r.s.planner.Stmt
	switch {
	case st.Text != nil:
		return bytes.Clone(st.Text)
	case st.Into && stmt.ParseTarget(st.sql, st.mode) == nil:
		return stmt.AppendInto(nil, st.sql, conn.keyspace.Database)
	case st.Route == nil || !st.Route.HasEdits():
		return bytes.Clone(st.sql)
	}
	return st.Route.AppendSQL(nil, st.sql, false, r.DatabaseAt(conn.keyspace))
}

// prepareOn has a connection prepare a statement, and answers the client. It reports whether
// the server has accepted it.
func (r *statementRouter) prepareOn(conn *executor, st *routedStmt) (accepted bool, err error) {
	payload := append([]byte{mysql.COM_STMT_PREPARE}, r.textFor(st, conn)...)
	var own *statement
	conn.clientStatementID = st.id
	defer func() { conn.clientStatementID = 0 }()
	err = r.on(conn, func() (err error) {
		if st.Run == plan.AsText {
			own, err = conn.prepareAsIs(payload)
		} else {
			own, err = conn.preparePacket(payload, 0)
		}
		return err
	})
	if err != nil || own == nil {
		return false, err
	}
	st.params, st.columns = own.params, own.columns
	if st.Run == plan.AsText { // it was of use for its answer only
		return true, conn.SendClose(own.id)
	}
	st.conns = append(st.conns, shardStmt{conn: conn, conns: &r.conns, backend: conn.Conn, stmt: own})
	return true, nil
}

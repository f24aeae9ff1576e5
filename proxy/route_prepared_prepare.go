package proxy

import (
	"bytes"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/route"
)

// prepare deals with a COM_STMT_PREPARE: a server prepares the text, and its answer
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
	st := &routedStmt{id: r.prepared.next, sql: r.resolveVersions(sql, m), mode: m, within: r.keyspace, database: r.database}
	st.arguments = st.argument
	k, err := r.planPrepare(st)
	if err != nil {
		return r.syntaxOr(err, sql)
	}
	conn, err := r.preparing(k, st)
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

// planPrepare judges how a statement is to be executed, and gives the keyspace or
// shard that prepares it first.
func (r *statementRouter) planPrepare(st *routedStmt) (*catalog.Keyspace, error) {
	st.plan, st.at, st.first, st.into, st.loaded = nil, nil, nil, false, r.s.srv.loaded()
	st.planned = r.s.srv.catalog.Now()
	kind := parser.Sniff(st.sql)
	if t, _ := parser.ParseTransaction(st.sql, st.mode); t.Verb != parser.NoTransaction {
		kind = parser.Set
	}
	stays, err := r.judgeOneServer(st)
	if err != nil {
		return nil, err
	}
	switch kind {
	case parser.Set, parser.Use, parser.Kill:
		st.run = asText
		return r.s.keyspace, nil
	case parser.Insert, parser.Replace:
		return r.planPrepareInsert(st)
	case parser.Next:
		stmt, err := parser.ParseNext(st.sql, st.mode)
		if err != nil && stmt.Sequence == "" {
			return nil, err
		}
		return r.alwaysAt(st, r.sequenceKeyspace(parser.Table{Schema: stmt.Schema, Name: stmt.Sequence})), nil
	case parser.Prepare, parser.Execute, parser.Deallocate:
		return r.alwaysAt(st, r.shards()[0]), nil
	}
	if !stays && parser.MayCall(st.sql) {
		if k := r.callsAt(st); k != nil {
			return r.alwaysAt(st, k), nil
		}
	}
	k := r.shards()[0]
	if stays {
		if r.alwaysAt(st, k); commitsFirst(kind, st.sql) {
			st.run = asText
		}
		if st.run == asText || kind != parser.Select {
			return k, nil
		}
		if _, uses := st.usesSession(); uses {
			st.run = anew
		}
		return k, nil
	}
	if found, uses := st.usesSession(); uses {
		return r.planSession(st, &found)
	}
	return r.planRouted(st)
}

// callsAt gives where a statement runs that asks for values of sequences and has no
// tables; nil for any other.
func (r *statementRouter) callsAt(st *routedStmt) *catalog.Keyspace {
	calls := parser.FindCalls(st.sql, st.mode).Calls
	if len(calls) == 0 || parser.FindSession(st.sql, st.mode).Uses&parser.ReadsTables != 0 {
		return nil
	}
	return r.sequenceKeyspace(calls[0].Sequence)
}

// planPrepareInsert is planPrepare for INSERT and REPLACE.
func (r *statementRouter) planPrepareInsert(st *routedStmt) (*catalog.Keyspace, error) {
	stmt := &r.s.planner.Stmt
	if err := stmt.ParseTarget(st.sql, st.mode); err != nil {
		return nil, err
	}
	st.first, st.into = nil, false
	k, err := r.ownerOf(stmt.Schema, stmt.Table)
	switch {
	case err != nil:
		return nil, err
	case k == nil: // a table of the servers' own
		return r.alwaysAt(st, r.s.keyspace), nil
	case k.Shards == nil:
		return r.prepareUnsharded(k, st)
	}
	st.run, st.into = asText, stmt.Schema != "" && stmt.Schema == k.Name
	return k.Shards[0], nil
}

// planRouted is planPrepare for a statement that goes where its tables and values say.
func (r *statementRouter) planRouted(st *routedStmt) (*catalog.Keyspace, error) {
	p, err := st.loaded.Planner.Plan(st.sql, r.keyspaceName(), st.mode)
	if err != nil {
		return nil, err
	}
	st.plan = p
	k := r.keyspace
	if p.Keyspace != "" {
		k = r.s.srv.cfg.Keyspaces[p.Keyspace]
	}
	switch p.Kind {
	case route.Local:
		return r.alwaysAt(st, r.shards()[0]), nil
	case route.Unsharded:
		if commitsFirst(parser.Sniff(st.sql), st.sql) { // which ends transactions on all shards
			st.run = asText
			return k, nil
		}
		return r.alwaysAt(st, k), nil
	case route.Any:
		return r.alwaysAt(st, k.EachShard()[0]), nil
	case route.Everywhere, route.Insert:
		st.run = asText
	default:
		st.run = byPlan
	}
	return k.EachShard()[0], nil
}

// textFor gives the statement's text as a connection gets it.
func (r *statementRouter) textFor(st *routedStmt, conn *executor) []byte {
	stmt := &r.s.planner.Stmt
	switch {
	case st.first != nil:
		return bytes.Clone(st.first)
	case st.into && stmt.ParseTarget(st.sql, st.mode) == nil:
		return stmt.AppendInto(nil, st.sql, conn.keyspace.Database)
	case st.plan == nil || !st.plan.HasEdits():
		return bytes.Clone(st.sql)
	}
	return st.plan.AppendSQL(nil, st.sql, false, r.databaseAt(conn.keyspace))
}

// prepareOn has a connection prepare a statement, and answers the client. It reports whether
// the server has accepted it.
func (r *statementRouter) prepareOn(conn *executor, st *routedStmt) (accepted bool, err error) {
	payload := append([]byte{mysql.COM_STMT_PREPARE}, r.textFor(st, conn)...)
	var own *statement
	conn.clientStatementID = st.id
	defer func() { conn.clientStatementID = 0 }()
	err = r.on(conn, func() (err error) {
		if st.run == asText {
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
	if st.run == asText { // it was of use for its answer only
		return true, conn.SendClose(own.id)
	}
	st.conns = append(st.conns, shardStmt{conn: conn, conns: &r.conns, backend: conn.Conn, stmt: own})
	return true, nil
}

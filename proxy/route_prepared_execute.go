package proxy

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/param"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/vschema"
)

// executePrepared handles a COM_STMT_EXECUTE or COM_STMT_BULK_EXECUTE, which
// frontPacket read.
func (r *statementRouter) executePrepared(st *routedStmt, payload []byte, size int) error {
	now, database := r.Keyspace, r.database
	if now == st.within && database == st.database {
		return r.executeWithin(st, payload, size)
	}
	// A statement belongs to where it was prepared, as both servers have it: they change
	// there for the execution, and back, also after a USE (MariaDB prepares that).
	r.Keyspace, r.database = st.within, st.database
	err := r.executeWithin(st, payload, size)
	r.Keyspace, r.database = now, database
	return err
}

// executeWithin is executePrepared while the current keyspace is the statement's.
func (r *statementRouter) executeWithin(st *routedStmt, payload []byte, size int) error {
	last := r.last
	r.last = nil
	defer r.forgetNext()
	defer st.letGo()
	err := r.readsAlike(st)
	if err == nil {
		err = r.s.refuseLostID(st.sql)
	}
	if err == nil {
		err = r.replan(st)
	}
	if err == nil {
		kind := parser.Sniff(st.sql)
		r.s.noteKind(kindOf(kind))
		err = r.showTimeouts(kind, st.sql)
	}
	switch {
	case err != nil:
	case payload[0] == comStmtBulkExecute && st.Run != plan.OnOneShard:
		err = errBulk
	case payload[0] == comStmtBulkExecute:
		return r.executeAt(st, payload, size)
	default:
		err = r.readValues(st, payload)
	}
	if err != nil {
		r.s.front.Skip(size)
		return err
	}
	switch st.Run {
	case plan.OnOneShard:
		return r.executeAt(st, payload, size)
	case plan.AsText:
		return r.executeAsText(st, size)
	case plan.Anew:
		return r.executeAnew(st, last, size)
	}
	return r.executeByPlan(st, payload, size)
}

// executeAt executes a statement whose executions all run on one connection.
func (r *statementRouter) executeAt(st *routedStmt, payload []byte, size int) error {
	if r.opaque != nil {
		if err := r.settings.NoteOpaque(&r.opaque.Session, st.Variables); err != nil {
			r.s.front.Skip(size)
			return err
		}
	}
	if st.At.Shard != "" { // any would do
		if conn, err := r.anyShard(st.At, r.conn); err == nil {
			st.At = conn.keyspace
		}
	}
	r.assigned = st.Assigned
	err := r.executeOn(st.At, st, payload, size)
	if r.assigned = nil; err == nil && st.Program {
		r.opaque = r.last
	}
	return err
}

// errBulk refuses MariaDB's bulk executions of what goes to several shards.
var errBulk = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate does not support COM_STMT_BULK_EXECUTE in front of sharded keyspaces; execute row by row (useBulkStmts=false), or write several rows in one INSERT")

// letGo forgets the values of an execution.
func (st *routedStmt) letGo() {
	clear(st.values)
	st.values = st.values[:0]
	st.long, st.ahead = nil, nil
}

// replan plans a statement anew when the vschema is another one. One that cannot be
// executed by that is planned again at its next execution.
func (r *statementRouter) replan(st *routedStmt) error {
	if st.Loaded == r.s.srv.loaded() && r.renewed(st) {
		return nil
	}
	if err := st.close(); err != nil {
		return err
	}
	st.conns, st.cursor = nil, nil
	err := r.planPrepare(st)
	if err != nil {
		st.Loaded = nil
	}
	return err
}

// renewed ensures that a plan made by what the servers told of columns is not older
// than that may be. It reports false when the statement is to be judged anew.
func (r *statementRouter) renewed(st *routedStmt) bool {
	now := r.s.srv.catalog.Now()
	if st.Route == nil || !st.Route.AskedTypes() || now.Sub(st.planned) < catalog.Fresh {
		return true
	}
	r.s.srv.catalog.ExpirePlans()
	p, err := st.Loaded.Planner.Plan(st.sql, r.KeyspaceName(), st.mode)
	if err != nil || p.Kind != st.Route.Kind || p.Select != st.Route.Select {
		return false
	}
	st.Route, st.planned = p, now
	return true
}

// readValues reads the parameters of an execution.
func (r *statementRouter) readValues(st *routedStmt, payload []byte) error {
	const header, countAvailable = 10, 8
	if len(payload) < header {
		return malformedExecute()
	}
	p := wire.ParamReader{Data: payload, At: header, Room: st.values}
	named := r.s.Has(mysql.CLIENT_QUERY_ATTRIBUTES)
	count := uint64(st.params)
	if named && payload[executeFlags]&countAvailable != 0 {
		count = p.Number()
	} else if named && st.params > 0 {
		return uncountedExecute()
	}
	if count == 0 && st.params == 0 && !p.Bad {
		return nil
	}
	st.values = p.ReadParams(count, named, st.types, st.ahead)
	if p.Bad || len(st.values) < st.params {
		return malformedExecute()
	}
	st.types = st.types[:0]
	for i := range st.values {
		v := &st.values[i]
		st.types = append(st.types, wire.Param{Type: v.Type, Name: v.Name})
		if v.Long {
			v.Null, v.Ahead = false, st.long[uint16(i)]
		}
	}
	st.typed = p.Typed
	return nil
}

// argument returns the value of a parameter as a vindex maps it.
func (st *routedStmt) argument(i int) (vschema.Value, error) {
	if i >= len(st.values) {
		return vschema.Value{}, malformedExecute()
	}
	return param.VindexValue(&st.values[i], st.mode)
}

// executeByPlan executes a statement on the shards that its plan and values say.
func (r *statementRouter) executeByPlan(st *routedStmt, payload []byte, size int) error {
	indexes, err := st.Route.Shards(r.indexes[:0], st.arguments)
	r.indexes = indexes
	whole := r.Keyspaces[st.Route.Keyspace]
	switch {
	case err != nil:
	case len(indexes) == 1:
		return r.executeOn(whole.Shards[indexes[0]], st, payload, size)
	case st.Route.Select:
		return r.selectPrepared(st, size)
	case st.columns > 0:
		err = errRowsOfSeveral
	default:
		return r.executeAsText(st, size)
	}
	r.s.front.Skip(size)
	return err
}

// errRowsOfSeveral refuses RETURNING where several shards write.
var errRowsOfSeveral = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate does not support rows as the answer to a prepared statement that several shards execute; leave RETURNING away, or name the sharding key")

// executeOn executes a statement on one connection, whose answer goes to the client as it comes.
func (r *statementRouter) executeOn(k *catalog.Keyspace, st *routedStmt, payload []byte, size int) error {
	l, err := r.preparedAt(k, st)
	if err == nil {
		err = r.refuseProgram(l.conn, st.sql)
	}
	if err == nil {
		err = l.sendAhead(st.long)
	}
	if err != nil {
		r.s.front.Skip(size)
		return err
	}
	if payload[0] == mysql.COM_STMT_EXECUTE && st.params > 0 && !st.typed {
		// This server may not have got them.
		payload = r.s.appendExecute(nil, 0, payload[executeFlags], st.values)
		r.s.front.Skip(size)
		size = 0
	}
	binary.LittleEndian.PutUint32(payload[1:], l.stmt.id)
	st.cursor = nil
	if payload[0] == mysql.COM_STMT_EXECUTE && payload[executeFlags]&cursorTypes != 0 {
		st.cursor = l
	}
	r.last = l.conn
	if l.stmt.relayed() {
		return r.on(l.conn, func() error { return l.conn.executeRelayed(l.stmt, payload, size) })
	}
	return r.on(l.conn, func() error { return l.conn.executePacket(l.stmt, payload, size) })
}

// relayed reports whether an execution is only passed on.
func (st *statement) relayed() bool { return st.next == nil && st.calls == nil && !st.writes }

// executeAsText executes a statement by its text, with its values as literals.
func (r *statementRouter) executeAsText(st *routedStmt, size int) error {
	text, err := r.boundText(st)
	r.s.front.Skip(size)
	if err != nil {
		return err
	}
	if cap(text) > maxScratch {
		r.bound = nil
		defer r.routes.DropRoom()
	}
	return r.statement(append([]byte{mysql.COM_QUERY}, r.s.NoAttributes()...), text)
}

// boundText returns the statement's text with the values of an execution as literals.
func (r *statementRouter) boundText(st *routedStmt) (text []byte, err error) {
	if st.places == nil && st.params > 0 {
		if st.places, err = parser.Placeholders(nil, st.sql, st.mode); err != nil {
			return nil, err
		}
	}
	if len(st.places) != st.params {
		return nil, parser.ErrPlaceholders
	}
	r.bound, err = parser.AppendBound(r.bound[:0], st.sql, st.places, func(dst []byte, n int) ([]byte, error) {
		return param.AppendLiteral(dst, &st.values[n], st.mode)
	})
	return r.bound, err
}

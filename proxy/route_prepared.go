package proxy

import (
	"encoding/binary"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/vschema"
)

// A client's prepared statement is prepared at each shard that an execution needs, when
// it first does. The client knows it by an id of the router's own.

// preparedStmts are the statements that the client has prepared by its driver.
type preparedStmts struct {
	all  map[uint32]*routedStmt
	next uint32 // id of the statement prepared last
	last uint32 // ... which stands for MariaDB's "last prepared"; 0 when that failed

	named map[string]shardStmt // those of SQL's PREPARE, by name
}

// maxPrepared bounds the statements of a session: it is the default of the server's
// max_prepared_stmt_count, which counts only those that are prepared there.
const maxPrepared = 16382

// routedStmt is one of them.
type routedStmt struct {
	id       uint32
	sql      []byte            // as the client sent it
	mode     parser.Mode       // in which it was read
	within   *catalog.Keyspace // the current keyspace then
	database string            // ... and the default database, when it is another than the keyspace's
	plan.RoutedPrepared
	planned time.Time

	params, columns int
	places          []int                              // of the placeholders, once they were needed
	values          []wire.Param                       // of the execution under way
	types           []wire.Param                       // of the latest execution that brought types
	typed           bool                               // it brought them itself
	long            map[uint16][]byte                  // values that were sent ahead
	ahead           map[uint16]bool                    // ... and of which parameters
	arguments       func(i int) (vschema.Value, error) // of the execution under way
	conns           []shardStmt
	cursor          *shardStmt // where rows are left to be fetched
}

// shardStmt is a statement at one server.
type shardStmt struct {
	conn    *executor
	conns   *shardConns   // of the session
	backend *backend.Conn // that it was prepared on; thread ids begin anew with a server
	stmt    *statement
}

// alive reports whether the connection is still the one, and the session's.
func (l *shardStmt) alive() bool {
	return !l.conn.HasEnded() && l.conn.Conn == l.backend && l.conns.find(l.conn.keyspace) == l.conn
}

// preparedCommand handles the commands about prepared statements.
func (r *statementRouter) preparedCommand(code byte) error {
	if code == mysql.COM_STMT_PREPARE {
		return r.prepare()
	}
	silent := code == mysql.COM_STMT_CLOSE || code == mysql.COM_STMT_SEND_LONG_DATA
	r.s.out.silent = silent
	payload, size, err := r.s.frontPacket()
	if err != nil {
		return err
	}
	const head = 5 // the command and the id
	if len(payload) < head {
		r.s.front.Skip(size)
		return unlessSilent(silent, malformedPacket())
	}
	id := binary.LittleEndian.Uint32(payload[1:])
	if id == lastPrepared && r.s.MariaDB {
		id = r.prepared.last
	}
	st := r.prepared.all[id]
	if st == nil {
		r.s.front.Skip(size)
		return unlessSilent(silent, r.s.unknownStatement(id, code))
	}
	switch code {
	case mysql.COM_STMT_CLOSE:
		r.s.front.Skip(size)
		delete(r.prepared.all, id)
		return st.close()
	case mysql.COM_STMT_SEND_LONG_DATA:
		err = r.keepLong(st, payload)
		r.s.front.Skip(size)
		return err
	case mysql.COM_STMT_RESET:
		r.s.front.Skip(size)
		return r.resetPrepared(st)
	case mysql.COM_STMT_FETCH:
		return r.fetch(st, payload, size)
	}
	return r.executePrepared(st, payload, size)
}

// unlessSilent returns an error for a command that has an answer. The servers ignore
// others that are about no statement, as drivers close those that a reset has closed.
func unlessSilent(silent bool, err error) error {
	if silent {
		return nil
	}
	return err
}

// keep gives a statement an id.
func (p *preparedStmts) keep(st *routedStmt) {
	if p.all == nil {
		p.all = make(map[uint32]*routedStmt)
	}
	p.all[st.id], p.last = st, st.id
}

// drop forgets all statements, with a session that begins anew.
func (p *preparedStmts) drop() { *p = preparedStmts{next: p.next} }

// close closes the statement at each server. There is no answer.
func (st *routedStmt) close() error {
	for i := range st.conns {
		l := &st.conns[i]
		if !l.alive() || l.stmt.next != nil {
			continue
		}
		if err := l.conn.closeOwn(l.stmt); err != nil {
			return err
		}
	}
	return nil
}

// resetPrepared drops what was sent ahead for a statement, and its open cursor.
func (r *statementRouter) resetPrepared(st *routedStmt) error {
	st.long, st.ahead, st.cursor = nil, nil, nil
	for i := range st.conns {
		if l := &st.conns[i]; l.alive() && l.stmt.next == nil {
			if err := l.conn.ResetBackend(l.stmt.id); err != nil {
				return err
			}
		}
	}
	return r.done()
}

// keepLong keeps a part of a value that is sent ahead of an execution.
func (r *statementRouter) keepLong(st *routedStmt, payload []byte) error {
	const head = 7 // the command, the id, the parameter's number
	if len(payload) < head {
		return nil // there is no answer that could tell
	}
	i := binary.LittleEndian.Uint16(payload[5:])
	if st.long == nil {
		st.long, st.ahead = make(map[uint16][]byte), make(map[uint16]bool)
	}
	total := len(payload)
	for _, value := range st.long {
		total += len(value)
	}
	if st.long[i] == nil {
		st.long[i], st.ahead[i] = []byte{}, true
	}
	if total > wire.MaxPayload && total > r.s.srv.statementLimit(r.s.ctx, r.s.keyspace) {
		return wire.ErrTooLarge // as the server ends a connection that sends too much
	}
	st.long[i] = append(st.long[i], payload[head:]...)
	return nil
}

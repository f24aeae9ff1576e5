package proxy

import (
	"encoding/binary"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// preparedAt returns a statement on the connection of a keyspace or shard, and prepares it
// there when that was not done on this connection.
func (r *statementRouter) preparedAt(k *catalog.Keyspace, st *routedStmt) (*shardStmt, error) {
	conn, err := r.conn(k)
	if err != nil {
		return nil, err
	}
	for i := range st.conns {
		if l := &st.conns[i]; l.conn == conn && l.backend == conn.Conn {
			return l, nil
		}
	}
	own, err := conn.prepareQuietly(r.textFor(st, conn))
	if err != nil {
		return nil, err
	}
	if own.params != st.params {
		return nil, mysql.NewDefaultError(mysql.ER_NEED_REPREPARE)
	}
	own.types = slices.Clone(st.types)
	st.conns = slices.DeleteFunc(st.conns, func(l shardStmt) bool { return !l.alive() })
	st.conns = append(st.conns, shardStmt{conn: conn, conns: &r.conns, backend: conn.Conn, stmt: own})
	return &st.conns[len(st.conns)-1], nil
}

// readsAlike checks that the statement's text reads as it did when it was prepared, and
// goes over to the session's mode of now.
func (r *statementRouter) readsAlike(st *routedStmt) error {
	m, err := r.mode()
	if err != nil || m == st.mode {
		return err
	}
	was := st.mode
	alike := m.ANSIQuotes == was.ANSIQuotes && m.NoBackslashEscapes == was.NoBackslashEscapes && m.Brackets == was.Brackets &&
		m.EmptyStringIsNull == was.EmptyStringIsNull && (m.Charset == was.Charset || parser.IsASCII(st.sql))
	if !alike && !parser.Plain(st.sql) {
		return mysql.NewDefaultError(mysql.ER_NEED_REPREPARE)
	}
	st.mode = m
	return nil
}

// sendAhead passes on the values that the client has sent ahead of an execution.
func (l *shardStmt) sendAhead(long map[uint16][]byte) error {
	for i, value := range long {
		command := binary.LittleEndian.AppendUint32([]byte{mysql.COM_STMT_SEND_LONG_DATA}, l.stmt.id)
		command = append(binary.LittleEndian.AppendUint16(command, i), value...)
		if err := l.conn.passLongData(l.stmt, command, 0); err != nil {
			return err
		}
	}
	return nil
}

// fetch passes on a COM_STMT_FETCH to where the cursor is.
func (r *statementRouter) fetch(st *routedStmt, payload []byte, size int) error {
	l := st.cursor
	if l == nil || !l.alive() {
		r.s.front.Skip(size)
		return mysql.NewDefaultError(mysql.ER_STMT_HAS_NO_OPEN_CURSOR, st.id)
	}
	binary.LittleEndian.PutUint32(payload[1:], l.stmt.id)
	return r.on(l.conn, func() error { return l.conn.passCommand(payload, size, wire.ShapeRows, 0) })
}

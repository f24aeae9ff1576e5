package proxy

import "github.com/seqgate/seqgate/parser"

// mode returns how SQL text reads in the session.
func (r *shardedConn) mode() (parser.Mode, error) {
	conn := r.settings.Ahead() // what was set last is not known elsewhere
	if conn == nil {
		other, err := r.anyConn()
		if err != nil {
			return parser.Mode{}, err
		}
		conn = &other.Session
	}
	if err := conn.Know(); err != nil {
		return parser.Mode{}, err
	}
	return conn.State.Mode, nil
}

// localConn returns that connection: for locks the one of all sessions' locks; for what the
// statement before has left, the one that ran it; else the current keyspace's.
func (r *shardedConn) localConn(found *parser.SessionStmt) (*executor, error) {
	const diagnostics = parser.ReadsRowCount | parser.ReadsFoundRows | parser.ReadsWarnings
	switch {
	case found.Uses&parser.TakesLocks != 0:
		return r.lockConn()
	case found.Uses&diagnostics != 0 && r.last != nil:
		return r.leftOn()
	case !r.Sharded():
		return r.connectedConn(r.Shards()[0])
	}
	return r.anyConn()
}

// leftOn returns the connection that has what the statement before has left.
func (r *shardedConn) leftOn() (*executor, error) {
	if r.last.HasEnded() {
		r.last = nil
		return nil, errLeftLost()
	}
	return r.connectedConn(r.last.keyspace)
}

// lockConn returns the connection that holds the session's locks.
func (r *shardedConn) lockConn() (*executor, error) {
	conn, err := r.connectedConn(r.lockKeyspace())
	if err == nil {
		conn.locked = true
	}
	return conn, err
}

// passHome passes a statement to the client's own connection.
func (r *shardedConn) passHome(attributes, sql []byte) error {
	home, err := r.anyShard(r.s.keyspace, r.conn)
	if err != nil {
		return err
	}
	return r.passTo(home, attributes, sql)
}

// passTo passes a statement to one connection, which answers it alone.
func (r *shardedConn) passTo(conn *executor, attributes, sql []byte) error {
	if err := r.refuseProgram(conn, sql); err != nil {
		return err
	}
	conn.Intervened = false // what the statement before has left is the router's to know
	return r.on(conn, func() error { return conn.queryPart(attributes, sql) })
}

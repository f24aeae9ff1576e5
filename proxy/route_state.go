package proxy

import (
	"fmt"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/variables"
	"github.com/seqgate/seqgate/proxy/wire"
)

// routedState is where a session in front of shards stands: its current keyspace, which connections it has, what is set on
// them, and which of them knows what the latest statement left.
type routedState struct {
	plan.Place
	s        *session // the client's: also the connection of the shard that it logged into
	database string   // the current one on its server, when that is not its own
	conns    shardConns
	tx       transaction
	settings variables.Settings

	// last is the connection that ran the latest statement alone; nil when several did, or none.
	last    *executor
	several []*executor // the connections that did
	counts  counts      // what that statement left; of last it knows itself
	warned  *warnings   // of it, where the connections do not have them any more; nil where they do
	idConn  *executor   // that has the session's LAST_INSERT_ID(); nil for s
	next    []string    // each SET TRANSACTION for the next one
	// assigned are the user variables that the statement under way may set; opaque is
	// a connection on which a program ran that may have set any.
	assigned []string
	opaque   *executor
}

// done answers with an OK packet of seqgate's own.
func (r *routedState) done() error {
	r.ran(0, 0)
	return r.s.replyOK(wire.OK{Status: r.status()})
}

// status returns the flags of an answer that no server made.
func (r *routedState) status() uint16 {
	status := r.s.Status()
	if r.inTransaction() {
		return status | mysql.SERVER_STATUS_IN_TRANS
	}
	return status &^ (mysql.SERVER_STATUS_IN_TRANS | mysql.SERVER_STATUS_IN_TRANS_READONLY)
}

// inTransaction reports whether one is open, on any connection.
func (r *routedState) inTransaction() bool {
	if r.tx.open && !r.tx.implicit {
		return true
	}
	for _, conn := range r.conns.all {
		if conn.HasTransaction() {
			return true
		}
	}
	return false
}

// LAST_INSERT_ID() is of the session, whichever connection ran the INSERT. The connection that
// changed it last is its owner; another one gets it when it is used, and sets it
// before a statement that may look (statementReader.before).

// lastIDConn returns the owner.
func (r *routedState) lastIDConn() *executor {
	if r.idConn == nil {
		return r.s.executor
	}
	return r.idConn
}

// knownLastID returns LAST_INSERT_ID() as its owner has it.
func (r *routedState) knownLastID(owner *executor) (uint64, error) {
	switch {
	case owner.State.LastIDKnown:
		return owner.State.LastID, nil
	case owner.HasEnded():
		return 0, errShardLost // another connection has another one
	}
	err := owner.KnowLastID()
	return owner.State.LastID, err
}

// ownsLastID makes a connection the owner if a statement on it has changed, or may have
// changed, LAST_INSERT_ID() from what it was before.
func (r *routedState) ownsLastID(conn *executor, before uint64) {
	if !conn.State.LastIDKnown || conn.State.LastID != before {
		r.idConn = conn
	}
}

// forgetLast begins a statement of which it is not known yet which connections run it.
func (r *routedState) forgetLast() { r.last, r.several, r.counts, r.warned = nil, nil, counts{}, nil }

// failed notes what a statement left that was answered with this error.
func (r *routedState) failed(number uint16, message string) {
	r.forgetLast()
	r.ran(-1, 0)
	r.warned = &warnings{rows: [][]string{{"Error", strconv.Itoa(int(number)), message}}}
}

// ran notes what a statement left that several connections ran, or none.
func (r *routedState) ran(affected int64, found uint64) {
	r.last, r.counts = nil, counts{affected: affected, found: found, known: true}
}

// answer answers with the OK packet of a statement that several connections ran.
func (r *routedState) answer(ok wire.OK) error {
	r.ran(int64(ok.AffectedRows), 0)
	return r.s.replyOK(ok)
}

// forgetNext ends what is of one transaction, when a statement of its own has been it.
func (r *routedState) forgetNext() {
	if len(r.next) == 0 || r.inTransaction() {
		return
	}
	for _, conn := range r.conns.all {
		if conn.Preceded {
			r.next = nil
		}
		conn.Preceded = false
	}
}

// lockKeyspace is where locks of GET_LOCK() are: one server for all sessions, so that
// they exclude each other whatever keyspace is the current one.
func (r *routedState) lockKeyspace() *catalog.Keyspace {
	cfg := &r.s.srv.cfg
	return cfg.Keyspaces[cfg.Default].EachShard()[0]
}

// on runs something that answers the client from a connection.
func (r *routedState) on(conn *executor, run func() error) error {
	conn.Boundary, conn.Sent = false, false
	conn.Answer.Failed = false
	r.last = conn
	lastID := conn.State.LastID
	conn.Answer.Code = 0
	err := run()
	conn.Boundary = !isConnectionFailure(err)
	r.ownsLastID(conn, lastID)
	if len(r.assigned) > 0 {
		r.settings.NoteVariables(&conn.Session, r.assigned) // also when it failed: up to there they may be set
		r.assigned = nil
	}
	r.s.Answer.Failed = conn.Answer.Failed
	if conn.Answer.Failed {
		r.s.noteError(conn.Answer.Code)
	}
	return err
}

// lastIDBeside returns LAST_INSERT_ID() for a statement that is routed by it.
func (r *routedState) lastIDBeside(conn *executor, uses parser.SessionUse) (uint64, error) {
	if conn != nil || uses&parser.ReadsLastID == 0 {
		return 0, nil
	}
	return r.knownLastID(r.lastIDConn())
}

func (r *routedState) connsBy(get func(*catalog.Keyspace) (*executor, error), shards []*catalog.Keyspace) ([]*executor, error) {
	all := make([]*executor, len(shards))
	for i, shard := range shards {
		conn, err := get(shard)
		if err != nil {
			return nil, err
		}
		all[i] = conn
	}
	r.several, r.warned = all, nil
	return all, nil
}

// resolveVersions returns a text as the servers read its version comments, which are
// taken to be of one version. One that cannot be read so stays as it is.
func (r *routedState) resolveVersions(sql []byte, m parser.Mode) []byte {
	if !parser.HasVersion(sql) {
		return sql
	}
	if resolved, ok := parser.ResolveVersions(sql, m, parser.ServerVersion(r.s.Conn.Version)); ok {
		return resolved
	}
	return sql
}

// appendKeyspace appends the current keyspace's name as an expression, which has the
// coercibility of DATABASE(): a literal's character set gives way to its.
func (r *routedState) appendKeyspace(dst []byte) []byte {
	return fmt.Appendf(dst, "CONCAT(LEFT(VERSION(), 0), %s)", quoteText(r.Keyspace.Name))
}

package proxy

import (
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// owningSession is the session as the owner of one of its connections.
type owningSession struct {
	*session
	conn *serverConn
}

// connOwner is the session that a connection works for.
type connOwner interface {
	// routed reports whether the session may have connections to several shards.
	routed() bool
	// routedKeyspace returns the name of the keyspace that its statements are about then, "" else.
	routedKeyspace() string
	// inTransactionWithout reports whether the client is in a transaction that this connection has no part in.
	inTransactionWithout() bool
	// isOwnID reports whether an id is that of the session itself, or of a thread of its own.
	isOwnID(id uint64) bool
	// noteKnown notes before a statement whether LAST_INSERT_ID() is known.
	noteKnown()
	// noteFilled notes that the statement under way got ids.
	noteFilled()
	// reply passes a packet on to the client: a report of progress before an answer.
	reply(packet []byte) error
}

func (o owningSession) inTransactionWithout() bool { return o.session.inTransactionWithout(o.conn) }

func (o owningSession) Reconnect() error { return o.reconnect(o.conn) }

func (o owningSession) ClientLeft() { o.clientLeft(o.conn) }

func (o owningSession) ServerEnded() { o.serverEnded() }

func (o owningSession) Pool() *backend.Pool { return o.conn.pool() }

func (o owningSession) Count(c *wire.Conn) *atomic.Int64 {
	b := o.conn.srv.backends[o.conn.keyspace]
	if b == nil {
		return nil
	}
	stripe := b.Stripe(o.conn.client)
	c.BytesRead, c.BytesWritten, c.Queries = &stripe.In, &stripe.Out, &stripe.Queries
	return b.Open()
}

func (o owningSession) WriteTimeout() time.Duration { return o.conn.srv.settings().WriteTimeout }

func (o owningSession) Watch(c *wire.Conn, ended func()) (stop func()) {
	return o.conn.srv.watch(c, o.conn.log, ended)
}

func (o owningSession) BeginCall() func(rows uint64, code uint16, err error) {
	return o.conn.trace.beginCall(o.conn.keyspace)
}

// isOwnID reports whether an id is that of the session itself, or of its thread.
func (s *session) isOwnID(id uint64) bool {
	if s.pool() == nil {
		return false
	}
	t := s.srv.sessionOf(id, s.keyspace.Backend.Addr)
	return t.session != nil && (t.session == s || t.router != nil && t.router == s.router)
}

// inTransactionWithout reports whether the client is in a transaction of which this
// connection is no part: its answers tell of it all the same, as drivers leave out a
// COMMIT by that flag.
func (s *session) inTransactionWithout(c *serverConn) bool {
	return s.router != nil && !c.HasTransaction() && s.router.inTransaction()
}

package proxy

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// serverConn is a session on one server: the connection, and what seqgate knows of the
// session's state there, so that another connection can take its place. What it is made of, each part knowing those before
// it: serverSocket, serverState; serverConn itself is about the session's statements.
type serverConn struct {
	serverState

	stmts             map[uint32]*statement
	lastStmt          uint32                // the statement that the client prepared last, 0 when that failed
	prepared          bool                  // there was one that did not
	localID           uint32                // of the latest statement that seqgate answers by itself
	named             map[string]*namedStmt // those of SQL's PREPARE, by name
	clientStatementID uint32                // of a shard's: the id that the client is told of the statement being prepared; 0 for none
}

// serverState is what seqgate knows of a session's state at the server, beside what every answer tells.
type serverState struct {
	serverSocket

	left     *left          // what the client's latest statement has left, if seqgate has asked something since
	failedBy *mysql.MyError // the error that seqgate has answered it with

	unfilled  *catalog.Entry  // the table of an INSERT that passes without ids, where its answer is to have no insert id; nil: nothing is to be checked
	temporary map[string]bool // tables by schema.name that no temporary one hides, asked when the session may have such; nil: it has none

	lostUnseen bool // the connection was lost while the client waited for nothing
	keeps      bool // a SELECT may have set a variable of the user's or taken a lock
	settled    bool // a statement may have made settings, locks or tables of the session's own

	xid    string // of a shard's: its part of an XA transaction, as SQL has it; empty for none
	locked bool   // of a shard's: it may hold a lock of GET_LOCK()
}

// serverSocket is the connection to a server: what is sent, the answer under way, and its end.
type serverSocket struct {
	srv      *Server
	ctx      context.Context // ends when the server is closed for good
	log      *slog.Logger
	trace    *tracing // nil: nobody is told
	keyspace *catalog.Keyspace
	owner    connOwner
	client   uint32 // the id of the client's connection

	back         *wire.Conn
	backend      *backend.Conn                   // that back reads from and writes to
	threadID     atomic.Uint32                   // the server's own id of it
	secure       bool                            // a password may be sent on it as it is
	login        backend.Login                   // where it is seqgate's own
	account      atomic.Pointer[catalog.Account] // of login, for other sessions; nil without a list of users
	capabilities uint64                          // what both sides have; MariaDB's extended ones in the upper half
	mariaDB      bool
	openCount    *atomic.Int64 // counts the connection to the server that is in use; nil while there is none

	answer wire.Answer // of the command under way
	call   call        // of the server, for the statement under way
	state  sessionState

	// boundary says that the server has got whole commands only, so that another
	// may be sent.
	boundary bool
	ends     ends
	// sent says that nothing is left to be sent for the command under way.
	sent       bool
	halfClosed bool // the server was told that no more commands come

	lost       bool        // the connection has ended, and another is due
	used       bool        // some command other than COM_PING was sent
	unpoolable atomic.Bool // ... and one of those that no reset undoes

	begun   bool // of a shard's: the router's transaction has begun on it
	applied int  // of a shard's: how many changes of the router's settings it has
	// preceded says that it got what is of the next transaction alone.
	preceded bool
}

// connOwner is the session that a connection works for.
type connOwner interface {
	// reconnect has another connection to the server take the place of this one, which was lost.
	reconnect() error
	// clientLeft is called while an answer is waited for whose client has gone.
	clientLeft()
	// serverEnded is called, from outside of the session, when a server has closed the connection.
	serverEnded()
	// routed reports whether the session may have connections to several shards.
	routed() bool
	// routedKeyspace gives the name of the keyspace that its statements are about then, "" else.
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

// owningSession is the session as the owner of one of its connections.
type owningSession struct {
	*session
	conn *serverConn
}

func (o owningSession) reconnect() error           { return o.session.reconnect(o.conn) }
func (o owningSession) clientLeft()                { o.session.clientLeft(o.conn) }
func (o owningSession) inTransactionWithout() bool { return o.session.inTransactionWithout(o.conn) }

// connected sees to it that there is a connection to the server.
func (c *serverSocket) connected() error {
	if !c.lost {
		return nil
	}
	return c.owner.reconnect()
}

// status gives the flags of an answer that no server made.
func (c *serverSocket) status() uint16 { return c.answer.Status & wire.LastingStatus }

func (c *serverSocket) has(capability uint32) bool { return c.capabilities&uint64(capability) != 0 }

func (c *serverSocket) deprecateEOF() bool { return c.has(mysql.CLIENT_DEPRECATE_EOF) }

// hasEnded reports whether the connection has no connection any more.
func (c *serverSocket) hasEnded() bool { return c.lost || c.ends.backEnded.Load() }

// hasTransaction reports whether a transaction is open on this connection.
func (c *serverSocket) hasTransaction() bool {
	return c.begun || c.answer.Status&mysql.SERVER_STATUS_IN_TRANS != 0
}

// noteAccount tells other sessions with which account this one's server connection was made.
func (c *serverSocket) noteAccount() {
	if c.pool() != nil {
		c.account.Store(&catalog.Account{User: c.login.User, Password: c.login.Password})
	}
}

// loginAt gives the login of another backend connection of this session, for a listed user: what COM_SET_OPTION has
// changed since its own login outlives it.
func (c *serverSocket) loginAt(k *catalog.Keyspace, user, database string) (backend.Login, error) {
	const option = uint64(mysql.CLIENT_MULTI_STATEMENTS)
	login := c.login
	login.Database = database
	login.Capabilities = login.Capabilities&^option | c.capabilities&option
	account, err := c.srv.account(k, user)
	login.User, login.Password = account.User, account.Password
	return login, err
}

// targetsShard reports whether the session is alone with one shard of a sharded
// keyspace, as its client wanted: nothing is filled or routed then.
func (c *serverSocket) targetsShard() bool {
	return c.keyspace.Shard != "" && !c.owner.routed()
}

func (c *serverSocket) has64(capability uint64) bool { return c.capabilities&capability != 0 }

// endConn gives the connection back; what is open on it is rolled back by its reset.
func (c *serverSocket) endConn() error { return errors.Join(c.unwatchBack(), c.giveBack()) }

// pool gives the connections that sessions of the keyspace are made of; nil where
// each client logs in by itself.
func (c *serverSocket) pool() *backend.Pool { return c.srv.pools[c.keyspace] }

// lose gives up the backend connection. The next command that needs one gets
// another.
func (c *serverSocket) lose() {
	c.lost, c.applied, c.preceded = true, 0, false
	c.uncountBack()
	if c.ends.unwatch != nil {
		c.ends.unwatch()
		c.ends.unwatch = nil
	}
	c.ends.backEnded.Store(false)
	c.threadID.Store(0)
	c.state.environmentKnown = false
	c.back.Release()
	_ = c.back.Close() // it has failed
}

// adopt goes over to another backend connection.
func (c *serverSocket) adopt(back *backend.Conn, login backend.Login) {
	c.exchangeBack(back.Conn)
	c.backend, c.login, c.lost = back, login, false
	c.noteAccount()
	c.threadID.Store(back.ThreadID)
	c.answer.Status = back.Status
}

// giveBack ends the session's use of its backend connection: others may have it
// after, when all commands were sent and answered whole.
func (c *serverSocket) giveBack() error {
	c.uncountBack()
	whole := c.boundary && len(c.back.Unread()) == 0
	c.back.Release()
	switch {
	case c.lost:
		return nil
	case !whole:
		return c.back.Close() // the bytes of a QUIT could complete a command that was cut
	case c.pool() == nil || c.unpoolable.Load() || c.halfClosed || c.ends.backEnded.Load():
		return c.backend.Quit()
	case c.used:
		c.pool().Put(c.backend)
	default:
		c.pool().PutUnused(c.backend)
	}
	return nil
}

// countBack counts the connection to the server that the session has from now on, and what passes over it.
func (c *serverSocket) countBack() {
	c.uncountBack()
	b := c.srv.backends[c.keyspace]
	if b == nil {
		return
	}
	stripe := b.Stripe(c.client)
	c.back.BytesRead, c.back.BytesWritten, c.back.Queries = &stripe.In, &stripe.Out, &stripe.Queries
	c.openCount = b.Open()
	c.openCount.Add(1)
}

// uncountBack ends the count of the connection to the server, if there is one.
func (c *serverSocket) uncountBack() {
	if c.openCount != nil {
		c.openCount.Add(-1)
		c.openCount = nil
	}
}

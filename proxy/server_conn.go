package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// serverConn is a session on one server: the connection, and what seqgate knows of the
// session's state there, so that another connection can take its place.
type serverConn struct {
	srv      *Server
	ctx      context.Context // ends when the server is closed for good
	log      *slog.Logger
	trace    *tracing // nil: nobody is told
	keyspace *Keyspace
	owner    connOwner
	client   uint32 // the id of the client's connection

	back         *wire.Conn
	backend      *backend.Conn           // that back reads from and writes to
	threadID     atomic.Uint32           // the server's own id of it
	secure       bool                    // a password may be sent on it as it is
	login        backend.Login           // where it is seqgate's own
	account      atomic.Pointer[Account] // of login, for other sessions; nil without a list of users
	capabilities uint64                  // what both sides have; MariaDB's extended ones in the upper half
	mariaDB      bool
	openCount    *atomic.Int64 // counts the connection to the server that is in use; nil while there is none

	answer wire.Answer // of the command under way
	call   call        // of the server, for the statement under way
	state  sessionState

	left     *left          // what the client's latest statement has left, if seqgate has asked something since
	failedBy *mysql.MyError // the error that seqgate has answered it with

	stmts    map[uint32]*statement
	lastStmt uint32                // the statement that the client prepared last, 0 when that failed
	prepared bool                  // there was one that did not
	localID  uint32                // of the latest statement that seqgate answers by itself
	named    map[string]*namedStmt // those of SQL's PREPARE, by name
	told     uint32                // of a shard's: the id that the client is told of the statement being prepared; 0 for none

	unfilled  *catalogEntry   // the table of an INSERT that passes without ids, where its answer is to have no insert id; nil: nothing is to be checked
	temporary map[string]bool // tables by schema.name that no temporary one hides, asked when the session may have such; nil: it has none

	// boundary says that the server has got whole commands only, so that another
	// may be sent.
	boundary bool
	ends     ends
	// sent says that nothing is left to be sent for the command under way.
	sent       bool
	halfClosed bool // the server was told that no more commands come

	lost       bool        // the connection has ended, and another is due
	lostUnseen bool        // ... while the client waited for nothing
	keeps      bool        // a SELECT may have set a variable of the user's or taken a lock
	settled    bool        // a statement may have made settings, locks or tables of the session's own
	used       bool        // some command other than COM_PING was sent
	unpoolable atomic.Bool // ... and one of those that no reset undoes

	begun   bool   // of a shard's: the router's transaction has begun on it
	xid     string // of a shard's: its part of an XA transaction, as SQL has it; empty for none
	applied int    // of a shard's: how many changes of the router's settings it has
	locked  bool   // of a shard's: it may hold a lock of GET_LOCK()
	// preceded says that it got what is of the next transaction alone.
	preceded bool
}

// connOwner is the session that a serverConn works for.
type connOwner interface {
	// reconnect has another connection to the server take the place of c's, which was lost.
	reconnect(c *serverConn) error
	// clientLeft is called while an answer is waited for on c whose client has gone.
	clientLeft(c *serverConn)
	// serverEnded is called, from outside of the session, when a server has closed the connection.
	serverEnded()
	// routed reports whether the session may have connections to several shards.
	routed() bool
	// routedKeyspace gives the name of the keyspace that its statements are about then, "" else.
	routedKeyspace() string
	// inTransactionWithout reports whether the client is in a transaction that c has no part in.
	inTransactionWithout(c *serverConn) bool
	// isOwnID reports whether an id is that of the session itself, or of a thread of its own.
	isOwnID(id uint64) bool
	// noteKnown notes before a statement whether LAST_INSERT_ID() is known.
	noteKnown()
	// noteFilled notes that the statement under way got ids.
	noteFilled()
	// reply passes a packet on to the client: a report of progress before an answer.
	reply(packet []byte) error
}

// connected sees to it that there is a connection to the server.
func (c *serverConn) connected() error {
	if !c.lost {
		return nil
	}
	return c.owner.reconnect(c)
}

// status gives the flags of an answer that no server made.
func (c *serverConn) status() uint16 { return c.answer.Status & wire.LastingStatus }

func (c *serverConn) has(capability uint32) bool { return c.capabilities&uint64(capability) != 0 }

func (c *serverConn) deprecateEOF() bool { return c.has(mysql.CLIENT_DEPRECATE_EOF) }

// sendPacket sends a command that was built in packetBuffer.
func (c *serverConn) sendPacket(b []byte) error {
	if len(b)-wire.HeaderSize >= wire.MaxPayload {
		return c.send(b[wire.HeaderSize:])
	}
	putHeader(b, 0)
	return c.writeBack(b)
}

// writeBack sends bytes to the backend. A server that stopped listening may
// have said why before: that is the answer then.
func (c *serverConn) writeBack(b []byte) error {
	if c.trace != nil {
		c.beginCall()
	}
	if c.lost {
		if err := c.connected(); err != nil {
			return err
		}
		if c.trace != nil {
			c.beginCall() // what was asked of the other connection was a call of its own
		}
	}
	if _, err := c.back.Write(b); err != nil {
		if c.lastWords() {
			return nil
		}
		return &backendError{err}
	}
	return nil
}

// lastWords reports whether the backend has sent something to be read.
func (c *serverConn) lastWords() bool {
	if len(c.back.Unread()) > 0 {
		return true
	}
	c.back.ReadLimit = wire.LastWordsLimit
	return c.back.Fill() == nil
}

// send sends a command of seqgate's own making.
func (c *serverConn) send(payload []byte) error {
	if len(payload) >= wire.MaxPayload {
		return c.sendLong(payload)
	}
	b, _ := wire.AppendPacket(nil, 0, payload)
	return c.writeBack(b)
}

// answerCut tells a failure before the first packet of an answer from one in
// its middle.
func (c *serverConn) answerCut(err error) error {
	if c.answer.Phase == wire.PhaseFirst || c.answer.Phase == wire.PhaseSingle || c.answer.Phase == wire.PhasePrepare {
		return &backendError{err}
	}
	return &backendError{fmt.Errorf("%w: %w", errAnswerBegun, err)}
}

// drop reads the backend's answer to a statement of seqgate's own and shows it
// to nobody. An error packet is a *wire.ServerError.
func (c *serverConn) drop(as wire.Shape) error {
	before := c.answer
	c.startAnswer(as)
	err := c.dropRest()
	before.Status = c.answer.Status
	c.answer = before
	return err
}

// dropRest reads what is left of an answer and shows it to nobody.
func (c *serverConn) dropRest() error {
	var failed *wire.ServerError
	for !c.answer.Done() {
		payload, size, err := c.follow()
		if err != nil {
			return &backendError{err}
		}
		if c.answer.Failed {
			failed = &wire.ServerError{Packet: append([]byte(nil), payload...)}
		}
		c.back.Skip(size)
	}
	if failed != nil {
		return failed
	}
	return nil
}

// follow reads the answer's next packet whole, which the caller skips.
func (c *serverConn) follow() (payload []byte, size int, err error) {
	payload, size, _, err = c.back.Packet(maxStatement)
	if err != nil {
		return nil, 0, err
	}
	c.answer.Scan(c.back.Unread()[:size])
	if c.answer.Malformed {
		return nil, 0, errMalformedAnswer
	}
	if c.call.end != nil && c.answer.Done() {
		c.endAnswer()
	}
	return payload, size, nil
}

// hasOwn reports whether something may have been made on a connection that no other can get:
// what SET has set, and what drivers have prepared, goes to each connection that is used.
func (c *serverConn) hasOwn() bool { return c.temporary != nil || c.settled || len(c.named) > 0 }

// hasEnded reports whether the connection has no connection any more.
func (c *serverConn) hasEnded() bool { return c.lost || c.ends.backEnded.Load() }

// hasTransaction reports whether a transaction is open on this connection.
func (c *serverConn) hasTransaction() bool {
	return c.begun || c.answer.Status&mysql.SERVER_STATUS_IN_TRANS != 0
}

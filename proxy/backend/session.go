package backend

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/wire"
)

// Session is one session on one server: what is sent there, the answer under way, what is known of its settings, and its
// end. Another connection to the server can take the place of one that was lost.
type Session struct {
	Host Host

	Wire         *wire.Conn
	Conn         *Conn         // that Wire reads from and writes to
	ThreadID     atomic.Uint32 // the server's own id of it
	Capabilities uint64        // what both sides have; MariaDB's extended ones in the upper half
	MariaDB      bool
	openCount    *atomic.Int64 // counts the connection to the server that is in use; nil while there is none

	Answer wire.Answer // of the command under way
	Traced bool        // calls of the server are told of
	Call   Call        // of the server, for the statement under way
	State  State

	// Boundary says that the server has got whole commands only, so that another
	// may be sent.
	Boundary bool
	Ends     Ends
	// Sent says that nothing is left to be sent for the command under way.
	Sent       bool
	HalfClosed bool // the server was told that no more commands come

	Lost       bool        // the connection has ended, and another is due
	Used       bool        // some command other than COM_PING was sent
	Unpoolable atomic.Bool // ... and one of those that no reset undoes

	// Intervened says that seqgate has run a statement of its own since the client's came: what the one before has left is gone.
	Intervened bool

	Begun   bool // of a shard's: the client's transaction has begun on it
	Applied int  // of a shard's: how many changes of the client's settings it has
	// Preceded says that it got what is of the next transaction alone.
	Preceded bool
}

// Host is what a session at a server needs of whoever has it.
type Host interface {
	// Reconnect has another connection to the server take the place of this one, which was lost.
	Reconnect() error
	// ClientLeft is called while an answer is waited for whose client has gone.
	ClientLeft()
	// ServerEnded is called, from outside of the session, when the server has closed the connection.
	ServerEnded()
	// Pool returns where the connection came from; nil when the client has logged in by itself.
	Pool() *Pool
	// Count returns what counts the connection while it is in use, nil for nothing, and has c count its bytes.
	Count(c *wire.Conn) *atomic.Int64
	// WriteTimeout returns how long the server may take no bytes; 0 is the default.
	WriteTimeout() time.Duration
	// Watch has ended called when the server has closed the connection.
	Watch(c *wire.Conn, ended func()) (stop func())
	// BeginCall returns what is to be called with the outcome of a command that is about to be sent: the rows of its
	// answers, and the server's error number or the failure of the connection. It is nil when nobody wants to know.
	BeginCall() (end func(rows uint64, code uint16, err error))
}

// Connected ensures that there is a connection to the server.
func (c *Session) Connected() error {
	if !c.Lost {
		return nil
	}
	return c.Host.Reconnect()
}

// Status returns the flags of an answer that no server made.
func (c *Session) Status() uint16 { return c.Answer.Status & wire.LastingStatus }

func (c *Session) Has(capability uint32) bool { return c.Capabilities&uint64(capability) != 0 }

func (c *Session) DeprecateEOF() bool { return c.Has(mysql.CLIENT_DEPRECATE_EOF) }

// HasEnded reports whether the connection has no connection any more.
func (c *Session) HasEnded() bool { return c.Lost || c.Ends.BackEnded.Load() }

// HasTransaction reports whether a transaction is open on this connection.
func (c *Session) HasTransaction() bool {
	return c.Begun || c.Answer.Status&mysql.SERVER_STATUS_IN_TRANS != 0
}

func (c *Session) Has64(capability uint64) bool { return c.Capabilities&capability != 0 }

// EndConn gives the connection back; what is open on it is rolled back by its reset.
func (c *Session) EndConn() error { return errors.Join(c.UnwatchBack(), c.GiveBack()) }

// Lose gives up the backend connection. The next command that needs one gets
// another.
func (c *Session) Lose() {
	c.Lost, c.Applied, c.Preceded = true, 0, false
	c.UncountBack()
	if c.Ends.unwatch != nil {
		c.Ends.unwatch()
		c.Ends.unwatch = nil
	}
	c.Ends.BackEnded.Store(false)
	c.ThreadID.Store(0)
	c.State.EnvironmentKnown = false
	c.Wire.Release()
	_ = c.Wire.Close() // it has failed
}

// Adopt goes over to another backend connection.
func (c *Session) Adopt(back *Conn) {
	c.exchangeBack(back.Conn)
	c.Conn, c.Lost = back, false
	c.ThreadID.Store(back.ThreadID)
	c.Answer.Status = back.Status
}

// GiveBack ends the session's use of its backend connection: others may have it
// after, when all commands were sent and answered whole.
func (c *Session) GiveBack() error {
	c.UncountBack()
	whole := c.Boundary && len(c.Wire.Unread()) == 0
	c.Wire.Release()
	switch {
	case c.Lost:
		return nil
	case !whole:
		return c.Wire.Close() // the bytes of a QUIT could complete a command that was cut
	case c.Host.Pool() == nil || c.Unpoolable.Load() || c.HalfClosed || c.Ends.BackEnded.Load():
		return c.Conn.Quit()
	case c.Used:
		c.Host.Pool().Put(c.Conn)
	default:
		c.Host.Pool().PutUnused(c.Conn)
	}
	return nil
}

// CountBack counts the connection to the server that the session has from now on, and what passes over it.
func (c *Session) CountBack() {
	c.UncountBack()
	if c.openCount = c.Host.Count(c.Wire); c.openCount != nil {
		c.openCount.Add(1)
	}
}

// UncountBack ends the count of the connection to the server, if there is one.
func (c *Session) UncountBack() {
	if c.openCount != nil {
		c.openCount.Add(-1)
		c.openCount = nil
	}
}

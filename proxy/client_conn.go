package proxy

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// clientConn is a client's connection: what has come in on it, what its answers are
// numbered with, and how long it has been quiet. A session in front of several shards
// has one, and a serverConn for each of them.
type clientConn struct {
	srv  *Server
	ctx  context.Context // ends when the server is closed for good
	log  *slog.Logger
	user string

	front        *wire.Conn
	id           uint32 // as the client knows its connection
	salt         []byte // that proofs of a password begin with, for COM_CHANGE_USER
	frontSecure  bool   // a password may be sent on it as it is
	peer         bool   // the client says that it is another seqgate
	provenPeer   bool   // ... of the same account at the servers
	leave        func() // gives the user's place back
	values       lastValues
	unwatchFront func()      // ends the watch for its end
	killed       atomic.Bool // another client has asked to end the session

	out        sender
	packet     []byte // a reply's, reused
	statistics statistics
	trace      *tracing // nil: nobody is told
	slow       slowLog

	loggedIn     time.Time           // when the client had logged in
	lastCommand  byte                // that the client sent; 0 for none yet
	lastPrepared uint32              // the prepared statement that it is about; 0 for none
	looked       bool                // it was a pool's look at the connection; noted while the server drains
	cursors      map[uint32]struct{} // prepared statements with rows left to be fetched

	quiet     atomic.Int32 // how many looks of a Shutdown have seen no command since the latest one
	corked    atomic.Bool  // what is written may wait for more
	holds     bool         // the latest answer was corked from its begin, and is
	busy      atomic.Bool  // a statement is under way, or a transaction is open
	idleSince atomic.Int64 // it waits for a command since this time of the server's clock; 0: it does not
}

// sender writes packets of seqgate's own making in answer to one command. In a
// text of several statements that seqgate takes apart, each result but the last
// says that more results follow, and sequence numbers run through.
type sender struct {
	sequence byte
	silent   bool   // the client awaits no packet: its command has no answer, or has it
	composed bool   // the command that is answered is seqgate's own
	parts    bool   // statements are sent one by one
	more     bool   // this is not the last of them
	part     []byte // the one under way
	rest     []byte // the text behind it
	shift    byte   // by how much the client is ahead of the backend's sequence numbers
}

// replyOutOfOrder says that the packet with this number was expected in the
// place of what the client sent, which both servers say under that number.
func (c *clientConn) replyOutOfOrder(want byte) error {
	c.out.sequence = want
	return c.reply(wire.AppendError(nil, mysql.NewDefaultError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)))
}

// reply sends one packet of seqgate's own making to the client.
func (c *clientConn) reply(payload []byte) error {
	b, next := wire.AppendPacket(nil, c.out.sequence, payload)
	c.out.sequence = next
	return c.writeFront(b)
}

// replyBuffer returns the buffer for an answer to the client, with room for a header.
func (c *clientConn) replyBuffer() []byte { return append(c.packet[:0], 0, 0, 0, 0) }

// replyPacket sends a packet that was built in replyBuffer.
func (c *clientConn) replyPacket(b []byte) error {
	if len(b)-wire.HeaderSize >= wire.MaxPayload {
		return c.reply(b[wire.HeaderSize:])
	}
	backend.PutHeader(b, c.out.sequence)
	c.out.sequence++
	return c.writeFront(b)
}

func (c *clientConn) writeFront(b []byte) error {
	if _, err := c.front.Write(b); err != nil {
		return &frontError{err}
	}
	return nil
}

// renumber returns a command that came compressed, in one packet, the number that a
// command has. Servers check the numbers of compressed packets, and not of those inside:
// MySQL's Connector/J numbers its commands 1 there. It reports false where the number
// is wrong for the servers, too.
func (s *clientConn) renumber(length int) bool {
	c, compressed := s.front.Conn.(*wire.Compressed)
	if !compressed || c.Opened.Load() != 0 || length == wire.MaxPayload {
		return false
	}
	s.front.Unread()[wire.HeaderSize-1] = 0
	return true
}

// becomes takes one of a user's places in place of the former user's.
func (c *clientConn) becomes(user string) (err error) {
	c.leave()
	c.leave, err = c.srv.admitUser(user)
	return err
}

// forwardPacket passes the client's next packet on, whose header says that it
// has left bytes with that header.
func (c *clientConn) forwardPacket(left int, write func([]byte) error) error {
	c.out.sequence = c.front.Unread()[wire.HeaderSize-1] + 1
	c.front.Unread()[wire.HeaderSize-1] -= c.out.shift
	for left > 0 {
		if len(c.front.Unread()) == 0 {
			if err := c.front.Fill(); err != nil {
				return &frontError{err}
			}
		}
		n := min(left, len(c.front.Unread()))
		if err := write(c.front.Unread()[:n]); err != nil {
			return err
		}
		c.front.Skip(n)
		left -= n
	}
	return nil
}

// clientMayGoOn reports whether what the client has sent is not all at the server.
func (s *clientConn) clientMayGoOn(c *serverConn) bool {
	// The client has closed its side: reading what it sent before waits for nothing.
	return !c.Sent || len(s.front.Unread()) > 0 || s.front.Fill() == nil
}

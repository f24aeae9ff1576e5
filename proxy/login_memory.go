package proxy

import (
	"container/list"
	"net"
	"sync"

	"github.com/seqgate/seqgate/proxy/wire"
)

// How much memory packets of logins may take: beyond what is free for each of them, which
// is more than most clients send, mostLoginMemory for all together.
const (
	freeLoginMemory = 4 << 10
	mostLoginMemory = 32 << 20
)

// loginMemory counts the bytes that clients have sent who have not logged in yet. A login is
// no more than 80 KiB, but anybody may begin 10,000 of them and stop before the end.
type loginMemory struct {
	mu      sync.Mutex
	taken   int
	holders list.List // of *hold, the one that has held some for longest first
}

// hold is what one login has of it. It is used by one goroutine, but for what of.mu guards.
type hold struct {
	of     *loginMemory
	client net.Conn
	came   int           // bytes
	taken  int           // of them, beyond the free ones
	place  *list.Element // nil while it holds none
}

// take counts bytes that came. When there are too many of all together, the logins that have held theirs
// for longest end: one in good faith takes a moment.
func (h *hold) take(bytes int) {
	h.came += bytes
	m := h.of
	if h.came <= freeLoginMemory || m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.place == nil {
		h.place = m.holders.PushBack(h)
	}
	h.taken += bytes
	m.taken += bytes
	for m.taken > mostLoginMemory {
		oldest := m.holders.Front().Value.(*hold)
		oldest.drop()
		wire.Interrupt(oldest.client)
	}
}

// release gives back what the login has.
func (h *hold) release() {
	if h.of == nil {
		return
	}
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.drop()
}

// drop has h hold nothing. The caller has locked.
func (h *hold) drop() {
	if h.place != nil {
		h.of.holders.Remove(h.place)
		h.of.taken -= h.taken
		h.place, h.taken = nil, 0
	}
}

// countedConn tells how much room TLS makes for what is read from a connection, until take is nil. TLS holds a record until
// it has come whole, and makes the room when its header says how long it is.
type countedConn struct {
	net.Conn
	take   func(bytes int)
	shaken bool // the handshake is over, whose records are held together: each has the room of those before from then on

	header  []byte
	left    int // of the record's bytes
	largest int // of the records
}

// recordHeader is the length of a record's header, which ends with that of the record (RFC 8446, 5.1).
const recordHeader = 5

// Read implements [net.Conn].
func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	for came := b[:n]; c.take != nil && len(came) > 0; {
		if c.left > 0 {
			k := min(c.left, len(came))
			c.left, came = c.left-k, came[k:]
			continue
		}
		if c.header, came = append(c.header, came[0]), came[1:]; len(c.header) == recordHeader {
			c.begin(int(c.header[3])<<8 | int(c.header[4]))
		}
	}
	return n, err
}

// begin counts a record of that length.
func (c *countedConn) begin(length int) {
	more := length
	if c.shaken {
		more = length - c.largest
	}
	c.header, c.left, c.largest = c.header[:0], length, max(c.largest, length)
	if more > 0 {
		c.take(more)
	}
}

// NetConn is the connection itself.
func (c *countedConn) NetConn() net.Conn { return c.Conn }

package backend

import (
	"cmp"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seqgate/seqgate/proxy/wire"
)

const (
	DefaultReadTimeout  = 30 * time.Second // net_read_timeout
	DefaultWriteTimeout = time.Minute      // net_write_timeout

	// ClientGrace is how long a statement goes on undisturbed after its client left.
	ClientGrace = time.Second

	// LeaveLimit is how long shards are waited for then: all of them are given up when
	// one does not answer.
	LeaveLimit = 3 * time.Second
)

// Ends is what a session learns of its two sides while it does not read from
// them. The watcher's goroutine and timers note it here and interrupt the
// session, which acts on it in its own time.
type Ends struct {
	unwatch func() // ends the watch for the server's end

	LeaveBy time.Time // when servers are waited for no more that know that the client left; zero: never

	BackEnded atomic.Bool

	Mu    sync.Mutex
	Grace *time.Timer // a client that left; nil while it is there
	Over  bool        // the session has ended: nothing is to be touched any more
}

func (c *Session) WatchBack() {
	c.Wire.WriteLimit = cmp.Or(c.Host.WriteTimeout(), DefaultWriteTimeout)
	c.Wire.Interrupted = c.Host.ClientLeft
	c.Ends.unwatch = c.Host.Watch(c.Wire, c.NoteEnd)
}

// exchangeBack has the session go on with another connection to its backend, next. It
// gives the former one, which is the caller's from then on.
func (c *Session) exchangeBack(next net.Conn) (former net.Conn) {
	if c.Ends.unwatch != nil {
		c.Ends.unwatch()
	}
	c.Ends.BackEnded.Store(false)
	former = c.Wire.Conn
	c.Wire.Release()
	c.Ends.Mu.Lock()
	c.Wire = wire.NewConn(next)
	c.Ends.Mu.Unlock()
	c.CountBack()
	c.WatchBack()
	return former
}

// CutOff ends the connection from outside of the session.
func (c *Session) CutOff() {
	c.Ends.Mu.Lock()
	defer c.Ends.Mu.Unlock()
	_ = c.Wire.Close() // the session is told by that
}

// UnwatchBack is that of the server's connection alone.
func (c *Session) UnwatchBack() error {
	if c.Ends.unwatch != nil {
		c.Ends.unwatch()
		c.Ends.unwatch = nil
	}
	c.Ends.Mu.Lock()
	defer c.Ends.Mu.Unlock()
	if c.Ends.Over {
		return nil
	}
	c.Ends.Over = true
	if c.Ends.Grace != nil {
		c.Ends.Grace.Stop()
		return c.Wire.SetDeadline(time.Time{})
	}
	return c.Wire.ClearDeadlines()
}

// NoteEnd notes that the server has closed the connection.
func (c *Session) NoteEnd() {
	c.Ends.BackEnded.Store(true)
	c.Host.ServerEnded()
}

func (c *Session) HalfClose() {
	c.HalfClosed = true
	if half, ok := socketConn(c.Wire.Conn).(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it has failed: then reading the answer fails too
	}
}

// Hurry has reads from the server end when it is time to leave.
func (c *Session) Hurry() {
	if !c.Ends.LeaveBy.IsZero() {
		c.Wire.GiveUpAt(c.Ends.LeaveBy)
	}
}

// CutThread ends the connection from outside of the session, if it still is the one
// with this id.
func (c *Session) CutThread(id uint32) {
	c.Ends.Mu.Lock()
	defer c.Ends.Mu.Unlock()
	if c.Ends.Over || c.ThreadID.Load() != id {
		return
	}
	c.Ends.BackEnded.Store(true)
	_ = c.Wire.Close() // the session is told by that
}

// Thread returns the session's connection, and may be called by another session; its id is 0 when there is none. One that has
// ended has none: its connection may be another session's by then.
func (c *Session) Thread() Thread {
	c.Ends.Mu.Lock()
	defer c.Ends.Mu.Unlock()
	if c.Ends.Over {
		return Thread{}
	}
	t := Thread{ID: c.ThreadID.Load()}
	if t.ID == 0 || c.Wire == nil {
		return t
	}
	if _, port, err := net.SplitHostPort(c.Wire.LocalAddr().String()); err == nil {
		t.Port = port
	}
	return t
}

// IsOver reports whether the session has ended, for other sessions.
func (c *Session) IsOver() bool {
	c.Ends.Mu.Lock()
	defer c.Ends.Mu.Unlock()
	return c.Ends.Over
}

// HasLost reports whether it is certain that nothing of the session's runs on a server: this thread of it has ended, and no
// other has come in its place.
func (c *Session) HasLost(id uint32) bool {
	now := c.ThreadID.Load()
	return now == 0 || now == id && c.Ends.BackEnded.Load() || c.IsOver()
}

// socketConn returns the connection underneath TLS and the like.
func socketConn(c net.Conn) net.Conn {
	for {
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = outer.NetConn()
	}
}

// SocketOf returns the socket that a connection's bytes go through in the end, nil
// when there is none to be seen.
func SocketOf(c net.Conn) syscall.RawConn {
	sc, ok := socketConn(c).(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// Thread is a session's connection as its server knows it.
type Thread struct {
	ID   uint32
	Port string // of seqgate's end; "" on a Unix socket, which leads to one server only
}

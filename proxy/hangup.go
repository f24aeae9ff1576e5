package proxy

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seqgate/seqgate/proxy/wire"
)

const (
	defaultReadTimeout  = 30 * time.Second // net_read_timeout
	defaultWriteTimeout = time.Minute      // net_write_timeout

	// clientGrace is how long a statement goes on undisturbed after its client left.
	clientGrace = time.Second

	// leaveLimit is how long shards are waited for then: all of them are given up when
	// one does not answer.
	leaveLimit = 3 * time.Second
)

// ends is what a session learns of its two sides while it does not read from
// them. The watcher's goroutine and timers note it here and interrupt the
// session, which acts on it in its own time.
type ends struct {
	unwatch func() // ends the watch for the server's end

	leaveBy time.Time // when servers are waited for no more that know that the client left; zero: never

	backEnded atomic.Bool

	mu    sync.Mutex
	grace *time.Timer // a client that left; nil while it is there
	over  bool        // the session has ended: nothing is to be touched any more
}

// watchBoth bounds what the two sides may keep the session waiting for, and has
// their ends noticed.
func (s *session) watchBoth() {
	s.front.ReadLimit = cmp.Or(s.srv.settings().ReadTimeout, defaultReadTimeout)
	s.front.WriteLimit = cmp.Or(s.srv.settings().WriteTimeout, defaultWriteTimeout)
	s.unwatchFront = s.srv.watch(s.front, s.log, s.startGrace)
	s.watchBack()
}

func (c *serverSocket) watchBack() {
	c.back.WriteLimit = cmp.Or(c.srv.settings().WriteTimeout, defaultWriteTimeout)
	c.back.Interrupted = func() { c.owner.clientLeft() }
	c.ends.unwatch = c.srv.watch(c.back, c.log, c.noteEnd)
}

// exchangeBack has the session go on with another connection to its backend, next. It
// gives the former one, which is the caller's from then on.
func (c *serverSocket) exchangeBack(next net.Conn) (former net.Conn) {
	if c.ends.unwatch != nil {
		c.ends.unwatch()
	}
	c.ends.backEnded.Store(false)
	former = c.back.Conn
	c.back.Release()
	c.ends.mu.Lock()
	c.back = wire.NewConn(next)
	c.ends.mu.Unlock()
	c.countBack()
	c.watchBack()
	return former
}

// cutOff ends the connections to servers from outside of the session.
func (s *session) cutOff() {
	s.ends.mu.Lock()
	defer s.ends.mu.Unlock()
	_ = s.back.Close() // the session is told by that
	if s.router != nil {
		s.router.cutOffConns()
	}
}

// cutOff ends the connection from outside of the session.
func (c *serverSocket) cutOff() {
	c.ends.mu.Lock()
	defer c.ends.mu.Unlock()
	_ = c.back.Close() // the session is told by that
}

// watch has gone called at the end of w's peer. A session that cannot be watched
// does without.
func (s *keyspaces) watch(w *wire.Conn, log *slog.Logger, gone func()) (stop func()) {
	stop, err := s.hangups.watch(w.Conn, gone)
	if err != nil {
		log.Warn("the ends of a session's connections will be noticed late", "err", err)
	}
	return stop
}

// unwatch ends what watchBoth began, and leaves the connections as they were. It
// must be called before they are closed or another session's. It may be called
// again.
func (s *session) unwatch() error {
	if s.unwatchFront != nil {
		s.unwatchFront()
		s.unwatchFront = nil
	}
	return s.unwatchBack()
}

// unwatchBack is that of the server's connection alone.
func (c *serverSocket) unwatchBack() error {
	if c.ends.unwatch != nil {
		c.ends.unwatch()
		c.ends.unwatch = nil
	}
	c.ends.mu.Lock()
	defer c.ends.mu.Unlock()
	if c.ends.over {
		return nil
	}
	c.ends.over = true
	if c.ends.grace != nil {
		c.ends.grace.Stop()
		return c.back.SetDeadline(time.Time{})
	}
	return c.back.ClearDeadlines()
}

// noteEnd notes that the server has closed the connection.
func (c *serverSocket) noteEnd() {
	c.ends.backEnded.Store(true)
	c.owner.serverEnded()
}

// serverEnded wakes the session to see that a server has gone: now, or before it waits
// for its client again.
func (x *relayer) serverEnded() { wire.Interrupt(x.front.Conn) }

// passServerError gives the client what a server that closed the connection while
// nothing was asked of it has said before, such as why, and ends the session.
func (x *relayer) passServerError() error {
	x.boundary = false // a QUIT would reach nobody
	x.back.ReadLimit = wire.LastWordsLimit
	for {
		if unread := x.back.Unread(); len(unread) > 0 {
			if err := x.writeFront(unread); err != nil {
				return err
			}
			x.back.Skip(len(unread))
		}
		if err := x.back.Fill(); errors.Is(err, io.EOF) {
			return io.EOF
		} else if err != nil {
			return &backendError{err}
		}
	}
}

// startGrace gives the statement under way some time to end, or to be sent.
func (s *session) startGrace() {
	s.ends.mu.Lock()
	defer s.ends.mu.Unlock()
	if s.ends.grace != nil {
		s.ends.grace.Stop()
	}
	if !s.ends.over {
		s.ends.grace = time.AfterFunc(clientGrace, s.endGrace)
	}
}

// endGrace wakes the session from waiting for its server's answer.
func (s *session) endGrace() {
	s.ends.mu.Lock()
	defer s.ends.mu.Unlock()
	if !s.ends.over {
		wire.Interrupt(s.back.Conn)
		if s.router != nil {
			s.router.interruptConns()
		}
	}
}

// clientLeft lets the server know that the client has gone, as it would by
// itself without seqgate between: so SLEEP() and GET_LOCK() end, which look for
// it. The command was sent whole by then, and the client has sent no other, not
// even QUIT: the server goes by that too.
func (s *session) clientLeft(c *serverConn) {
	switch {
	case c.halfClosed:
		c.hurry()
	case s.router != nil:
		s.router.clientLeft(c)
	case s.clientMayGoOn(c):
		s.startGrace()
	default:
		c.halfClose()
	}
}

// clientMayGoOn reports whether what the client has sent is not all at the server.
func (s *clientConn) clientMayGoOn(c *serverConn) bool {
	// The client has closed its side: reading what it sent before waits for nothing.
	return !c.sent || len(s.front.Unread()) > 0 || s.front.Fill() == nil
}

func (c *serverSocket) halfClose() {
	c.halfClosed = true
	if half, ok := socketConn(c.back.Conn).(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it has failed: then reading the answer fails too
	}
}

// hurry has reads from the server end when it is time to leave.
func (c *serverSocket) hurry() {
	if !c.ends.leaveBy.IsZero() {
		c.back.GiveUpAt(c.ends.leaveBy)
	}
}

// socketConn gives the connection underneath TLS and the like.
func socketConn(c net.Conn) net.Conn {
	for {
		outer, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return c
		}
		c = outer.NetConn()
	}
}

// socketOf gives the socket that a connection's bytes go through in the end, nil
// when there is none to be seen.
func socketOf(c net.Conn) syscall.RawConn {
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

// cutThread ends the connection from outside of the session, if it still is the one
// with this id.
func (c *serverSocket) cutThread(id uint32) {
	c.ends.mu.Lock()
	defer c.ends.mu.Unlock()
	if c.ends.over || c.threadID.Load() != id {
		return
	}
	c.ends.backEnded.Store(true)
	_ = c.back.Close() // the session is told by that
}

// thread gives the session's connection, and may be called by another session; its id is 0 when there is none. One that has
// ended has none: its connection may be another session's by then.
func (c *serverSocket) thread() thread {
	c.ends.mu.Lock()
	defer c.ends.mu.Unlock()
	if c.ends.over {
		return thread{}
	}
	t := thread{id: c.threadID.Load()}
	if t.id == 0 || c.back == nil {
		return t
	}
	if _, port, err := net.SplitHostPort(c.back.LocalAddr().String()); err == nil {
		t.port = port
	}
	return t
}

// isOver reports whether the session has ended, for other sessions.
func (c *serverSocket) isOver() bool {
	c.ends.mu.Lock()
	defer c.ends.mu.Unlock()
	return c.ends.over
}

// hasLost reports whether it is certain that nothing of the session's runs on a server: this thread of it has ended, and no
// other has come in its place.
func (c *serverSocket) hasLost(id uint32) bool {
	now := c.threadID.Load()
	return now == 0 || now == id && c.ends.backEnded.Load() || c.isOver()
}

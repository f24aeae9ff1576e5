package proxy

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// watchBoth bounds what the two sides may keep the session waiting for, and has
// their ends noticed.
func (s *session) watchBoth() {
	s.front.ReadLimit = cmp.Or(s.srv.settings().ReadTimeout, backend.DefaultReadTimeout)
	s.front.WriteLimit = cmp.Or(s.srv.settings().WriteTimeout, backend.DefaultWriteTimeout)
	s.unwatchFront = s.srv.watch(s.front, s.log, s.startGrace)
	s.WatchBack()
}

// cutOff ends the connections to servers from outside of the session.
func (s *session) cutOff() {
	s.Ends.Mu.Lock()
	defer s.Ends.Mu.Unlock()
	_ = s.Wire.Close() // the session is told by that
	if s.router != nil {
		s.router.cutOffConns()
	}
}

// watch has gone called at the end of w's peer. A session that cannot be watched
// does without.
func (s *keyspaces) watch(w *wire.Conn, log *slog.Logger, gone func()) (stop func()) {
	stop, err := s.hangups.Watch(w.Conn, gone)
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
	return s.UnwatchBack()
}

// serverEnded wakes the session to see that a server has gone: now, or before it waits
// for its client again.
func (x *relayer) serverEnded() { wire.Interrupt(x.front.Conn) }

// passServerError tells the client what a server that closed the connection while
// nothing was asked of it has said before, such as why, and ends the session.
func (x *relayer) passServerError() error {
	x.Boundary = false // a QUIT would reach nobody
	x.Wire.ReadLimit = wire.PendingErrorLimit
	for {
		if unread := x.Wire.Unread(); len(unread) > 0 {
			if err := x.writeFront(unread); err != nil {
				return err
			}
			x.Wire.Skip(len(unread))
		}
		if err := x.Wire.Fill(); errors.Is(err, io.EOF) {
			return io.EOF
		} else if err != nil {
			return &backend.LostError{Err: err}
		}
	}
}

// startGrace gives the statement under way some time to end, or to be sent.
func (s *session) startGrace() {
	s.clientGone.Store(true)
	s.interruptWait()
	s.Ends.Mu.Lock()
	defer s.Ends.Mu.Unlock()
	if s.Ends.Grace != nil {
		s.Ends.Grace.Stop()
	}
	if !s.Ends.Over {
		s.Ends.Grace = time.AfterFunc(backend.ClientGrace, s.endGrace)
	}
}

// endGrace wakes the session from waiting for its server's answer.
func (s *session) endGrace() {
	s.Ends.Mu.Lock()
	defer s.Ends.Mu.Unlock()
	if !s.Ends.Over {
		wire.Interrupt(s.Wire.Conn)
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
	case c.HalfClosed:
		c.Hurry()
	case s.router != nil:
		s.router.clientLeft(c)
	case s.clientMayGoOn(c):
		s.startGrace()
	default:
		c.HalfClose()
	}
}

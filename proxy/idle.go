package proxy

import (
	"errors"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// Clients that send no command for Config.IdleTimeout are found by one sweep over
// all sessions now and then: a deadline on each socket would cost each command two
// timers of the runtime.

// erClientInteractionTimeout is MySQL's number for a client that wait_timeout
// ended. It is not in go-mysql's list.
const erClientInteractionTimeout = 4031

// idleEnded stands in session.idleSince when the sweep has ended the session.
const idleEnded = -1

// sweepIdle ends the sessions that wait for a command for too long, until the
// server is closed.
func (s *sessionList) sweepIdle() {
	interval := sweepInterval(s.settings().IdleTimeout)
	tick := time.NewTimer(interval)
	defer tick.Stop()
	begun := time.Now()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		now := int64(time.Since(begun))
		// A session took the time of the sweep before: it began to wait up to an interval later than that.
		timeout := s.settings().IdleTimeout
		if timeout > 0 {
			s.endIdle(now - int64(timeout+interval))
		}
		s.clock.Store(now)
		interval = sweepInterval(timeout)
		tick.Reset(interval)
	}
}

// sweepInterval is how often sessions are looked at; one that is reloaded counts from the next look on.
func sweepInterval(timeout time.Duration) time.Duration {
	if timeout == 0 {
		return time.Second
	}
	return min(time.Second, max(time.Millisecond, timeout/8))
}

// endIdle ends the sessions that have waited since then or longer.
func (s *sessionList) endIdle(then int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, session := range s.sessions {
		if session == nil {
			continue // it logs in: HandshakeTimeout
		}
		since := session.idleSince.Load()
		if since > 0 && since <= then && session.idleSince.CompareAndSwap(since, idleEnded) {
			wire.Interrupt(c)
		}
	}
}

// beginWait notes that the session waits for its client's next command.
func (c *clientConn) beginWait() {
	if c.srv.settings().IdleTimeout > 0 {
		c.idleSince.Store(c.srv.clock.Load())
	}
}

// endWait notes that the wait is over, and reports false when it was too long:
// then the socket cannot be read any more, even if a command came just now.
func (c *clientConn) endWait() bool {
	return c.idleSince.Load() == 0 || c.idleSince.Swap(0) != idleEnded
}

// sayInactive tells a client why its connection ends. It may be gone already.
func (c *clientConn) sayInactive() error {
	c.out = sender{}
	return &frontError{errors.Join(errors.New("no command for as long as the idle timeout"),
		c.reply(wire.AppendError(nil, &mysql.MyError{Code: erClientInteractionTimeout, State: mysql.DEFAULT_MYSQL_STATE, Message: inactive})))}
}

const inactive = "The client was disconnected by the server because of inactivity. " +
	"See wait_timeout and interactive_timeout for configuring this behavior."

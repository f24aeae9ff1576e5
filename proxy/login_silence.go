package proxy

import (
	"context"
	"sync"
	"time"
)

// serverWait is how long the server of the default keyspace waits for a packet of a login
// (connect_timeout). A login that it gives up it counts as an error of seqgate's host, so
// where logins are passed on a client must not have that long.
type serverWait struct {
	mu    sync.Mutex
	asked time.Time
	known time.Duration // 0 while it is not
}

// How long an answer counts, and what asking may take.
const serverWaitAge, serverWaitTimeout = time.Minute, 2 * time.Second

// limitSilence has a client whose login is passed on end before the server gives that up.
func (l *login) limitSilence() error {
	end := time.Now().Add(l.srv.silence())
	if all, ok := l.ctx.Deadline(); ok && all.Before(end) {
		end = all
	}
	return l.front.SetReadDeadline(end)
}

// silence is how long such a client may be silent.
func (s *logins) silence() time.Duration {
	p, timeout := &s.serverWait, s.settings().HandshakeTimeout
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) > serverWaitAge {
		p.asked = time.Now()
		s.running.Go(s.askServerWait)
	}
	if p.known > 0 {
		timeout = min(timeout, p.known)
	}
	return timeout * 9 / 10 // the rest is for leaving the server in order
}

// askServerWait asks the server. While it does not answer, what is known goes on to count.
func (s *logins) askServerWait() {
	ctx, cancel := context.WithTimeout(s.ctx, serverWaitTimeout)
	defer cancel()
	var seconds int64
	if err := s.cfg.Keyspaces[s.cfg.Default].DB.QueryRowContext(ctx, "SELECT @@GLOBAL.connect_timeout").Scan(&seconds); err != nil {
		s.log.Debug("the server's connect_timeout is not known", "err", err)
		return
	}
	s.serverWait.mu.Lock()
	defer s.serverWait.mu.Unlock()
	s.serverWait.known = time.Duration(seconds) * time.Second
}

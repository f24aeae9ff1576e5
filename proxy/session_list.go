package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/wire"
)

// sessionList has the sessions that there are, and ends them.
type sessionList struct {
	keyspaces

	meter    *meter.Meter
	backends map[*catalog.Keyspace]*meter.Backend // by unsharded keyspace or shard
	started  time.Time

	clock atomic.Int64 // of the latest sweep for idle sessions, in nanoseconds; 1 before the first

	retired   atomic.Bool    // no client should come any more
	closing   atomic.Bool    // its listeners close
	accepting sync.WaitGroup // loops over its listeners
	draining  atomic.Bool    // none is let in
	running   sync.WaitGroup
	sweep     sync.WaitGroup // for idle sessions

	mu        sync.Mutex
	listeners []net.Listener
	sweeping  bool
	sessions  map[net.Conn]*session // nil while logging in
}

func (s *sessionList) track(c net.Conn, session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[c] = session
}

func (s *sessionList) untrack(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c)
}

func (s *sessionList) logFault(c net.Conn, fault any) {
	if fault != nil {
		s.log.Error("session ended by a fault", "client", c.RemoteAddr().String(), "fault", fault, "stack", string(debug.Stack()))
	}
}

// logEnd tells how a session ended: a client that just leaves is no news. k is its keyspace, nil before there is one.
func (s *sessionList) logEnd(c net.Conn, what string, k *catalog.Keyspace, err error) {
	level := slog.LevelDebug
	var lost *backend.LostError
	var connect *backend.ConnectError
	var header *proxyHeaderError
	if errors.As(err, &header) {
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String()) // a TCP connection's: see behindProxy
		s.log.Warn("PROXY header refused", "proxy", host, "err", err)
		return
	}
	if errors.As(err, &lost) || errors.As(err, &connect) {
		level = slog.LevelWarn
	}
	s.log.Log(s.ctx, level, what+" ended", append(k.Logged(), "client", c.RemoteAddr().String(), "err", err)...)
}

// countSessions counts the clients.
func (s *sessionList) countSessions() (sessions, loggingIn, pinned int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		switch {
		case session == nil:
			loggingIn++
		case s.isPinned(session):
			sessions, pinned = sessions+1, pinned+1
		default:
			sessions++
		}
	}
	return sessions, loggingIn, pinned
}

// startSweep has idle sessions ended, if they are to be. s.mu is held.
func (s *sessionList) startSweep() {
	if !s.sweeping && s.settings().IdleTimeout > 0 {
		s.sweeping = true
		s.sweep.Go(s.sweepIdle)
	}
}

// showStatus returns what this process did since it began, as SHOW STATUS of a server.
func (s *sessionList) showStatus() shown {
	s.mu.Lock()
	sessions, loggingIn := 0, 0
	for _, session := range s.sessions {
		if session == nil {
			loggingIn++
		} else {
			sessions++
		}
	}
	s.mu.Unlock()
	var refills, waits, failures, away, waiting int64
	all := s.cfg.Sequences.Snapshot()
	for _, st := range all {
		refills, waits, failures, waiting = refills+st.Refills, waits+st.Waits, failures+st.Failures, waiting+int64(st.Waiting)
		if !st.AwaySince.IsZero() {
			away++
		}
	}
	variables := []struct {
		name  string
		value any
	}{
		{"Draining", onOff(s.retired.Load() || s.draining.Load())}, {"Keyspaces", len(s.cfg.Keyspaces)},
		{"Logins_under_way", loggingIn}, {"Max_sessions", s.settings().MaxConnections}, {"Sequence_failures", failures},
		{"Sequence_refills", refills}, {"Sequence_waits", waits}, {"Sequences", len(all)}, {"Sequences_away", away},
		{"Sequences_waiting", waiting}, {"Sessions", sessions}, {"Uptime", int64(time.Since(s.started).Seconds())},
		{"Version", s.cfg.Version}, {"Vschema", onOff(s.catalog.VSchema() != nil)},
	}
	result := shown{columns: []wire.Column{wire.TextColumn("Variable_name", 64), wire.TextColumn("Value", 1024)}}
	for _, v := range variables {
		result.rows = append(result.rows, []string{v.name, fmt.Sprint(v.value)})
	}
	return result
}

// sessionWithID finds a session by the id of its greeting.
func (s *sessionList) sessionWithID(id uint64) (t killTarget) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c, session := range s.sessions {
		if session != nil && uint64(session.id) == id {
			return killTarget{c, session, session.user, session.account.Load(), session.keyspace, session.router}
		}
	}
	return t
}

package proxy

import (
	"cmp"
	"errors"
	"time"
)

// Settings are those of a Config that may change while a Server serves.
type Settings struct {
	Users                                                    []User
	MaxConnections, MaxUserConnections                       int
	HandshakeTimeout, IdleTimeout, ReadTimeout, WriteTimeout time.Duration
	SlowStatement, Quiet                                     time.Duration
	MaxValues                                                int64
	PauseTimeout                                             time.Duration
	StatementShapes                                          int
}

// ErrUsersKind is that of settings with users for a server that has none, or without for one that has.
var ErrUsersKind = errors.New("whether users are listed cannot change while seqgate runs")

// Change has the settings count from now on: the users and the limits for logins, users' accounts for connections that
// are made to servers, and the idle timeout for sessions that there are, too. Sessions of users that are gone get no
// further connection to a server. The error is ErrUsersKind; nothing has changed then.
func (s *Server) Change(to Settings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if (to.Users == nil) != (s.cfg.Users == nil) {
		return ErrUsersKind
	}
	cfg := s.cfg
	cfg.Users, cfg.MaxConnections, cfg.MaxUserConnections = to.Users, to.MaxConnections, to.MaxUserConnections
	cfg.HandshakeTimeout, cfg.IdleTimeout = cmp.Or(to.HandshakeTimeout, DefaultHandshakeTimeout), to.IdleTimeout
	cfg.ReadTimeout, cfg.WriteTimeout, cfg.SlowStatement = to.ReadTimeout, to.WriteTimeout, to.SlowStatement
	cfg.Quiet, cfg.MaxValues = to.Quiet, cmp.Or(to.MaxValues, DefaultMaxValues)
	if to.StatementShapes != s.settings().StatementShapes {
		s.countShapes(to.StatementShapes)
	}
	cfg.PauseTimeout = cmp.Or(to.PauseTimeout, DefaultPauseTimeout)
	cfg.StatementShapes = to.StatementShapes
	s.changed.Store(&cfg)
	if err := s.accounts.keep(to.Users); err != nil {
		s.log.Info("connections of an account that is not used any more not closed in order", "err", err)
	}
	if len(s.listeners) > 0 && !s.draining.Load() {
		s.startSweep()
	}
	return nil
}

package proxy

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
	"github.com/seqgate/seqgate/vschema"
)

// Keyspace is a logical database: so far the one shard of an unsharded one.
type Keyspace struct {
	Name     string
	Database string // its name at the server
	Backend  *backend.Backend
	DB       *sql.DB // seqgate's own connections, for what it asks of tables
	Refills  *sql.DB // and those for its sequences (sequence.NewPool)
}

// User may log in to seqgate; towards the backends it is the keyspace's own
// account that counts.
type User struct {
	Name, Password string
	// Plugin is the authentication plugin, caching_sha2_password when empty.
	Plugin string
}

// Config is what a Server needs.
type Config struct {
	Keyspaces map[string]*Keyspace
	// Default is the keyspace of clients that name no database.
	Default string
	// Users may log in. When nil, clients log in with their own account at the
	// default keyspace's backend.
	Users     []User
	TLS       *tls.Config     // towards clients
	RSA       *rsa.PrivateKey // for caching_sha2_password without TLS
	Sequences *sequence.Registry
	// Keyed gives a keyed sequence; nil when there are none.
	Keyed   func(sequence.Name) (*keyed.Sequence, error)
	VSchema *vschema.VSchema // nil: tables have sequences by the convention
	// OnExplicitID says what an id does that a client writes itself into a
	// sequenced column of a keyspace's table. ExplicitAdvance everywhere when nil.
	OnExplicitID func(keyspace, table string) ExplicitPolicy
	Logger       *slog.Logger
}

// Server accepts clients.
type Server struct {
	cfg     Config
	catalog *catalog
	log     *slog.Logger
	auth    *authenticator

	explicit explicitWarnings

	ctx      context.Context // of all sessions
	cancel   context.CancelFunc
	draining atomic.Bool
	lastID   atomic.Uint32 // of a session, counted from 0
	running  sync.WaitGroup

	mu        sync.Mutex
	listeners []net.Listener
	sessions  map[net.Conn]*session // nil while logging in
}

// New makes a Server; it serves once listeners are handed to Serve.
func New(cfg Config) (*Server, error) {
	if cfg.Keyspaces[cfg.Default] == nil {
		return nil, fmt.Errorf("default keyspace %q is not configured", cfg.Default)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{cfg: cfg, log: cfg.Logger, ctx: ctx, cancel: cancel, sessions: make(map[net.Conn]*session)}
	s.explicit.log = cfg.Logger
	s.catalog = newCatalog(cfg)
	s.auth = newAuthenticator(cfg)
	return s, nil
}

// Serve accepts clients from a listener until Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.draining.Load() {
		s.mu.Unlock()
		return l.Close()
	}
	s.listeners = append(s.listeners, l)
	s.mu.Unlock()
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			s.start(c)
		case s.draining.Load():
			return nil
		case isTemporary(err):
			// Out of descriptors, most likely: sessions that end give some back.
			s.log.Error("client not accepted", "err", err)
			select {
			case <-s.ctx.Done():
			case <-time.After(acceptPause):
			}
		default:
			return fmt.Errorf("accept clients on %s: %w", l.Addr(), err)
		}
	}
}

// start runs a client's session, unless the server drains already.
func (s *Server) start(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		_ = c.Close() // nothing was said yet
		return
	}
	s.sessions[c] = nil
	s.running.Add(1)
	go s.serve(c)
}

// acceptPause keeps a failing accept from spinning.
const acceptPause = 50 * time.Millisecond

func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// serve runs one client's session. A fault in it ends that session alone.
func (s *Server) serve(c net.Conn) {
	defer s.running.Done()
	defer c.Close()
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("session ended by a fault", "client", c.RemoteAddr().String(), "fault", r, "stack", string(debug.Stack()))
		}
	}()
	defer s.untrack(c)
	session, err := s.login(c)
	if err != nil {
		s.logEnd(c, "login", err)
		return
	}
	s.track(c, session)
	closed := false
	defer func() {
		if !closed {
			_ = session.back.Close() // after a fault: its locks must not stay
		}
	}()
	err = session.begin()
	if err == nil {
		err = session.run()
	}
	closed = true
	s.logEnd(c, "session", errors.Join(err, session.close()))
}

// logEnd tells how a session ended: a client that just leaves is no news.
func (s *Server) logEnd(c net.Conn, what string, err error) {
	level := slog.LevelDebug
	var lost *backendError
	var connect *backend.ConnectError
	if errors.As(err, &lost) || errors.As(err, &connect) {
		level = slog.LevelWarn
	}
	s.log.Log(s.ctx, level, what+" ended", "client", c.RemoteAddr().String(), "err", err)
}

func (s *Server) track(c net.Conn, session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[c] = session
}

func (s *Server) untrack(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c)
}

// Shutdown stops accepting clients, ends idle sessions, lets statements and
// transactions under way come to their end, and waits for that until ctx is
// done; what is left then is cut off, and ctx's error returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining.Store(true)
	for _, l := range s.listeners {
		_ = l.Close() // it accepts no more either way
	}
	for c, session := range s.sessions {
		switch {
		case session == nil: // it logs in: an error in the middle of that would be the library's own
			_ = c.Close()
		case !session.busy.Load():
			interrupt(c)
		}
	}
	s.mu.Unlock()

	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		s.cancel()
		return nil
	case <-ctx.Done():
	}
	s.cancel()
	s.mu.Lock()
	for c, session := range s.sessions {
		_ = c.Close() // cut off
		if session != nil {
			_ = session.back.Close()
		}
	}
	s.mu.Unlock()
	<-ended
	return ctx.Err()
}

// Ready reports whether new clients are taken.
func (s *Server) Ready() bool { return !s.draining.Load() }

// interrupt wakes a session that waits for its client.
func interrupt(c net.Conn) { _ = c.SetReadDeadline(time.Unix(1, 0)) }

// databaseFor gives the server's name of what a client calls a database: a
// keyspace's name stands for its database, any other is the server's own.
func (s *Server) databaseFor(k *Keyspace, name string) (string, error) {
	if name == k.Name {
		return k.Database, nil
	}
	if other := s.cfg.Keyspaces[name]; other != nil && other.Backend.Addr != k.Backend.Addr {
		return "", mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
			"seqgate does not yet support changing from keyspace '%s' to '%s', which is on another server, within a session; connect again with '%s' as the database",
			k.Name, name, name))
	} else if other != nil {
		return other.Database, nil
	}
	return name, nil
}

// keyspaceFor gives the keyspace and the server's database for the database
// that a client named at connect.
func (s *Server) keyspaceFor(name string) (*Keyspace, string) {
	if k := s.cfg.Keyspaces[name]; k != nil {
		return k, k.Database
	}
	k := s.cfg.Keyspaces[s.cfg.Default]
	if name == "" {
		return k, k.Database
	}
	return k, name
}

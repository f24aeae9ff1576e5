package proxy

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
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
	// RequireTLS is what the user's connections must have.
	RequireTLS UserTLS
	// MaxConnections is how many the user may have at once, in place of
	// Config.MaxUserConnections; 0 is that.
	MaxConnections int
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
	// FirstFree gives the first id above all that are in use in the columns which a
	// sequence fills, or would fill if it existed, for CREATE SEQUENCE; 0 when it fills
	// none. No sequence fills anything when nil.
	FirstFree func(ctx context.Context, name sequence.Name) (int64, error)
	Logger    *slog.Logger
	// Version is seqgate's own, which SHOW SEQGATE STATUS tells.
	Version string

	// RequireTLS refuses clients over TCP that are not encrypted.
	RequireTLS bool
	// MaxConnections is how many clients there may be at once, MaxUserConnections
	// how many of one user; 0 is any number.
	MaxConnections, MaxUserConnections int
	// IdleBackends is how many backend connections of sessions that ended are kept
	// for others, of each keyspace; with a list of users only.
	IdleBackends int
	// ProxyFrom are the addresses of proxies, whose connections begin with a PROXY
	// protocol header.
	ProxyFrom []netip.Prefix
	// HandshakeTimeout bounds everything between accepting a client and its first
	// command; 10 s when 0.
	HandshakeTimeout time.Duration
	// IdleTimeout ends a client that sends no command for so long; 0 is never.
	IdleTimeout time.Duration
	// ReadTimeout is how long a client may take between two parts of a command, and
	// WriteTimeout how long either side may take no bytes; as the server's own
	// net_read_timeout and net_write_timeout when 0: 30 s and 60 s.
	ReadTimeout, WriteTimeout time.Duration
}

// DefaultHandshakeTimeout is that of a Config that has none.
const DefaultHandshakeTimeout = 10 * time.Second

// Server accepts clients.
type Server struct {
	cfg     Config
	catalog *catalog
	log     *slog.Logger
	hangups *hangups
	// pools are the backends' connections, by keyspace; none without a list of users.
	pools map[string]*backend.Pool
	// publicKey is that of Config.RSA, in PEM.
	publicKey []byte

	explicit explicitWarnings
	started  time.Time

	queryNames string // see newQueryNames

	connections, userConnections limit

	clock atomic.Int64 // of the latest sweep for idle sessions, in nanoseconds; 1 before the first

	ctx      context.Context // of all sessions
	cancel   context.CancelFunc
	draining atomic.Bool
	lastID   atomic.Uint32 // of a session, counted from 0
	running  sync.WaitGroup
	sweep    sync.WaitGroup // for idle sessions

	mu        sync.Mutex
	listeners []net.Listener
	sessions  map[net.Conn]*session // nil while logging in
}

// New makes a Server; it serves once listeners are handed to Serve. Shutdown gives
// back what it holds, also of one that never served.
func New(cfg Config) (*Server, error) {
	if cfg.Keyspaces[cfg.Default] == nil {
		return nil, fmt.Errorf("default keyspace %q is not configured", cfg.Default)
	}
	cfg.HandshakeTimeout = cmp.Or(cfg.HandshakeTimeout, DefaultHandshakeTimeout)
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{cfg: cfg, log: cfg.Logger, ctx: ctx, cancel: cancel, sessions: make(map[net.Conn]*session), started: time.Now(),
		queryNames: newQueryNames()}
	s.explicit.log = cfg.Logger
	s.lastID.Store(rand.Uint32()) // another seqgate's ids are other ones, most likely
	s.clock.Store(1)
	s.catalog = newCatalog(cfg)
	if cfg.RSA != nil {
		der, err := x509.MarshalPKIXPublicKey(&cfg.RSA.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("the RSA key: %w", err)
		}
		s.publicKey = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	}
	var err error
	s.hangups, err = newHangups()
	if cfg.Users != nil {
		s.pools = make(map[string]*backend.Pool)
		for name, k := range cfg.Keyspaces {
			s.pools[name] = &backend.Pool{Backend: k.Backend, MaxIdle: cfg.IdleBackends}
		}
	}
	return s, err
}

// Serve accepts clients from a listener until Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.draining.Load() {
		s.mu.Unlock()
		return l.Close()
	}
	if len(s.listeners) == 0 && s.cfg.IdleTimeout > 0 {
		s.sweep.Go(s.sweepIdle)
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

// serve runs one client's session. Its goroutine is not the one of the login, which
// leaves a large stack behind.
func (s *Server) serve(c net.Conn) {
	if client, session, release := s.letIn(c); session != nil {
		go s.run(c, client, session, release)
	}
}

// letIn logs a client in. Without a session nothing is left of it.
func (s *Server) letIn(c net.Conn) (client net.Conn, session *session, release func()) {
	release = func() {}
	defer func() {
		s.logFault(c, recover())
		if session == nil {
			release()
			s.untrack(c)
			_ = c.Close() // it was told why, if anything can be told
			s.running.Done()
		}
	}()
	client, leave, err := s.receive(c)
	if err != nil {
		s.logEnd(c, "login", err)
		return client, nil, release
	}
	release = leave
	if session, err = s.login(client); err != nil {
		s.logEnd(client, "login", err)
		return client, nil, release
	}
	s.track(c, session)
	return client, session, release
}

// run serves a client that has logged in. A fault in it ends that session alone.
func (s *Server) run(c, client net.Conn, session *session, release func()) {
	defer s.running.Done()
	defer c.Close()
	defer func() { s.logFault(c, recover()) }()
	defer s.untrack(c)
	defer release()
	defer func() { session.leave() }() // another user's after COM_CHANGE_USER
	closed := false
	defer func() {
		if !closed {
			_ = session.disregard()
			_ = session.back.Close() // after a fault: its locks must not stay
		}
	}()
	session.attend()
	err := session.run()
	closed = true
	s.logEnd(client, "session", errors.Join(err, session.close()))
}

func (s *Server) logFault(c net.Conn, fault any) {
	if fault != nil {
		s.log.Error("session ended by a fault", "client", c.RemoteAddr().String(), "fault", fault, "stack", string(debug.Stack()))
	}
}

// receive takes a client in before anything is said to it: it learns whose
// connection a proxy makes, and has a place for it or tells it that there is none.
func (s *Server) receive(c net.Conn) (client net.Conn, release func(), err error) {
	release, full := s.admit()
	client, err = s.behindProxy(c)
	switch {
	case err == nil && full == nil:
		return client, release, nil
	case err == nil: // only now: what is sent while a header is unread is lost when the connection is closed
		return nil, nil, errors.Join(full, sayInPlaceOfGreeting(client, clientError(full)))
	case full == nil:
		release()
	}
	return nil, nil, err
}

// logEnd tells how a session ended: a client that just leaves is no news.
func (s *Server) logEnd(c net.Conn, what string, err error) {
	level := slog.LevelDebug
	var lost *backendError
	var connect *backend.ConnectError
	var header *proxyHeaderError
	if errors.As(err, &lost) || errors.As(err, &connect) || errors.As(err, &header) {
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
	defer s.sweep.Wait()
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
		return s.release()
	case <-ctx.Done():
	}
	s.cancel()
	s.mu.Lock()
	for c, session := range s.sessions {
		_ = c.Close() // cut off
		if session != nil {
			session.cutOff()
		}
	}
	s.mu.Unlock()
	<-ended
	if err := s.release(); err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return ctx.Err()
}

// release gives back what sessions have shared.
func (s *Server) release() error {
	err := s.hangups.close()
	for _, p := range s.pools {
		err = errors.Join(err, p.Close())
	}
	return err
}

// Ready reports whether new clients are taken.
func (s *Server) Ready() bool { return !s.draining.Load() }

// interrupt wakes a session that reads from c, now or when it will.
func interrupt(c net.Conn) { _ = c.SetReadDeadline(time.Unix(1, 0)) }

// databaseFor gives the server's name of what a client calls a database: a
// keyspace's name stands for its database, any other is the server's own.
func (s *Server) databaseFor(k *Keyspace, name string) (string, error) {
	if name == k.Name {
		return k.Database, nil
	}
	if other := s.cfg.Keyspaces[name]; other != nil && other.Backend.Addr != k.Backend.Addr {
		return "", elsewhere(k.Name, name)
	} else if other != nil {
		return other.Database, nil
	}
	return name, nil
}

// elsewhere refuses a change to a keyspace that is on another server.
func elsewhere(from, to string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
		"seqgate does not yet support changing from keyspace '%s' to '%s', which is on another server, within a session; connect again with '%s' as the database",
		from, to, to))
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

package proxy

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/proxy/health"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/shapes"
	"github.com/seqgate/seqgate/proxy/socket"
	"github.com/seqgate/seqgate/proxy/xa"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
	"github.com/seqgate/seqgate/vschema"
)

// User may log in to seqgate; towards the backends it is its account that counts.
type User struct {
	Name, Password string
	// Plugin is the authentication plugin, caching_sha2_password when empty.
	Plugin string
	// RequireTLS is what the user's connections must have.
	RequireTLS UserTLS
	// MaxConnections is how many the user may have at once, in place of
	// Config.MaxUserConnections; 0 is that.
	MaxConnections int
	// Account is the one at the backends; nil for each keyspace's own.
	Account *catalog.Account
	// VSchemaDDL lets a user change the vschema by ALTER VSCHEMA.
	VSchemaDDL bool
}

// Config is what a Server needs.
type Config struct {
	Keyspaces map[string]*catalog.Keyspace
	// Default is the keyspace of clients that name no database.
	Default string
	// Users may log in. When nil, clients log in with their own account at the
	// default keyspace's backend.
	Users     []User
	TLS       *tls.Config     // towards clients
	RSA       *rsa.PrivateKey // for caching_sha2_password without TLS
	Sequences *sequence.Registry
	// Keyed returns a keyed sequence; nil when there are none.
	Keyed func(sequence.Name) (*keyed.Sequence, error)
	// Generators makes the ids of the vschema's generators; when nil, they are made without worker ids of this process.
	Generators *generate.Set
	VSchema    *vschema.VSchema // at the start; nil: tables have sequences by the convention
	// AlterVSchema makes an edit where the vschema is kept, and calls SetVSchema with
	// the result. ALTER VSCHEMA is refused when nil. The error is a *vschema.EditError,
	// a vschema.Errors, or what else went wrong; nothing has changed then.
	AlterVSchema func(ctx context.Context, edit vschema.Edit) error
	// OnExplicitID says what an id does that a client writes itself into a
	// sequenced column of a keyspace's table. ExplicitAdvance everywhere when nil.
	OnExplicitID func(keyspace, table string) catalog.ExplicitPolicy
	// FirstFree returns the first id above all that are in use in the columns which a
	// sequence fills, or would fill if it existed, for CREATE SEQUENCE; 0 when it fills
	// none. No sequence fills anything when nil.
	FirstFree func(ctx context.Context, name sequence.Name) (int64, error)
	Logger    *slog.Logger
	// Tracer is told of statements and of calls of servers; nil: nobody is.
	Tracer Tracer
	// XA has transactions over several shards commit in two phases, by decisions that
	// stand in this unsharded keyspace; nil for the order of the shards.
	XA *catalog.Keyspace
	// XAGrace is how long a prepared transaction is left to the seqgate that began it;
	// twice the time that this waits for the decision when 0.
	XAGrace time.Duration
	// Version is seqgate's own, which SHOW SEQGATE STATUS tells.
	Version string
	// Health returns how the servers stand, for SHOW SEQGATE SERVERS; nil: nobody asks them.
	Health func() []health.Status

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
	// Quiet is for how long a session must have sent nothing to be ended by Shutdown for
	// that; 0 ends idle sessions at once. Others are ended behind an answer, which
	// costs no client a statement (drain.go).
	Quiet time.Duration
	// ReadTimeout is how long a client may take between two parts of a command, and
	// WriteTimeout how long either side may take no bytes; as the server's own
	// net_read_timeout and net_write_timeout when 0: 30 s and 60 s.
	ReadTimeout, WriteTimeout time.Duration
	// SlowStatement is how long a statement takes that is logged; 0 logs none.
	SlowStatement time.Duration
	// PauseTimeout is how long a statement or a login waits for a shard that is paused; DefaultPauseTimeout when 0.
	PauseTimeout time.Duration
	// StatementShapes is of how many shapes statements are counted, for SHOW SEQGATE STATEMENTS; 0: of none.
	StatementShapes int
	// MaxValues is how many values of a sequence a client may ask for at once by SELECT
	// NEXT n VALUES; DefaultMaxValues when 0. An INSERT gets as many as it has rows.
	MaxValues int64
}

// DefaultHandshakeTimeout is that of a Config that has none.
const DefaultHandshakeTimeout = 10 * time.Second

// Server accepts clients. What it is made of, each part knowing those before it: keyspaces, sessionList, logins.
type Server struct {
	logins

	decisions *xa.Decisions // nil without Config.XA
	segments  segments
	serving   atomic.Bool   // clients are let in
	lastID    atomic.Uint32 // of a session, counted from 0

	shapes  atomic.Pointer[shapes.Table] // nil: none are counted
	slowest shapes.SlowList
}

// New makes a Server; it serves once listeners are handed to Serve. Shutdown gives
// back what it holds, also of one that never served.
func New(cfg Config) (*Server, error) {
	if cfg.Keyspaces[cfg.Default] == nil {
		return nil, fmt.Errorf("default keyspace %q is not configured", cfg.Default)
	}
	cfg.HandshakeTimeout = cmp.Or(cfg.HandshakeTimeout, DefaultHandshakeTimeout)
	cfg.MaxValues = cmp.Or(cfg.MaxValues, DefaultMaxValues)
	cfg.PauseTimeout = cmp.Or(cfg.PauseTimeout, DefaultPauseTimeout)
	ctx, cancel := context.WithCancel(context.Background())
	s := new(Server)
	s.cfg, s.log, s.queryNames = cfg, cfg.Logger, newQueryNames()
	s.ctx, s.cancel = ctx, cancel
	s.sessions, s.started = make(map[net.Conn]*session), time.Now()
	s.meter, s.backends = meter.New(), newBackends(cfg.Keyspaces)
	s.pauses = newPauses(cfg.Keyspaces)
	s.countShapes(cfg.StatementShapes)
	s.explicit.log = cfg.Logger
	s.looked.pause = lookPause
	s.lastID.Store(rand.Uint32()) // another seqgate's ids are other ones, most likely
	s.clock.Store(1)
	if cfg.XA != nil {
		s.decisions = xa.NewDecisions(cfg.XA)
	}
	if s.cfg.Generators == nil {
		s.ownGenerators = generate.New(generate.Config{})
		s.cfg.Generators = s.ownGenerators
	}
	s.catalog = catalog.NewCache(catalog.CacheConfig{Keyspaces: s.cfg.Keyspaces, VSchema: s.cfg.VSchema, Generators: s.cfg.Generators, OnExplicitID: s.cfg.OnExplicitID, Logger: s.cfg.Logger})
	s.segments.note(cfg.VSchema)
	if cfg.RSA != nil {
		der, err := x509.MarshalPKIXPublicKey(&cfg.RSA.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("the RSA key: %w", err)
		}
		s.publicKey = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	}
	var err error
	s.hangups, err = socket.NewWatcher()
	if cfg.Users != nil {
		s.pools = make(map[*catalog.Keyspace]*backend.Pool)
		for _, k := range cfg.Keyspaces {
			for _, shard := range k.EachShard() {
				s.pools[shard] = &backend.Pool{Backend: shard.Backend, MaxIdle: cfg.IdleBackends}
			}
		}
	}
	return s, err
}

// Serve accepts clients from a listener until Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		return l.Close()
	}
	s.accepting.Add(1)
	defer s.accepting.Done()
	s.startSweep()
	if len(s.listeners) == 0 && s.decisions != nil {
		s.sweep.Go(func() { s.decisions.Recover(s.ctx, s.cfg.Keyspaces, s.cfg.XAGrace, s.log) })
	}
	s.listeners = append(s.listeners, l)
	s.serving.Store(true)
	s.mu.Unlock()
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			s.start(c)
		case s.closing.Load():
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
	s.meter.Accepted()
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
		s.meter.Refused(refusalOf(err))
		s.logEnd(c, "login", s.keyspaceOf(err), err)
		return client, nil, release
	}
	release = leave
	if session, err = s.login(client); err != nil {
		s.meter.Refused(refusalOf(err))
		s.logEnd(client, "login", s.keyspaceOf(err), err)
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
	defer func() { session.uncountBacks() }()
	defer func() { session.leave() }() // another user's after COM_CHANGE_USER
	closed := false
	defer func() {
		if !closed {
			_ = session.unwatch()
			if session.router != nil {
				session.router.cutOffConns()
			}
			_ = session.Wire.Close() // after a fault: its locks must not stay
		}
	}()
	session.watchBoth()
	err := session.run()
	closed = true
	s.logEnd(client, "session", session.keyspace, errors.Join(err, session.close()))
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

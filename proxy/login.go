package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/handshake"
	"github.com/seqgate/seqgate/proxy/wire"
)

// login is one client's way in. Without a list of users the backend judges the
// client: its greeting and all that follows is passed on (login_relay.go). With a
// list seqgate judges, and logs in at the backend with the keyspace's account
// (login_verify.go).
type login struct {
	srv   *Server
	ctx   context.Context
	front handshake.Conn

	greeting  handshake.Greeting // as the client got it
	announced uint64             // capability flags, in it
	sequence  byte               // of the latest packet between both
	payload   []byte             // of its handshake response
	response  handshake.Response
	malformed error             // why the response could not be read
	keyspace  *catalog.Keyspace // whose server the client logs into: of a sharded one, a shard
	whole     *catalog.Keyspace // the current keyspace of a client that is routed; nil for others
	open      *backend.Opening  // a server that has greeted, and is to be left in order if nothing comes of the login
	back      *backend.Conn     // once it is logged in
	login     backend.Login     // there, where it is seqgate's own
	request   authRequest       // of a listed user
	database  string            // at the backend, "" for none
	leave     func()            // gives the user's place back
	hold      hold              // what its packets take
	counted   *countedConn      // ... and TLS for them; nil without
}

// login does both handshakes. What is left of them is a session over two sockets.
func (s *Server) login(c net.Conn) (*session, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.settings().HandshakeTimeout)
	defer cancel()
	if err := c.SetDeadline(time.Now().Add(s.settings().HandshakeTimeout)); err != nil {
		return nil, err
	}
	l := &login{srv: s, ctx: ctx, front: handshake.Conn{Conn: c}, leave: func() {}, hold: hold{of: &s.loginMemory, client: c}}
	defer l.hold.release()
	way := l.verify
	if s.cfg.Users == nil {
		way = l.relay
	}
	err := way()
	if l.counted != nil {
		l.counted.take = nil
	}
	if err != nil {
		l.leave()
		if l.back != nil {
			err = errors.Join(err, l.back.Quit())
		}
		return nil, err
	}
	return l.session(), c.SetDeadline(time.Time{})
}

// perHop are flags that are a matter of each of both connections by itself. The
// client's own is compressed where the server offers that too, and encrypted where
// seqgate can.
const perHop = handshake.SSL | handshake.Compress | handshake.Zstd

// followed are those of MariaDB's own flags whose answers seqgate can follow.
const followed = wire.ClientProgress | wire.ClientBulkOperations | wire.ClientExtendedMetadata | wire.ClientCacheMetadata

// oneServers are those that only one server can do by itself: it leaves definitions out
// that it has told at PREPARE, which another shard has not; and rows of a bulk go to
// different shards. Clients do without.
const oneServers = wire.ClientBulkOperations | wire.ClientCacheMetadata

// announce returns the flags that a client is told of, in front of a server with
// the given ones.
func (l *login) announce(flags uint64) uint64 {
	const mysqlFlags = 1<<32 - 1
	flags &= mysqlFlags&^handshake.SSL | followed
	if l.srv.sharded() {
		flags &^= oneServers
	}
	if l.srv.cfg.TLS != nil {
		flags |= handshake.SSL
	}
	return flags
}

// receive reads the client's handshake response, after TLS when it asks for that. One
// that is too large is told so.
func (l *login) receive() error {
	defer l.srv.halfOpen.enter(l.front.Conn)()
	p, err := l.hear()
	if err == nil && handshake.IsSSLRequest(p.Payload) && l.srv.cfg.TLS != nil {
		counted := &countedConn{Conn: l.front.Conn, take: l.hold.take}
		secure := tls.Server(counted, l.srv.cfg.TLS)
		if err = secure.HandshakeContext(l.ctx); err != nil {
			return err
		}
		counted.shaken, l.counted = true, counted
		l.front.Conn = secure
		p, err = l.hear()
	}
	l.payload = p.Payload
	var own *mysql.MyError
	switch {
	case errors.As(err, &own):
		return l.refuse(err)
	case err != nil:
		return err
	}
	l.response, l.malformed = handshake.ParseResponse(p.Payload)
	return nil
}

// hear reads a packet of the client's. One that is too large, or has another number than
// that of the next one, is an error that the client has to be told.
func (l *login) hear() (handshake.Packet, error) {
	p, err := l.front.ReceiveIn(l.hold.take)
	var large *handshake.TooLargeError
	switch due := l.sequence + 1; {
	case errors.As(err, &large):
		l.sequence, err = p.Sequence, errors.Join(tooLarge(), err)
	case err == nil && p.Sequence != due:
		l.sequence, err = p.Sequence, mysql.NewDefaultError(mysql.ER_NET_PACKETS_OUT_OF_ORDER)
	case err == nil:
		l.sequence = due
	}
	return p, err
}

// proving is the client while it proves who it is.
func (l *login) proving() handshake.PacketConn { return proving{l} }

// proving is a client that is half open while a packet of it is waited for.
type proving struct{ l *login }

func (c proving) Receive() (handshake.Packet, error) {
	defer c.l.srv.halfOpen.enter(c.l.front.Conn)()
	return c.l.hear()
}

func (c proving) Send(packets ...handshake.Packet) error {
	if n := len(packets); n > 0 {
		c.l.sequence = packets[n-1].Sequence
	}
	return c.l.front.Send(packets...)
}

// refuse tells the client why it is not let in.
func (l *login) refuse(err error) error {
	told := clientError(err)
	payload := wire.AppendError(nil, told)
	// No SQLSTATE before both know the newer protocol, but with the errors of a response that was not understood at all: as servers
	// have it.
	malformed := l.response.Capabilities == 0 && (told.Code == mysql.ER_HANDSHAKE_ERROR || told.Code == mysql.ER_NET_PACKETS_OUT_OF_ORDER)
	if l.announced == 0 || !l.response.Has(handshake.Protocol41) && !malformed {
		payload = append(payload[:3], payload[3+6:]...)
	}
	return errors.Join(err, l.tell(payload))
}

// tellTimeout is how long a client may take to read why it is not let in. Its time for the
// login may be over by then: that a server does not answer is known at its end only.
const tellTimeout = time.Second

// tell sends the client an error.
func (l *login) tell(payload []byte) error {
	if err := l.front.SetWriteDeadline(time.Now().Add(tellTimeout)); err != nil {
		return err
	}
	return l.front.Send(handshake.Packet{Sequence: l.next(), Payload: payload})
}

// next is the number of the packet that follows the latest one.
func (l *login) next() byte {
	if l.announced == 0 {
		return 0 // the first of all
	}
	return l.sequence + 1
}

// session makes the session of a client that has logged in.
func (l *login) session() *session {
	flags := l.response.Capabilities & l.announced
	log := l.srv.log.With("client", l.front.RemoteAddr().String())
	trace := newTracing(l.srv.cfg.Tracer)
	client := &clientConn{
		srv: l.srv, ctx: l.srv.ctx, log: log, trace: trace,
		loggedIn:    time.Now(),
		user:        l.response.User,
		front:       wire.NewConn(compressedFor(l.front.Conn, &l.response, flags)),
		id:          l.greeting.ThreadID,
		salt:        l.greeting.Salt,
		frontSecure: l.front.Secure(),
		leave:       l.leave,
	}
	server := &serverConn{serverState: serverState{
		srv: l.srv, ctx: l.srv.ctx, log: log, trace: trace, keyspace: l.keyspace, client: l.greeting.ThreadID,
		secure: (&handshake.Conn{Conn: l.back.Conn}).Secure(), login: l.login,
		Session: backend.Session{Wire: wire.NewConn(l.back.Conn), Conn: l.back, Capabilities: flags, Boundary: true, MariaDB: isMariaDB(l.back.Version)}}}
	s := newSession(client, server)
	s.peer, s.provenPeer = peerOf(l.response.Attributes, l.keyspace)
	s.countFront()
	s.CountBack()
	s.noteAccount()
	s.ThreadID.Store(l.back.ThreadID)
	s.Answer.Status = l.back.Status
	if l.whole != nil {
		s.router = newRouter(s, l.whole, l.database)
	}
	s.State = backend.State{Database: l.database, DatabaseKnown: backend.IsPlainName(l.database), LastIDKnown: true}
	return s
}

// compressedFor returns the connection that follows a login with these flags. Of two
// algorithms both servers take zlib.
func compressedFor(c net.Conn, r *handshake.Response, flags uint64) net.Conn {
	switch {
	case flags&handshake.Compress != 0:
		return wire.NewCompressed(c, wire.Compression{Level: wire.ZlibLevel})
	case flags&handshake.Zstd != 0:
		return wire.NewCompressed(c, wire.Compression{Zstd: true, Level: int(r.ZstdLevel)})
	}
	return c
}

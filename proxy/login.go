package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/server"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
)

// loginTimeout bounds everything between accepting a client and its first
// command.
const loginTimeout = 10 * time.Second

// login does both handshakes: go-mysql's server towards the client, its client
// towards the backend. What is left of them is a session over two raw sockets.
func (s *Server) login(c net.Conn) (*session, error) {
	ctx, cancel := context.WithTimeout(s.ctx, loginTimeout)
	defer cancel()
	if err := c.SetDeadline(time.Now().Add(loginTimeout)); err != nil {
		return nil, err
	}
	greeting, err := s.cfg.Keyspaces[s.cfg.Default].Backend.Known(ctx)
	if err != nil {
		return nil, errors.Join(err, sayError(c, clientError(err)))
	}
	l := &loginHandler{srv: s, ctx: ctx, front: newFrontConn(c, greeting, firstSessionID+s.lastID.Add(1)%firstSessionID)}
	conf := s.auth.serverFor(greeting.Version, greeting.Charset, l.front)
	sc, err := conf.NewCustomizedConn(l.front, l, l)
	if err != nil {
		if l.back != nil {
			err = errors.Join(err, l.back.Quit())
		}
		return nil, err
	}
	l.front.loggedIn = true
	front := sc.Conn.Conn
	if front == net.Conn(l.front) {
		front = c
	}
	return l.session(front), c.SetDeadline(time.Time{})
}

// sayError sends an ERR packet to a client that is still to be greeted. It has
// no SQLSTATE: nothing was agreed on yet.
func sayError(c net.Conn, e *mysql.MyError) error {
	payload := append([]byte{mysql.ERR_HEADER, byte(e.Code), byte(e.Code >> 8)}, e.Message...)
	b, _ := appendPacket(nil, 0, payload)
	_, err := c.Write(b)
	return err
}

// loginHandler is go-mysql's view of one client that logs in.
type loginHandler struct {
	server.EmptyHandler
	srv      *Server
	ctx      context.Context
	front    *frontConn
	database string

	keyspace     *Keyspace
	login        backend.Login
	back         *backend.Conn
	user         string
	capabilities uint32
}

var (
	_ server.AuthenticationHandler = (*loginHandler)(nil)
	_ server.Handler               = (*loginHandler)(nil)
)

// UseDB notes the database named at connect. It is called before the password
// is known to be right, so it must not tell whether the database exists.
func (l *loginHandler) UseDB(name string) error {
	l.database = name
	return nil
}

// GetCredential gives what the client's password is compared with.
func (l *loginHandler) GetCredential(user string) (server.Credential, bool, error) {
	return l.srv.auth.credential(user), true, nil
}

// OnAuthFailure has nothing to do: the login's error is logged at its end.
func (l *loginHandler) OnAuthFailure(*server.Conn, error) {}

// OnAuthSuccess logs in at the backend, with what the client negotiated. The
// backend's refusal is what the client sees.
func (l *loginHandler) OnAuthSuccess(c *server.Conn) error {
	var database string
	l.keyspace, database = l.srv.keyspaceFor(l.database)
	l.user = c.GetUser()
	l.capabilities = c.Capability() & l.front.advertised
	c.UnsetCapability(^l.capabilities)
	login := backend.Login{User: l.keyspace.Backend.User, Password: l.keyspace.Backend.Password,
		Database: database, Capabilities: l.capabilities, Attributes: c.Attributes()}
	_, login.Encrypted = c.Conn.Conn.(*tls.Conn)
	if l.database == "" && l.srv.cfg.Users == nil {
		login.Database = "" // as with the server itself
	}
	login.Collation, _ = parser.CollationName(c.Charset())
	if l.srv.cfg.Users == nil {
		login.User, login.Password = l.user, l.front.password
	}
	l.login = login
	back, err := l.keyspace.Backend.Dial(l.ctx, login)
	if err != nil && l.srv.draining.Load() {
		return errShutdown()
	}
	if err != nil {
		return clientError(err)
	}
	l.back = back
	c.SetStatus(back.Status)
	return nil
}

// session makes the session of a client that has logged in.
func (l *loginHandler) session(front net.Conn) *session {
	s := &session{
		srv: l.srv, ctx: l.srv.ctx, keyspace: l.keyspace, user: l.user,
		log:          l.srv.log.With("client", front.RemoteAddr().String()),
		front:        newWire(front),
		back:         newWire(l.back.Conn),
		id:           l.front.id,
		threadID:     l.back.ThreadID,
		capabilities: l.capabilities,
		boundary:     true,
		mariaDB:      strings.Contains(l.back.Version, "MariaDB"),
		peer:         l.login.Attributes[PeerAttribute] != "",
	}
	s.answer.status = l.back.Status
	s.state = sessionState{database: l.login.Database, databaseKnown: true, lastIDKnown: true}
	return s
}

package proxy

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// verify judges the client by the list of users, and logs in at the backend with
// the keyspace's own account.
func (l *login) verify() error {
	known, err := l.srv.cfg.Keyspaces[l.srv.cfg.Default].Backend.Known(l.ctx)
	if err != nil {
		return l.refuse(l.srv.ownLogin(err))
	}
	flags := l.announce(known.Capabilities) | handshake.PluginAuth | handshake.ConnectWithDB
	l.greeting = handshake.Greeting{Version: known.Version, ThreadID: firstSessionID + l.srv.lastID.Add(1)%firstSessionID,
		Salt: handshake.NewSalt(), Capabilities: flags, Charset: known.Charset, Status: known.Status, Plugin: l.srv.usualPlugin()}
	if err := l.front.Send(handshake.Packet{Payload: l.greeting.Append(nil)}); err != nil {
		return err
	}
	l.announced = flags
	if err := l.receive(); err != nil {
		return err
	}
	if l.malformed != nil {
		return l.refuse(mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR))
	}
	if err := l.check(); err != nil {
		return l.refuse(err)
	}
	if l.leave, err = l.srv.admitUser(l.response.User); err != nil {
		return l.refuse(err)
	}
	if err := l.connect(); err != nil {
		if l.srv.draining.Load() {
			err = errShutdown()
		}
		return l.refuse(l.srv.ownLogin(err))
	}
	return l.claim.welcome(&l.front, l.back.OK)
}

// check verifies the password that the handshake response proves.
func (l *login) check() error {
	encryption := encryptionOf(l.front.Conn)
	if err := l.srv.checkTransport(l.front.Conn, encryption); err != nil {
		return err
	}
	c := claim{user: l.response.User, plugin: l.response.Plugin, proof: l.response.Proof, salt: l.greeting.Salt,
		switches: l.response.Has(handshake.PluginAuth), sequence: l.sequence}
	if !c.switches {
		c.plugin = mysql.AUTH_NATIVE_PASSWORD // what such clients have
	}
	err := l.srv.verify(&l.front, &c, l.front.RemoteAddr())
	l.claim, l.sequence = c, c.sequence
	if err == nil && !l.srv.user(c.user).admits(encryption) {
		return accessDenied(c.user, l.front.RemoteAddr(), len(c.proof) > 0)
	}
	return err
}

// connect gets a connection to the backend of the client's database, with what the
// client negotiated. The backend's refusal is what the client sees.
func (l *login) connect() (err error) {
	l.keyspace, l.database = l.srv.keyspaceFor(l.response.Database)
	b := l.keyspace.Backend
	l.login = backend.Login{User: b.User, Password: b.Password, Database: l.database,
		Capabilities: l.response.Capabilities & l.announced, Charset: l.response.Charset,
		Attributes: l.response.Attributes, Encrypted: l.front.Encrypted()}
	l.back, err = l.srv.connect(l.ctx, l.keyspace, l.login)
	return err
}

// ownLogin gives what a client is told when seqgate itself could not log in at the
// server: not of whose account it is.
func (s *Server) ownLogin(err error) error {
	var refused *mysql.MyError
	if !errors.As(err, &refused) || refused.Code != mysql.ER_ACCESS_DENIED_ERROR {
		return err
	}
	s.log.Error("a server refuses the account of its DSN", "err", err)
	return &mysql.MyError{Code: errUnreachable, State: stateLink, Message: "seqgate could not log in at the server with its own account; its log tells more"}
}

package proxy

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// relay passes the handshake on, so that the server itself judges the client: its
// connection id, salt, plugins and errors are the client's.
func (l *login) relay() error {
	l.keyspace = l.srv.cfg.Keyspaces[l.srv.cfg.Default]
	open, err := l.keyspace.Backend.Open(l.ctx)
	if err != nil {
		return l.notOpened(err)
	}
	defer func() {
		if l.back == nil && open != nil {
			_ = open.Close() // the login's own error is what is told
		}
	}()
	l.greeting, l.announced = open.Greeting, l.announce(open.Greeting.Capabilities)
	if err := handshake.SetCapabilities(open.Payload, l.announced); err != nil {
		return l.refuse(err)
	}
	if err := l.front.Send(handshake.Packet{Payload: open.Payload}); err != nil {
		return err
	}
	if err := l.receive(); err != nil {
		l.keyspace.Backend.Depart(l.srv.ctx, open)
		return err
	}
	if !l.response.Has(handshake.Protocol41) && len(l.payload) >= 4 {
		return l.refuse(mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR))
	}
	if err := l.srv.checkTransport(l.front.Conn, encryptionOf(l.front.Conn)); err != nil {
		return l.refuse(err)
	}
	l.chooseDatabase()
	if l.keyspace.Backend.Addr != l.srv.cfg.Keyspaces[l.srv.cfg.Default].Backend.Addr {
		_ = open.Close() // another server is the one to ask
		if open, err = l.redirect(); err != nil {
			return err
		}
	}
	return l.authenticate(open)
}

// notOpened tells the client that there is no server, or what the server said in
// place of its greeting.
func (l *login) notOpened(err error) error {
	var refused *handshake.Refused
	if errors.As(err, &refused) {
		return errors.Join(err, l.front.Send(handshake.Packet{Payload: refused.Packet}))
	}
	return l.refuse(err)
}

// chooseDatabase finds out where the client's database is. Without one the
// session has none, as with the server itself.
func (l *login) chooseDatabase() {
	if l.response.Database == "" {
		return
	}
	l.keyspace, l.database = l.srv.keyspaceFor(l.response.Database)
}

// redirect opens another server for a client that names a database there: it gets
// that one's salt in a request to authenticate anew.
func (l *login) redirect() (*backend.Opening, error) {
	open, err := l.keyspace.Backend.Open(l.ctx)
	if err != nil {
		var refused *handshake.Refused
		if errors.As(err, &refused) {
			err = refused.MySQL()
		}
		return nil, l.refuse(err)
	}
	lacks := l.response.Capabilities & l.announced &^ perHop &^ open.Greeting.Capabilities
	switch {
	case lacks != 0:
		err = lacking(l.keyspace.Name, l.srv.cfg.Default, lacks)
	case l.malformed != nil || !l.response.Has(handshake.PluginAuth):
		err = mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR)
	}
	if err != nil {
		return nil, errors.Join(l.refuse(err), open.Close())
	}
	l.greeting.Salt, l.greeting.Plugin = open.Greeting.Salt, open.Greeting.Plugin
	c := claim{salt: open.Greeting.Salt, sequence: l.sequence}
	if err := c.switchTo(l.proving(), open.Greeting.Plugin); err != nil {
		return nil, errors.Join(err, open.Close())
	}
	l.sequence, l.response.Plugin, l.response.Proof = c.sequence, c.plugin, c.proof
	l.payload = l.response.Append(nil)
	l.response, l.malformed = handshake.ParseResponse(l.payload)
	return open, nil
}

// authenticate passes the client's response on, and what follows up to the
// server's verdict.
func (l *login) authenticate(open *backend.Opening) error {
	payload := l.payload
	if l.malformed == nil {
		payload = l.response.Rewrite(l.payload, l.forwarded(), l.database)
	}
	back := byte(1) // the number that the server awaits
	config, err := l.keyspace.Backend.TLSFor(open.Greeting, l.front.Encrypted())
	if err == nil && config != nil && len(payload) >= 32 {
		payload[1] |= byte(handshake.SSL >> 8)
		err = open.Encrypt(l.ctx, config, payload)
		back++
	}
	if err != nil {
		return l.refuse(&backend.ConnectError{Addr: l.keyspace.Backend.Addr, Err: err})
	}
	front := byte(1) // the one that it would await from the client
	if l.front.Encrypted() {
		front++
	}
	if redirected := l.keyspace.Backend.Addr != l.srv.cfg.Keyspaces[l.srv.cfg.Default].Backend.Addr; redirected {
		front += 2
	}
	if handshake.SendsPassword(l.response.Plugin) && l.front.Secure() && !open.Secure() {
		return l.refuse(handshake.ErrInsecureServer)
	}
	r := handshake.Relay{Front: l.proving(), Back: open, FrontSecure: l.front.Secure(), BackSecure: open.Secure(), Shift: back - front,
		Plugin: l.response.Plugin, Salt: open.Greeting.Salt, Key: l.srv.cfg.RSA, PublicKey: l.srv.publicKey}
	if err := open.Send(handshake.Packet{Sequence: l.sequence + r.Shift, Payload: payload}); err != nil {
		return err
	}
	return l.conclude(open, &r)
}

// forwarded gives the capability flags that the server gets: the client's, without
// those of its own connection.
func (l *login) forwarded() uint64 {
	const extended = ^uint64(1<<32 - 1)
	return l.response.Capabilities &^ perHop &^ (extended &^ followed)
}

// conclude runs the authentication and, when the server is content, makes its
// connection the session's.
func (l *login) conclude(open *backend.Opening, r *handshake.Relay) error {
	ok, err := r.Run()
	var own *mysql.MyError
	switch {
	case errors.As(err, &own):
		return l.refuse(err)
	case err == nil && l.malformed != nil:
		err = l.malformed // nothing is known of what both have agreed on
	}
	if err != nil {
		return err
	}
	l.greeting.Salt = r.Salt
	if l.back, err = open.Established(ok.Payload); err != nil {
		return err
	}
	if l.leave, err = l.srv.admitUser(l.response.User); err != nil {
		l.sequence = ok.Sequence - 1
		return l.refuse(err)
	}
	return l.front.Send(ok)
}

package proxy

import (
	"errors"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// relay passes the handshake on, so that the server itself judges the client: its
// connection id, salt, plugins and errors are the client's.
func (l *login) relay() error {
	l.keyspace = l.srv.cfg.Keyspaces[l.srv.cfg.Default]
	if err := l.srv.awaitResume(l.ctx, l.keyspace, time.Now()); err != nil {
		return l.refuse(err)
	}
	var err error
	if l.open, err = l.keyspace.Backend.Open(l.ctx); err != nil {
		return l.notOpened(err)
	}
	defer l.depart()
	if err := l.limitSilence(); err != nil {
		return err
	}
	l.greeting, l.announced = l.open.Greeting, l.announce(l.open.Greeting.Capabilities)
	if err := handshake.SetCapabilities(l.open.Payload, l.announced); err != nil {
		return l.refuse(err)
	}
	if err := l.front.Send(handshake.Packet{Payload: l.open.Payload}); err != nil {
		return err
	}
	if err := l.receive(); err != nil {
		return err
	}
	if l.malformed != nil || !l.response.Fits() {
		return l.refuse(mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR)) // as the server does, which would count it
	}
	if err := l.srv.checkTransport(l.front.Conn, encryptionOf(l.front.Conn)); err != nil {
		return l.refuse(err)
	}
	l.chooseDatabase()
	if l.keyspace.Backend.Addr != l.srv.cfg.Keyspaces[l.srv.cfg.Default].Backend.Addr {
		if err := l.redirect(); err != nil {
			return err
		}
	}
	release, err := l.outdated()
	if err != nil {
		return l.refuse(err)
	}
	defer release()
	return l.authenticate()
}

// depart leaves the server in order of which no answer is awaited any more.
func (l *login) depart() {
	if l.open != nil {
		l.open.Depart(l.srv.ctx)
	}
}

// outdated has clients log in one after the other that cannot be asked for another proof:
// a server that wants one counts such a login as an error of seqgate's host, and too many
// at once would not be made good in time (backend.Opening.Verdict).
func (l *login) outdated() (release func(), err error) {
	if l.response.Has(handshake.PluginAuth | handshake.SecureConnection) {
		return func() {}, nil
	}
	server := l.keyspace.Backend.Addr
	if !l.srv.outdated.take(l.ctx, server, 1) {
		return nil, mysql.NewDefaultError(mysql.ER_CON_COUNT_ERROR)
	}
	return func() { l.srv.outdated.free(server) }, nil
}

// notOpened tells the client that there is no server, or what the server said in
// place of its greeting.
func (l *login) notOpened(err error) error {
	var refused *handshake.Refused
	if errors.As(err, &refused) {
		return errors.Join(err, l.tell(refused.Packet))
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
func (l *login) redirect() error {
	if err := l.srv.awaitResume(l.ctx, l.keyspace, time.Now()); err != nil {
		return l.refuse(err)
	}
	open, err := l.keyspace.Backend.Open(l.ctx)
	if err != nil {
		var refused *handshake.Refused
		if errors.As(err, &refused) {
			err = refused.MySQL()
		}
		return l.refuse(err)
	}
	former := l.open
	l.open = open // that one is to ask
	l.srv.running.Go(func() { former.Depart(l.srv.ctx) })
	lacks := l.response.Capabilities & l.announced &^ perHop &^ open.Greeting.Capabilities
	switch {
	case lacks != 0:
		err = lacking(l.keyspace.Name, l.srv.cfg.Default, lacks)
	case !l.response.Has(handshake.PluginAuth):
		err = mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR)
	}
	if err != nil {
		return l.refuse(err)
	}
	l.greeting.Salt, l.greeting.Plugin = open.Greeting.Salt, open.Greeting.Plugin
	c := authRequest{salt: open.Greeting.Salt, sequence: l.sequence}
	if err := c.switchTo(l.proving(), open.Greeting.Plugin); err != nil {
		return l.explain(err)
	}
	l.response.Plugin, l.response.Proof = c.plugin, c.proof
	l.payload = l.response.Append(nil)
	l.response, l.malformed = handshake.ParseResponse(l.payload)
	if l.malformed != nil || !l.response.Fits() {
		return l.refuse(mysql.NewDefaultError(mysql.ER_HANDSHAKE_ERROR))
	}
	return nil
}

// authenticate passes the client's response on, and what follows up to the
// server's verdict.
func (l *login) authenticate() error {
	open := l.open
	payload := l.response.Rewrite(l.payload, l.forwarded(), l.database)
	back := byte(1) // the number that the server awaits
	config, err := l.keyspace.Backend.TLSFor(open.Greeting, l.front.Encrypted())
	if err != nil {
		return l.refuse(&backend.ConnectError{Addr: l.keyspace.Backend.Addr, Err: err})
	}
	if handshake.SendsPassword(l.response.Plugin) && l.front.Secure() && !open.Secure() && config == nil {
		return l.refuse(handshake.ErrInsecureServer)
	}
	l.open = nil // the server is answered
	if config != nil {
		payload[1] |= byte(handshake.SSL >> 8)
		if err := open.Encrypt(l.ctx, config, payload); err != nil {
			return l.lost(open, err)
		}
		back++
	}
	front := byte(1) // the one that it would await from the client
	if l.front.Encrypted() {
		front++
	}
	if redirected := l.keyspace.Backend.Addr != l.srv.cfg.Keyspaces[l.srv.cfg.Default].Backend.Addr; redirected {
		front += 2
	}
	r := handshake.Relay{Front: l.proving(), Back: open, FrontSecure: l.front.Secure(), BackSecure: open.Secure(), Shift: back - front,
		Plugin: l.response.Plugin, Salt: open.Greeting.Salt, Key: l.srv.cfg.RSA, PublicKey: l.srv.publicKey}
	if err := open.Send(handshake.Packet{Sequence: l.sequence + r.Shift, Payload: payload}); err != nil {
		return l.lost(open, err)
	}
	return l.conclude(open, &r)
}

// forwarded returns the capability flags that the server gets: the client's, without
// those of its own connection.
func (l *login) forwarded() uint64 {
	const extended = ^uint64(1<<32 - 1)
	return l.response.Capabilities &^ perHop &^ (extended &^ followed)
}

// conclude runs the authentication and, when the server is content, makes its
// connection the session's.
func (l *login) conclude(open *backend.Opening, r *handshake.Relay) error {
	ok, err := r.Run()
	var refused *handshake.Refused
	switch {
	case errors.As(err, &refused):
		_ = open.Close() // the server has ended it
		open.Verdict(l.srv.ctx, refused)
		return err
	case err != nil && r.Asked != nil:
		err = l.explain(err)
		open.Disprove(l.srv.ctx, *r.Asked, r.Plugin, r.Salt)
		return err
	case err != nil:
		return l.lost(open, err)
	}
	l.greeting.Salt = r.Salt
	if l.back, err = open.Established(ok.Payload); err != nil {
		return err
	}
	if l.leave, err = l.srv.admitUser(l.response.User); err != nil {
		return l.refuse(err)
	}
	return l.front.Send(ok)
}

// explain tells a client why its login ends, if it is there to be told.
func (l *login) explain(err error) error {
	var own *mysql.MyError
	var client *handshake.FrontError
	var left *frontError
	switch {
	case errors.As(err, &own):
		return l.refuse(own)
	case errors.As(err, &client), errors.As(err, &left):
		return err
	}
	return l.refuse(&backend.ConnectError{Addr: l.keyspace.Backend.Addr, Err: err})
}

// lost tells the client that the server's connection failed in the middle of the login.
func (l *login) lost(open *backend.Opening, err error) error {
	err = l.explain(err)
	_ = open.Close() // its error is known
	open.Verdict(l.srv.ctx, err)
	return err
}

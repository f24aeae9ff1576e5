package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/handshake"
)

// Opening is a connection to a server that has said its greeting, and waits for
// the answer.
type Opening struct {
	handshake.Conn
	Greeting handshake.Greeting
	Payload  []byte // of the greeting, as it came

	verified bool // the server, by TLS
	backend  *Backend
}

// Open connects to the server and reads its greeting; DefaultDialTimeout bounds
// what follows too, until the caller sets another deadline. Errors: *ConnectError;
// *handshake.Refused when the server sent an error in place of its greeting.
func (b *Backend) Open(ctx context.Context) (*Opening, error) {
	ctx, cancel := context.WithTimeout(ctx, DefaultDialTimeout)
	defer cancel()
	dial := b.DialFunc
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	c, err := dial(ctx, b.Network, b.Addr)
	if err != nil {
		return nil, &ConnectError{Addr: b.Addr, Err: rootCause(err)}
	}
	o := &Opening{Conn: handshake.Conn{Conn: c}, backend: b}
	if err = o.greet(ctx); err != nil {
		_ = c.Close() // the error that matters is the greeting's
		var refused *handshake.Refused
		if errors.As(err, &refused) {
			return nil, refused
		}
		return nil, &ConnectError{Addr: b.Addr, Err: rootCause(err)}
	}
	return o, nil
}

func (o *Opening) greet(ctx context.Context) error {
	deadline, _ := ctx.Deadline()
	if err := o.SetDeadline(deadline); err != nil {
		return err
	}
	defer o.endWith(ctx)()
	p, err := o.Receive()
	switch {
	case err != nil:
		return err
	case len(p.Payload) > 0 && p.Payload[0] == mysql.ERR_HEADER:
		return &handshake.Refused{Packet: p.Payload}
	}
	o.Payload = p.Payload
	o.Greeting, err = handshake.ParseGreeting(p.Payload)
	return err
}

// endWith ends what waits for the server when ctx ends, until stop is called, which
// reports false when it was too late for that.
func (o *Opening) endWith(ctx context.Context) (stop func() bool) {
	c := o.Conn.Conn
	return context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // it fails on a closed connection
}

// Encrypt goes over to TLS, with the head of the handshake response that is to
// follow.
func (o *Opening) Encrypt(ctx context.Context, config *tls.Config, response []byte) error {
	if err := o.Send(handshake.Packet{Sequence: 1, Payload: handshake.SSLRequest(response)}); err != nil {
		return err
	}
	secure := tls.Client(o.Conn.Conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return err
	}
	o.Conn.Conn, o.verified = secure, verifies(config)
	return nil
}

// verifies reports whether a handshake with this configuration fails for an impostor.
func verifies(config *tls.Config) bool {
	return !config.InsecureSkipVerify || config.VerifyConnection != nil || config.VerifyPeerCertificate != nil
}

// channel tells who can read what is sent to the server.
func (o *Opening) channel() handshake.Channel {
	switch {
	case o.verified, o.LocalAddr().Network() == "unix":
		return handshake.Verified
	case o.Encrypted():
		return handshake.Encrypted
	}
	return handshake.Plain
}

// TLSFor returns the configuration to encrypt a connection with, nil for none: by
// the backend's mode, by what the server offers, and by whether the client's own
// connection is encrypted. Error: *ConnectError when the server lacks what is
// required.
func (b *Backend) TLSFor(g handshake.Greeting, clientEncrypted bool) (*tls.Config, error) {
	offered := g.Capabilities&handshake.SSL != 0
	switch {
	case b.TLS == TLSDisabled, b.TLS == TLSAsClient && !clientEncrypted, b.TLS != TLSRequired && !offered:
		return nil, nil
	case !offered:
		return nil, &ConnectError{Addr: b.Addr, Err: errors.New("the server does not offer TLS, which is required")}
	case b.TLSConfig != nil:
		return b.TLSConfig, nil
	}
	return &tls.Config{InsecureSkipVerify: true}, nil // these modes ask for encryption, not for identity
}

// Established returns the connection for what follows its login, which ended with an
// OK packet of this payload.
func (o *Opening) Established(ok []byte) (*Conn, error) {
	c := &Conn{Conn: o.Conn.Conn, OK: ok, Greeting: o.Greeting}
	c.Status, c.Salt = handshake.OKStatus(ok), nil
	return c, c.SetDeadline(time.Time{})
}

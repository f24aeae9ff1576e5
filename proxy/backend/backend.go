package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/handshake"
)

// DefaultDialTimeout bounds connecting and logging in at a server.
const DefaultDialTimeout = 10 * time.Second

// TLSMode says how a connection to a server is encrypted.
type TLSMode uint8

// The modes of MySQL's own --ssl-mode option that apply here, and MySQL Router's
// as_client.
const (
	TLSDisabled  TLSMode = iota // never
	TLSAsClient                 // when the client's own connection is encrypted and the server offers it
	TLSPreferred                // when the server offers it
	TLSRequired                 // always, or no connection
)

// Backend is one MySQL server, with the account that seqgate itself uses there.
type Backend struct {
	Network, Addr string // "tcp" and host:port, or "unix" and a path
	// DialFunc connects to Addr in place of [net.Dialer], when it is not nil.
	DialFunc       func(ctx context.Context, network, addr string) (net.Conn, error)
	User, Password string
	TLS            TLSMode
	TLSConfig      *tls.Config // verification; nil verifies nothing

	mu     sync.Mutex
	known  *handshake.Greeting // of the latest connection
	asking *asking             // under way; nil for none
	errors int                 // of logins, that the server may have counted and ClearErrors is about
}

// asking is what Known waits for, and its outcome once done is closed.
type asking struct {
	done  chan struct{}
	known handshake.Greeting
	err   error
}

// Login is who connects, and with what.
type Login struct {
	User, Password string
	Database       string // "" for none
	Capabilities   uint64 // the client's flags, already limited to what the server offers
	Charset        uint8  // id of the client's collation
	Attributes     []byte // connection attributes, as the client sent them
	Encrypted      bool   // the client's own connection is
}

// Conn is a logged-in connection whose packets seqgate reads and writes raw.
type Conn struct {
	net.Conn
	handshake.Greeting        // its Status is the session's
	OK                 []byte // the payload that ended its login

	login     Login
	since     time.Time // its login
	key       string    // of a Pool; "" when it is none's
	vetted    bool      // it has been reset before
	idleSince time.Time
}

// ConnectError tells that a server could not be reached at all; a server that
// answered with an error gives a *mysql.MyError instead.
type ConnectError struct {
	Addr string
	Err  error
}

func (e *ConnectError) Error() string {
	return fmt.Sprintf("Can't connect to MySQL server on '%s' (%v)", e.Addr, e.Err)
}

func (e *ConnectError) Unwrap() error { return e.Err }

// utf8mb4 is the id of a collation that every server has.
const utf8mb4 = 45

// Known returns what the server announced, connecting once with seqgate's own
// account when nothing is known yet: one caller asks, for as long as ctx goes on, and
// the others wait for it, each until its wait ends. So a server that hangs has one
// connection of these, and none that breaks off since a client has left, for which
// servers block a host (max_connect_errors). Errors: *ConnectError, *mysql.MyError.
func (b *Backend) Known(ctx, wait context.Context) (handshake.Greeting, error) {
	b.mu.Lock()
	if b.known != nil {
		defer b.mu.Unlock()
		return *b.known, nil
	}
	a := b.asking
	if a == nil {
		b.asking = &asking{done: make(chan struct{})}
		b.mu.Unlock()
		return b.ask(ctx)
	}
	b.mu.Unlock()
	select {
	case <-a.done:
		return a.known, a.err
	case <-wait.Done():
		return handshake.Greeting{}, &ConnectError{Addr: b.Addr, Err: wait.Err()}
	}
}

// ask asks the server, and tells those who wait for b.asking.
func (b *Backend) ask(ctx context.Context) (known handshake.Greeting, err error) {
	c, err := b.Dial(ctx, Login{User: b.User, Password: b.Password, Charset: utf8mb4})
	if err == nil {
		known, err = c.Greeting, c.Quit()
	}
	b.mu.Lock()
	a := b.asking
	b.asking = nil
	b.mu.Unlock()
	a.known, a.err = known, err
	close(a.done)
	return known, err
}

// Forget drops what is known of the server, so that the next session asks anew.
func (b *Backend) Forget() {
	b.mu.Lock()
	b.known = nil
	b.mu.Unlock()
}

// Dial connects and logs in. Errors: *ConnectError when the server cannot be
// reached or talks nonsense, *mysql.MyError when it refuses the login.
func (b *Backend) Dial(ctx context.Context, login Login) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, DefaultDialTimeout)
	defer cancel()
	c, err := b.dial(ctx, login)
	if err != nil {
		var refused *handshake.Refused
		if errors.As(err, &refused) {
			return nil, refused.MySQL()
		}
		if !errors.Is(ctx.Err(), context.Canceled) { // which tells nothing of the server
			b.Forget()
		}
		var connect *ConnectError
		if errors.As(err, &connect) {
			return nil, connect
		}
		return nil, &ConnectError{Addr: b.Addr, Err: rootCause(err)}
	}
	b.mu.Lock()
	known := c.Greeting // a pool changes the connection's own
	b.known = &known
	b.mu.Unlock()
	return c, nil
}

func (b *Backend) dial(ctx context.Context, login Login) (*Conn, error) {
	o, err := b.Open(ctx)
	if err != nil {
		return nil, err
	}
	stop := o.endWith(ctx)
	ok, err := o.logIn(ctx, b, login)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = o.Close() // the login's error is the one that matters
		return nil, err
	}
	c, err := o.Established(ok)
	if err != nil {
		return nil, err
	}
	c.login, c.since = login, time.Now()
	return c, nil
}

// logIn answers the greeting, and gives the payload of the server's OK.
func (o *Opening) logIn(ctx context.Context, b *Backend, login Login) (ok []byte, err error) {
	config, err := b.TLSFor(o.Greeting, login.Encrypted)
	if err != nil {
		return nil, err
	}
	r := login.response(o.Greeting)
	sequence := byte(1)
	if config != nil {
		r.Capabilities |= handshake.SSL
		if err := o.Encrypt(ctx, config, r.Append(nil)); err != nil {
			return nil, err
		}
		sequence++
	}
	if r.Proof, err = handshake.Prove(r.Plugin, o.Greeting.Salt, login.Password, o.channel()); err != nil {
		return nil, err
	}
	if err := o.Send(handshake.Packet{Sequence: sequence, Payload: r.Append(nil)}); err != nil {
		return nil, err
	}
	return handshake.Authenticate(o, r.Plugin, o.Greeting.Salt, login.Password, o.channel())
}

// response returns the answer to a greeting, without its proof.
func (login Login) response(g handshake.Greeting) handshake.Response {
	const (
		always  = handshake.Protocol41 | handshake.SecureConnection | handshake.PluginAuth
		perHop  = handshake.SSL | handshake.Compress | handshake.Zstd
		longest = 1 << 30
	)
	flags := login.Capabilities&^perHop&^handshake.ConnectWithDB&^handshake.ConnectAttrs | always
	if flags>>32 == 0 {
		flags |= handshake.LongPassword
	}
	if login.Database != "" {
		flags |= handshake.ConnectWithDB
	}
	if len(login.Attributes) > 0 {
		flags |= g.Capabilities & handshake.ConnectAttrs
	}
	plugin := g.Plugin
	if _, err := handshake.Prove(plugin, g.Salt, "", handshake.Verified); err != nil {
		plugin = mysql.AUTH_NATIVE_PASSWORD // the server asks for the account's own then
	}
	return handshake.Response{Capabilities: flags, MaxPacket: longest, Charset: login.Charset, User: login.User,
		Database: login.Database, Plugin: plugin, Attributes: login.Attributes}
}

// Quit ends the connection as a client does, so that the server counts no
// aborted connection.
func (c *Conn) Quit() error {
	_, err := c.Write([]byte{1, 0, 0, 0, mysql.COM_QUIT})
	return errors.Join(err, c.Close())
}

// rootCause strips the library's layers, which name its own functions.
func rootCause(err error) error {
	for {
		next := errors.Unwrap(err)
		if c, ok := err.(interface{ Cause() error }); ok && next == nil {
			next = c.Cause()
		}
		if _, ok := err.(net.Error); ok || next == nil || next == err {
			return err
		}
		err = next
	}
}

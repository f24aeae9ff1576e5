package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
)

// DefaultDialTimeout bounds connecting and logging in at a server.
const DefaultDialTimeout = 10 * time.Second

// Relayable are the capability flags that seqgate can relay when client and
// server both have them. Left out: compression (it is negotiated for each hop
// by itself), OPTIONAL_RESULTSET_METADATA and expired-password handling, which
// go-mysql's client cannot ask a server for.
const Relayable = mysql.CLIENT_LONG_PASSWORD | mysql.CLIENT_LONG_FLAG | mysql.CLIENT_CONNECT_WITH_DB |
	mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_TRANSACTIONS | mysql.CLIENT_SECURE_CONNECTION |
	mysql.CLIENT_PLUGIN_AUTH | mysql.CLIENT_CONNECT_ATTRS | mysql.CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA |
	negotiated | mysql.CLIENT_INTERACTIVE

// negotiated are the flags that change what a server sends or accepts; they
// are set towards the server exactly as the client has them.
const negotiated = mysql.CLIENT_FOUND_ROWS | mysql.CLIENT_IGNORE_SPACE | mysql.CLIENT_MULTI_STATEMENTS |
	mysql.CLIENT_MULTI_RESULTS | mysql.CLIENT_PS_MULTI_RESULTS | mysql.CLIENT_LOCAL_FILES |
	mysql.CLIENT_SESSION_TRACK | mysql.CLIENT_DEPRECATE_EOF | mysql.CLIENT_QUERY_ATTRIBUTES

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
	Network, Addr  string // "tcp" and host:port, or "unix" and a path
	User, Password string
	TLS            TLSMode
	TLSConfig      *tls.Config // verification; nil verifies nothing

	mu    sync.Mutex
	known *Greeting // of the latest connection
}

// Login is who connects, and with what.
type Login struct {
	User, Password string
	Database       string            // "" for none
	Capabilities   uint32            // the client's flags, already limited to what the server offers
	Collation      string            // name of the client's collation; "" for the library's default
	Attributes     map[string]string // connection attributes
	Encrypted      bool              // the client's own connection is
}

// Conn is a logged-in connection whose packets seqgate reads and writes raw.
type Conn struct {
	net.Conn
	Greeting
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

// Known gives what the server announced, connecting once with seqgate's own
// account when nothing is known yet. Errors: *ConnectError, *mysql.MyError.
func (b *Backend) Known(ctx context.Context) (Greeting, error) {
	b.mu.Lock()
	known := b.known
	b.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	c, err := b.Dial(ctx, Login{User: b.User, Password: b.Password, Capabilities: mysql.CLIENT_DEPRECATE_EOF})
	if err != nil {
		return Greeting{}, err
	}
	return c.Greeting, c.Quit()
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
	c, err := b.dial(ctx, login, b.tlsConfig(ctx, login.Encrypted))
	if err != nil {
		var refused *mysql.MyError
		if errors.As(err, &refused) {
			return nil, refused
		}
		b.Forget()
		return nil, &ConnectError{Addr: b.Addr, Err: rootCause(err)}
	}
	b.mu.Lock()
	b.known = &c.Greeting
	b.mu.Unlock()
	return c, nil
}

func (b *Backend) dial(ctx context.Context, login Login, tlsConfig *tls.Config) (*Conn, error) {
	var wire *greetingConn
	dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		deadline, _ := ctx.Deadline()
		wire = &greetingConn{Conn: nc}
		return wire, nc.SetDeadline(deadline)
	}
	cc, err := client.ConnectWithDialer(ctx, b.Network, b.Addr, login.User, login.Password, login.Database,
		dialer, func(cc *client.Conn) error { return configure(cc, login, tlsConfig) })
	if err != nil {
		if wire != nil {
			if refusal := wire.refusal(); refusal != nil {
				return nil, refusal
			}
		}
		return nil, err
	}
	g, err := wire.greeting()
	if err != nil {
		_ = cc.Close() // the error that matters is the greeting's
		return nil, err
	}
	// The library's own connection is left behind here, with its buffers: all
	// that follows is relayed raw.
	nc := cc.Conn.Conn
	if nc == net.Conn(wire) {
		nc = wire.Conn
	}
	c := &Conn{Conn: nc, Greeting: g}
	return c, nc.SetDeadline(time.Time{})
}

func configure(cc *client.Conn, login Login, tlsConfig *tls.Config) error {
	for bit := uint32(1); bit != 0; bit <<= 1 {
		switch {
		case negotiated&bit == 0:
		case login.Capabilities&bit == 0:
			cc.UnsetCapability(bit)
		case bit == mysql.CLIENT_DEPRECATE_EOF || bit == mysql.CLIENT_QUERY_ATTRIBUTES:
			// the library asks for these unless told otherwise
		default:
			if err := cc.SetCapability(bit); err != nil {
				return fmt.Errorf("capability %#x: %w", bit, err)
			}
		}
	}
	if tlsConfig != nil {
		cc.SetTLSConfig(tlsConfig)
	}
	cc.SetAttributes(login.Attributes)
	return cc.SetCollation(login.Collation)
}

// tlsConfig gives the configuration to encrypt with, nil for none.
func (b *Backend) tlsConfig(ctx context.Context, clientEncrypted bool) *tls.Config {
	switch {
	case b.TLS == TLSDisabled,
		b.TLS == TLSAsClient && !clientEncrypted,
		b.TLS != TLSRequired && !b.offersTLS(ctx):
		return nil
	case b.TLSConfig != nil:
		return b.TLSConfig
	}
	return &tls.Config{InsecureSkipVerify: true} // these modes ask for encryption, not for identity
}

// offersTLS asks the server by its greeting. A server that cannot be reached
// counts as one without: the dial that follows reports it.
func (b *Backend) offersTLS(ctx context.Context) bool {
	b.mu.Lock()
	known := b.known
	b.mu.Unlock()
	if known == nil {
		c, err := b.dial(ctx, Login{User: b.User, Password: b.Password}, nil)
		if err != nil {
			return false
		}
		known = &c.Greeting
		_ = c.Quit() // only its greeting was wanted
	}
	return known.Capabilities&mysql.CLIENT_SSL != 0
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

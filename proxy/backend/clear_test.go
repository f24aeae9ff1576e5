package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/handshake"
)

// askForPassword is a server, or an impostor, that asks who connects for the password as it is, at once by its greeting or
// then by a switch. It gives what it was sent for that.
func askForPassword(t *testing.T, l net.Listener, config *tls.Config, atOnce bool) string {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	conn := &handshake.Conn{Conn: c}
	g := handshake.Greeting{Version: "9.7.0", ThreadID: 1, Salt: handshake.NewSalt(), Plugin: mysql.AUTH_CACHING_SHA2_PASSWORD,
		Capabilities: handshake.LongPassword | handshake.Protocol41 | handshake.SecureConnection | handshake.PluginAuth}
	if atOnce {
		g.Plugin = mysql.AUTH_CLEAR_PASSWORD
	}
	if config != nil {
		g.Capabilities |= handshake.SSL
	}
	if err := conn.Send(handshake.Packet{Payload: g.Append(nil)}); err != nil {
		t.Fatal(err)
	}
	p, err := conn.Receive()
	if err == nil && handshake.IsSSLRequest(p.Payload) {
		conn.Conn = tls.Server(c, config)
		p, err = conn.Receive()
	}
	if err != nil {
		return ""
	}
	if !atOnce {
		if err := conn.Send(handshake.Packet{Sequence: p.Sequence + 1, Payload: handshake.SwitchRequest(mysql.AUTH_CLEAR_PASSWORD, g.Salt)}); err != nil {
			return ""
		}
		if p, err = conn.Receive(); err != nil {
			return ""
		}
	}
	_ = conn.Send(handshake.Packet{Sequence: p.Sequence + 1, Payload: []byte{0, 0, 0, 2, 0, 0, 0}})
	return string(p.Payload)
}

// A server that asks for mysql_clear_password gets the account's password only where nobody can have taken its place.
func TestClearPassword(t *testing.T) {
	certificates := servertest.NewCertificates(t)
	pair, err := tls.LoadX509KeyPair(certificates.Cert, certificates.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := &tls.Config{Certificates: []tls.Certificate{pair}}
	roots := certificates.Client(t).RootCAs
	unverified := &tls.Config{InsecureSkipVerify: true}
	byCA := &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(tls.ConnectionState) error { return nil }}
	for _, test := range []struct {
		name, network  string
		mode           TLSMode
		server, client *tls.Config
		gets           bool
	}{
		{"no TLS", "tcp", TLSDisabled, nil, nil, false},
		{"preferred", "tcp", TLSPreferred, server, nil, false},
		{"preferred, not offered", "tcp", TLSPreferred, nil, nil, false},
		{"required", "tcp", TLSRequired, server, nil, false},
		{"required, as serve sets it", "tcp", TLSRequired, server, unverified, false},
		{"the authority is checked", "tcp", TLSRequired, server, byCA, true},
		{"the name is checked", "tcp", TLSRequired, server, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}, true},
		{"socket", "unix", TLSDisabled, nil, nil, true},
		{"socket with TLS", "unix", TLSRequired, server, unverified, true},
	} {
		for _, atOnce := range []bool{true, false} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				addr := "127.0.0.1:0"
				if test.network == "unix" {
					addr = filepath.Join(t.TempDir(), "s")
				}
				l, err := net.Listen(test.network, addr)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				b := &Backend{Network: test.network, Addr: l.Addr().String(), TLS: test.mode, TLSConfig: test.client}
				failed := make(chan error, 1)
				go func() {
					c, err := b.Dial(context.Background(), Login{User: "app", Password: "secret", Charset: utf8mb4})
					if err == nil {
						_ = c.Close()
					}
					failed <- err
				}()
				got, err := askForPassword(t, l, test.server, atOnce), <-failed
				if gets := strings.Contains(got, "secret"); gets != test.gets || gets != (err == nil) {
					t.Errorf("the server got %q; error %v", got, err)
				}
				var connect *ConnectError
				if !test.gets && (!errors.As(err, &connect) || !strings.Contains(connect.Error(), "set tls.backend to verify_identity")) {
					t.Errorf("error %v, want one that says what to set", err)
				}
			})
		}
	}
}

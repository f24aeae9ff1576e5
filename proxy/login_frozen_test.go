package proxy_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// A client that logs in while the server is frozen is told so when its time is over.
func TestLoginAtAFrozenServer(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for name, tt := range map[string]struct {
			passThrough, known, greeted, tls bool
		}{
			"users": {}, "users, known before": {known: true}, "users, TLS": {known: true, tls: true},
			"passed on": {passThrough: true}, "passed on, greeted": {passThrough: true, greeted: true}, "passed on, TLS": {passThrough: true, greeted: true, tls: true},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := forward(t, s.Addr)
				g := newGate(t, s, gateOptions{passThrough: tt.passThrough, via: f.Addr().String(), configure: func(c *proxy.Config) {
					c.HandshakeTimeout = 10 * time.Second
				}})
				if tt.known {
					connect(t, g.open(t, "")) // its connection is in use
				}
				if !tt.greeted {
					f.freeze(true)
				}
				dialer := func(ctx context.Context, network, addr string) (net.Conn, error) {
					c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
					return &freezingConn{Conn: c, server: f}, err
				}
				_, err := client.ConnectWithDialer(t.Context(), "tcp", g.addr, gateUser, gatePassword, g.database, dialer, func(c *client.Conn) error {
					if tt.tls {
						c.UseSSL(true)
					}
					return nil
				})
				var told *protocol.MyError
				if !errors.As(err, &told) || told.Code != 1429 {
					t.Errorf("the client is told %v, want error 1429", err)
				}
				f.freeze(false)
			})
		}
	})
}

// freezingConn has the server freeze before its client first says something.
type freezingConn struct {
	net.Conn
	server *forwarder
}

func (c *freezingConn) Write(b []byte) (int, error) {
	c.server.freeze(true)
	return c.Conn.Write(b)
}

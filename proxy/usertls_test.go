package proxy_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// What the users may be required to have, and what clients come with.
func TestUserTLS(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		own := testCertificate(t).Certificates[0]
		authority, err := x509.ParseCertificate(own.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		g := newGate(t, s, gateOptions{users: []proxy.User{
			{Name: "any", Password: "p"}, {Name: "tls", Password: "p", RequireTLS: proxy.UserTLSAny},
			{Name: "x509", Password: "p", RequireTLS: proxy.UserTLSX509},
		}, configure: func(c *proxy.Config) {
			c.TLS.ClientCAs, c.TLS.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
			c.TLS.ClientCAs.AddCert(authority)
		}})
		certified := func(c *client.Conn) error {
			c.SetTLSConfig(&tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{own}})
			return nil
		}
		stranger := func(c *client.Conn) error {
			c.SetTLSConfig(&tls.Config{InsecureSkipVerify: true, Certificates: testCertificate(t).Certificates})
			return nil
		}
		for _, tt := range []struct {
			user, comes string
			option      client.Option
			admitted    bool
		}{
			{"any", "plain", plain, true}, {"any", "encrypted", encrypted, true}, {"any", "certified", certified, true},
			{"tls", "plain", plain, false}, {"tls", "encrypted", encrypted, true}, {"tls", "certified", certified, true},
			{"x509", "plain", plain, false}, {"x509", "encrypted", encrypted, false}, {"x509", "certified", certified, true},
			{"any", "with a stranger's certificate", stranger, false},
		} {
			t.Run(tt.user+" "+tt.comes, func(t *testing.T) {
				c, err := client.Connect(g.addr, tt.user, "p", "", tt.option)
				if (err == nil) != tt.admitted {
					t.Fatalf("login: %v, want admitted %v", err, tt.admitted)
				}
				var denied *mysql.MyError
				const text = "Access denied for user '%s'@'127.0.0.1' (using password: YES)"
				switch {
				case err == nil:
					_ = c.Close()
				case tt.comes == "with a stranger's certificate": // the handshake fails
				case !errors.As(err, &denied) || denied.Code != 1045 || denied.Message != strings.Replace(text, "%s", tt.user, 1):
					t.Errorf("error %v, want 1045", err)
				}
			})
		}
	})
}

// With RequireTLS nobody gets in over TCP in clear, over a socket everybody.
func TestRequireTLS(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		served := make(chan error, 1)
		t.Cleanup(func() { // runs after the gate's own, which ends it
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
		users := []proxy.User{{Name: gateUser, Password: gatePassword}, {Name: "native", Password: "p", Plugin: mysql.AUTH_NATIVE_PASSWORD}}
		g := newGate(t, s, gateOptions{users: users, configure: func(c *proxy.Config) { c.RequireTLS = true }})
		g.connect(t, encrypted)
		_, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
		var refused *mysql.MyError
		const text = "Connections using insecure transport are prohibited while --require_secure_transport=ON."
		if !errors.As(err, &refused) || refused.Code != 3159 || refused.State != "HY000" || refused.Message != text {
			t.Errorf("in clear: %v, want 3159 (HY000): %s", err, text)
		}
		path := filepath.Join(t.TempDir(), "socket")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		go func() { served <- g.proxy.Serve(l) }()
		c, err := client.Connect(path, "native", "p", g.database)
		if err != nil {
			t.Fatalf("over a socket: %v", err)
		}
		_ = c.Close()
	})
}

// One session more of a user than there may be is refused, those of others not.
func TestUserLimit(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{
			users:     []proxy.User{{Name: "two", Password: "p", MaxConnections: 2}, {Name: "one", Password: "p"}},
			configure: func(c *proxy.Config) { c.MaxUserConnections = 1 },
		})
		login := func(user string) (*client.Conn, error) { return client.Connect(g.addr, user, "p", g.database) }
		var last *client.Conn
		for _, user := range []string{"one", "two", "two"} {
			c, err := login(user)
			if err != nil {
				t.Fatalf("%s: %v", user, err)
			}
			defer c.Close()
			last = c
		}
		for _, user := range []string{"one", "two"} {
			_, err := login(user)
			var refused *mysql.MyError
			if !errors.As(err, &refused) || refused.Code != 1226 || refused.State != "42000" {
				t.Errorf("%s, one more: %v, want 1226", user, err)
			}
		}
		if err := last.Quit(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool {
			c, err := login("two")
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		}, "two may log in after one has left")
	})
}

package proxy_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// newProxiedGate makes a gate that takes PROXY protocol headers from 127.0.0.1, and logins within
// timeout (0: the default).
func newProxiedGate(t *testing.T, s *servertest.Server, timeout time.Duration) *gate {
	return newGate(t, s, gateOptions{configure: func(c *proxy.Config) {
		c.ProxyFrom = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		c.HandshakeTimeout = timeout
	}})
}

// connectFrom connects from an address of this machine, with a header first.
func connectFrom(from, header string) client.Dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		_, err = c.Write([]byte(header))
		return c, err
	}
}

// seenAs gives the host that stands in the error of a login with a wrong
// password: where seqgate takes the client to be.
func seenAs(t *testing.T, addr string, dialer client.Dialer) string {
	t.Helper()
	_, err := client.ConnectWithDialer(t.Context(), "tcp", addr, gateUser, "wrong", "", dialer)
	if err == nil {
		t.Fatal("a wrong password logs in")
	}
	_, host, ok := strings.Cut(err.Error(), "'"+gateUser+"'@'")
	if !ok {
		t.Fatalf("error %v, want 1045", err)
	}
	host, _, _ = strings.Cut(host, "'")
	return host
}

const v2Header = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xc0\x00\x02\x01\x0a\x00\x00\x01\x30\x39\x0c\xea" // of 192.0.2.1:12345

// The address is the header's, where a header is taken, and the session works.
func TestProxyProtocol(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newProxiedGate(t, s, 0)
		for _, tt := range []struct{ name, from, header, host string }{
			{"version 1", "127.0.0.1", "PROXY TCP4 192.0.2.7 127.0.0.1 5 6\r\n", "192.0.2.7"},
			{"version 1, IPv6", "127.0.0.1", "PROXY TCP6 2001:db8::7 ::1 5 6\r\n", "2001:db8::7"},
			{"version 1, unknown", "127.0.0.1", "PROXY UNKNOWN\r\n", "127.0.0.1"},
			{"version 2", "127.0.0.1", v2Header, "192.0.2.1"},
			{"version 2, local", "127.0.0.1", "\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00", "127.0.0.1"},
			{"not listed, no header", "127.0.0.2", "", "127.0.0.2"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				dialer := connectFrom(tt.from, tt.header)
				if got := seenAs(t, g.addr, dialer); got != tt.host {
					t.Errorf("seen as %s, want %s", got, tt.host)
				}
				for _, option := range []client.Option{plain, encrypted} {
					c, err := client.ConnectWithDialer(t.Context(), "tcp", g.addr, gateUser, gatePassword, g.database, dialer, option)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := c.Execute("SELECT 1"); err != nil {
						t.Error(err)
					}
					_ = c.Close()
				}
			})
		}
	})
}

// A connection without the header that its address must send is closed without
// a word, within the handshake's time; a header from elsewhere is no header.
func TestProxyProtocolRefused(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newProxiedGate(t, s, 3*time.Second)
		conns := make(map[string]net.Conn) // all at once, since they wait for the timeout
		for name, header := range map[string]string{
			"silence": "", "half a header": "PROXY TCP4 192.0", "no header": "\x20\x00\x00\x01\x85\xa6\x03\x00\x00\x00\x00\x01",
			"half of version 2": v2Header[:20], "malformed": "PROXY TCP4 1 2 3 4\r\n",
		} {
			c, err := connectFrom("127.0.0.1", header)(t.Context(), "tcp", g.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			conns[name] = c
		}
		for name, c := range conns {
			if got := said(t, c); got != "" {
				t.Errorf("%s: told %q, want nothing", name, got)
			}
		}
		if !g.logged(`level=WARN msg="PROXY header refused" proxy=127.0.0.1 err="PROXY protocol header: `) {
			t.Error("malformed headers are not logged")
		}
		c, err := connectFrom("127.0.0.2", v2Header)(t.Context(), "tcp", g.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		greeting := make([]byte, 200)
		if n, err := c.Read(greeting); err != nil || !strings.Contains(string(greeting[:n]), s.Version) {
			t.Errorf("an address that is not listed gets %q (%v), want the greeting", greeting[:n], err)
		}
	})
}

// startHAProxy runs an HAProxy in front of addr, and gives its address.
func startHAProxy(t *testing.T, addr, options string) string {
	t.Helper()
	path, err := osexec.LookPath("haproxy")
	if err != nil {
		t.Skip("haproxy is not installed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	config := filepath.Join(t.TempDir(), "haproxy.cfg")
	text := fmt.Sprintf(`defaults
  mode tcp
  timeout connect 10s
  timeout client 60s
  timeout server 60s
listen seqgate
  bind fd@3
  server seqgate %s %s
`, addr, options)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command(path, "-db", "-f", config)
	cmd.ExtraFiles = []*os.File{socket} // its descriptor 3
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	return l.Addr().String()
}

// Through a real HAProxy, which connects from 127.0.0.1, the client's own address
// is known.
func TestHAProxy(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newProxiedGate(t, s, 0)
		for _, options := range []string{"send-proxy", "send-proxy-v2", "send-proxy-v2 proxy-v2-options unique-id,crc32c"} {
			t.Run(options, func(t *testing.T) {
				addr := startHAProxy(t, g.addr, options)
				dialer := connectFrom("127.0.0.77", "")
				if got := seenAs(t, addr, dialer); got != "127.0.0.77" {
					t.Errorf("seen as %s, want 127.0.0.77", got)
				}
				c, err := client.ConnectWithDialer(t.Context(), "tcp", addr, gateUser, gatePassword, g.database, dialer)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := c.Execute("SELECT 1"); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

package proxy_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// connect logs in at the gate, and logs out at the test's end.
func (g *gate) connect(t testing.TB, options ...client.Option) *client.Conn {
	t.Helper()
	c, err := client.Connect(g.addr, gateUser, gatePassword, g.database, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func plain(*client.Conn) error { return nil }

func encrypted(c *client.Conn) error {
	c.UseSSL(true)
	return nil
}

// said gives all that a peer says before it closes the connection.
func said(t testing.TB, c net.Conn) string {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("%v after %q", err, b)
	}
	return string(b)
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// One client more than there may be gets error 1040 in place of the greeting,
// without an SQLSTATE, and a client that left makes room.
func TestTooManyConnections(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.MaxConnections = 2 }})
		first := g.connect(t)
		g.connect(t)
		if got, want := said(t, dial(t, g.addr)), "\x17\x00\x00\x00\xff\x10\x04Too many connections"; got != want {
			t.Errorf("the third client is told %q, want %q", got, want)
		}
		if err := first.Quit(); err != nil {
			t.Fatal(err)
		}
		g.connect(t)
	})
}

// Clients that come and go are counted exactly: none is refused as long as there
// are fewer than the limit.
func TestLimitCountsExactly(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const clients, each, most = 32, 10_000 / 32, 40
		n := each
		if testing.Short() || raceEnabled {
			n /= 10
		}
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.MaxConnections, c.MaxUserConnections = most, most }})
		var group sync.WaitGroup
		var refused atomic.Int64
		for range clients {
			group.Go(func() {
				for range n {
					c, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
					if err != nil {
						t.Log(err)
						refused.Add(1)
						return
					}
					_ = c.Close() // without a word, as many clients do
				}
			})
		}
		group.Wait()
		if refused.Load() > 0 {
			t.Errorf("%d of %d clients were refused, want none", refused.Load(), clients)
		}
	})
}

// keepBusy sends one statement after another, each longer than the idle timeout.
func keepBusy(c *client.Conn, stop <-chan struct{}) error {
	for {
		if _, err := c.Execute("SELECT SLEEP(0.8)"); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// A client that sends no command for the idle timeout is told so and ended, also
// in a transaction; one that waits for long statements is not.
func TestIdleTimeout(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const timeout = 400 * time.Millisecond
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.IdleTimeout = timeout }})
		busy, stop, ended := g.connect(t), make(chan struct{}), make(chan error, 1)
		go func() { ended <- keepBusy(busy, stop) }()
		for _, tt := range []struct {
			name, begin string
			option      client.Option
		}{
			{"plain", "SELECT 1", plain},
			{"transaction", "BEGIN", plain},
			{"TLS", "SELECT 1", encrypted},
		} {
			t.Run(tt.name, func(t *testing.T) {
				c := g.connect(t, tt.option)
				if _, err := c.Execute(tt.begin); err != nil {
					t.Fatal(err)
				}
				c.ResetSequence()
				begun := time.Now()
				payload, err := c.ReadPacket()
				if err != nil {
					t.Fatal(err)
				}
				if d := time.Since(begun); d < timeout/2 {
					t.Errorf("ended after %v, want %v", d, timeout)
				}
				want := "\xff\xbf\x0f#HY000The client was disconnected by the server because of inactivity. "
				if !strings.HasPrefix(string(payload), want) {
					t.Errorf("the client is told %q, want %q", payload, want)
				}
				if _, err := c.ReadPacket(); !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "EOF") {
					t.Errorf("then: %v, want the end", err)
				}
			})
		}
		close(stop)
		if err := <-ended; err != nil {
			t.Errorf("a client with long statements: %v", err)
		}
		await(t, "idle sessions to be gone at the server", func() bool {
			return value[int](t, g.direct, "SELECT COUNT(*) FROM information_schema.processlist WHERE db = ?", g.database) <= 3
		})
	})
}

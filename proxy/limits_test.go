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
	"github.com/go-mysql-org/go-mysql/mysql"

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

// connectInTime is connect of a client that asks again while there are too many.
func (g *gate) connectInTime(t testing.TB) {
	t.Helper()
	c, err := g.connectAgain()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
}

// connectAgain logs in at the gate, and asks again for a while when there are too many clients: seqgate may take its time to
// see that others have left.
func (g *gate) connectAgain() (c *client.Conn, err error) {
	for begun := time.Now(); ; {
		c, err = client.Connect(g.addr, gateUser, gatePassword, g.database)
		var full *mysql.MyError
		if !errors.As(err, &full) || full.Code != mysql.ER_CON_COUNT_ERROR && full.Code != mysql.ER_USER_LIMIT_REACHED || time.Since(begun) > 30*time.Second {
			return c, err
		}
	}
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
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.MaxConnections = 2 }})
		first := g.connect(t)
		g.connect(t)
		if got, want := said(t, dial(t, g.addr)), "\x17\x00\x00\x00\xff\x10\x04Too many connections"; got != want {
			t.Errorf("the third client is told %q, want %q", got, want)
		}
		if err := first.Quit(); err != nil {
			t.Fatal(err)
		}
		g.connectInTime(t)
	})
}

// Clients that come and go are counted exactly: none is refused as long as there
// are fewer than the limit.
func TestLimitCountsExactly(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const clients, each, most = 32, 100, 40
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
					c, err := g.connectAgain()
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
		if _, err := c.Execute("SELECT SLEEP(4)"); err != nil {
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
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const timeout = 3 * time.Second
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.IdleTimeout = timeout }})
		busy, stop, ended := g.connect(t), make(chan struct{}), make(chan error, 1)
		go func() { ended <- keepBusy(busy, stop) }()
		tests := []struct {
			name, begin string
			option      client.Option
		}{
			{"plain", "SELECT 1", plain},
			{"transaction", "BEGIN", plain},
			{"TLS", "SELECT 1", encrypted},
		}
		clients := make([]*client.Conn, len(tests))
		for i, tt := range tests {
			clients[i] = g.connect(t, tt.option)
		}
		var group sync.WaitGroup
		for i, tt := range tests {
			group.Go(func() {
				c, begun := clients[i], time.Now()
				if _, err := c.Execute(tt.begin); err != nil {
					t.Errorf("%s: %v", tt.name, err)
					return
				}
				c.ResetSequence()
				payload, err := c.ReadPacket()
				if err != nil {
					t.Errorf("%s: %v", tt.name, err)
					return
				}
				if d := time.Since(begun); d < timeout/2 {
					t.Errorf("%s: ended after %v, want %v", tt.name, d, timeout)
				}
				want := "\xff\xbf\x0f#HY000The client was disconnected by the server because of inactivity. "
				if !strings.HasPrefix(string(payload), want) {
					t.Errorf("%s: the client is told %q, want %q", tt.name, payload, want)
				}
				if _, err := c.ReadPacket(); !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "EOF") {
					t.Errorf("%s: then %v, want the end", tt.name, err)
				}
			})
		}
		group.Wait()
		close(stop)
		if err := <-ended; err != nil {
			t.Errorf("a client with long statements: %v", err)
		}
		await(t, "idle sessions to be gone at the server", func() bool {
			return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE db = ?", g.database) <= 3
		})
	})
}

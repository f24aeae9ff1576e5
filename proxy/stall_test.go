package proxy_test

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// queryPacket is a COM_QUERY of a rawClient, which has query attributes where the
// server has.
func queryPacket(s *servertest.Server, sql string) []byte {
	if s.IsMariaDB() {
		return command("\x03" + sql)
	}
	return command("\x03\x00\x01" + sql)
}

func send(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// sessions counts goroutines that run a client's session.
func sessions() int {
	b := make([]byte, 1<<20)
	return strings.Count(string(b[:runtime.Stack(b, true)]), "proxy.(*session).run(")
}

// threads counts the server's threads in the gate's database, the asking one left out.
func (g *gate) threads(t *testing.T, where string) int {
	t.Helper()
	return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE ID <> CONNECTION_ID() AND DB = DATABASE() AND "+where)
}

const stallTimeout = 300 * time.Millisecond

// stall has a client do something and then nothing more; its session has to end,
// and with it what it did at the server.
func stall(t *testing.T, s *servertest.Server, act func(g *gate, c net.Conn)) *gate {
	t.Helper()
	g := newGate(t, s, gateOptions{timeout: stallTimeout})
	before := sessions()
	c := rawClient(t, g.dsn(""), func(c *client.Conn) error { return c.SetCapability(mysql.CLIENT_LOCAL_FILES) })
	id := ""
	await(t, "the client's thread", func() bool {
		return g.direct.QueryRowContext(t.Context(), "SELECT MAX(ID) FROM "+servertest.Processlist+" WHERE DB = DATABASE() AND ID <> CONNECTION_ID()").Scan(&id) == nil
	})
	await(t, "the session's begin", func() bool { return sessions() > before })
	begun := time.Now()
	act(g, c)
	awaitWithin(t, untimely, "the session's end", func() bool { return sessions() <= before })
	if d := time.Since(begun); d < stallTimeout {
		t.Errorf("the session ended after %v already, want at least %v", d, stallTimeout)
	}
	await(t, "the end of its thread", func() bool { return g.threads(t, "ID = "+id) == 0 })
	return g
}

// A client that does not read its answer, or does not send what it has begun, ends
// when its time is over.
func TestStalledClient(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		t.Run("result unread", func(t *testing.T) {
			stall(t, s, func(_ *gate, c net.Conn) {
				send(t, c, queryPacket(s, "SELECT REPEAT('x', 100000) FROM information_schema.columns"))
			})
		})
		t.Run("half a command", func(t *testing.T) {
			g := stall(t, s, func(g *gate, c net.Conn) {
				exec(t, g.direct, "CREATE TABLE t (a INT)")
				send(t, c, queryPacket(s, "INSERT INTO t VALUES (1)")[:20])
			})
			if n := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); n != 0 {
				t.Errorf("half a command made %d rows", n)
			}
		})
		t.Run("half a header", func(t *testing.T) {
			stall(t, s, func(_ *gate, c net.Conn) { send(t, c, []byte{9, 0}) })
		})
		t.Run("half a long command", func(t *testing.T) {
			stall(t, s, func(_ *gate, c net.Conn) {
				// The session may end before all is written.
				_, _ = c.Write(queryPacket(s, "SELECT LENGTH('"+strings.Repeat("x", 5<<20)+"')")[:3<<20])
			})
		})
		t.Run("half a file", func(t *testing.T) {
			stall(t, s, func(g *gate, c net.Conn) {
				exec(t, g.direct, "CREATE TABLE f (a INT)", "SET GLOBAL local_infile = 1")
				if b := answerOf(t, c, queryPacket(s, "LOAD DATA LOCAL INFILE 'x' INTO TABLE f")); b[4] != 0xfb {
					t.Fatalf("the server asks for no file: %q", b)
				}
				send(t, c, []byte{10, 0, 0, 2, '1', '\n'})
			})
		})
	})
}

// A client that is merely slow, or has nothing to say for a long time, lives on.
func TestSlowClient(t *testing.T) {
	const timeout, longer = 3 * time.Second, 3500 * time.Millisecond
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{timeout: timeout})
		var clients sync.WaitGroup
		defer clients.Wait()
		long := strings.Repeat("x", 100_000)
		ask := func(c *sql.Conn, seconds float64) {
			var got int
			err := c.QueryRowContext(t.Context(), fmt.Sprintf("SELECT LENGTH('%s') + SLEEP(%g)", long, seconds)).Scan(&got)
			if err != nil || got != len(long) {
				t.Errorf("got %d, %v", got, err)
			}
		}
		for _, params := range []string{"", "tls=skip-verify"} {
			waits, pauses := conn(t, g.open(t, params)), conn(t, g.open(t, params))
			clients.Go(func() { ask(waits, longer.Seconds()) })
			clients.Go(func() {
				ask(pauses, 0)
				time.Sleep(longer) // deadlines of the command before pass
				ask(pauses, 0)
			})
		}
		c := rawClient(t, g.dsn(""))
		for _, b := range queryPacket(s, "SELECT 1") { // 13 bytes or more
			send(t, c, []byte{b})
			time.Sleep(timeout / 12)
		}
		if n, err := c.Read(make([]byte, 1000)); err != nil || n < 20 {
			t.Errorf("a command byte by byte: answer of %d bytes, %v", n, err)
		}
	})
}

// A server that takes nothing more does not hold a session for ever.
func TestStalledServer(t *testing.T) {
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{timeout: stallTimeout})
		before := sessions()
		c := rawClient(t, g.dsn(""))
		await(t, "the session's begin", func() bool { return sessions() > before })
		s.Freeze(t)
		defer s.Thaw(t)
		go func() { // until the session ends
			_, _ = c.Write(queryPacket(s, "SELECT LENGTH('"+strings.Repeat("x", 16<<20-100)+"')"))
			_, _ = io.Copy(io.Discard, c)
		}()
		awaitWithin(t, untimely, "the session's end", func() bool { return sessions() <= before })
	})
}

// leave sends a command from a client that then goes away.
func leave(t *testing.T, g *gate, s *servertest.Server, commands ...string) {
	t.Helper()
	c := rawClient(t, g.dsn(""))
	for _, sql := range commands {
		send(t, c, queryPacket(s, sql))
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a client that goes away leaves behind comes to the end that it has without
// seqgate: a wait that looks for its client ends, all other commands are executed.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (a INT)")
		holder := conn(t, g.direct)
		lock := fmt.Sprintf("GET_LOCK('leave_%s', 3600)", g.database)
		if value[int](t, holder, "SELECT "+lock) != 1 {
			t.Fatal("no lock")
		}
		leave(t, g, s, "SELECT "+lock)
		leave(t, g, s, "INSERT INTO t SELECT 1 + SLEEP(1.5)")
		leave(t, g, s, "INSERT INTO t SELECT 2 + SLEEP(1.5)", "INSERT INTO t VALUES (3)")
		await(t, "the commands' execution", func() bool {
			return value[int](t, g.direct, "SELECT COUNT(DISTINCT a) FROM t") == 3
		})
		await(t, "the wait's end", func() bool { return g.threads(t, "INFO LIKE '%GET_LOCK%'") == 0 })
	})
}

// A transaction is open, but its client waits: the server's end shows at once.
func TestServerEndsInTransaction(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		for _, params := range []string{"", "tls=skip-verify"} {
			c := conn(t, g.open(t, params))
			exec(t, c, "BEGIN")
			before := sessions()
			exec(t, g.direct, fmt.Sprintf("KILL %d", value[int64](t, c, "SELECT CONNECTION_ID()")))
			await(t, "the session's end", func() bool { return sessions() < before })
			if err := c.PingContext(t.Context()); err == nil {
				t.Error("the client's connection lives on")
			}
		}
	})
}

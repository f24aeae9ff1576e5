package proxy_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	protocol "github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// forwarder stands between seqgate and a shard's server, which is frozen for seqgate when it passes nothing on.
type forwarder struct {
	net.Listener
	mu     sync.Mutex
	moves  *sync.Cond
	frozen bool
	held   []byte // that came meanwhile
	conns  []net.Conn
}

// forward listens in the place of a server until the end of the test.
func forward(t *testing.T, to string) *forwarder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{Listener: l}
	f.moves = sync.NewCond(&f.mu)
	var running sync.WaitGroup
	running.Go(func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			server, err := net.Dial("tcp", to)
			if err != nil {
				_ = c.Close()
				continue
			}
			f.mu.Lock()
			f.conns = append(f.conns, c, server)
			f.mu.Unlock()
			running.Go(func() { f.pass(server, c) })
			running.Go(func() { f.pass(c, server) })
		}
	})
	t.Cleanup(func() {
		f.end()
		running.Wait()
	})
	return f
}

// pass copies from one side to the other, and closes both at the end of one.
func (f *forwarder) pass(to, from net.Conn) {
	b := make([]byte, 32<<10)
	var err error
	for err == nil {
		var n int
		n, err = from.Read(b)
		f.mu.Lock()
		if f.frozen {
			f.held = append(f.held, b[:n]...)
		}
		for f.frozen {
			f.moves.Wait()
		}
		f.mu.Unlock()
		if n > 0 && err == nil {
			_, err = to.Write(b[:n])
		}
	}
	_, _ = to.Close(), from.Close()
}

func (f *forwarder) freeze(frozen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = frozen
	f.moves.Broadcast()
}

// awaitHeld waits until a command with this text came for the frozen server.
func (f *forwarder) awaitHeld(t *testing.T, text string) {
	t.Helper()
	await(t, "a command to a frozen shard", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return bytes.Contains(f.held, []byte(text))
	})
}

// end has the server be away.
func (f *forwarder) end() {
	_ = f.Close()
	f.freeze(false)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.conns {
		_ = c.Close()
	}
}

// newForwardedGate starts a seqgate in front of n shards, one of which is behind a forwarder.
func newForwardedGate(t *testing.T, s *servertest.Server, n, shard int) (*shardedGate, *forwarder) {
	t.Helper()
	var f *forwarder
	g := newShardedGate(t, s, n, gateOptions{configure: func(cfg *proxy.Config) {
		k := cfg.Keyspaces["customer"].Shards[shard]
		dsn, err := mysql.ParseDSN(s.DSN(k.Database))
		if err != nil {
			t.Fatal(err)
		}
		f = forward(t, dsn.Addr)
		dsn.Addr = f.Addr().String()
		connector, err := mysql.NewConnector(dsn)
		if err != nil {
			t.Fatal(err)
		}
		k.Backend.Addr, k.DB = dsn.Addr, sql.OpenDB(connector)
		t.Cleanup(func() { _ = k.DB.Close() })
	}})
	return g, f
}

// execute runs a statement in the background, and tells its error.
func execute(c *client.Conn, statement string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := c.Execute(statement)
		done <- err
	}()
	return done
}

// A client that leaves while its session waits for a frozen shard has no locks on the others for long.
func TestClientLeavesAFrozenShard(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for name, waits := range map[string]string{"begun there": "SELECT COUNT(*) FROM user", "not begun there": "SELECT n FROM user WHERE id = %d"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				g, f := newForwardedGate(t, s, 2, 1)
				ids := g.onEach(t)
				c := g.dial(t, "customer")
				for _, statement := range []string{fmt.Sprintf("INSERT INTO user (id) VALUES (%d), (%d)", ids[0][0], ids[1][0]), "BEGIN",
					fmt.Sprintf("UPDATE user SET n = 1 WHERE id = %d", ids[0][0])} {
					if _, err := c.Execute(statement); err != nil {
						t.Fatal(err)
					}
				}
				f.freeze(true)
				if name == "not begun there" {
					waits = fmt.Sprintf(waits, ids[1][0])
				}
				done := execute(c, waits)
				f.awaitHeld(t, "BEGIN")
				if err := c.Conn.Conn.Close(); err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				o := conn(t, g.shards[0])
				exec(t, o, "SET innodb_lock_wait_timeout = 20", fmt.Sprintf("UPDATE user SET n = 2 WHERE id = %d", ids[0][0]))
				if took := time.Since(begin); took > 15*time.Second {
					t.Errorf("the lock on the other shard was held for %v", took)
				}
				if users := g.users(t); users[ids[0][0]] != 2 {
					t.Errorf("users %v", users)
				}
				<-done
			})
		}
	})
}

// What a client left running on several shards ends on all of them at once: servers look every five seconds whether
// their client is still there.
func TestClientLeavesSeveralShards(t *testing.T) {
	t.Parallel()
	const sleeps = "UPDATE user SET n = n + SLEEP(61)"
	const running = "SELECT COUNT(*) FROM " + servertest.Processlist + " WHERE INFO = '" + sleeps + "'"
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{})
		for i, ids := range g.onEach(t) {
			exec(t, g.shards[i], fmt.Sprintf("INSERT INTO user (id) VALUES (%d)", ids[0]))
		}
		c := g.dial(t, "customer")
		done := execute(c, sleeps)
		await(t, "all shards to run it", func() bool { return value[int](t, g.direct, running) == 4 })
		begin := time.Now()
		if err := c.Conn.Conn.Close(); err != nil {
			t.Fatal(err)
		}
		await(t, "its end", func() bool { return value[int](t, g.direct, running) == 0 })
		if took := time.Since(begin); took > 15*time.Second {
			t.Errorf("it went on for %v", took)
		}
		<-done
	})
}

// frozenSession begins a statement that waits for a frozen shard, in a session with a transaction on the other.
func frozenSession(t *testing.T, s *servertest.Server) (g *shardedGate, f *forwarder, c *client.Conn, id string, done <-chan error) {
	t.Helper()
	g, f = newForwardedGate(t, s, 2, 1)
	c = g.dial(t, "customer")
	if _, err := c.Execute("SELECT COUNT(*) FROM user"); err != nil {
		t.Fatal(err)
	}
	id = textOf(t, c, "SELECT CONNECTION_ID()")
	f.freeze(true)
	done = execute(c, "SELECT COUNT(*) FROM user")
	f.awaitHeld(t, "SELECT COUNT(*) FROM user")
	return g, f, c, id, done
}

// ended gives the error of a statement that must end soon.
func ended(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
		return nil
	}
}

// KILL ends a session that waits for a frozen shard, KILL QUERY its statement; the sessions of others go on.
func TestKillBesideAFrozenShard(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, f, c, id, done := frozenSession(t, s)
		healthy := g.onEach(t)[0]
		o := conn(t, g.open(t, "customer", ""))
		exec(t, o, fmt.Sprintf("INSERT INTO user (id) VALUES (%d)", healthy[0]))
		exec(t, o, "KILL QUERY "+id)
		var lost *protocol.MyError
		if err := ended(t, done); !errors.As(err, &lost) || lost.Code != 1158 && lost.Code != 1317 { // 1317 of the other shard
			t.Errorf("%v, want error 1158 or 1317", err)
		}
		f.freeze(false)
		if got := textOf(t, c, "SELECT COUNT(*) FROM user"); got != "1" {
			t.Errorf("%s users after KILL QUERY, want 1", got)
		}
		f.freeze(true)
		done = execute(c, "SELECT COUNT(*) FROM user")
		exec(t, o, "KILL "+id)
		if err := ended(t, done); err == nil {
			t.Error("the statement succeeded")
		}
		if err := ended(t, execute(c, "SELECT 1")); err == nil {
			t.Error("the session goes on")
		}
		exec(t, o, fmt.Sprintf("INSERT INTO user (id) VALUES (%d)", healthy[1]))
	})
}

// KILL ends a session that connects to a frozen shard, and one that is idle with a connection to it.
func TestKillOfAnIdleSession(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, f := newForwardedGate(t, s, 2, 1)
		o := conn(t, g.open(t, "main", ""))
		f.freeze(true)
		connecting := g.dial(t, "customer")
		id := textOf(t, connecting, "SELECT CONNECTION_ID()")
		done := execute(connecting, "SELECT COUNT(*) FROM user")
		await(t, "the connection", func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			return len(f.conns) > 0
		})
		exec(t, o, "KILL "+id)
		if err := ended(t, done); err == nil {
			t.Error("the statement succeeded")
		}
		f.freeze(false)
		idle := g.dial(t, "customer")
		id = textOf(t, idle, "SELECT CONNECTION_ID()")
		if _, err := idle.Execute("SELECT COUNT(*) FROM user"); err != nil {
			t.Fatal(err)
		}
		f.freeze(true)
		exec(t, o, "KILL "+id)
		if err := ended(t, execute(idle, "SELECT 1")); err == nil {
			t.Error("the idle session goes on")
		}
	})
}

// Shutdown ends a session that waits for a frozen shard when it is time.
func TestShutdownBesideAFrozenShard(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, _, _, _, done := frozenSession(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		shut := make(chan error, 1)
		go func() { shut <- g.proxy.Shutdown(ctx) }()
		if err := ended(t, shut); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown gives %v", err)
		}
		if err := ended(t, done); err == nil {
			t.Error("the statement succeeded")
		}
	})
}

// A session goes on when the server of the shard that it logged in to goes away, with what needs that shard alone failing.
func TestHomeShardAway(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, f := newForwardedGate(t, s, 2, 0)
		ids := g.onEach(t)
		exec(t, g.shards[1], fmt.Sprintf("INSERT INTO user (id, name) VALUES (%d, 'x')", ids[1][0]), "INSERT INTO ref VALUES (1, 'r')")
		sessions := map[string]*sql.Conn{"customer": conn(t, g.open(t, "customer", "")), "main": conn(t, g.open(t, "main", ""))}
		for _, c := range sessions {
			exec(t, c, "SET @a = 7", "USE customer", fmt.Sprintf("UPDATE user SET n = 1 WHERE id IN (%d, %d)", ids[0][0], ids[1][0]))
		}
		f.end()
		sessions["a new one"] = conn(t, g.open(t, "customer", ""))
		exec(t, sessions["a new one"], "SET @a = 7")
		for name, c := range sessions {
			t.Run(name, func(t *testing.T) {
				one := fmt.Sprintf("WHERE id = %d", ids[1][0])
				if _, err := c.ExecContext(t.Context(), "DO 1"); err != nil {
					t.Logf("the loss is told: %v", err)
				}
				exec(t, c, "USE customer", "SET @b = 8", "DO 1", "UPDATE user SET n = n + 1 "+one, "BEGIN", "UPDATE user SET n = n + 1 "+one, "COMMIT",
					"INSERT INTO child (user_id) VALUES ("+fmt.Sprint(ids[1][0])+")", "USE main", "DO 1", "USE customer")
				for query, want := range map[string]string{"SELECT name FROM user " + one: "x", "SELECT v FROM ref": "r", "SELECT 'l'": "l",
					"SELECT CONCAT(@a, @b)": "78", "SELECT DATABASE()": "customer"} {
					if got := value[string](t, c, query); got != want {
						t.Errorf("%s gives %q, want %q", query, got, want)
					}
				}
				for query, want := range map[string]string{"SELECT name FROM user WHERE id = ? AND name = ?": "x", "SELECT v FROM ref WHERE 0 < ? AND v <> ?": "r"} {
					if got := value[string](t, c, query, ids[1][0], "x"); got != want {
						t.Errorf("prepared: %s gives %q, want %q", query, got, want)
					}
				}
				for _, query := range []string{"UPDATE user SET n = 1 WHERE id = ? OR id = ?", "UPDATE user SET n = 1 WHERE id = ? AND name <> ?"} {
					if _, err := c.ExecContext(t.Context(), query, ids[0][0], "x"); err == nil {
						t.Errorf("%s succeeds without its shard", query)
					}
				}
				exec(t, c, "UPDATE user SET n = 0 "+one)
			})
		}
	})
}

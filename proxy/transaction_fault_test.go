package proxy_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// awaitRunning waits until a connection to a shard runs a statement, and gives its id.
func (g *shardedGate) awaitRunning(t *testing.T, shard int, statement string) (id int64) {
	t.Helper()
	eventually(t, func() bool {
		return g.shards[shard].QueryRow("SELECT ID FROM "+servertest.Processlist+" WHERE DB = DATABASE() AND ID <> CONNECTION_ID() AND INFO LIKE ?", statement).Scan(&id) == nil
	}, statement+" to run")
	return id
}

// After a COMMIT that succeeded on some shards only, the session goes on.
func TestPartlyCommitted(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		var first *withheld
		g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
			first = withhold(cfg.Keyspaces["customer"].Shards[0], "COMMIT")
		}})
		defer first.release()
		exec(t, g.shards[0], userValues+"(1, 'a', 10)")
		exec(t, g.shards[1], userValues+"(4, 'd', 10)")
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "BEGIN", "UPDATE user SET age = 11 WHERE id = 1", "UPDATE user SET age = 11 WHERE id = 4")
		done := make(chan error, 1)
		go func() {
			_, err := c.ExecContext(t.Context(), "COMMIT")
			done <- err
		}()
		first.await(t, done)
		g.killThreads(t, 1)
		first.release()
		if err := <-done; errno(err) != 1180 {
			t.Errorf("COMMIT: %v, want error 1180, which tells which shards have committed", err)
		}
		if got := g.ages(t); got != [2]int{11, 10} {
			t.Errorf("ages %v, want 11 and 10", got)
		}
		exec(t, c, "SET TRANSACTION READ WRITE", "UPDATE user SET age = 12 WHERE id = 1", "UPDATE user SET age = 12 WHERE id = 4", "UPDATE user SET age = 13")
	})
}

// A COMMIT over several shards begins nowhere when one of them is not reached any more, which nobody has seen yet.
func TestCommitAsksFirst(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		var cut atomic.Bool
		g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
			cfg.Keyspaces["customer"].Shards[1].Backend.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				return &cutConn{Conn: c, cut: &cut}, err
			}
		}})
		ids := g.onEach(t)
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "BEGIN", fmt.Sprintf("INSERT INTO user (id, n) VALUES (%d, 1)", ids[0][0]), fmt.Sprintf("INSERT INTO user (id, n) VALUES (%d, 1)", ids[1][0]))
		cut.Store(true)
		if _, err := c.ExecContext(t.Context(), "COMMIT"); err == nil {
			t.Error("COMMIT succeeded without a shard")
		}
		if users := g.users(t); len(users) > 0 {
			t.Errorf("users %v of the transaction are there", users)
		}
	})
}

// cutConn is a connection on which nothing is sent any more once it is cut, and whose end is not seen.
type cutConn struct {
	net.Conn
	cut *atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if c.cut.Load() {
		return 0, syscall.ETIMEDOUT
	}
	return c.Conn.Write(b)
}

// withheld is a text that seqgate does not get sent to a shard for a while.
type withheld struct {
	text             string
	arrived, allowed chan struct{}
	arrive, release  func() // close them
}

// withhold holds up what is sent to a shard with this text in it, until it is released.
func withhold(shard *catalog.Keyspace, text string) *withheld {
	w := &withheld{text: text, arrived: make(chan struct{}), allowed: make(chan struct{})}
	w.arrive, w.release = sync.OnceFunc(func() { close(w.arrived) }), sync.OnceFunc(func() { close(w.allowed) })
	shard.Backend.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &withholdingConn{c, w}, err
	}
	return w
}

// await waits until the text is about to be sent by a statement that tells done of its end.
func (w *withheld) await(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case <-w.arrived:
	case err := <-done:
		t.Fatalf("ended without a %s to this shard: %v", w.text, err)
	}
}

type withholdingConn struct {
	net.Conn
	*withheld
}

func (c *withholdingConn) Write(b []byte) (int, error) {
	if strings.Contains(string(b), c.text) {
		c.arrive()
		<-c.allowed
	}
	return c.Conn.Write(b)
}

// A statement of its own that loses a shard is rolled back on the others, and the session
// goes on, whichever statement it is.
func TestStatementLosesAShard(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, g *shardedGate) {
		for _, st := range []string{"INSERT INTO user (id, age) VALUES (1, 1), (4, 1) ON DUPLICATE KEY UPDATE age = 11", "UPDATE user SET age = 11"} {
			c, holder := conn(t, g.open(t, "customer", "")), conn(t, g.shards[1])
			exec(t, holder, "BEGIN", "SELECT * FROM user FOR UPDATE")
			done := make(chan error, 1)
			go func() {
				_, err := c.ExecContext(t.Context(), st)
				done <- err
			}()
			exec(t, g.direct, fmt.Sprintf("KILL %d", g.awaitRunning(t, 1, st[:6]+"%user%")))
			if err := <-done; err == nil {
				t.Errorf("%s: succeeded without a shard", st)
			}
			exec(t, holder, "ROLLBACK")
			if got := g.ages(t); got != [2]int{10, 10} {
				t.Errorf("%s: ages %v, want 10 and 10", st, got)
			}
			exec(t, c, "UPDATE user SET n = n + 1")
		}
	})
}

const decisionsTable = "CREATE TABLE seqgate_transactions (name VARBINARY(64) PRIMARY KEY, decision ENUM('commit', 'rollback') NOT NULL, decided TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)"

// A COMMIT whose decision cannot be written says that its outcome is not known, and the
// session goes on. Recovery has it be one outcome on all shards.
func TestUndecided(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
			cfg.XA, cfg.XAGrace = cfg.Keyspaces["main"], 200*time.Millisecond
		}})
		exec(t, g.shards[0], userValues+"(1, 'a', 10)")
		exec(t, g.shards[1], userValues+"(4, 'd', 10)")
		exec(t, g.direct, decisionsTable,
			"CREATE TRIGGER refuses BEFORE INSERT ON seqgate_transactions FOR EACH ROW IF NEW.decision = 'commit' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF")
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "BEGIN", "UPDATE user SET age = 11")
		if _, err := c.ExecContext(t.Context(), "COMMIT"); errno(err) != 1180 || !strings.Contains(err.Error(), "recovery") {
			t.Errorf("COMMIT: %v, want error 1180, which says that recovery decides", err)
		}
		eventually(t, func() bool { return len(g.preparedXA(t)) == 0 }, "recovery")
		if got := g.ages(t); got != [2]int{10, 10} {
			t.Errorf("ages %v, want 10 and 10", got)
		}
		exec(t, c, "SET TRANSACTION READ WRITE", "UPDATE user SET n = 5 WHERE id = 1", "UPDATE user SET n = 5 WHERE id = 4")
	})
}

// A COMMIT that comes when recovery has decided to roll back says so, and is undone on all shards.
func TestRecoveryWins(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{configure: twoPhases})
		exec(t, g.shards[0], userValues+"(1, 'a', 10)")
		exec(t, g.shards[1], userValues+"(4, 'd', 10)")
		exec(t, g.direct, decisionsTable,
			"CREATE TRIGGER decides BEFORE INSERT ON seqgate_transactions FOR EACH ROW SET NEW.decision = 'rollback'")
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "BEGIN", "UPDATE user SET age = 11")
		fails(t, c, 1613, "recovery has rolled it back", "COMMIT")
		if got, left := g.ages(t), g.preparedXA(t); got != [2]int{10, 10} || len(left) != 0 {
			t.Errorf("ages %v, prepared %v, want 10 and 10, and none", got, left)
		}
	})
}

// Recovery leaves alone what was prepared just now: who did may be about to decide.
func TestRecoveryWaits(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
			cfg.XA, cfg.XAGrace = cfg.Keyspaces["main"], 2*time.Second
		}})
		own := transactionsOf(value[string](t, g.direct, "SELECT DATABASE()"))
		xid := fmt.Sprintf("'%sbusy-1','%s/customer:%s',21319", own, value[string](t, g.shards[0], "SELECT DATABASE()"), g.layout.Name(0))
		exec(t, g.direct, decisionsTable)
		began := time.Now()
		prepareXA(t, g.shards[0], xid, userValues+"(1, 'a', 10)")
		eventually(t, func() bool { return len(g.preparedXA(t)) == 0 }, "recovery")
		if waited := time.Since(began); waited < 2*time.Second {
			t.Errorf("a prepared transaction was ended after %v, want the 2s of grace", waited)
		}
	})
}

// A shard that is lost between the decision and its COMMIT is told by recovery, here another
// seqgate's. The client's COMMIT has succeeded, and its session goes on.
func TestShardIsLostAtDecision(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for lost := range 2 {
			var told *withheld
			var customer *catalog.Keyspace
			g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
				twoPhases(cfg)
				customer = cfg.Keyspaces["customer"]
				told = withhold(customer.Shards[lost], "XA COMMIT")
			}})
			defer told.release()
			exec(t, g.shards[0], userValues+"(1, 'a', 10)")
			exec(t, g.shards[1], userValues+"(4, 'd', 10)")
			c := conn(t, g.open(t, "customer", ""))
			exec(t, c, "BEGIN", "UPDATE user SET age = 11")
			done := make(chan error, 1)
			go func() {
				_, err := c.ExecContext(t.Context(), "COMMIT")
				done <- err
			}()
			told.await(t, done)
			g.killThreads(t, lost)
			told.release()
			if err := <-done; err != nil {
				t.Errorf("shard %d: COMMIT: %v", lost, err)
			}
			newGate(t, s, gateOptions{database: g.database, vschema: shardedVSchema, more: map[string]*catalog.Keyspace{"customer": customer}, configure: func(cfg *proxy.Config) {
				cfg.XA, cfg.XAGrace = cfg.Keyspaces["main"], 50*time.Millisecond
			}})
			eventually(t, func() bool { return len(g.preparedXA(t)) == 0 }, "recovery")
			if got := g.ages(t); got != [2]int{11, 11} {
				t.Errorf("shard %d: ages %v, want 11 and 11", lost, got)
			}
			exec(t, c, "SET TRANSACTION READ WRITE", "UPDATE user SET age = 12 WHERE id = 1", "UPDATE user SET age = 12 WHERE id = 4", "UPDATE user SET age = 13")
		}
	})
}

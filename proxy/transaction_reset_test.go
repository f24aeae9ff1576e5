package proxy_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// When COM_RESET_CONNECTION is answered nothing of the transaction is left on any shard.
func TestResetEndsTheTransaction(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, g *shardedGate) {
		const resetConnection = 0x1f
		c, d := g.dial(t, "customer"), conn(t, g.shards[1])
		run := func(statements ...string) {
			t.Helper()
			for _, st := range statements {
				if _, err := c.Execute(st); err != nil {
					t.Errorf("%s: %v", st, err)
				}
			}
		}
		for range 20 {
			run("BEGIN", "UPDATE user SET age = 11 WHERE id = 1", "UPDATE user SET age = 11 WHERE id = 4")
			if got := sendCommand(t, c, resetConnection, ""); got[0] != 0 {
				t.Fatalf("reset: %q", got)
			}
			exec(t, d, "SELECT age FROM user WHERE id = 4 FOR UPDATE NOWAIT")
		}
		run("START TRANSACTION READ ONLY", "SELECT * FROM user WHERE id = 1", "SELECT * FROM user WHERE id = 4", "ROLLBACK")
		exec(t, g.shards[0], "UPDATE user SET age = 77 WHERE id = 1")
		if got := textOf(t, c, "SELECT age FROM user WHERE id = 1"); got != "77" {
			t.Errorf("age %s, want 77: the former transaction goes on", got)
		}
		run("UPDATE user SET age = 78")
		if got := g.ages(t); got != [2]int{78, 78} {
			t.Errorf("ages %v, want 78 and 78", got)
		}
	})
}

// COM_RESET_CONNECTION is answered once, also where a shard's connection does not end in order.
func TestResetWithoutAShard(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		var cut atomic.Bool
		g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
			cfg.IdleBackends = 0 // each connection is ended
			cfg.Keyspaces["customer"].Shards[1].Backend.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				return &cutConn{Conn: c, cut: &cut}, err
			}
		}})
		c := g.dial(t, "customer")
		for _, statement := range []string{"INSERT INTO user (id, age) VALUES (1, 10), (4, 10)", "SET @x = 1", "BEGIN", "UPDATE user SET age = @x"} {
			if _, err := c.Execute(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		cut.Store(true)
		const resetConnection = 0x1f
		if got := sendCommand(t, c, resetConnection, ""); got[0] != mysql.OK_HEADER {
			t.Errorf("the answer is %q", got)
		}
		cut.Store(false)
		if got := textOf(t, c, "SELECT CONCAT('x is ', IFNULL(@x, 'none')) FROM user WHERE id = 4"); got != "x is none" {
			t.Errorf("the next answer is %q", got)
		}
	})
}

package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// Sessions whose clients go on speaking are ended behind an answer, and a pool sees that
// before it sends anything else: it fails at connecting again, never with a statement.
func TestDrainLosesNoStatement(t *testing.T) {
	options := gateOptions{configure: func(c *proxy.Config) { c.Quiet = leaveQuiet }}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, params := range []string{"", "tls=skip-verify", "compress=true", "tls=skip-verify&compress=true"} {
			t.Run(params, func(t *testing.T) {
				g := newGate(t, s, options)
				drainUnderLoad(t, g, func() *sql.DB { return g.open(t, params) }, "DO 1", "DO ?")
			})
		}
		for _, params := range []string{"", "tls=skip-verify"} {
			t.Run("sharded "+params, func(t *testing.T) {
				g := newShardedGate(t, s, 2, options)
				open := func() *sql.DB { return g.open(t, "customer", params) }
				drainUnderLoad(t, g.gate, open, "UPDATE user SET n = n + 1", "UPDATE user SET n = n + 1 WHERE id = ?")
			})
		}
	})
}

// drainUnderLoad drains while clients run the statements, of which the second has a
// parameter, and one has a transaction open.
func drainUnderLoad(t *testing.T, g *gate, open func() *sql.DB, plain, prepared string) {
	inTransaction := conn(t, open())
	exec(t, inTransaction, "BEGIN")
	var clients sync.WaitGroup
	var ran [2]atomic.Int64
	for i, args := range [][]any{{plain}, {prepared, 1}} {
		db := open()
		db.SetMaxOpenConns(1)
		clients.Go(func() {
			var err error
			for ; err == nil; ran[i].Add(1) {
				_, err = db.Exec(args[0].(string), args[1:]...)
			}
			var refused *net.OpError
			if !errors.As(err, &refused) || refused.Op != "dial" {
				t.Errorf("%v: %v, want none but that no connection is made", args, err)
			}
		})
	}
	await(t, "statements", func() bool { return ran[0].Load() > 5 && ran[1].Load() > 5 })
	g.proxy.AgeSessions(2 * leaveQuiet)
	ended := beginDrain(t, g)
	clients.Wait()
	exec(t, inTransaction, "DO 1", "COMMIT")
	if err := <-ended; err != nil {
		t.Errorf("shutdown: %v", err)
	}
}

// beginDrain begins to drain, and gives what Shutdown will return.
func beginDrain(t *testing.T, g *gate) <-chan error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	ended := make(chan error, 1)
	go func() { ended <- g.proxy.Shutdown(ctx) }()
	await(t, "the drain", func() bool { return !g.proxy.Ready() })
	return ended
}

// While a seqgate is to be left, it serves as before.
func TestRetire(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{})
	g.proxy.Retire()
	if g.proxy.Ready() {
		t.Error("a retired seqgate is ready")
	}
	exec(t, conn(t, g.open(t, "")), "DO 1")
}

package proxy_test

import (
	"testing"
)

// When COM_RESET_CONNECTION is answered nothing of the transaction is left on any shard.
func TestResetEndsTheTransaction(t *testing.T) {
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

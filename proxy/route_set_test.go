package proxy_test

import "testing"

// COMMIT is COMMIT, and no transaction follows it on one shard alone.
func TestCompletionType(t *testing.T) {
	bothWays(t, func(t *testing.T, g *shardedGate) {
		c := conn(t, g.open(t, "customer", ""))
		for _, value := range []string{"1", "CHAIN", "'RELEASE'", "DEFAULT", "@a"} {
			if _, err := c.ExecContext(t.Context(), "SET completion_type = "+value); errno(err) != 1235 {
				t.Errorf("completion_type %s: %v, want error 1235", value, err)
			}
		}
		exec(t, c, "SET completion_type = 'no_chain'", "SET SESSION completion_type = 0")
		exec(t, c, "BEGIN", "UPDATE user SET age = 11", "COMMIT", "UPDATE user SET age = 12 WHERE id = 1", "UPDATE user SET age = 12 WHERE id = 4", "ROLLBACK")
		if got := g.ages(t); got != [2]int{12, 12} {
			t.Errorf("ages %v, want 12 and 12", got)
		}
	})
}

package proxy_test

import (
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A column with the name of a function is no reason to take a call of that for it.
func TestReferenceColumnNamedAsFunction(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		for _, shard := range g.shards {
			exec(t, shard, "DROP TABLE ref", "CREATE TABLE ref (id BIGINT PRIMARY KEY, uuid VARCHAR(64))", "INSERT INTO ref VALUES (1, 'a')")
		}
		c := conn(t, g.open(t, "customer", ""))
		_, err := c.ExecContext(t.Context(), "INSERT INTO ref (id, uuid) VALUES (1, 'b') ON DUPLICATE KEY UPDATE uuid = UUID()")
		checkErrno(t, err, 1235)
		exec(t, c, "INSERT INTO ref (id, uuid) VALUES (1, 'b') ON DUPLICATE KEY UPDATE uuid = CONCAT(uuid, VALUES(uuid))")
		for _, shard := range g.shards {
			if got := value[string](t, shard, "SELECT uuid FROM ref"); got != "ab" {
				t.Errorf("uuid is %q, want ab", got)
			}
		}
	})
}

// A plan goes by the columns that the tables have, text and prepared, also when they
// were changed past seqgate.
func TestPlansFollowColumns(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", "sql_mode=%27%27"))
		for _, ids := range g.onEach(t) {
			exec(t, c, fmt.Sprintf("INSERT INTO user (id, age) VALUES (%[1]d, %[1]d)", ids[0]))
		}
		const byAlias = "SELECT age AS k FROM user GROUP BY k"
		groups := func() int { return len(columnOf(t, c, byAlias)) }
		if got := groups(); got != 2 {
			t.Fatalf("%d groups by an alias, want 2", got)
		}
		for _, shard := range g.shards {
			exec(t, shard, "ALTER TABLE user ADD COLUMN k INT NOT NULL DEFAULT 0")
		}
		await(t, "the column to count in place of the alias", func() bool { return groups() == 1 })
	})
}

package ops

import "github.com/seqgate/seqgate/internal/config"

// pinned returns the index of the shard that has all rows of a pinned table, -1 for any other table.
func pinned(c *config.Config, name TableName) int {
	k, ok := c.Keyspace(name.Keyspace)
	declared := c.Declared(name.Keyspace)
	if !ok || declared == nil || !k.Sharded() {
		return -1
	}
	t, ok := declared.Table(name.Table)
	if !ok || t.Pinned == nil {
		return -1
	}
	return k.Layout.Find(t.Pinned)
}

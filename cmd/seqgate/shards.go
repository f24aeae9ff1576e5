package main

import "github.com/seqgate/seqgate/internal/config"

// pinned returns the index of the shard that has all rows of a pinned table, -1 for any other table.
func pinned(c *config.Config, name tableName) int {
	k, ok := c.Keyspace(name.keyspace)
	declared := c.Declared(name.keyspace)
	if !ok || declared == nil || !k.Sharded() {
		return -1
	}
	t, ok := declared.Table(name.table)
	if !ok || t.Pinned == nil {
		return -1
	}
	return k.Layout.Find(t.Pinned)
}

package main

// serverName is the name by which a client reaches a shard alone, and by which what the commands print names it.
func (k Keyspace) serverName(s Shard) string {
	if !k.Sharded() {
		return k.Name
	}
	return k.Name + ":" + s.Name
}

// pinned returns the index of the shard that has all rows of a pinned table, -1 for any other table.
func (c *Config) pinned(name tableName) int {
	k, ok := c.Keyspace(name.keyspace)
	declared := c.declared(name.keyspace)
	if !ok || declared == nil || !k.Sharded() {
		return -1
	}
	t, ok := declared.Table(name.table)
	if !ok || t.Pinned == nil {
		return -1
	}
	return k.Layout.Find(t.Pinned)
}

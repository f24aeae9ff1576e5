package vschema

// guardRef is the sequence that a generator of Redis is held against.
type guardRef struct {
	generator *Generator
	keyspace  *Keyspace
	name      string
	node      *node
}

// resolveGuards finds the sequence of each guard. It fills nothing else.
func (d *decoder) resolveGuards() {
	guarded := map[*Table]bool{}
	for _, ref := range d.guards {
		keyspace, table, ok := splitName(ref.name)
		if !ok {
			d.fail(ref.node, "%q is no table name: write sequence or keyspace.sequence", ref.name)
			continue
		}
		k := ref.keyspace
		if keyspace != "" {
			k = d.keyspaces[keyspace]
		}
		switch {
		case k == nil || !k.hasSequence(table) || k.Sharded:
			d.fail(ref.node, `there is no sequence %q: add "%s": {"type": "sequence"} to the tables of an unsharded keyspace`, ref.name, table)
		case d.used[k.tables[table]] || guarded[k.tables[table]]:
			d.fail(ref.node, "sequence %q is used otherwise: give the guard one of its own", ref.name)
		default:
			guarded[k.tables[table]] = true
			ref.generator.Segments.GuardKeyspace, ref.generator.Segments.GuardTable = k.Name, table
		}
	}
}

// counterRef is the Redis counter of a generator; node is its key.
type counterRef struct {
	generator *Generator
	node      *node
}

// checkCounters refuses two generators of one counter: each has a guard that knows only the ids of its own, so that a Redis
// that loses what it had would give those of the other again.
func (d *decoder) checkCounters() {
	type place struct{ server, key string }
	first := map[place]*Generator{}
	for _, ref := range d.counters {
		p := ref.generator.Segments
		at := place{d.counterServer(p), p.Key}
		if at.server == "" || at.key == "" {
			continue // told already
		}
		if g := first[at]; g != nil {
			d.fail(ref.node, "generator %q counts by this key of the same Redis, and the guard of each would not know the ids of the other: fill the tables of both from one generator, or take another key",
				joinName(g.Keyspace, g.Name))
			continue
		}
		first[at] = ref.generator
	}
}

// counterServer names the Redis of a counter; empty when it has none.
func (d *decoder) counterServer(p *SegmentParams) string {
	if d.counter != nil {
		if server := d.counter(p); server != "" {
			return "server " + server
		}
	}
	switch {
	case p.URL != "":
		return "url " + p.URL
	case p.URLEnv != "":
		return "url_env " + p.URLEnv
	}
	return ""
}

package proxy

import (
	"context"
	"time"
)

// That a table has no sequence lets INSERTs pass without ids, so it has to be true when it is said. What is known decides
// that for up to catalogFresh only where nothing speaks for a sequence, and then what the INSERT's own answer says is
// looked at. Wherever else the server is asked for each INSERT.

// viewFresh is how long a view is taken to stand for what it stood for, and boundFor how long a table that had a sequence
// is not taken for one that has none without asking.
const (
	viewFresh = 50 * time.Millisecond
	boundFor  = time.Minute
)

// catalogDoubts is what else is known of a table's description, to say how far it can be trusted.
type catalogDoubts struct {
	key       catalogKey
	keyspace  *Keyspace
	lastBound time.Time // when it was last seen to have a sequence; zero: never
	unsharded bool      // of a view or MERGE table: a sequenced table of an unsharded keyspace is under it
	beside    bool      // a sequence that would fill it stands beside it
	counts    bool      // its INSERTs may answer with an insert id though it has no sequence
	suspected bool      // an answer has spoken against it; guarded by the catalog's mu
}

// remember takes over from an older description when the table was seen to have a sequence.
func (e *catalogEntry) remember(older *catalogEntry) {
	e.counts = e.countsByItself()
	if e.binding != nil {
		e.lastBound = e.asked
	} else if older != nil {
		e.lastBound = older.lastBound
	}
}

// decides reports whether a description may say of an INSERT that its table has no sequence, or that it is refused. One that
// says how its ids are made always may: where it is outdated, the server refuses the statement with its ids.
func (e *catalogEntry) decides(now time.Time) bool {
	switch {
	case e.binding != nil:
		return true
	case e.err != nil, !e.table.Exists, e.beside, now.Sub(e.lastBound) < boundFor:
		return false
	case e.table.Kind == kindView, e.table.IsMerge():
		return now.Sub(e.asked) < viewFresh
	}
	return true
}

// ofUnsharded reports whether rows that go there may need ids in an unsharded keyspace.
func (e *catalogEntry) ofUnsharded() bool {
	return e.unsharded || e.binding != nil && e.keyspace.Shard == "" && e.keyspace.Shards == nil
}

// countsByItself reports whether an INSERT into a table without a sequence may well answer with an insert id.
func (e *catalogEntry) countsByItself() bool {
	if e.table.Kind == kindView || e.table.IsMerge() {
		return true
	}
	for i := range e.table.Columns {
		if e.table.Columns[i].AutoIncrement() {
			return true
		}
	}
	return false
}

// Binding gives how the ids of a table are made, nil when it has no sequence.
func (c *tableCache) Binding(ctx context.Context, k *Keyspace, schema, table string) (*Binding, error) {
	k, err := c.owner(ctx, k, schema)
	if err != nil {
		return nil, err
	}
	e, err := c.find(ctx, k, schema, table, true)
	if err != nil {
		return nil, err
	}
	return e.binding, e.err
}

// tableBinding looks up how the ids of a table are made; nil when nothing is to be filled there. It asks nothing in the
// client's session.
func (f *filler) tableBinding(schema, table string) (*Binding, error) {
	f.unfilled = nil
	k, err := f.srv.catalog.owner(f.ctx, f.keyspace, schema)
	if err != nil {
		return nil, err
	}
	e, err := f.srv.catalog.find(f.ctx, k, schema, table, true)
	if err != nil {
		return nil, err
	}
	if f.targetsShard() && (k.Shard != "" || k.Shards != nil) {
		if e.unsharded {
			return nil, e.err
		}
		return nil, nil
	}
	if e.binding == nil && e.err == nil && !e.counts {
		f.unfilled = e
	}
	return e.binding, e.err
}

// checkUnfilled looks again at a table whose INSERT passed without ids, when its answer has an insert id all the same: the
// table was another one by then.
func (c *serverConn) checkUnfilled() {
	e := c.unfilled
	c.unfilled = nil
	if c.answer.InsertID == 0 || c.answer.Failed {
		return
	}
	now, err := c.srv.catalog.suspect(c.ctx, e)
	switch {
	case now == nil && err == nil: // it was looked at already
	case err != nil:
		c.log.Warn("table not looked at again", "table", e.key.schema+"."+e.key.table, "err", err)
	case now.binding != nil || now.err != nil:
		c.log.Warn("an INSERT passed without ids of its sequence: its table was made anew while seqgate took it for one without a sequence; look at its latest rows",
			"table", e.key.schema+"."+e.key.table, "insert_id", c.answer.InsertID)
	}
}

// suspect forgets a description that an answer spoke against, and has the server asked anew; once for each.
func (c *tableCache) suspect(ctx context.Context, e *catalogEntry) (*catalogEntry, error) {
	c.mu.Lock()
	known := e.suspected
	e.suspected = true
	if c.entries[e.key] == e && !known {
		delete(c.entries, e.key)
	}
	epoch := c.epoch
	c.mu.Unlock()
	if known {
		return nil, nil
	}
	c.flight.Forget(flightKey(e.key, epoch)) // a question that is under way may have been asked before
	now, err := c.find(ctx, e.keyspace, e.key.schema, e.key.table, true)
	if err == nil && now.binding == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		now.suspected = true // it was looked at just now
	}
	return now, err
}

package catalog

import (
	"context"
	"time"
)

// That a table has no sequence lets INSERTs pass without ids, so it has to be true when it is said. What is known decides
// that for up to Fresh only where nothing speaks for a sequence, and then what the INSERT's own answer says is
// looked at. Wherever else the server is asked for each INSERT.

// viewFresh is how long a view is taken to stand for what it stood for, and boundFor how long a table that had a sequence
// is not taken for one that has none without asking.
const (
	viewFresh = 50 * time.Millisecond
	boundFor  = time.Minute
)

// doubts is what else is known of a table's description, to say how far it can be trusted.
type doubts struct {
	Key       catalogKey
	keyspace  *Keyspace
	lastBound time.Time // when it was last seen to have a sequence; zero: never
	Unsharded bool      // of a view or MERGE table: a sequenced table of an unsharded keyspace is under it
	beside    bool      // a sequence that would fill it stands beside it
	Counts    bool      // its INSERTs may answer with an insert id though it has no sequence
	suspected bool      // an answer has spoken against it; guarded by the catalog's mu
}

// remember takes over from an older description when the table was seen to have a sequence.
func (e *Entry) remember(older *Entry) {
	e.Counts = e.countsByItself()
	if e.Binding != nil {
		e.lastBound = e.asked
	} else if older != nil {
		e.lastBound = older.lastBound
	}
}

// decides reports whether a description may say of an INSERT that its table has no sequence, or that it is refused. One that
// says how its ids are made always may: where it is outdated, the server refuses the statement with its ids.
func (e *Entry) decides(now time.Time) bool {
	switch {
	case e.Binding != nil:
		return true
	case e.Err != nil, !e.Table.Exists, e.beside, now.Sub(e.lastBound) < boundFor:
		return false
	case e.Table.Kind == kindView, e.Table.IsMerge():
		return now.Sub(e.asked) < viewFresh
	}
	return true
}

// ofUnsharded reports whether rows that go there may need ids in an unsharded keyspace.
func (e *Entry) ofUnsharded() bool {
	return e.Unsharded || e.Binding != nil && e.keyspace.Shard == "" && e.keyspace.Shards == nil
}

// countsByItself reports whether an INSERT into a table without a sequence may well answer with an insert id.
func (e *Entry) countsByItself() bool {
	if e.Table.Kind == kindView || e.Table.IsMerge() {
		return true
	}
	for i := range e.Table.Columns {
		if e.Table.Columns[i].AutoIncrement() {
			return true
		}
	}
	return false
}

// Binding returns how the ids of a table are made, nil when it has no sequence.
func (c *Cache) Binding(ctx context.Context, k *Keyspace, schema, table string) (*Binding, error) {
	k, err := c.Owner(ctx, k, schema)
	if err != nil {
		return nil, err
	}
	e, err := c.Find(ctx, k, schema, table, true)
	if err != nil {
		return nil, err
	}
	return e.Binding, e.Err
}

// Suspect forgets a description that an answer spoke against, and has the server asked anew; once for each.
func (c *Cache) Suspect(ctx context.Context, e *Entry) (*Entry, error) {
	c.mu.Lock()
	known := e.suspected
	e.suspected = true
	if c.entries[e.Key] == e && !known {
		delete(c.entries, e.Key)
	}
	epoch := c.epoch
	c.mu.Unlock()
	if known {
		return nil, nil
	}
	c.flight.Forget(flightKey(e.Key, epoch)) // a question that is under way may have been asked before
	now, err := c.Find(ctx, e.keyspace, e.Key.Schema, e.Key.Table, true)
	if err == nil && now.Binding == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		now.suspected = true // it was looked at just now
	}
	return now, err
}

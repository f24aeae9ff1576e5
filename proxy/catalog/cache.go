package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/vschema"
	"golang.org/x/sync/singleflight"
)

// A table's description is used for Fresh; one in use is asked for again
// in the background from stale on, so that no statement waits for it.
const (
	Fresh   = time.Second
	stale   = Fresh / 2
	Timeout = 5 * time.Second
)

// sequenceFresh is how long a name is taken for that of a sequence table. That is no statement about the table but for this:
// ids in memory are the process's own whatever becomes of it, and a refill reads it. With many sequences, each used less than
// once in Fresh, the server would be asked for almost every value.
const sequenceFresh = time.Minute

// Cache knows which tables have a sequence: by the vschema, or without one by
// the convention that a table t has it when t_seq stands beside it. What the
// servers say is kept for a second at most, so that tables and sequences made
// while seqgate runs are seen.
type Cache struct {
	loaded    vschemaHolder
	keyspaces map[string]*Keyspace
	generated *generate.Set
	explicit  func(keyspace, table string) ExplicitPolicy
	log       *slog.Logger
	Now       func() time.Time

	servers identities
	flight  singleflight.Group
	mu      sync.RWMutex
	entries map[catalogKey]*Entry
	duality map[dualityKey]*dualityViews
	epoch   uint64 // counts calls of Forget

	increments increments

	expired atomic.Int64 // when ExpirePlans last did, in nanoseconds
}

type catalogKey struct{ keyspace, Schema, Table string }

// Entry is what a server said of one table, and of the sequence table
// that may stand beside it.
type Entry struct {
	Table    Table
	sequence Table
	asked    time.Time
	Binding  *Binding // what follows from it; nil: the table has no sequence
	Err      error    // ... or why that cannot be said
	doubts
}

// CacheConfig is what a cache of tables goes by.
type CacheConfig struct {
	Keyspaces    map[string]*Keyspace
	VSchema      *vschema.VSchema // nil: tables have sequences by the convention
	Generators   *generate.Set
	OnExplicitID func(keyspace, table string) ExplicitPolicy // nil: ExplicitAdvance for all
	Logger       *slog.Logger
	Now          func() time.Time // nil: [time.Now]
}

// NewCache returns a cache that knows nothing of any table.
func NewCache(cfg CacheConfig) *Cache {
	c := &Cache{keyspaces: cfg.Keyspaces, generated: cfg.Generators, explicit: cfg.OnExplicitID, log: cfg.Logger, Now: cfg.Now,
		entries: make(map[catalogKey]*Entry), duality: make(map[dualityKey]*dualityViews)}
	c.loaded.Store(c.loadVSchema(cfg.VSchema))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.explicit == nil {
		c.explicit = func(string, string) ExplicitPolicy { return ExplicitAdvance }
	}
	return c
}

// Forget drops all that is known: a statement may have changed tables.
func (c *Cache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	clear(c.duality)
	c.epoch++
	if planner := c.loaded.Load().Planner; planner != nil {
		planner.Forget()
	}
}

// ExpirePlans drops the plans that were made by columns which may have changed since:
// what the servers told of them is used as long as any other description of a table.
func (c *Cache) ExpirePlans() {
	now, last := c.Now().UnixNano(), c.expired.Load()
	if now-last > int64(Fresh) && c.expired.CompareAndSwap(last, now) {
		if planner := c.loaded.Load().Planner; planner != nil {
			planner.ForgetTypes()
		}
	}
}

// columnType returns the type of a column of a sharded keyspace's table, from the first of its shards that tells (it is the
// route.ColumnTypes of the planner). Plans are made from it until Forget.
func (c *Cache) columnType(keyspace, table, column string) (typ string, known bool) {
	for _, shard := range c.latestAsked(c.keyspaces[keyspace].Shards, table) {
		ctx, cancel := context.WithTimeout(context.Background(), Timeout)
		e, err := c.Lookup(ctx, shard, shard.Database, table)
		cancel()
		if err != nil {
			continue // without a type no plan is bound by the column
		}
		if found := e.Table.Column(column); found != nil {
			return found.Type, true
		}
		known = known || e.Table.Exists
	}
	return "", known
}

// latestAsked returns shards in the order in which they told of a table, the latest
// first: one that does not answer is asked last.
func (c *Cache) latestAsked(shards []*Keyspace, table string) []*Keyspace {
	c.mu.RLock()
	defer c.mu.RUnlock()
	asked := func(shard *Keyspace) time.Time {
		if e := c.entries[catalogKey{shard.String(), shard.Database, table}]; e != nil {
			return e.asked
		}
		return time.Time{}
	}
	shards = slices.Clone(shards)
	slices.SortStableFunc(shards, func(a, b *Keyspace) int { return asked(b).Compare(asked(a)) })
	return shards
}

// Owner returns the keyspace that a database belongs to: the session's own, or
// another one on the same server, by whichever address. The servers are asked
// only where a database of that name is configured under another address.
func (c *Cache) Owner(ctx context.Context, k *Keyspace, schema string) (*Keyspace, error) {
	owner, elsewhere := c.owner(k, schema)
	for _, other := range elsewhere {
		if same, err := c.sameServer(ctx, k, other); err != nil {
			return nil, &DescribeError{schema, err}
		} else if same {
			return other, nil
		}
	}
	return owner, nil
}

// owner is Owner as far as it is known without asking: unless one of those elsewhere is on the same server.
func (c *Cache) owner(k *Keyspace, schema string) (owner *Keyspace, elsewhere []*Keyspace) {
	if schema == k.Database {
		return k, nil
	}
	for _, other := range c.keyspaces {
		switch {
		case !strings.EqualFold(other.Database, schema):
		case other.Backend.Addr == k.Backend.Addr:
			return other, nil
		default:
			elsewhere = append(elsewhere, other)
		}
	}
	return k, elsewhere
}

// Known is Owner and Find, but asks nobody: it reports false where an INSERT has to wait for what the server says.
func (c *Cache) Known(k *Keyspace, schema, table string) (owner *Keyspace, e *Entry, known bool) {
	owner, elsewhere := c.owner(k, schema)
	if len(elsewhere) > 0 {
		return nil, nil, false
	}
	_, e, fresh := c.kept(owner, catalogKey{owner.String(), schema, table}, true)
	return owner, e, fresh
}

// Fresh is Find, sure, but waits for nobody: it reports false where the server has to be asked.
func (c *Cache) Fresh(k *Keyspace, schema, table string) (*Entry, bool) {
	_, e, fresh := c.kept(k, catalogKey{k.String(), schema, table}, true)
	return e, fresh
}

// Lookup returns what the server says of a table and of the one beside it.
func (c *Cache) Lookup(ctx context.Context, k *Keyspace, schema, table string) (*Entry, error) {
	return c.Find(ctx, k, schema, table, false)
}

// Find is Lookup. With sure set, what is known decides only where an INSERT may go by it: see decides.
func (c *Cache) Find(ctx context.Context, k *Keyspace, schema, table string, sure bool) (*Entry, error) {
	key := catalogKey{k.String(), schema, table}
	epoch, e, fresh := c.kept(k, key, sure)
	if fresh {
		return e, nil
	}
	select {
	case <-ctx.Done():
		if e != nil && e.holds(c.Now()) {
			return e, nil // as below
		}
		return nil, ctx.Err()
	case answer := <-c.ask(k, key, epoch):
		if answer.Err == nil {
			return answer.Val.(*Entry), nil
		}
		if e != nil && (!IsChanged(answer.Err) || e.Binding != nil) && e.holds(c.Now()) {
			// The server is away: what is known of its tables still holds as far
			// as anything can be written there.
			return e, nil
		}
		return nil, &DescribeError{schema + "." + table, answer.Err}
	}
}

// kept returns what is known, and whether it may be used. What is stale is asked for again in the background.
func (c *Cache) kept(k *Keyspace, key catalogKey, sure bool) (epoch uint64, e *Entry, fresh bool) {
	c.mu.RLock()
	e, epoch = c.entries[key], c.epoch
	c.mu.RUnlock()
	if e == nil || sure && !e.decides(c.Now()) {
		return epoch, nil, false
	}
	age := c.Now().Sub(e.asked)
	if age >= stale && age < Fresh {
		c.ask(k, key, epoch)
	}
	return epoch, e, age < Fresh
}

// unaskedHolds is how long it is believed that a table has no sequence while the server does not answer seqgate: it may
// answer the client all the same, and have got one.
const unaskedHolds = time.Minute

// holds reports whether what was known may be used while the server cannot be asked.
func (e *Entry) holds(now time.Time) bool {
	return e.Binding != nil || now.Sub(e.asked) < unaskedHolds
}

// maxEntries bounds the entries: clients may write any name.
const maxEntries = 10_000

// keep adds an entry, in the place of any other where there are too many: names that come in turn, a few too many, are not
// all forgotten at once. c.mu is held.
func (c *Cache) keep(key catalogKey, e *Entry) {
	if len(c.entries) >= maxEntries && c.entries[key] == nil {
		for other := range c.entries {
			delete(c.entries, other)
			break
		}
	}
	c.entries[key] = e
}

// flightKey names a question to the server.
func flightKey(key catalogKey, epoch uint64) string {
	return fmt.Sprintf("%d/%s/%s/%s", epoch, key.keyspace, key.Schema, key.Table)
}

// ask asks the server, once for all who want to know at the same time.
func (c *Cache) ask(k *Keyspace, key catalogKey, epoch uint64) <-chan singleflight.Result {
	return c.flight.DoChan(flightKey(key, epoch), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), Timeout)
		defer cancel()
		e, err := c.read(ctx, k, key)
		if err != nil {
			c.log.Warn("table not described", append(k.Logged(), "table", key.Schema+"."+key.Table, "err", err)...)
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		e.remember(c.entries[key])
		if c.epoch == epoch {
			c.keep(key, e)
		}
		return e, nil
	})
}

// read asks the server for a table and for the one beside it, and works out what follows.
func (c *Cache) read(ctx context.Context, k *Keyspace, key catalogKey) (e *Entry, err error) {
	err = UntilStable(ctx, key.Schema, key.Table, func() (bool, error) {
		e = &Entry{asked: c.Now()}
		e.Key, e.keyspace = key, k
		var err error
		if e.Table, err = Describe(ctx, k.DB, key.Schema, key.Table); err == nil && !strings.HasSuffix(key.Table, SequenceSuffix) {
			e.sequence, err = DescribeSequence(ctx, k.DB, key.Schema, key.Table+SequenceSuffix)
		}
		e.beside = c.loaded.vschema() == nil && e.sequence.LooksLikeSequence()
		if err == nil {
			err = c.bind(ctx, e, k, key.Schema, key.Table)
		}
		if errors.Is(err, errReplaced) {
			return false, nil
		}
		return err == nil, err
	})
	return e, err
}

// DescribeError is a failure to learn of a table, with which a statement that may
// need ids ends before it reaches the server.
type DescribeError struct {
	Table string // or what else was asked for
	Err   error
}

func (e *DescribeError) Error() string {
	return "seqgate could not learn of table " + e.Table + " from its server (" + e.Err.Error() + "); try again"
}

func (e *DescribeError) Unwrap() error { return e.Err }

// Learn has the cache know a table and the one beside it in a keyspace's database, as if its server had just told of them:
// so that a plan can be made without a server. sequence is the zero Table where there is none.
func (c *Cache) Learn(ctx context.Context, k *Keyspace, table, sequence Table) error {
	key := catalogKey{k.String(), k.Database, table.Name}
	e := &Entry{asked: c.Now(), Table: table, sequence: sequence}
	e.Key, e.keyspace = key, k
	if err := c.bind(ctx, e, k, k.Database, table.Name); err != nil {
		return err
	}
	e.remember(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(key, e)
	return nil
}

package proxy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"golang.org/x/sync/singleflight"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// A table's description is used for catalogFresh; one in use is asked for again
// in the background from catalogStale on, so that no statement waits for it.
const (
	catalogFresh   = time.Second
	catalogStale   = catalogFresh / 2
	catalogTimeout = 5 * time.Second
)

// sequenceFresh is how long a name is taken for that of a sequence table. That is no statement about the table but for this:
// ids in memory are the process's own whatever becomes of it, and a refill reads it. With many sequences, each used less than
// once in catalogFresh, the server would be asked for almost every value.
const sequenceFresh = time.Minute

// tableCache knows which tables have a sequence: by the vschema, or without one by
// the convention that a table t has it when t_seq stands beside it. What the
// servers say is kept for a second at most, so that tables and sequences made
// while seqgate runs are seen.
type tableCache struct {
	loaded    vschemaHolder
	keyspaces map[string]*Keyspace
	generated *generate.Set
	explicit  func(keyspace, table string) ExplicitPolicy
	log       *slog.Logger
	now       func() time.Time

	servers identities
	flight  singleflight.Group
	mu      sync.RWMutex
	entries map[catalogKey]*catalogEntry
	duality map[dualityKey]*dualityViews
	epoch   uint64 // counts calls of Forget

	increments increments

	expired atomic.Int64 // when expirePlans last did, in nanoseconds
}

type catalogKey struct{ keyspace, schema, table string }

// catalogEntry is what a server said of one table, and of the sequence table
// that may stand beside it.
type catalogEntry struct {
	table    catalog.Table
	sequence catalog.Table
	asked    time.Time
	binding  *Binding // what follows from it; nil: the table has no sequence
	err      error    // ... or why that cannot be said
	catalogDoubts
}

func newTableCache(cfg Config) *tableCache {
	c := &tableCache{keyspaces: cfg.Keyspaces, generated: cfg.Generators, explicit: cfg.OnExplicitID, log: cfg.Logger, now: time.Now,
		entries: make(map[catalogKey]*catalogEntry), duality: make(map[dualityKey]*dualityViews)}
	c.loaded.Store(c.loadVSchema(cfg.VSchema))
	if c.explicit == nil {
		c.explicit = func(string, string) ExplicitPolicy { return ExplicitAdvance }
	}
	return c
}

// Forget drops all that is known: a statement may have changed tables.
func (c *tableCache) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
	clear(c.duality)
	c.epoch++
	if planner := c.loaded.Load().planner; planner != nil {
		planner.Forget()
	}
}

// expirePlans drops the plans that were made by columns which may have changed since:
// what the servers told of them is used as long as any other description of a table.
func (c *tableCache) expirePlans() {
	now, last := c.now().UnixNano(), c.expired.Load()
	if now-last > int64(catalogFresh) && c.expired.CompareAndSwap(last, now) {
		if planner := c.loaded.Load().planner; planner != nil {
			planner.ForgetTypes()
		}
	}
}

// columnType gives the type of a column of a sharded keyspace's table, from the first of its shards that tells (it is the
// route.ColumnTypes of the planner). Plans are made from it until Forget.
func (c *tableCache) columnType(keyspace, table, column string) (typ string, known bool) {
	for _, shard := range c.latestAsked(c.keyspaces[keyspace].Shards, table) {
		ctx, cancel := context.WithTimeout(context.Background(), catalogTimeout)
		e, err := c.lookup(ctx, shard, shard.Database, table)
		cancel()
		if err != nil {
			continue // without a type no plan is bound by the column
		}
		if found := e.table.Column(column); found != nil {
			return found.Type, true
		}
		known = known || e.table.Exists
	}
	return "", known
}

// latestAsked gives shards in the order in which they told of a table, the latest
// first: one that does not answer is asked last.
func (c *tableCache) latestAsked(shards []*Keyspace, table string) []*Keyspace {
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

// owner gives the keyspace that a database belongs to: the session's own, or
// another one on the same server, by whichever address. The servers are asked
// only where a database of that name is configured under another address.
func (c *tableCache) owner(ctx context.Context, k *Keyspace, schema string) (*Keyspace, error) {
	if schema == k.Database {
		return k, nil
	}
	var elsewhere []*Keyspace
	for _, other := range c.keyspaces {
		switch {
		case !strings.EqualFold(other.Database, schema):
		case other.Backend.Addr == k.Backend.Addr:
			return other, nil
		default:
			elsewhere = append(elsewhere, other)
		}
	}
	for _, other := range elsewhere {
		if same, err := c.sameServer(ctx, k, other); err != nil {
			return nil, &describeError{schema, err}
		} else if same {
			return other, nil
		}
	}
	return k, nil
}

// bind works out what follows from a description.
func (c *tableCache) bind(ctx context.Context, e *catalogEntry, k *Keyspace, schema, table string) error {
	if e.table.Kind == kindView {
		return c.bindView(ctx, e, k, schema, table)
	}
	if v := c.loaded.vschema(); v == nil {
		e.binding, e.err = e.conventional(k, schema, table)
	} else if t := declaration(v, k, schema, table); t != nil {
		same, err := e.isTable(ctx, k, schema, t.Name, table)
		if err != nil {
			return err
		}
		if same {
			e.binding, e.err = c.declared(e, t, schema)
		}
	}
	if e.binding != nil && e.binding.generator == nil {
		e.binding.OnExplicit = c.explicit(k.Name, table)
	}
	if e.table.IsMerge() {
		return c.bindMerge(ctx, e, k, schema, table)
	}
	return nil
}

// conventional applies the convention to a table. A table that cannot be seen
// beside its sequence is an error, the server's own if it is not there.
func (e *catalogEntry) conventional(k *Keyspace, schema, table string) (*Binding, error) {
	if !e.sequence.LooksLikeSequence() || strings.HasSuffix(table, catalog.SequenceSuffix) {
		return nil, nil
	}
	if !e.table.Exists {
		return nil, notSeen(schema, table)
	}
	column, _ := e.table.IDColumn()
	if column == nil {
		return nil, nil
	}
	return e.bound(table, column, sequence.Name{Keyspace: k.Name, Database: schema, Table: table + catalog.SequenceSuffix}), nil
}

// notSeen is the server's error for a table that is not there, which to
// seqgate's own account is the same as one that it may not see.
func notSeen(schema, table string) error {
	return mysql.NewError(mysql.ER_NO_SUCH_TABLE, fmt.Sprintf(
		"Table '%s.%s' doesn't exist, or seqgate's own account lacks the right to see it (SELECT)", schema, table))
}

func (e *catalogEntry) bound(table string, column *catalog.Column, name sequence.Name) *Binding {
	b := &Binding{Table: table, Column: column.Name, AutoIncrement: column.AutoIncrement(),
		Unsigned:      strings.Contains(strings.ToLower(column.Type), "unsigned"),
		approximate:   column.IsApproximate(),
		whole:         column.IsInteger(),
		Transactional: e.table.Transactional(), Max: column.MaxID(), Sequence: name}
	for i := range e.table.Columns {
		if !e.table.Columns[i].Invisible() {
			b.Columns = append(b.Columns, e.table.Columns[i].Name)
		}
	}
	return b
}

// declaration gives what the vschema says of a table, nil when it has no
// sequence: the vschema does not name it, or its database is no keyspace.
func declaration(v *vschema.VSchema, k *Keyspace, schema, table string) *vschema.Table {
	if !strings.EqualFold(schema, k.Database) {
		return nil
	}
	declared, ok := v.Keyspace(k.Name)
	if !ok {
		return nil
	}
	if t, ok := declared.Table(table); ok {
		return filled(t)
	}
	// A server on which names have no case knows the table by this one too: see
	// isTable.
	for _, t := range declared.Tables() {
		if strings.EqualFold(t.Name, table) {
			return filled(t)
		}
	}
	return nil
}

// isTable reports whether the name that the vschema has for a table, and the one
// in the statement, are those of one table, which the entry describes if it exists.
func (e *catalogEntry) isTable(ctx context.Context, k *Keyspace, schema, declared, written string) (bool, error) {
	if declared == written {
		return true, nil
	}
	if !e.table.Exists {
		var folded int // MySQL manual, "Identifier Case Sensitivity"
		err := k.DB.QueryRowContext(ctx, "SELECT @@lower_case_table_names").Scan(&folded)
		return folded != 0, err
	}
	other, err := catalog.Describe(ctx, k.DB, schema, declared)
	return other.Exists && other.Name == e.table.Name, err
}

func filled(t *vschema.Table) *vschema.Table {
	if t.AutoIncrement == nil {
		return nil
	}
	return t
}

// declared applies the vschema.
func (c *tableCache) declared(e *catalogEntry, t *vschema.Table, schema string) (*Binding, error) {
	a := t.AutoIncrement
	name := c.sequenceName(a.SequenceKeyspace, a.SequenceTable)
	if a.Generator != nil {
		name = c.sequenceName(a.Generator.Keyspace, a.Generator.Name)
	}
	if !e.table.Exists {
		return nil, notSeen(schema, t.Name)
	}
	column := e.table.Column(t.AutoIncrement.Column)
	if column == nil {
		return nil, fmt.Errorf("the vschema fills column '%s' of table '%s.%s', which has no such column; correct the vschema or the table",
			t.AutoIncrement.Column, schema, t.Name)
	}
	if a.Generator == nil && !column.TakesIDs() {
		return nil, fmt.Errorf("the vschema fills column '%s' of table '%s.%s', which is a %s and holds no ids of a sequence: make it a BIGINT, or correct the vschema",
			column.Name, schema, t.Name, column.Type)
	}
	b := e.bound(t.Name, column, name)
	b.ticket = t.Type == vschema.Ticket
	if a.Generator != nil {
		if err := c.generate(b, e, a.Generator, column); err != nil {
			return nil, fmt.Errorf("column '%s' of table '%s.%s' cannot be filled from generator %s: %w", column.Name, schema, t.Name, a.Generator.Name, err)
		}
	}
	if key := t.AutoIncrement.Key; key != "" {
		keyColumn := e.table.Column(key)
		if keyColumn == nil {
			return nil, fmt.Errorf("the vschema counts table '%s.%s' by column '%s', which it lacks; correct the vschema or the table", schema, t.Name, key)
		}
		var err error
		if b.key, err = newKeyColumn(keyColumn); err != nil {
			return nil, fmt.Errorf("table '%s.%s': %w", schema, t.Name, err)
		}
	}
	if t.Authoritative {
		seen := b.Columns
		b.Columns = nil
		for _, column := range t.Columns {
			if !column.Invisible {
				b.Columns = append(b.Columns, column.Name)
			}
		}
		if !slices.EqualFunc(b.Columns, seen, strings.EqualFold) {
			return nil, fmt.Errorf("the vschema lists the columns of table '%s.%s' as (%s), the server has (%s); correct the vschema",
				schema, t.Name, strings.Join(b.Columns, ", "), strings.Join(seen, ", "))
		}
	}
	return b, nil
}

func (c *tableCache) sequenceName(keyspace, table string) sequence.Name {
	name := sequence.Name{Keyspace: keyspace, Database: keyspace, Table: table}
	if k := c.keyspaces[keyspace]; k != nil {
		name.Database = k.Database
	}
	return name
}

// Sequence resolves the name in a SELECT NEXT VALUE. own says that the server
// answers for it: a sequence of its own, or a table whose column "next" is read
// under the name "value".
func (c *tableCache) Sequence(ctx context.Context, k *Keyspace, schema, table string) (name sequence.Name, own bool, err error) {
	if keyspace, ok := c.declaredSequence(k, schema, table); ok {
		return c.sequenceName(keyspace, table), false, nil
	}
	name = sequence.Name{Keyspace: k.Name, Database: schema, Table: table}
	if schema == "" {
		return name, true, nil // the server answers 1046
	}
	if c.wasSequence(catalogKey{k.String(), schema, table}) {
		return name, false, nil
	}
	e, err := c.lookup(ctx, k, schema, table)
	if err != nil {
		return name, false, err
	}
	if !e.table.Exists {
		return name, false, mysql.NewDefaultError(mysql.ER_NO_SUCH_TABLE, schema, table)
	}
	return name, e.table.Kind == "SEQUENCE" || e.table.Column("next") != nil, nil
}

// wasSequence reports whether a name was that of a sequence table in the last sequenceFresh.
func (c *tableCache) wasSequence(key catalogKey) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e := c.entries[key]
	return e != nil && c.now().Sub(e.asked) < sequenceFresh && e.table.LooksLikeSequence() && e.table.Column("next") == nil
}

// doubt has the server asked anew what a name is whose table turned out to be no sequence: it was made anew, as something else.
// What was known still serves while the server cannot be asked.
func (c *tableCache) doubt(k *Keyspace, name sequence.Name) {
	key := catalogKey{k.String(), name.Database, name.Table}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil && c.now().Sub(e.asked) >= catalogFresh {
		old := *e // others may be reading e
		old.asked = time.Time{}
		c.entries[key] = &old
	}
}

// declaredSequence finds a sequence or a generator of the vschema by its keyspace's name, by
// the session's, or by being the only one of its name.
func (c *tableCache) declaredSequence(k *Keyspace, schema, table string) (keyspace string, ok bool) {
	v := c.loaded.vschema()
	if v == nil {
		return "", false
	}
	inKeyspace := func(name string) bool {
		ks, ok := v.Keyspace(name)
		if !ok {
			return false
		}
		if _, ok := ks.Generator(table); ok {
			return true
		}
		t, ok := ks.Table(table)
		return ok && t.Type == vschema.Sequence
	}
	if schema == k.Database || schema == "" {
		schema = k.Name
	}
	if inKeyspace(schema) {
		return schema, true
	}
	found := ""
	for name := range c.keyspaces {
		if inKeyspace(name) {
			if found != "" {
				return "", false
			}
			found = name
		}
	}
	return found, found != "" && schema == k.Name
}

// lookup gives what the server says of a table and of the one beside it.
func (c *tableCache) lookup(ctx context.Context, k *Keyspace, schema, table string) (*catalogEntry, error) {
	return c.find(ctx, k, schema, table, false)
}

// find is lookup. With sure set, what is known decides only where an INSERT may go by it: see decides.
func (c *tableCache) find(ctx context.Context, k *Keyspace, schema, table string, sure bool) (*catalogEntry, error) {
	key := catalogKey{k.String(), schema, table}
	c.mu.RLock()
	e, epoch := c.entries[key], c.epoch
	c.mu.RUnlock()
	if e != nil && sure && !e.decides(c.now()) {
		e = nil
	}
	if e != nil {
		switch age := c.now().Sub(e.asked); {
		case age < catalogStale:
			return e, nil
		case age < catalogFresh:
			c.ask(k, key, epoch)
			return e, nil
		}
	}
	select {
	case <-ctx.Done():
		if e != nil && e.holds(c.now()) {
			return e, nil // as below
		}
		return nil, ctx.Err()
	case answer := <-c.ask(k, key, epoch):
		if answer.Err == nil {
			return answer.Val.(*catalogEntry), nil
		}
		if e != nil && (!catalog.IsChanged(answer.Err) || e.binding != nil) && e.holds(c.now()) {
			// The server is away: what is known of its tables still holds as far
			// as anything can be written there.
			return e, nil
		}
		return nil, &describeError{schema + "." + table, answer.Err}
	}
}

// unaskedHolds is how long it is believed that a table has no sequence while the server does not answer seqgate: it may
// answer the client all the same, and have got one.
const unaskedHolds = time.Minute

// holds reports whether what was known may be used while the server cannot be asked.
func (e *catalogEntry) holds(now time.Time) bool {
	return e.binding != nil || now.Sub(e.asked) < unaskedHolds
}

// maxEntries bounds the entries: clients may write any name.
const maxEntries = 10_000

// keep adds an entry, in the place of any other where there are too many: names that come in turn, a few too many, are not
// all forgotten at once. c.mu is held.
func (c *tableCache) keep(key catalogKey, e *catalogEntry) {
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
	return fmt.Sprintf("%d/%s/%s/%s", epoch, key.keyspace, key.schema, key.table)
}

// ask asks the server, once for all who want to know at the same time.
func (c *tableCache) ask(k *Keyspace, key catalogKey, epoch uint64) <-chan singleflight.Result {
	return c.flight.DoChan(flightKey(key, epoch), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), catalogTimeout)
		defer cancel()
		e, err := c.read(ctx, k, key)
		if err != nil {
			c.log.Warn("table not described", append(k.logged(), "table", key.schema+"."+key.table, "err", err)...)
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
func (c *tableCache) read(ctx context.Context, k *Keyspace, key catalogKey) (e *catalogEntry, err error) {
	err = catalog.UntilStable(ctx, key.schema, key.table, func() (bool, error) {
		e = &catalogEntry{asked: c.now()}
		e.key, e.keyspace = key, k
		var err error
		if e.table, err = catalog.Describe(ctx, k.DB, key.schema, key.table); err == nil && !strings.HasSuffix(key.table, catalog.SequenceSuffix) {
			e.sequence, err = catalog.DescribeSequence(ctx, k.DB, key.schema, key.table+catalog.SequenceSuffix)
		}
		e.beside = c.loaded.vschema() == nil && e.sequence.LooksLikeSequence()
		if err == nil {
			err = c.bind(ctx, e, k, key.schema, key.table)
		}
		if errors.Is(err, errReplaced) {
			return false, nil
		}
		return err == nil, err
	})
	return e, err
}

// firstPresent gives the first id of a statement's block that is in its table,
// 0 for none. It reads what is not committed yet: the client's transaction may
// be open.
func (c *tableCache) firstPresent(ctx context.Context, k *Keyspace, t target, p *fillPlan) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, catalogTimeout)
	defer cancel()
	tx, err := k.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadUncommitted, ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // nothing was changed
	var id sql.NullInt64
	err = tx.QueryRowContext(ctx, "SELECT "+p.firstOf()+fromBlock(p, t)).Scan(&id)
	return uint64(id.Int64), err
}

// firstOf is the least id of those that are in the table, fromBlock where from.
func (p *fillPlan) firstOf() string { return "MIN(" + catalog.Quote(p.binding.Column) + ")" }

func fromBlock(p *fillPlan, t target) string {
	return " FROM " + catalog.Quote(t.schema) + "." + catalog.Quote(t.table) + " WHERE " + catalog.Quote(p.binding.Column) + p.isOneOfIDs()
}

package config

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// Refill is the name of a strategy by which a sequence reserves its next ids.
type Refill string

// The refill strategies: a row lock, compare and swap, one statement.
const (
	RefillForUpdate Refill = "for_update"
	RefillCAS       Refill = "cas"
	RefillIncrement Refill = "increment"
)

// Sequences is how ids are reserved.
type Sequences struct {
	Refill       Refill
	MinLifetime  time.Duration               // a step that lasts for less is doubled; above 0
	MaxStep      int64                       // the most ids reserved at once for less than one statement, at least 1
	MaxN         int64                       // the most values that SELECT NEXT n VALUES gives at once, at least 1
	Timeout      time.Duration               // the longest that a statement waits for ids; above 0
	Prefetch     int                         // percent of a segment that may be used before the next one is fetched, 0 to 99
	FailoverSkip int64                       // ids skipped once when another server serves a sequence; 0: none
	AutoCreate   bool                        // missing sequence tables and rows are made and seeded when first used
	Lease        time.Duration               // how long a section of a keyed sequence stays with a seqgate that died; at least 1s
	Overrides    map[string]SequenceOverride // by keyspace.sequence
}

// SequenceOverride is what differs for one sequence.
type SequenceOverride struct {
	Refill       Refill  // "" as for all
	FailoverSkip int64   // -1 as for all
	Ordered      bool    // each id comes from the row
	Stores       []Shard // several independent servers that hold the sequence's stripes; nil: the keyspace's own
	Stripes      int     // of Stores
	StripeChunk  int64   // ids that a stripe has in a row; above FailoverSkip
}

// Of is how one sequence reserves: what is written for it, or else for all.
func (s Sequences) Of(keyspace, table string) SequenceOverride {
	o, ok := s.Overrides[keyspace+"."+table]
	if !ok || o.Refill == "" {
		o.Refill = s.Refill
	}
	switch {
	case ok && o.FailoverSkip >= 0:
	case o.Stores != nil:
		o.FailoverSkip = 0 // its servers are no replicas of each other
	default:
		o.FailoverSkip = s.FailoverSkip
	}
	return o
}

// Tables is how the tables that sequences fill are treated.
type Tables struct {
	OnExplicitID catalog.ExplicitPolicy   // what an id that a client gives does to the sequence
	Overrides    map[string]TableOverride // by keyspace.table
}

// TableOverride is what differs for one table.
type TableOverride struct {
	OnExplicitID catalog.ExplicitPolicy // as that of Tables
}

// OnExplicitIDOf is what an explicit id does in one table.
func (t Tables) OnExplicitIDOf(keyspace, table string) catalog.ExplicitPolicy {
	if o, ok := t.Overrides[keyspace+"."+table]; ok {
		return o.OnExplicitID
	}
	return t.OnExplicitID
}

func (r *reader) refill(v value) Refill {
	return Refill(r.oneOf(v, string(RefillForUpdate), string(RefillCAS), string(RefillIncrement)))
}

func (r *reader) percent(v value) int {
	n, err := strconv.Atoi(strings.TrimSuffix(v.written(), "%"))
	if err != nil || n < 0 || n > 99 {
		r.fail(v, "%q is no percentage: write a whole number from 0 to 99, such as 10", v.written())
	}
	return n
}

// overrides reads the settings of single sequences.
func (r *reader) overrides(v value) map[string]SequenceOverride {
	overrides := map[string]SequenceOverride{}
	r.eachFullName(v, "main.users_seq", func(name string, v value) { overrides[name] = r.override(v) })
	return overrides
}

func (r *reader) override(v value) SequenceOverride {
	o := SequenceOverride{FailoverSkip: -1}
	fields := map[string]func(value){
		"refill":        func(v value) { o.Refill = r.refill(v) },
		"failover_skip": func(v value) { o.FailoverSkip = r.countFrom(v, 0) },
		"ordered":       func(v value) { o.Ordered = r.bool(v) },
		"stores":        func(v value) { o.Stores = r.stores(v) },
		"stripes":       func(v value) { o.Stripes = int(min(r.count(v), math.MaxInt32)) },
		"stripe_chunk":  func(v value) { o.StripeChunk = r.count(v) },
	}
	r.fields(v, fields)
	switch {
	case v.isMapping() && v.isEmpty():
		r.fail(v, "no setting: write one of %s", strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	case o.Stores == nil && (o.Stripes > 0 || o.StripeChunk > 0):
		r.fail(v, "stripes and stripe_chunk are for a sequence on several servers: write its stores too")
	case o.Stores != nil && o.Ordered:
		r.fail(v, "ordered and stores together: ids in order come from one row; leave one out")
	case len(o.Stores) > 0:
		o.Stripes = cmp.Or(o.Stripes, sequence.DefaultStripes)
		o.StripeChunk = cmp.Or(o.StripeChunk, sequence.DefaultChunk)
		if err := o.tryStripes(); err != nil {
			r.fail(v, "%v", err)
		}
		if o.FailoverSkip >= o.StripeChunk {
			r.fail(v, "failover_skip is to be below stripe_chunk, %d", o.StripeChunk)
		}
	}
	return o
}

// tryStripes finds out whether package sequence takes the stores and their layout. It does not connect.
func (o SequenceOverride) tryStripes() error {
	servers := make([]sequence.StripeServer, len(o.Stores))
	for i, store := range o.Stores {
		servers[i].Name = store.Name
	}
	_, err := sequence.NewStriped(servers, sequence.StrategyForUpdate, sequence.StripeLayout{Stripes: o.Stripes, Chunk: o.StripeChunk}, nil)
	return err
}

// stores reads the servers of a striped sequence: their names and DSNs.
func (r *reader) stores(v value) []Shard {
	stores := []Shard{}
	r.eachKey(v, func(key, v value) {
		name := key.written()
		if store, ok := r.shard(name, v); ok {
			stores = append(stores, store)
		}
	})
	if v.isMapping() && v.isEmpty() {
		r.fail(v, `no store: write a: "user:password@tcp(127.0.0.1:3306)/database", and others`)
	}
	return stores
}

func (r *reader) explicitPolicy(v value) catalog.ExplicitPolicy {
	return catalog.ExplicitPolicy(r.oneOf(v, string(catalog.ExplicitIgnore), string(catalog.ExplicitWarn), string(catalog.ExplicitAdvance)))
}

// tableOverrides reads the settings of single tables.
func (r *reader) tableOverrides(v value) map[string]TableOverride {
	overrides := map[string]TableOverride{}
	r.eachFullName(v, "main.users", func(name string, v value) {
		var o TableOverride
		r.fields(v, map[string]func(value){"on_explicit_id": func(v value) { o.OnExplicitID = r.explicitPolicy(v) }})
		if v.isMapping() && v.isEmpty() {
			r.fail(v, "no setting: write on_explicit_id: ignore, warn or advance")
		}
		overrides[name] = o
	})
	return overrides
}

// eachFullName reads a mapping whose keys are names with their keyspace.
func (r *reader) eachFullName(v value, example string, do func(name string, v value)) {
	if v.isNull() {
		return
	}
	r.eachKey(v, func(key, v value) {
		name := key.written()
		if keyspace, table, ok := strings.Cut(name, "."); !ok || keyspace == "" || table == "" {
			r.fail(key, "%q is no full name: write keyspace and name, such as %s", name, example)
		}
		do(name, v)
	})
}

// checkStores finds stores whose database is not named as the sequence's own: its table has one name on all servers.
func (r *reader) checkStores() {
	for _, name := range slices.Sorted(maps.Keys(r.cfg.Sequences.Overrides)) {
		keyspace, _, _ := strings.Cut(name, ".")
		k, ok := r.cfg.Keyspace(keyspace)
		if !ok || len(k.Shards) == 0 {
			continue
		}
		for _, store := range r.cfg.Sequences.Overrides[name].Stores {
			if want := k.Shards[0].DSN.DBName; store.DSN.DBName != want {
				r.fail(r.set["sequences.overrides"], "store %s of %s has the database %q: name it %q on every store, as in keyspace %s",
					store.Name, name, store.DSN.DBName, want, keyspace)
			}
		}
	}
}

// checkOverrides finds the overrides of sequences that the vschema does not have.
func (r *reader) checkOverrides() {
	names := slices.Sorted(maps.Keys(r.cfg.Sequences.Overrides))
	r.checkKnown("sequences.overrides", "sequence", names, func(t *vschema.Table) bool { return t.Type == vschema.Sequence })
	for _, name := range names {
		if keyspace, table, _ := strings.Cut(name, "."); r.cfg.IsKeyed(keyspace, table) {
			r.fail(r.set["sequences.overrides"], "%s counts by key: none of these settings is for such a sequence", name)
		}
	}
}

// IsKeyed reports whether the vschema has a keyed sequence of that name.
func (c *Config) IsKeyed(keyspace, table string) bool {
	if c.VSchema == nil {
		return false
	}
	k, ok := c.VSchema.Keyspace(keyspace)
	if !ok {
		return false
	}
	t, ok := k.Table(table)
	return ok && t.Keyed
}

// HasKeyed reports whether the vschema has a keyed sequence.
func (c *Config) HasKeyed() bool {
	if c.VSchema == nil {
		return false
	}
	for _, k := range c.VSchema.Keyspaces() {
		if slices.ContainsFunc(k.Tables(), func(t *vschema.Table) bool { return t.Keyed }) {
			return true
		}
	}
	return false
}

// checkTables finds the overrides of tables that no sequence fills.
func (r *reader) checkTables() {
	r.checkKnown("tables.overrides", "table filled by a sequence", slices.Sorted(maps.Keys(r.cfg.Tables.Overrides)),
		func(t *vschema.Table) bool { return t.AutoIncrement != nil && t.AutoIncrement.Generator == nil })
}

// checkKeyspacesOf finds the names below a key that begin with no keyspace.
func (r *reader) checkKeyspacesOf(key string, names []string) {
	var known []string
	for _, k := range r.cfg.Keyspaces {
		known = append(known, k.Name)
	}
	for _, name := range names {
		if keyspace, _, full := strings.Cut(name, "."); full && keyspace != "" && !slices.Contains(known, keyspace) {
			r.fail(r.set[key], "%s: there is no keyspace %q: %s", name, keyspace, vschema.Suggest(keyspace, known))
		}
	}
}

// checkKnown finds the names below a key that no such table of the vschema has. Without a vschema all may be there.
func (r *reader) checkKnown(key, what string, names []string, is func(*vschema.Table) bool) {
	if r.cfg.VSchema == nil {
		r.checkKeyspacesOf(key, names)
		return
	}
	var known []string
	for _, k := range r.cfg.VSchema.Keyspaces() {
		for _, t := range k.Tables() {
			if is(t) {
				known = append(known, k.Name+"."+t.Name)
			}
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			r.fail(r.set[key], "the vschema has no %s %q: %s", what, name, vschema.Suggest(name, known))
		}
	}
}

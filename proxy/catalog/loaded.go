package catalog

import (
	"sync/atomic"

	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/vschema"
)

// Loaded is one vschema and what was made of it once, for all sessions. It is
// replaced whole: what a statement has read of one stays right until its end.
type Loaded struct {
	VSchema *vschema.VSchema // nil: tables have sequences by the convention
	Planner *route.Planner   // nil when no keyspace is sharded
}

// loadVSchema makes of a vschema all that is made of it.
func (c *Cache) loadVSchema(v *vschema.VSchema) *Loaded {
	layouts := make(map[string]*vschema.Shards)
	for name, k := range c.keyspaces {
		if k.Shards != nil {
			layouts[name] = k.Layout
		}
	}
	l := &Loaded{VSchema: v}
	if len(layouts) > 0 {
		l.Planner = route.New(v, layouts, c.columnType)
	}
	return l
}

// vschemaHolder holds what statements go by from now on.
type vschemaHolder struct{ atomic.Pointer[Loaded] }

// vschema returns the vschema of now; nil when there is none.
func (h *vschemaHolder) vschema() *vschema.VSchema { return h.Load().VSchema }

// Misfits tells why the keyspace cannot be what the vschema declares it to be, "" when
// it can; nil is that nothing is declared.
func (k *Keyspace) Misfits(declared *vschema.Keyspace) string {
	sharded := declared != nil && declared.Sharded
	switch {
	case sharded && k.Shards == nil:
		return "it becomes sharded, which it was not when seqgate was started: start seqgate again"
	case !sharded && k.Shards != nil:
		return "it was sharded when seqgate was started, and is no more: start seqgate again"
	case !sharded:
		return ""
	}
	names := make([]string, len(k.Shards))
	for i, shard := range k.Shards {
		names[i] = shard.Shard
	}
	layout, err := declared.NewShards(names)
	if err != nil {
		return err.Error()
	}
	for i := range layout.Len() {
		if layout.Name(i) != k.Layout.Name(i) {
			return "its shards are in another order than when seqgate was started: start seqgate again"
		}
	}
	return ""
}

// Loaded returns what a statement that begins now goes by, to its end.
func (c *Cache) Loaded() *Loaded { return c.loaded.Load() }

// VSchema returns the vschema that statements go by now; nil when there is none.
func (c *Cache) VSchema() *vschema.VSchema { return c.loaded.vschema() }

// Use makes statements that begin from now on go by another vschema. Forget has to be called once all that goes with it is
// in use.
func (c *Cache) Use(v *vschema.VSchema) { c.loaded.Store(c.loadVSchema(v)) }

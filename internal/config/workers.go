package config

import (
	"slices"
	"time"

	"github.com/seqgate/seqgate/vschema"
)

// WorkerIDs is where this process gets the worker ids of snowflakes.
type WorkerIDs struct {
	// Static is the worker id of this process for generators that name none; nil: it is leased.
	Static *int64
	// Dir is the folder for what static worker ids have reserved; "": it is not kept.
	Dir string

	Store     string // TableStore, "etcd" or "zookeeper"
	Keyspace  string // whose server has the table; "": the default one, or the first unsharded one
	AnyServer bool   // see worker.TableConfig
	Least     int64  // the lowest one to lease
	WorkerStore

	Lease, Quarantine, MaxSkew time.Duration // see worker.Config; here 0 is none
}

// WorkerStore is how etcd or ZooKeeper is reached.
type WorkerStore struct {
	Servers        []string // host:port
	Path           string   // of all keys or nodes
	User, Password string
	CA, Cert, Key  string // PEM files; without any there is no TLS
}

// TableStore keeps worker ids in a table of a keyspace's server.
const TableStore = "table"

// workerStores are all that there can be. What this build lacks is told.
var workerStores = []string{TableStore, "etcd", "zookeeper"}

// workerSettings are the keys of worker ids.
func (r *reader) workerSettings() map[string]func(value) {
	w := &r.cfg.WorkerIDs
	return map[string]func(value){
		"worker_id":             func(v value) { w.Static = new(r.countFrom(v, 0)) },
		"worker_ids.dir":        func(v value) { w.Dir = r.filePath(v) },
		"worker_ids.store":      func(v value) { w.Store = r.workerStore(v) },
		"worker_ids.keyspace":   func(v value) { w.Keyspace = r.text(v) },
		"worker_ids.least":      func(v value) { w.Least = r.countFrom(v, 0) },
		"worker_ids.any_server": func(v value) { w.AnyServer = r.bool(v) },
		"worker_ids.servers":    func(v value) { w.Servers = r.addresses(v) },
		"worker_ids.path":       func(v value) { w.Path = r.text(v) },
		"worker_ids.user":       func(v value) { w.User = r.text(v) },
		"worker_ids.password":   func(v value) { w.Password = r.text(v) },
		"worker_ids.ca":         func(v value) { w.CA = r.filePath(v) },
		"worker_ids.cert":       func(v value) { w.Cert = r.filePath(v) },
		"worker_ids.key":        func(v value) { w.Key = r.filePath(v) },
		"worker_ids.lease":      func(v value) { w.Lease = r.duration(v, time.Second) },
		"worker_ids.quarantine": func(v value) { w.Quarantine = r.duration(v, 0) },
		"worker_ids.max_skew":   func(v value) { w.MaxSkew = r.duration(v, time.Millisecond) },
	}
}

func (r *reader) workerStore(v value) string {
	store := r.oneOf(v, workerStores...)
	if slices.Contains(workerStores, store) && store != TableStore && !slices.Contains(r.WorkerStores, store) {
		r.fail(v, "this seqgate was built without it: build it with go build -tags %s ./cmd/seqgate", store)
	}
	return store
}

// checkWorkers checks what several keys say of worker ids.
func (r *reader) checkWorkers() {
	w := r.cfg.WorkerIDs
	if v, given := r.set["worker_ids.keyspace"]; given {
		switch k, ok := r.cfg.Keyspace(w.Keyspace); {
		case !ok:
			r.fail(v, "there is no keyspace %q: %s", w.Keyspace, vschema.Suggest(w.Keyspace, r.keyspaceNames()))
		case k.Sharded():
			r.fail(v, "keyspace %q is sharded: name one with one server, on which all seqgates meet", w.Keyspace)
		}
	}
	if v, given := r.set["worker_ids.store"]; given && w.Store != TableStore && len(w.Servers) == 0 {
		r.fail(v, "write worker_ids.servers, the addresses of %s: [host:port, ...]", w.Store)
	}
}

func (r *reader) keyspaceNames() (names []string) {
	for _, k := range r.cfg.Keyspaces {
		names = append(names, k.Name)
	}
	return names
}

// WorkerKeyspace is the keyspace whose server has the table of worker ids.
func (c *Config) WorkerKeyspace() (Keyspace, bool) {
	if c.WorkerIDs.Keyspace != "" {
		return c.Keyspace(c.WorkerIDs.Keyspace)
	}
	return c.CentralKeyspace()
}

// CentralKeyspace is the keyspace on whose server all seqgates meet: the default one, or else the first that is unsharded.
func (c *Config) CentralKeyspace() (Keyspace, bool) {
	if k, ok := c.Keyspace(c.DefaultKeyspace); ok && !k.Sharded() {
		return k, true
	}
	for _, k := range c.Keyspaces {
		if !k.Sharded() {
			return k, true
		}
	}
	return Keyspace{}, false
}

// LeasesWorkers reports whether generators of the vschema lease their worker ids in a table, and in which keyspace it is.
func (c *Config) LeasesWorkers() (Keyspace, bool) {
	if c.VSchema == nil || c.WorkerIDs.Static != nil || c.WorkerIDs.Store != TableStore {
		return Keyspace{}, false
	}
	for _, k := range c.VSchema.Keyspaces() {
		for _, g := range k.Generators() {
			if g.Type == vschema.Snowflake && g.Snowflake.Worker == nil {
				return c.WorkerKeyspace()
			}
		}
	}
	return Keyspace{}, false
}

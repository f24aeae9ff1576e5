// Package config reads what one seqgate runs with, into one struct: the file, over it the SEQGATE_* environment, and what
// they name: the vschema, certificates and secrets.
//
// Reading is strict, and finds all that is wrong at once: an error has file, line, column and key, and says what to write.
// Each key has one line in newReader's tables, where the documentation of all keys comes from too (TestConfigurationReference
// writes it), and reloadable lists those that count without a restart. seqgate.yaml is the commented sample.
//
// The nodes walked are those of gopkg.in/yaml.v3 and not of github.com/goccy/go-yaml, which stops at the first error when it
// decodes into structs, and whose own nodes took a third more lines in yaml.go (scalars, anchors, aliases and tags are nodes
// of different kinds there) and gave empty values the column before theirs.
package config

import (
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/idapi"
	"github.com/seqgate/seqgate/sequence/keyed"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/vschema"
)

// Config is what one seqgate runs with. seqgate.yaml explains each key. What of it counts without a
// restart is listed in reload.go.
type Config struct {
	Listen []string // "host:port" or "unix:/path", one or more
	// Advertise is where other seqgates reach this one, for keyed sequences: "host:port". When empty, it is the first of
	// Listen that names a host.
	Advertise string
	// WorkerIDs is where the worker ids of snowflakes come from.
	WorkerIDs WorkerIDs
	// Users may connect to seqgate. When nil, clients log in with their own MySQL user and password instead, which
	// the backend checks.
	Users           []User
	VSchema         *vschema.VSchema // nil: a table t is filled when t_seq stands beside it
	VSchemaFile     string           // where it is from; "" for none
	VSchemaRead     Files            // with that file, and those that its vindexes name
	Keyspaces       []Keyspace       // in the file's order, one or more
	DefaultKeyspace string           // for a client that names no database
	Sequences       Sequences
	Tables          Tables
	Transactions    string // over several shards: TransactionsInOrder or TransactionsXA
	Admin           Admin
	API             API
	TLS             TLS
	Limits          Limits
	Timeouts        Timeouts
	ProxyProtocol   ProxyProtocol
	LameduckPeriod  time.Duration // how long clients are still let in after readiness is off
	DrainTimeout    time.Duration // how long statements in flight may take to end at a stop
	Log             Log
	StatementShapes int // of how many shapes statements are counted; 0: none
	Tracing         Tracing

	File  string // that it is from; "" for none
	Given Given  // what its keys were given; nil when there is no file
}

// User may connect to seqgate.
type User struct {
	Name, Password string           // the password may be empty
	Plugin         string           // caching_sha2_password or mysql_native_password
	Require        proxy.UserTLS    // what the user's connections must have
	MaxConnections int              // 0: Limits.PerUser
	VSchemaDDL     bool             // may use ALTER VSCHEMA
	Account        *catalog.Account // at the servers; nil: the DSN's
}

// Keyspace is one logical database and the servers that hold it.
type Keyspace struct {
	Name string
	// Shards are all of the keyspace, in the order of the keyspace ids that they hold; an unsharded keyspace has one,
	// named WholeRange.
	Shards []Shard
	// Layout says which keyspace ids each shard holds; nil for an unsharded keyspace.
	Layout *vschema.Shards
}

// How transactions of several shards commit: shard by shard in the order in which they were used, or in two phases.
const (
	TransactionsInOrder = "in_order"
	TransactionsXA      = "xa"
)

// WholeRange is the name of the only shard of an unsharded keyspace: the key range without ends, as Vitess writes it.
const WholeRange = "-"

// Shard is one MySQL server's part of a keyspace.
type Shard struct {
	Name string
	// DSN has the server's address (Net is "tcp" or "unix"), the database, which is never empty, and seqgate's own
	// user and password. Its TLS fields are those that Mode asks for.
	DSN  *mysql.Config
	Mode TLSMode
	// SessionUser logs clients' sessions in, without a password, in place of the DSN's user; "" for that one. The demo's
	// engine needs seqgate's own connections told apart; the file has no key for it.
	SessionUser string
}

// Log is seqgate's own log, on standard error.
type Log struct {
	Level  slog.Level    // the least that is logged
	Format string        // "text", "json", or "auto": text on a terminal
	Slow   time.Duration // statements that take that long are logged; 0: none
}

// TLS is encryption on both sides of seqgate.
type TLS struct {
	Clients  CertificateFiles // what clients are shown and checked with
	Required bool             // clients over TCP must be encrypted
	Backend  TLSMode          // towards servers whose DSN has no tls parameter
	RootCAs  *x509.CertPool   // that sign the servers' certificates; nil: the system's
}

// Keyspace finds a keyspace by its name.
func (c *Config) Keyspace(name string) (Keyspace, bool) {
	i := slices.IndexFunc(c.Keyspaces, func(k Keyspace) bool { return k.Name == name })
	if i < 0 {
		return Keyspace{}, false
	}
	return c.Keyspaces[i], true
}

// Default returns the configuration of an empty file, which has no keyspaces yet.
func Default() *Config {
	return &Config{
		Listen: []string{"127.0.0.1:3307"},
		Sequences: Sequences{
			Refill: RefillForUpdate, MinLifetime: 15 * time.Minute, MaxStep: 1_000_000, MaxN: proxy.DefaultMaxValues, Timeout: 5 * time.Second, Prefetch: 10, Lease: keyed.DefaultLease,
		},
		WorkerIDs:    WorkerIDs{Store: TableStore, Lease: worker.DefaultLease, Quarantine: worker.DefaultLease, MaxSkew: worker.DefaultMaxSkew},
		Tables:       Tables{OnExplicitID: catalog.ExplicitAdvance},
		Transactions: TransactionsInOrder,
		API:          API{MaxN: idapi.DefaultMaxN, Connections: 1000},
		TLS:          TLS{Backend: TLSAsClient},
		Limits:       Limits{Connections: 10_000, IdleBackends: backend.DefaultMaxIdle},
		Timeouts:     Timeouts{Handshake: proxy.DefaultHandshakeTimeout, Read: 30 * time.Second, Write: time.Minute, Pause: proxy.DefaultPauseTimeout},
		DrainTimeout: 10 * time.Second,
		Log:          Log{Level: slog.LevelInfo, Format: "auto"},
	}
}

// Loader reads configurations. It knows what this build of seqgate has: a key that asks for more is an error.
type Loader struct {
	Getenv       func(string) string // looks up a variable of the environment
	WorkerStores []string            // where worker ids can be leased, beside the table: etcd, zookeeper
	Tracing      bool                // spans can be exported
}

// Load reads the configuration file at path, then the SEQGATE_* environment, which wins over the file: SEQGATE_ and the
// path of a key in capitals, such as SEQGATE_SEQUENCES_REFILL. Its error is a [vschema.Errors] of everything wrong in the
// file, the environment and the vschema.
func (l Loader) Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, vschema.Errors{{File: path, Message: readError(err)}}
	}
	r := newReader(l)
	r.readFile(path, data)
	cfg, err := r.finish()
	if err == nil {
		cfg.File, cfg.Given = path, r.given()
	}
	return cfg, err
}

// LoadTolerantly is Load of a file that may have been edited since a seqgate was started with it: only one that is no
// configuration at all is an error, and what is wrong in it is as if it were not there: faults say what. The vschema and
// certificates are not read. It is for who asks a running seqgate at its addresses.
func (l Loader) LoadTolerantly(path string) (cfg *Config, faults vschema.Errors, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, vschema.Errors{{File: path, Message: readError(err)}}
	}
	r := newReader(l)
	if r.readFile(path, data); len(r.set) == 0 && len(r.errs) > 0 {
		return nil, nil, r.errs
	}
	r.readEnvironment()
	return r.cfg, r.errs, nil
}

// Upstream returns the configuration for one unsharded server without a file: a keyspace named as the database of the
// DSN. Clients log in with their own accounts there, such as that of the DSN. The environment and the error are those of
// Load.
func (l Loader) Upstream(dsn string) (*Config, error) {
	return newReader(l).upstream(dsn)
}

// UpstreamServer is Upstream, or where the DSN names no database, the configuration for all of its server: each database
// has the sequences that stand in it. The keyspace has no name then, as no database has, and clients that name none have
// none.
func (l Loader) UpstreamServer(dsn string) (*Config, error) {
	r := newReader(l)
	r.anyDatabase = true
	return r.upstream(dsn)
}

func (r *reader) upstream(dsn string) (*Config, error) {
	if shard, ok := r.shard(WholeRange, textValue("--upstream", dsn)); ok {
		r.cfg.Keyspaces = []Keyspace{{Name: shard.DSN.DBName, Shards: []Shard{shard}}}
	}
	return r.finish()
}

// finish adds the environment and checks what several keys say together.
func (r *reader) finish() (*Config, error) {
	r.readEnvironment()
	r.loadVSchema()
	r.checkKeyspaces()
	r.layOutShards()
	r.checkOverrides()
	r.checkStores()
	r.checkTables()
	r.checkWorkers()
	r.checkAPI()
	r.checkAdmin()
	r.loadCertificates()
	if len(r.errs) > 0 {
		r.errs.Sort()
		return nil, r.errs
	}
	return r.cfg, nil
}

func (r *reader) loadVSchema() {
	v, ok := r.set["vschema"]
	if !ok || r.vschemaFile == "" {
		return
	}
	loaded, files, err := ReadVSchema(r.vschemaFile)
	switch {
	case files[readFile{path: r.vschemaFile}] == nil:
		r.fail(v, "%v", err) // the line that names it is the one to look at
		return
	case err != nil:
		r.addErrors(err)
		return
	}
	r.cfg.VSchemaFile, r.cfg.VSchemaRead = r.vschemaFile, files
	r.cfg.VSchema = loaded
	for _, k := range loaded.Keyspaces() {
		if _, ok := r.cfg.Keyspace(k.Name); !ok {
			r.fail(v, "%s has the keyspace %q, which has no servers: add it to keyspaces", filepath.Base(r.vschemaFile), k.Name)
		}
	}
}

// checkKeyspaces finds the default keyspace, the only one when none is named. There is always one: its server is the one
// whose version, charset and capabilities a client is shown before it names a database.
func (r *reader) checkKeyspaces() {
	var names []string
	for _, k := range r.cfg.Keyspaces {
		names = append(names, k.Name)
	}
	v, given := r.set["default_keyspace"]
	switch {
	case given && len(names) > 0 && !slices.Contains(names, r.cfg.DefaultKeyspace):
		r.fail(v, "there is no keyspace %q: %s", r.cfg.DefaultKeyspace, vschema.Suggest(r.cfg.DefaultKeyspace, names))
	case !given && len(names) > 1:
		r.fail(r.set["keyspaces"], "more than one keyspace: write default_keyspace: %s, or another, for clients that name no database", names[0])
	case !given && len(names) == 1:
		r.cfg.DefaultKeyspace = names[0]
	}
}

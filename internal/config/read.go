package config

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seqgate/seqgate/vschema"
)

// reader fills a Config and collects every error on the way. yaml.v3's own decoding into structs stops at what is
// not YAML of the right types and knows no lines after that.
type reader struct {
	Loader
	cfg  *Config
	dir  string           // of the configuration file: relative paths in it start here
	set  map[string]value // what was given, by its key's path; the last wins
	read []namedFile      // that values name
	errs vschema.Errors

	// settings read the value of each key by its path. plain are those of one line, which the environment may set.
	settings, plain map[string]func(value)

	anyDatabase bool // DSNs need not name one

	vschemaFile, caFile string
	needClientCA        []value                // what needs tls.client_ca
	shardsOf            map[string]givenShards // by keyspace
}

func newReader(l Loader) *reader {
	r := &reader{Loader: l, cfg: Default(), set: map[string]value{}, shardsOf: map[string]givenShards{}}
	c := r.cfg
	r.plain = map[string]func(value){
		"listen":                  func(v value) { c.Listen = r.listen(v) },
		"advertise":               func(v value) { c.Advertise = r.advertise(v) },
		"vschema":                 func(v value) { r.vschemaFile = r.filePath(v) },
		"default_keyspace":        func(v value) { c.DefaultKeyspace = r.text(v) },
		"transactions":            func(v value) { c.Transactions = r.oneOf(v, TransactionsInOrder, TransactionsXA) },
		"sequences.refill":        func(v value) { c.Sequences.Refill = r.refill(v) },
		"sequences.min_lifetime":  func(v value) { c.Sequences.MinLifetime = r.duration(v, time.Nanosecond) },
		"sequences.max_step":      func(v value) { c.Sequences.MaxStep = r.count(v) },
		"sequences.max_n":         func(v value) { c.Sequences.MaxN = r.count(v) },
		"sequences.timeout":       func(v value) { c.Sequences.Timeout = r.duration(v, time.Nanosecond) },
		"sequences.prefetch":      func(v value) { c.Sequences.Prefetch = r.percent(v) },
		"sequences.failover_skip": func(v value) { c.Sequences.FailoverSkip = r.countFrom(v, 0) },
		"sequences.lease":         func(v value) { c.Sequences.Lease = r.duration(v, time.Second) },
		"sequences.auto_create":   func(v value) { c.Sequences.AutoCreate = r.bool(v) },
		"tables.on_explicit_id":   func(v value) { c.Tables.OnExplicitID = r.explicitPolicy(v) },
		"admin.listen":            func(v value) { c.Admin.Listen = r.adminListen(v) },
		"admin.password":          func(v value) { c.Admin.Password = r.adminPassword(v) },
		"admin.password_env":      func(v value) { c.Admin.Password = r.passwordFromEnv(v) },
		"admin.password_file":     func(v value) { c.Admin.Password = r.adminPasswordFile(v) },
		"admin.cert":              func(v value) { c.Admin.TLS.Cert = r.filePath(v) },
		"admin.key":               func(v value) { c.Admin.TLS.Key = r.filePath(v) },
		"api.listen":              func(v value) { c.API.Listen = r.hostListen(v) },
		"api.tls":                 func(v value) { c.API.TLS = r.bool(v) },
		"api.connections":         func(v value) { c.API.Connections = r.limit(v) },
		"api.max_n":               func(v value) { c.API.MaxN = r.apiMost(v) },
		"tls.cert":                func(v value) { c.TLS.Clients.Cert = r.filePath(v) },
		"tls.key":                 func(v value) { c.TLS.Clients.Key = r.filePath(v) },
		"tls.client_ca":           func(v value) { c.TLS.Clients.ClientCA = r.filePath(v) },
		"tls.required":            func(v value) { c.TLS.Required = r.bool(v) },
		"tls.ca":                  func(v value) { r.caFile = r.filePath(v) },
		"tls.backend":             func(v value) { c.TLS.Backend = TLSMode(r.oneOf(v, tlsModes...)) },
		"limits.connections":      func(v value) { c.Limits.Connections = r.limit(v) },
		"limits.per_user":         func(v value) { c.Limits.PerUser = r.limit(v) },
		"timeouts.handshake":      func(v value) { c.Timeouts.Handshake = r.duration(v, time.Nanosecond) },
		"limits.idle_backends":    func(v value) { c.Limits.IdleBackends = r.limit(v) },
		"timeouts.idle":           func(v value) { c.Timeouts.Idle = r.duration(v, 0) },
		"timeouts.read":           func(v value) { c.Timeouts.Read = r.duration(v, time.Nanosecond) },
		"timeouts.write":          func(v value) { c.Timeouts.Write = r.duration(v, time.Nanosecond) },
		"timeouts.pause":          func(v value) { c.Timeouts.Pause = r.duration(v, time.Nanosecond) },
		"proxy_protocol.from":     func(v value) { c.ProxyProtocol.From = r.prefixes(v) },
		"lameduck_period":         func(v value) { c.LameduckPeriod = r.duration(v, 0) },
		"drain_timeout":           func(v value) { c.DrainTimeout = r.duration(v, 0) },
		"statement_shapes":        func(v value) { c.StatementShapes = r.shapes(v) },
		"log.level":               func(v value) { r.logLevel(v) },
		"log.format":              func(v value) { c.Log.Format = r.oneOf(v, "text", "json", "auto") },
		"log.slow":                func(v value) { c.Log.Slow = r.duration(v, 0) },
		"tracing.ratio":           func(v value) { c.Tracing.Ratio = r.ratio(v) },
	}
	maps.Copy(r.plain, r.workerSettings())
	r.settings = maps.Clone(r.plain)
	r.settings["users"] = func(v value) { c.Users = r.users(v) }
	r.settings["keyspaces"] = func(v value) { c.Keyspaces = r.keyspaces(v) }
	r.settings["sequences.overrides"] = func(v value) { c.Sequences.Overrides = r.overrides(v) }
	r.settings["api.tokens"] = func(v value) { c.API.Tokens = r.apiTokens(v) }
	r.settings["tables.overrides"] = func(v value) { c.Tables.Overrides = r.tableOverrides(v) }
	return r
}

// readEnvironment reads the plain settings that a SEQGATE_* variable gives.
func (r *reader) readEnvironment() {
	r.dir = ""
	for _, path := range slices.Sorted(maps.Keys(r.plain)) {
		name := "SEQGATE_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
		if text := r.Getenv(name); text != "" {
			v := textValue("environment", text)
			v.path = name
			r.set[path] = v
			r.plain[path](v)
		}
	}
}

func (r *reader) readFile(path string, data []byte) {
	r.dir = filepath.Dir(path)
	root, errs := parseYAML(path, data)
	r.errs = append(r.errs, errs...)
	if root.node == nil {
		return
	}
	r.section(root, "")
	if _, ok := r.set["keyspaces"]; !ok {
		r.fail(root, `the key "keyspaces" is missing: write keyspaces: {main: {shards: {"-": "user:password@tcp(127.0.0.1:3306)/main"}}}`)
	}
}

// section reads the keys below a path that is itself no setting, such as sequences.
func (r *reader) section(v value, prefix string) {
	if v.isNull() {
		return
	}
	r.eachKey(v, func(key, v value) {
		path := prefix + key.written()
		read, ok := r.settings[path]
		switch {
		case ok:
			r.set[path] = v
			read(v)
		case slices.ContainsFunc(slices.Collect(maps.Keys(r.settings)), func(s string) bool { return strings.HasPrefix(s, path+".") }):
			r.section(v, path+".")
		default:
			r.fail(key, "unknown key: %s", vschema.Suggest(key.written(), r.keysBelow(prefix)))
		}
	})
}

// keysBelow lists the keys that a section may have.
func (r *reader) keysBelow(prefix string) []string {
	var keys []string
	for path := range r.settings {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			key, _, _ := strings.Cut(rest, ".")
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// fields reads a mapping that has just these keys.
func (r *reader) fields(v value, fields map[string]func(value)) {
	r.eachKey(v, func(key, v value) {
		if read, ok := fields[key.written()]; ok {
			read(v)
			return
		}
		if key.written() == "rights" && strings.HasPrefix(v.path, "users[") {
			r.fail(key, rightsGone)
			return
		}
		r.fail(key, "unknown key: %s", vschema.Suggest(key.written(), slices.Collect(maps.Keys(fields))))
	})
}

// text reads a scalar as it is written, be it a number or a word.
func (r *reader) text(v value) string {
	if !v.isText() {
		r.fail(v, "write a text, or leave the key out")
		return ""
	}
	return v.written()
}

func (r *reader) oneOf(v value, known ...string) string {
	s := r.text(v)
	if v.isText() && !slices.Contains(known, s) {
		r.fail(v, "unknown value %q: %s", s, vschema.Suggest(s, known))
	}
	return s
}

func (r *reader) duration(v value, least time.Duration) time.Duration {
	d, err := time.ParseDuration(v.written())
	if err != nil {
		r.fail(v, "%q is no duration: write a number with its unit, such as 500ms, 5s or 15m", v.written())
	} else if d < least {
		r.fail(v, "%s is too short: write more", d)
	}
	return d
}

func (r *reader) count(v value) int64 { return r.countFrom(v, 1) }

func (r *reader) countFrom(v value, least int64) int64 {
	n, err := strconv.ParseInt(v.written(), 10, 64)
	if err != nil || n < least {
		r.fail(v, "%q is no count: write a whole number from %d", v.written(), least)
	}
	return n
}

func (r *reader) bool(v value) bool { return r.oneOf(v, "true", "false") == "true" }

// filePath reads the path of a file; in the configuration file it is relative to that file's folder.
func (r *reader) filePath(v value) string {
	path := r.text(v)
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

// addErrors adds the errors of another file.
func (r *reader) addErrors(err error) {
	var errs vschema.Errors
	if !errors.As(err, &errs) {
		errs = vschema.Errors{{Message: err.Error()}}
	}
	r.errs = append(r.errs, errs...)
}

// readError is why a file cannot be read, without its name.
func readError(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

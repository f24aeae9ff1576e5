package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seqgate/seqgate/vschema"
)

// value is one value of the configuration and where it comes from: a place in a file, or a name and no line.
type value struct {
	file string // or "environment", or a flag
	path string // of the key, or the name of the variable
	node *yaml.Node
}

// textValue is a value from outside of a file.
func textValue(source, text string) value {
	return value{file: source, node: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}}
}

func (v value) child(key string, node *yaml.Node) value {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch {
	case v.path == "":
		return value{v.file, key, node}
	case strings.HasPrefix(key, "["):
		return value{v.file, v.path + key, node}
	}
	return value{v.file, v.path + "." + key, node}
}

func (v value) isNull() bool { return v.node.Kind == yaml.ScalarNode && v.node.Tag == "!!null" }

// isText says that a value is there and neither a list nor a mapping.
func (v value) isText() bool { return v.node.Kind == yaml.ScalarNode && !v.isNull() }

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
		"proxy_protocol.from":     func(v value) { c.ProxyProtocol.From = r.prefixes(v) },
		"lameduck_period":         func(v value) { c.LameduckPeriod = r.duration(v, 0) },
		"drain_timeout":           func(v value) { c.DrainTimeout = r.duration(v, 0) },
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
	root := value{file: path, node: &yaml.Node{Line: 1, Column: 1}}
	if bytes.IndexByte(data, 0) >= 0 {
		r.fail(root, "not a text file")
		return
	}
	var document yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&document); {
	case err == io.EOF:
		document.Content = []*yaml.Node{{Kind: yaml.MappingNode, Line: 1, Column: 1}}
	case err != nil:
		r.failSyntax(path, data, err)
		return
	}
	if err := dec.Decode(&yaml.Node{}); err != nil && err != io.EOF {
		r.failSyntax(path, data, err)
		return
	} else if err == nil {
		r.fail(root, "more than one YAML document: remove what follows the second ---")
	}
	root = root.child("", document.Content[0])
	r.section(root, "")
	if _, ok := r.set["keyspaces"]; !ok {
		r.fail(root, `the key "keyspaces" is missing: write keyspaces: {main: {shards: {"-": "user:password@tcp(127.0.0.1:3306)/main"}}}`)
	}
}

var yamlErrorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// failSyntax takes the line out of the text of an error of yaml.v3, which has it nowhere else.
func (r *reader) failSyntax(path string, data []byte, err error) {
	e := vschema.Error{File: path, Message: yamlErrorLine.ReplaceAllString(err.Error(), "")}
	if m := yamlErrorLine.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		e.Line, _ = strconv.Atoi(m[1]) // digits by the pattern; 0 is no line
	}
	if bytes.Contains(data, []byte("\n\t")) {
		e.Message += ": YAML indents with spaces, not tabs"
	}
	r.errs = append(r.errs, e)
}

// section reads the keys below a path that is itself no setting, such as sequences.
func (r *reader) section(v value, prefix string) {
	if v.isNull() {
		return
	}
	r.eachKey(v, func(key string, keyNode *yaml.Node, v value) {
		path := prefix + key
		read, ok := r.settings[path]
		switch {
		case ok:
			r.set[path] = v
			read(v)
		case slices.ContainsFunc(slices.Collect(maps.Keys(r.settings)), func(s string) bool { return strings.HasPrefix(s, path+".") }):
			r.section(v, path+".")
		default:
			r.failKey(v, keyNode, "unknown key: %s", vschema.Suggest(key, r.keysBelow(prefix)))
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
	r.eachKey(v, func(key string, keyNode *yaml.Node, v value) {
		if read, ok := fields[key]; ok {
			read(v)
			return
		}
		if key == "rights" && strings.HasPrefix(v.path, "users[") {
			r.failKey(v, keyNode, rightsGone)
			return
		}
		r.failKey(v, keyNode, "unknown key: %s", vschema.Suggest(key, slices.Collect(maps.Keys(fields))))
	})
}

// eachKey calls do for each key of a mapping, and fails the keys given twice.
func (r *reader) eachKey(v value, do func(key string, keyNode *yaml.Node, v value)) {
	if v.node.Kind != yaml.MappingNode {
		r.fail(v, "write a mapping, key: value")
		return
	}
	first := map[string]int{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		keyNode := v.node.Content[i]
		child := v.child(keyNode.Value, v.node.Content[i+1])
		if line, again := first[keyNode.Value]; again {
			r.failKey(child, keyNode, "duplicate key: the same key stands on line %d, remove one", line)
			continue
		}
		first[keyNode.Value] = keyNode.Line
		do(keyNode.Value, keyNode, child)
	}
}

// eachItem calls do for each item of a list; form shows one.
func (r *reader) eachItem(v value, form string, do func(value)) {
	if v.node.Kind != yaml.SequenceNode {
		r.fail(v, "write a list, %s", form)
		return
	}
	for i, item := range v.node.Content {
		do(v.child(fmt.Sprintf("[%d]", i), item))
	}
}

// text reads a scalar as it is written, be it a number or a word.
func (r *reader) text(v value) string {
	if !v.isText() {
		r.fail(v, "write a text, or leave the key out")
		return ""
	}
	return v.node.Value
}

func (r *reader) oneOf(v value, known ...string) string {
	s := r.text(v)
	if v.isText() && !slices.Contains(known, s) {
		r.fail(v, "unknown value %q: %s", s, vschema.Suggest(s, known))
	}
	return s
}

func (r *reader) duration(v value, least time.Duration) time.Duration {
	d, err := time.ParseDuration(v.node.Value)
	if err != nil {
		r.fail(v, "%q is no duration: write a number with its unit, such as 500ms, 5s or 15m", v.node.Value)
	} else if d < least {
		r.fail(v, "%s is too short: write more", d)
	}
	return d
}

func (r *reader) count(v value) int64 { return r.countFrom(v, 1) }

func (r *reader) countFrom(v value, least int64) int64 {
	n, err := strconv.ParseInt(v.node.Value, 10, 64)
	if err != nil || n < least {
		r.fail(v, "%q is no count: write a whole number from %d", v.node.Value, least)
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

func (r *reader) fail(v value, format string, args ...any) {
	r.failKey(v, v.node, format, args...)
}

// failKey notes an error of v that stands at node.
func (r *reader) failKey(v value, node *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, vschema.Error{
		File: v.file, Line: node.Line, Column: node.Column, Path: v.path, Message: fmt.Sprintf(format, args...),
	})
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

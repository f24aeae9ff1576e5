package vschema

import (
	"errors"
	"slices"
	"strings"
)

// Load is LoadFiles for a vschema that names no files.
func Load(name string, data []byte) (*VSchema, error) {
	return LoadFiles(name, data, nil)
}

// LoadFiles reads a vschema of the form {"keyspaces": {"main": {...}}}; name is the file's, for the errors. What vindexes
// name as files is read by read. Its error is an Errors that lists everything wrong at once.
//
// All keys of Vitess's vschema are known, in snake_case and camelCase, and the generators that seqgate adds. What this
// version reads and cannot serve is told by VSchema.Unserved: lookup vindexes with an owner. One without is read, and
// finds no rows: statements by its columns go to all shards. Routing rules and some more are errors that say so.
func LoadFiles(name string, data []byte, read ReadFile) (*VSchema, error) {
	return Loader{Read: read}.Load(name, data)
}

// Loader is LoadFiles for a caller that can judge more.
type Loader struct {
	// Read reads what vindexes name as files; nil when they may not.
	Read ReadFile
	// CheckGenerator says what is wrong with the params of a generator that are right as JSON: what is known only where
	// ids are made. No more is checked when nil.
	CheckGenerator func(*Generator) []*ParamError
	// Counter names the Redis and its database of a generator's params, so that two URLs that lead to one are known to; empty
	// when it does not know. By itself Load compares what is written as the url, or the url_env.
	Counter func(*SegmentParams) string
}

// Load is [LoadFiles].
func (l Loader) Load(name string, data []byte) (*VSchema, error) {
	root, err := parse(data)
	if err != nil {
		return nil, syntaxErrors(name, data, err)
	}
	d := newDecoder(name, data, l.Read)
	d.checkGenerator, d.counter = l.CheckGenerator, l.Counter
	d.root(&root)
	d.resolveSequences()
	d.resolveGenerators()
	d.resolveGuards()
	d.checkCounters()
	d.resolveSources()
	if len(d.errs) > 0 {
		d.errs = append(d.errs, d.unserved...)
		d.errs.Sort()
		return nil, d.errs
	}
	d.unserved.Sort()
	return &VSchema{keyspaces: d.keyspaces, unserved: d.unserved}, nil
}

// syntaxErrors returns the error of parse as an Errors.
func syntaxErrors(name string, data []byte, err error) Errors {
	d := newDecoder(name, data, nil)
	if syntax := (*syntaxError)(nil); errors.As(err, &syntax) {
		d.failAt(syntax.offset, "", "%s", syntax.message)
		return d.errs
	}
	return Errors{{File: name, Message: err.Error()}}
}

// root reads Vitess's SrvVSchema.
func (d *decoder) root(n *node) {
	if obj, ok := n.value.(object); ok && !obj.has("keyspaces") {
		if obj.has("tables") || obj.has("sharded") || obj.has("vindexes") {
			d.fail(n, `this is one keyspace's vschema: write {"keyspaces": {"NAME": ...}} around it`)
			return
		}
		d.fail(n, `the key "keyspaces" is missing: write {"keyspaces": {"NAME": {"tables": {}}}}`)
	}
	rules := func(item fields) func(*node) {
		return func(n *node) {
			d.object(n, fields{"rules": func(n *node) { d.list(n, func(n *node) { d.object(n, item) }) }})
		}
	}
	d.object(n, fields{
		"keyspaces": func(n *node) { d.names(n, "keyspace", d.keyspace) },
		"routing_rules": d.later("routing rules are", rules(fields{
			"from_table": d.checkString, "to_tables": d.checkStrings,
		})),
		"shard_routing_rules": d.later("shard routing rules are", rules(fields{
			"from_keyspace": d.checkString, "to_keyspace": d.checkString, "shard": d.checkString,
		})),
		"keyspace_routing_rules": d.later("keyspace routing rules are", rules(fields{
			"from_keyspace": d.checkString, "to_keyspace": d.checkString,
		})),
		"mirror_rules": d.later("mirror rules are", rules(fields{
			"from_table": d.checkString, "to_table": d.checkString, "percent": d.checkPercent,
		})),
	})
}

func (obj object) has(key string) bool {
	return slices.ContainsFunc(obj, func(m member) bool { return m.key == key })
}

// get returns the value of a key in snake_case or camelCase, nil when the object has none.
func (obj object) get(key string) *node {
	for i := range obj {
		if snakeCase(obj[i].key) == key {
			return &obj[i].value
		}
	}
	return nil
}

func (d *decoder) keyspace(name string, n *node) {
	k := &Keyspace{Name: name, tables: map[string]*Table{}, vindexes: map[string]*NamedVindex{}, generators: map[string]*Generator{}}
	if obj, ok := n.value.(object); ok {
		k.Sharded = slices.ContainsFunc(obj, func(m member) bool { return m.key == "sharded" && m.value.value == true })
	}
	d.keyspaces[name], d.current = k, k
	defer func() { d.current = nil }()
	generators := map[string]*node{}
	d.object(n, fields{
		"sharded":                  func(n *node) { d.bool(n) }, // read above: what follows depends on it
		"require_explicit_routing": func(n *node) { k.RequireExplicitRouting = d.bool(n) },
		"tables":                   func(n *node) { d.names(n, "table", d.table) },
		"vindexes":                 d.shardedOnly("vindexes are", func(n *node) { d.names(n, "vindex", d.vindex) }),
		"generators": func(n *node) {
			d.names(n, "generator", func(name string, n *node) { generators[name] = n; d.generator(name, n) })
		},
		"foreign_key_mode": d.foreignKeyMode,
		"multi_tenant_spec": d.later("multi-tenant keyspaces are", func(n *node) {
			d.object(n, fields{"tenant_id_column_name": d.checkString, "tenant_id_column_type": d.checkColumnType})
		}),
	})
	d.checkGeneratorNames(k, generators)
	d.checkOwners(k)
	d.resolveVindexes(k)
}

// foreignKeyMode takes the modes that leave foreign keys to MySQL, as an unsharded keyspace does.
func (d *decoder) foreignKeyMode(n *node) {
	switch mode := d.oneOf(n, "unspecified", "unmanaged", "disallow", "managed"); mode {
	case "disallow", "managed":
		d.fail(n, `foreign_key_mode %q is not supported yet in this version: write "unmanaged"`, mode)
	}
}

func (d *decoder) table(name string, n *node) {
	t := &Table{Name: name}
	d.current.tables[name] = t
	d.object(n, fields{
		"type":                      func(n *node) { t.Type = d.tableType(n) },
		"auto_increment":            func(n *node) { d.autoIncrement(t, n) },
		"columns":                   func(n *node) { t.Columns = d.columns(n) },
		"column_list_authoritative": func(n *node) { t.Authoritative = d.bool(n) },
		"column_vindexes":           d.shardedOnly("vindexes are", func(n *node) { d.columnVindexes(t, n) }),
		"pinned":                    d.shardedOnly("pinned tables are", func(n *node) { t.Pinned = d.pinned(n) }),
		"source":                    func(n *node) { t.hasSource = true; d.source(t, n) },
	})
	d.checkTable(t, n)
	if d.current.Sharded {
		d.checkShardedTable(t, n)
	}
}

func (d *decoder) tableType(n *node) TableType {
	return TableType(d.oneOf(n, string(Ordinary), string(Sequence), string(Ticket), string(Reference)))
}

// autoIncrement reads the column now, and the name of its sequence to be resolved when all tables are known.
func (d *decoder) autoIncrement(t *Table, n *node) {
	t.AutoIncrement = &AutoIncrement{}
	var sequence, generator *node
	d.object(n, fields{
		"column":    func(n *node) { t.AutoIncrement.Column = d.name(n) },
		"sequence":  func(n *node) { d.name(n); sequence = n },
		"key":       func(n *node) { t.AutoIncrement.Key = d.name(n) },
		"generator": func(n *node) { d.name(n); generator = n },
	})
	obj, ok := n.value.(object)
	switch {
	case !ok:
		return
	case sequence != nil && generator != nil:
		d.fail(n, "a sequence and a generator for one column: leave one out")
	case generator != nil && obj.has("key"):
		d.fail(obj.get("key"), "a generator does not count by key: leave the key out, or use a sequence")
	case sequence == nil && generator == nil:
		d.fail(n, `the key "sequence" is missing: write "sequence": "%s_seq"`, t.Name)
	}
	if !obj.has("column") {
		d.fail(n, `the key "column" is missing: write "column": "id" or whatever column the sequence fills`)
	}
	if key := t.AutoIncrement.Key; key != "" && strings.EqualFold(key, t.AutoIncrement.Column) {
		d.fail(n, "the key is the column %q itself: name the column by whose value the rows are counted separately", key)
	}
	if s, ok := sequenceName(sequence); ok {
		d.sequences = append(d.sequences, sequenceRef{table: t, keyspace: d.current, name: s, keyed: obj.has("key"), node: sequence})
	}
	if s, ok := sequenceName(generator); ok {
		d.generators = append(d.generators, generatorRef{t, d.current, s, generator})
	}
}

func sequenceName(n *node) (string, bool) {
	if n == nil {
		return "", false
	}
	s, ok := n.value.(string)
	return s, ok && s != ""
}

func (d *decoder) columns(n *node) []Column {
	var columns []Column
	d.list(n, func(n *node) {
		c := d.column(n)
		if slices.ContainsFunc(columns, func(o Column) bool { return c.Name != "" && strings.EqualFold(o.Name, c.Name) }) {
			d.fail(n, "column %q is listed twice: remove one", c.Name)
		}
		columns = append(columns, c)
	})
	return columns
}

func (d *decoder) column(n *node) Column {
	var c Column
	d.object(n, fields{
		"name":           func(n *node) { c.Name = d.name(n) },
		"type":           func(n *node) { c.Type = d.columnType(n) },
		"invisible":      func(n *node) { c.Invisible = d.bool(n) },
		"default":        func(n *node) { c.Default = d.string(n) },
		"collation_name": d.checkString,
		"size":           d.checkInt32,
		"scale":          d.checkInt32,
		"nullable":       d.checkBool,
		"values":         d.checkStrings,
	})
	if obj, ok := n.value.(object); ok && !obj.has("name") {
		d.fail(n, `the key "name" is missing: write "name": "COLUMN"`)
	}
	return c
}

// checkTable checks what several keys of a table say together.
func (d *decoder) checkTable(t *Table, n *node) {
	if t.Type == Sequence && t.AutoIncrement != nil {
		d.fail(n, `a sequence table cannot have auto_increment: remove it, or the "type"`)
	}
	if t.Type == Ticket && (t.AutoIncrement == nil || t.AutoIncrement.Key != "") {
		d.fail(n, `a ticket table needs an auto_increment without a key: write "auto_increment": {"column": "id", "sequence": "%s_seq"}`, t.Name)
	}
	if !t.Authoritative {
		return
	}
	if len(t.Columns) == 0 {
		d.fail(n, `column_list_authoritative without "columns": list all columns of the table, or leave it out`)
		return
	}
	if t.AutoIncrement == nil {
		return
	}
	for _, column := range []string{t.AutoIncrement.Column, t.AutoIncrement.Key} {
		if _, ok := t.Column(column); column == "" || ok {
			continue
		}
		d.fail(n, "auto_increment column %q is not in the authoritative columns: %s", column, Suggest(column, t.columnNames()))
	}
}

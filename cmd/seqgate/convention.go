package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// seqSuffix is what the convention adds to a table's name: t is filled from t_seq beside it.
const seqSuffix = "_seq"

// sequenceComment is what Vitess marks sequence tables with, anywhere in their comment
// (go/vt/vttablet/tabletserver/schema/load_table.go in v0.22.1).
const sequenceComment = "vitess_sequence"

func (t *dbTable) column(name string) (dbColumn, bool) {
	i := slices.IndexFunc(t.columns, func(c dbColumn) bool { return strings.EqualFold(c.name, name) })
	if i < 0 {
		return dbColumn{}, false
	}
	return t.columns[i], true
}

// isBase tells tables from views and from MariaDB's own sequences.
func (t *dbTable) isBase() bool {
	return t.kind == "BASE TABLE" || t.kind == "SYSTEM VERSIONED"
}

// hasSequenceColumns reports whether the table could be a sequence table by its columns.
func (t *dbTable) hasSequenceColumns() bool {
	for _, name := range []string{"id", "next_id", "cache"} {
		if _, ok := t.column(name); !ok {
			return false
		}
	}
	return t.isBase()
}

func (t *dbTable) hasSequenceComment() bool {
	return strings.Contains(t.comment, sequenceComment)
}

// maxValue is the last id that a sequence may give, by CREATE SEQUENCE ... MAXVALUE.
func (t *dbTable) maxValue() int64 {
	o, _ := sequence.ParseComment(t.comment)
	return cmp.Or(o.Max, math.MaxInt64)
}

// sequenceFaults says why ids cannot be taken from the table, and what to do.
func (t *dbTable) sequenceFaults(quoted string) []string {
	if !t.hasSequenceColumns() {
		return []string{"is no sequence table: it needs the columns id, next_id and cache"}
	}
	var faults []string
	if !t.hasSequenceComment() {
		faults = append(faults, fmt.Sprintf("lacks the comment of a sequence: ALTER TABLE %s COMMENT '%s'", quoted, sequenceComment))
	}
	if !strings.EqualFold(t.engine, "InnoDB") {
		faults = append(faults, fmt.Sprintf("has the engine %s, which has no transactions: ALTER TABLE %s ENGINE = InnoDB", t.engine, quoted))
	}
	return faults
}

// idColumn finds the column that the convention fills: the AUTO_INCREMENT column, else the primary key when it is
// exactly one integer column. Without one it says why.
func (t *dbTable) idColumn() (column dbColumn, why string) {
	if !t.isBase() {
		return dbColumn{}, "it is no table but a " + strings.ToLower(t.kind)
	}
	var primary []dbColumn
	for _, c := range t.columns {
		if c.autoIncrement {
			return c, ""
		}
		if c.primary {
			primary = append(primary, c)
		}
	}
	switch {
	case len(primary) == 0:
		return dbColumn{}, "it has neither an AUTO_INCREMENT column nor a primary key"
	case len(primary) > 1:
		return dbColumn{}, fmt.Sprintf("it has no AUTO_INCREMENT column, and its primary key has %d columns", len(primary))
	case primary[0].maxID() == 0:
		return dbColumn{}, fmt.Sprintf("it has no AUTO_INCREMENT column, and its primary key %s is a %s, no integer", primary[0].name, primary[0].dataType)
	}
	return primary[0], ""
}

// integerBits are the sizes of MySQL's integer types (MySQL manual, "Integer Types").
var integerBits = map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}

// maxID is the largest id that the column holds, at most 2^63-1; 0 when it is no integer column.
func (c dbColumn) maxID() int64 {
	bits := integerBits[c.dataType]
	switch {
	case bits == 0:
		return 0
	case bits == 64:
		return math.MaxInt64
	case c.unsigned:
		return 1<<bits - 1
	}
	return 1<<(bits-1) - 1
}

// typeName is the column's type without its width.
func (c dbColumn) typeName() string {
	if c.unsigned {
		return c.dataType + " unsigned"
	}
	return c.dataType
}

// tableName is a table of a keyspace.
type tableName struct {
	keyspace, table string
}

// String gives keyspace.table on one line, whatever the names hold: no control character reaches a terminal.
func (n tableName) String() string { return printable(n.keyspace + "." + n.table) }

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// binding is a sequence and what it fills.
type binding struct {
	sequence tableName
	fills    []filled // none: the sequence is only asked by SELECT NEXT VALUE
}

type filled struct {
	tableName
	column string
	key    string // the column by whose value a keyed sequence counts; "" of others
}

// bindings says what each sequence fills: by the vschema, or else by the convention in the servers' tables.
func bindings(cfg *Config, ss servers) []binding {
	all := map[tableName][]filled{}
	if cfg.VSchema != nil {
		vschemaBindings(cfg, all)
	} else {
		for _, s := range ss {
			if s.shard == "" { // a sharded keyspace needs a vschema
				s.conventionBindings(all)
			}
		}
	}
	list := make([]binding, 0, len(all))
	for sequence, fills := range all {
		list = append(list, binding{sequence, fills})
	}
	slices.SortFunc(list, func(a, b binding) int { return strings.Compare(a.sequence.String(), b.sequence.String()) })
	return list
}

func vschemaBindings(cfg *Config, all map[tableName][]filled) {
	for _, k := range cfg.VSchema.Keyspaces() {
		for _, t := range k.Tables() {
			if a := t.AutoIncrement; a != nil {
				if name := sequenceOf(a); name.table != "" {
					all[name] = append(all[name], filled{tableName{k.Name, t.Name}, a.Column, a.Key})
				}
			}
			name := tableName{k.Name, t.Name}
			if _, bound := all[name]; t.Type == vschema.Sequence && !bound {
				all[name] = nil
			}
		}
	}
}

// sequenceOf gives the sequence whose ids a column is filled with. Those of a Redis counter are its guard's too.
func sequenceOf(a *vschema.AutoIncrement) tableName {
	if a.Generator != nil && a.Generator.Segments != nil {
		return tableName{a.Generator.Segments.GuardKeyspace, a.Generator.Segments.GuardTable}
	}
	return tableName{a.SequenceKeyspace, a.SequenceTable}
}

// conventionBindings finds each table t beside a sequence table t_seq, and the sequence tables of other names.
func (s *server) conventionBindings(all map[tableName][]filled) {
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		t := s.tables[name]
		if !t.hasSequenceColumns() {
			continue
		}
		if f, ok := s.conventionFill(name); ok {
			all[tableName{s.keyspace, name}] = []filled{f}
		} else if t.hasSequenceComment() {
			all[tableName{s.keyspace, name}] = nil
		}
	}
}

// conventionFill finds the column that the convention fills from the sequence table of that name.
func (s *server) conventionFill(sequence string) (filled, bool) {
	if s.foldsNames {
		sequence = strings.ToLower(sequence)
	}
	name, ok := strings.CutSuffix(sequence, seqSuffix)
	t, exists := s.table(name)
	if !ok || !exists || strings.HasSuffix(name, seqSuffix) {
		return filled{}, false
	}
	column, why := t.idColumn()
	return filled{tableName: tableName{s.keyspace, name}, column: column.name}, why == ""
}

// unusable says which tables beside a t_seq the convention does not fill, and why.
func (s *server) unusable() map[tableName]string {
	reasons := map[tableName]string{}
	for name, t := range s.tables {
		beside, ok := s.table(name + seqSuffix)
		if !ok || strings.HasSuffix(name, seqSuffix) {
			continue
		}
		key := tableName{s.keyspace, name}
		if _, why := t.idColumn(); why != "" {
			reasons[key] = why
		}
		if !beside.hasSequenceColumns() {
			reasons[key] = name + seqSuffix + " is no sequence table: it needs the columns id, next_id and cache"
		}
	}
	return reasons
}

// Package vschema says which columns are filled from which sequences, and in which shard a row is, in the JSON of
// Vitess's vschema (proto/vschema.proto in Vitess v0.22.1), read strictly: a key that Vitess would ignore is an error
// here.
//
// The package is pure: bytes in, an immutable model or a list of every error out. A VSchema may be read by any
// number of goroutines.
package vschema

import (
	"maps"
	"slices"
	"strings"
)

// VSchema is a loaded and valid vschema: its keyspaces by name.
type VSchema struct {
	keyspaces map[string]*Keyspace
	unserved  Errors
}

// Unserved returns an error for each thing in the file that is right, and that this version cannot serve: it is empty,
// or the vschema is not to be served.
func (v *VSchema) Unserved() Errors { return v.unserved }

// Keyspace returns the keyspace with exactly that name.
func (v *VSchema) Keyspace(name string) (*Keyspace, bool) {
	k, ok := v.keyspaces[name]
	return k, ok
}

// Keyspaces returns all keyspaces in the order of their names.
func (v *VSchema) Keyspaces() []*Keyspace {
	return sorted(v.keyspaces)
}

// Keyspace is one logical database.
type Keyspace struct {
	Name    string
	Sharded bool // its rows are divided among several servers by vindexes
	// RequireExplicitRouting keeps the keyspace's tables from being found by an unqualified name from outside.
	RequireExplicitRouting bool

	tables   map[string]*Table
	vindexes map[string]*NamedVindex

	generators map[string]*Generator
}

// Table returns the table with exactly that name: table names are case-sensitive, as in MySQL on Linux
// (MySQL manual, "Identifier Case Sensitivity").
func (k *Keyspace) Table(name string) (*Table, bool) {
	t, ok := k.tables[name]
	return t, ok
}

// Tables returns all tables that the vschema names in the keyspace, in the order of their names. An unsharded
// database may have more.
func (k *Keyspace) Tables() []*Table {
	return sorted(k.tables)
}

// TableType is the "type" of a table in the vschema.
type TableType string

// The types of tables. A sequence is a table of the columns id, next_id and cache with one row. A reference table has
// the same rows in all shards.
const (
	Ordinary  TableType = ""
	Sequence  TableType = "sequence"
	Ticket    TableType = "ticket" // seqgate's own: INSERTs are answered with an id, and never run
	Reference TableType = "reference"
)

// Table is what the vschema says of one table.
type Table struct {
	Name          string
	Type          TableType
	AutoIncrement *AutoIncrement // nil when no column is filled
	Keyed         bool           // of a Sequence: it counts by the Key of the tables that it fills
	Columns       []Column       // in table order
	// Authoritative says that Columns is the whole table in its order, so that an INSERT without a column list
	// can be understood from the vschema alone.
	Authoritative bool
	// ColumnVindexes say where the rows of a table in a sharded keyspace are: the first, the primary vindex, is unique
	// and functional, and gives the keyspace id.
	ColumnVindexes []ColumnVindex
	Pinned         KeyspaceID // of the one shard that has all rows of the table; nil for other tables
	Source         *TableName // that a Reference table is a copy of; nil when it is its own

	hasSource bool // it is written, whether right or not
}

// Column returns the column of that name, in any case, as MySQL compares column names. Only the columns that the
// vschema lists are known.
func (t *Table) Column(name string) (Column, bool) {
	for _, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return Column{}, false
}

// AutoIncrement binds a column to the sequence or the generator that fills it.
type AutoIncrement struct {
	Column           string
	SequenceKeyspace string // both are empty with a Generator
	SequenceTable    string
	Generator        *Generator // nil with a sequence
	// Key is the column by whose value rows are counted separately, in a keyed
	// sequence; empty for a sequence of the whole table. Vitess has no such key.
	Key string
}

// Column is one listed column. What else Vitess lists of it (size, collation_name, ...) is checked by Load
// and has no part in filling or routing.
type Column struct {
	Name      string
	Type      string // Vitess's name of the type, such as INT64 or VARCHAR; empty when not given
	Invisible bool   // not part of SELECT * and of an INSERT without a column list
	Default   string // the expression as written; empty when not given
}

func sorted[V any](m map[string]V) []V {
	values := make([]V, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		values = append(values, m[name])
	}
	return values
}

// Package catalog knows keyspaces and their tables: what the servers say of them, what each column holds and how it stores
// a value, and which column is filled from which sequence or generator: by the vschema, or by the rule that a table t is
// filled from t_seq beside it. The proxy asks a Cache; the commands go by the rule.
package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Table is what information_schema says of one table.
type Table struct {
	Exists  bool   // false: there is none of this name, or seqgate's own account may not see it
	Name    string // as the server has it
	Kind    string // BASE TABLE, SYSTEM VERSIONED, VIEW, SEQUENCE (MariaDB's own)
	Engine  string
	Comment string // read by the commands only
	Columns []Column
}

// IsBase tells tables from views and from MariaDB's own sequences.
func (t *Table) IsBase() bool { return t.Kind == "BASE TABLE" || t.Kind == "SYSTEM VERSIONED" }

// Transactional reports whether the table's engine can undo a statement. Of a view
// that is not known, nor of an engine that is not one of these (FEDERATED, CONNECT,
// BLACKHOLE ... cannot).
func (t *Table) Transactional() bool {
	return slices.ContainsFunc([]string{"InnoDB", "ndbcluster", "ROCKSDB", "TokuDB"}, func(engine string) bool { return strings.EqualFold(engine, t.Engine) })
}

// Column is what information_schema.COLUMNS says of a column.
type Column struct {
	Name  string
	Type  string // COLUMN_TYPE: varchar(20), int(10) unsigned
	Key   string // COLUMN_KEY: PRI, UNI, MUL or empty
	Extra string

	Charset   string // of its characters; empty when it holds none
	Collation string // of its characters; read by the commands only

	ordinal    int    // its place in the table
	value      string // its default as information_schema shows it
	valueIsSQL bool   // ... which is an expression
}

// SequenceSuffix is what the convention adds to a table's name: t is filled from t_seq beside it.
const SequenceSuffix = "_seq"

// LooksLikeSequence reports whether a table may be that of a sequence. It goes by the columns alone: that the comment is missing is
// an error to be told when a value is asked for, not a reason to leave a row
// without its id.
func (t *Table) LooksLikeSequence() bool {
	if !t.Exists {
		return false
	}
	return t.Column("next_id") != nil && t.Column("cache") != nil && t.Column("id") != nil
}

// Column returns the column of a name, in any case; nil when there is none.
func (t *Table) Column(name string) *Column {
	for i := range t.Columns {
		if strings.EqualFold(t.Columns[i].Name, name) {
			return &t.Columns[i]
		}
	}
	return nil
}

// IDColumn returns the column that the convention fills: the AUTO_INCREMENT column, or else the integer column that alone
// is the primary key. Without one it is nil, and why says so.
func (t *Table) IDColumn() (column *Column, why string) {
	switch t.Kind { // any other takes rows, also one of a kind that is not known here: they must not go without ids
	case "VIEW", "SYSTEM VIEW", "SEQUENCE":
		return nil, "it is no table but a " + strings.ToLower(t.Kind)
	}
	var primary *Column
	keys := 0
	for i := range t.Columns {
		column := &t.Columns[i]
		if column.AutoIncrement() {
			return column, ""
		}
		if column.Key == "PRI" {
			primary = column
			keys++
		}
	}
	switch {
	case keys == 0:
		return nil, "it has neither an AUTO_INCREMENT column nor a primary key"
	case keys > 1:
		return nil, fmt.Sprintf("it has no AUTO_INCREMENT column, and its primary key has %d columns", keys)
	case !primary.IsInteger():
		return nil, fmt.Sprintf("it has no AUTO_INCREMENT column, and its primary key %s is a %s, no integer", primary.Name, primary.DataType())
	}
	return primary, ""
}

// AutoIncrement reports whether the server fills the column by AUTO_INCREMENT.
func (c *Column) AutoIncrement() bool {
	return strings.Contains(strings.ToLower(c.Extra), "auto_increment")
}

// Invisible reports whether an INSERT without a column list leaves the column out.
func (c *Column) Invisible() bool {
	return strings.Contains(strings.ToUpper(c.Extra), "INVISIBLE")
}

// Quote quotes a name for SQL text.
func Quote(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// Literal writes a text for SQL so that it reads alike in every sql_mode and character set.
func Literal(text string) string {
	if text == "" {
		return "''"
	}
	return fmt.Sprintf("_utf8mb4 0x%x", text)
}

// IsMerge reports whether the table is a MERGE table, whose rows are those of others.
func (t *Table) IsMerge() bool { return strings.EqualFold(t.Engine, "MRG_MyISAM") }

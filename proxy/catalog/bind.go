package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/vschema"
)

// bind works out what follows from a description.
func (c *Cache) bind(ctx context.Context, e *Entry, k *Keyspace, schema, table string) error {
	if e.Table.Kind == kindView {
		return c.bindView(ctx, e, k, schema, table)
	}
	if v := c.loaded.vschema(); v == nil {
		e.Binding, e.Err = e.conventional(k, schema, table)
	} else if t := declaration(v, k, schema, table); t != nil {
		same, err := e.isTable(ctx, k, schema, t.Name, table)
		if err != nil {
			return err
		}
		if same {
			e.Binding, e.Err = c.declared(e, t, schema)
		}
	}
	if e.Binding != nil && e.Binding.Generator == nil {
		e.Binding.OnExplicit = c.explicit(k.Name, table)
	}
	if e.Table.IsMerge() {
		return c.bindMerge(ctx, e, k, schema, table)
	}
	return nil
}

// conventional applies the convention to a table. A table that cannot be seen
// beside its sequence is an error, the server's own if it is not there.
func (e *Entry) conventional(k *Keyspace, schema, table string) (*Binding, error) {
	if !e.sequence.LooksLikeSequence() || strings.HasSuffix(table, SequenceSuffix) {
		return nil, nil
	}
	if !e.Table.Exists {
		return nil, NotSeen(schema, table)
	}
	column, _ := e.Table.IDColumn()
	if column == nil {
		return nil, nil
	}
	return e.bound(table, column, k.SequenceName(schema, table+SequenceSuffix)), nil
}

// NotSeen is the server's error for a table that is not there, which to
// seqgate's own account is the same as one that it may not see.
func NotSeen(schema, table string) error {
	return mysql.NewError(mysql.ER_NO_SUCH_TABLE, fmt.Sprintf(
		"Table '%s.%s' doesn't exist, or seqgate's own account lacks the right to see it (SELECT)", schema, table))
}

func (e *Entry) bound(table string, column *Column, name sequence.Name) *Binding {
	b := &Binding{Table: table, Column: column.Name, AutoIncrement: column.AutoIncrement(),
		Unsigned:      strings.Contains(strings.ToLower(column.Type), "unsigned"),
		Approximate:   column.IsApproximate(),
		whole:         column.IsInteger(),
		Transactional: e.Table.Transactional(), Max: column.MaxID(), Sequence: name}
	for i := range e.Table.Columns {
		if !e.Table.Columns[i].Invisible() {
			b.Columns = append(b.Columns, e.Table.Columns[i].Name)
		}
	}
	return b
}

// declaration returns what the vschema says of a table, nil when it has no
// sequence: the vschema does not name it, or its database is no keyspace.
func declaration(v *vschema.VSchema, k *Keyspace, schema, table string) *vschema.Table {
	if !strings.EqualFold(schema, k.Database) {
		return nil
	}
	declared, ok := v.Keyspace(k.Name)
	if !ok {
		return nil
	}
	if t, ok := declared.Table(table); ok {
		return filled(t)
	}
	// A server on which names have no case knows the table by this one too: see
	// isTable.
	for _, t := range declared.Tables() {
		if strings.EqualFold(t.Name, table) {
			return filled(t)
		}
	}
	return nil
}

// isTable reports whether the name that the vschema has for a table, and the one
// in the statement, are those of one table, which the entry describes if it exists.
func (e *Entry) isTable(ctx context.Context, k *Keyspace, schema, declared, written string) (bool, error) {
	if declared == written {
		return true, nil
	}
	if !e.Table.Exists {
		var folded int // MySQL manual, "Identifier Case Sensitivity"
		err := k.DB.QueryRowContext(ctx, "SELECT @@lower_case_table_names").Scan(&folded)
		return folded != 0, err
	}
	other, err := Describe(ctx, k.DB, schema, declared)
	return other.Exists && other.Name == e.Table.Name, err
}

func filled(t *vschema.Table) *vschema.Table {
	if t.AutoIncrement == nil {
		return nil
	}
	return t
}

// declared applies the vschema.
func (c *Cache) declared(e *Entry, t *vschema.Table, schema string) (*Binding, error) {
	a := t.AutoIncrement
	name := c.SequenceName(a.SequenceKeyspace, a.SequenceTable)
	if a.Generator != nil {
		name = c.SequenceName(a.Generator.Keyspace, a.Generator.Name)
	}
	if !e.Table.Exists {
		return nil, NotSeen(schema, t.Name)
	}
	column := e.Table.Column(t.AutoIncrement.Column)
	if column == nil {
		return nil, fmt.Errorf("the vschema fills column '%s' of table '%s.%s', which has no such column; correct the vschema or the table",
			t.AutoIncrement.Column, schema, t.Name)
	}
	if a.Generator == nil && !column.TakesIDs() {
		return nil, fmt.Errorf("the vschema fills column '%s' of table '%s.%s', which is a %s and holds no ids of a sequence: make it a BIGINT, or correct the vschema",
			column.Name, schema, t.Name, column.Type)
	}
	b := e.bound(t.Name, column, name)
	b.Ticket = t.Type == vschema.Ticket
	if a.Generator != nil {
		if err := c.generate(b, e, a.Generator, column); err != nil {
			return nil, fmt.Errorf("column '%s' of table '%s.%s' cannot be filled from generator %s: %w", column.Name, schema, t.Name, a.Generator.Name, err)
		}
	}
	if key := t.AutoIncrement.Key; key != "" {
		keyColumn := e.Table.Column(key)
		if keyColumn == nil {
			return nil, fmt.Errorf("the vschema counts table '%s.%s' by column '%s', which it lacks; correct the vschema or the table", schema, t.Name, key)
		}
		var err error
		if b.Key, err = newKeyColumn(keyColumn); err != nil {
			return nil, fmt.Errorf("table '%s.%s': %w", schema, t.Name, err)
		}
	}
	if t.Authoritative {
		seen := b.Columns
		b.Columns = nil
		for _, column := range t.Columns {
			if !column.Invisible {
				b.Columns = append(b.Columns, column.Name)
			}
		}
		if !slices.EqualFunc(b.Columns, seen, strings.EqualFold) {
			return nil, fmt.Errorf("the vschema lists the columns of table '%s.%s' as (%s), the server has (%s); correct the vschema",
				schema, t.Name, strings.Join(b.Columns, ", "), strings.Join(seen, ", "))
		}
	}
	return b, nil
}

// generate sets how a column is filled from a generator. The error says what the column has to be.
func (c *Cache) generate(b *Binding, e *Entry, g *vschema.Generator, column *Column) (err error) {
	b.OnExplicit = ExplicitIgnore
	b.Generator, b.Required = g, column.Key == "PRI"
	for i := range e.Table.Columns {
		b.Counts = b.Counts || e.Table.Columns[i].AutoIncrement()
	}
	switch {
	case g.IsText():
		b.Form, err = generate.FormFor(g.Type, column.Type)
	case g.Type == vschema.Snowflake:
		if b.Numbers, err = c.generated.Snowflake(g); err == nil {
			err = holdsLayout(column.Type, b.Max, b.Numbers.Layout)
		}
	default:
		err = holdsPrefix(column.Type, b.Max, g.Segments)
	}
	return err
}

// CheckColumn returns why a column of this type, as information_schema has it, cannot be filled from a generator.
func CheckColumn(g *vschema.Generator, columnType string) error {
	column := Column{Type: columnType}
	switch {
	case g.IsText():
		_, err := generate.FormFor(g.Type, columnType)
		return err
	case g.Type == vschema.Snowflake:
		l, _, err := generate.Layout(g)
		if err != nil {
			return err
		}
		return holdsLayout(columnType, column.MaxID(), l)
	}
	return holdsPrefix(columnType, column.MaxID(), g.Segments)
}

// holdsPrefix is holdsLayout for ids that begin with the date. Where the ids begin low, a column is full when it is.
func holdsPrefix(columnType string, most int64, p *vschema.SegmentParams) error {
	if last := p.MaxID(); p.TimePrefix != "" && last > most {
		return fmt.Errorf("a %s holds ids up to %d, and those of the %s with %d digits go up to %d: make it a BIGINT, or take fewer digits",
			columnType, most, p.TimePrefix, p.Digits, last)
	}
	return nil
}

// holdsLayout returns the error for a column, with the largest id that it holds, in which a layout's ids would not fit.
func holdsLayout(columnType string, most int64, l snowflake.Layout) error {
	if last := generate.MaxID(l); last > most {
		return fmt.Errorf("a %s holds ids up to %d, and layout %s gives ids up to %d: make it a BIGINT, or take the layout js53 for a DOUBLE",
			columnType, most, l.Name, last)
	}
	return nil
}

// TableName is the table that a statement writes to.
type TableName struct{ Schema, Table string }

package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/vschema"
)

// ShardedInsert is an INSERT or REPLACE into a table of a sharded keyspace. The statement is read once. Rows whose shard does not
// depend on a new id are placed first, so that one that has none uses up no ids; then ids are taken, and the other rows placed
// by them. Each shard gets the client's own text with its rows and ids.
//
// Planner's Stmt holds its target already, and its rows once it is planned.
type ShardedInsert struct {
	Planner  *Planner
	Keyspace *catalog.Keyspace
	SQL      []byte
	Mode     parser.Mode // in which it reads
	Table    *vschema.Table

	Binding *catalog.Binding // nil when no column is filled
	Fill    Fill
	Kind    Kind
	Effect  Effect
	Pending bool  // the shards of some rows depend on their new ids
	Shards  []int // of each row, by index; nil when all rows go to the same ones
	Targets []int // the shards that get the statement, in their order

	anew        bool   // the table was looked at anew
	computedRow []byte // what the query of a [Missing] gave, a row of the text protocol; nil when it was not asked
	described   *catalog.Table
	columns     []string // that a statement without a column list has values for
	operands    []operand
	room        insertRoom
}

// insertRoom is memory of a statement's own for what most have little of.
type insertRoom struct {
	operands [1]operand
	shards   [1]int
	targets  [2]int
	values   [2]vschema.Value
	id       [16]byte
}

// stmt is the statement as it is read.
func (in *ShardedInsert) stmt() *parser.InsertStmt { return &in.Planner.Stmt }

// find finds the table in the keyspace's vschema.
func (in *ShardedInsert) find(declared *vschema.Keyspace) (err error) {
	name, ok := in.stmt().Table, false
	if in.Table, ok = declared.Table(name); !ok {
		return mysql.NewError(mysql.ER_NO_SUCH_TABLE, fmt.Sprintf(
			"Table '%s.%s' is not in the vschema: add it there with its vindex", in.Keyspace.Name, name))
	}
	if source := in.Table.Source; source != nil {
		return in.unsupported("writing to a copy of another table",
			fmt.Sprintf("write to its source, %s.%s", source.Keyspace, source.Table))
	}
	return nil
}

// errVindexModified is the error for an INSERT into a vindex, as if that were a table.
func errVindexModified(name string) error {
	return mysql.NewError(mysql.ER_UNKNOWN_ERROR, "VT09014: vindex cannot be modified: '"+name+"' is the name of a vindex")
}

// describe takes in what a shard says of the table.
func (in *ShardedInsert) describe(e *catalog.Entry) error {
	switch {
	case e.Err != nil:
		return e.Err
	case !e.Table.Exists:
		return catalog.NotSeen(in.Keyspace.Name, in.Table.Name)
	}
	in.described, in.Binding, in.columns = &e.Table, e.Binding, nil
	if in.Binding != nil {
		in.columns = in.Binding.Columns
		return nil
	}
	for i := range e.Table.Columns {
		if c := &e.Table.Columns[i]; !c.Invisible() {
			in.columns = append(in.columns, c.Name)
		}
	}
	return nil
}

// plan reads the rows, judges how their ids are filled, and finds the shard of each that does not depend on a new id.
func (in *ShardedInsert) plan() error {
	mode, column := in.Mode, ""
	if in.Binding != nil {
		mode, column = in.Binding.Mode(in.Mode), in.Binding.Column
	}
	if err := in.stmt().ParseFor(in.SQL, mode, column, in.columns); err != nil {
		return in.refuse(err)
	}
	if err := in.check(); err != nil {
		return err
	}
	err := in.readRows()
	if errors.Is(err, parser.ErrServerRefuses) && !in.stmt().HasColumns && !in.anew {
		// Counted by the columns that are known here: they may have changed.
		return &Missing{Fact: NeedsTableAnew, Table: catalog.TableName{Schema: in.Keyspace.Name, Table: in.Table.Name}}
	}
	if err != nil {
		return in.refuse(err)
	}
	if err := in.compute(); err != nil {
		return err
	}
	if err := in.judge(); err != nil {
		return err
	}
	return in.place()
}

// refuse returns the error for a statement that cannot be read: the server's own where
// it would refuse it too.
func (in *ShardedInsert) refuse(err error) error {
	var count *parser.ColumnCountError
	var twice *parser.DuplicateColumnError
	var form *parser.UnsupportedError
	switch {
	case errors.As(err, &count):
		return mysql.NewDefaultError(mysql.ER_WRONG_VALUE_COUNT_ON_ROW, count.Row)
	case errors.As(err, &twice):
		return mysql.NewDefaultError(mysql.ER_FIELD_SPECIFIED_TWICE, twice.Column)
	case errors.As(err, &form):
		return in.unsupported(form.Form, "use INSERT or REPLACE ... VALUES or SET with a column list")
	}
	return err
}

// unsupported refuses a form of statement on the table.
func (in *ShardedInsert) unsupported(form, advice string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
		"seqgate does not support %s on the sharded table '%s'; %s", form, in.Table.Name, advice))
}

// check refuses what no division of the rows makes right.
func (in *ShardedInsert) check() error {
	switch {
	case in.stmt().Params > 0:
		return &parser.SyntaxError{Near: "?", Line: 1}
	case in.stmt().HasForeignNames(in.SQL):
		return in.unsupported("a query on a table, or a column's name with its keyspace, in an INSERT", "read the value with SELECT first, and leave the keyspace's name out")
	case in.Binding != nil && in.Binding.Ticket:
		return in.unsupported("tickets", "keep ticket tables in an unsharded keyspace")
	case in.SameRows() && len(in.Keyspace.Shards) > 1 && !in.stmt().IsConstant(in.SQL, in.columns):
		return in.unsupported("values that each shard would compute for itself", "write them as literals: a reference table has the same rows in all shards")
	}
	for _, column := range in.vindexColumns() {
		if in.stmt().UpdatesTo(in.SQL, column) {
			return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
				"VT12001: unsupported: DML cannot update vindex column '%s' of table '%s': delete the row and insert it anew", column, in.Table.Name))
		}
	}
	return nil
}

// vindexColumns returns the columns that say which shard a row is in.
func (in *ShardedInsert) vindexColumns() []string {
	if len(in.Table.ColumnVindexes) == 0 {
		return nil
	}
	return in.Table.ColumnVindexes[0].Columns
}

// readRows reads the rows' values. The ids come last: they are what is filled in.
func (in *ShardedInsert) readRows() (err error) {
	if in.SameRows() {
		if err := in.checkComputed(); err != nil {
			return err
		}
	}
	in.operands = in.room.operands[:0]
	for _, name := range in.vindexColumns() {
		o := operand{name: name, column: in.described.Column(name), id: in.Binding != nil && strings.EqualFold(name, in.Binding.Column)}
		if o.column == nil {
			return fmt.Errorf("the vschema's vindex column '%s' is no column of table '%s'; correct the vschema or the table", name, in.Table.Name)
		}
		if err := in.stmt().Bind(name, in.columns); err != nil {
			return err
		}
		if !o.id || !in.stmt().LeavesOut() {
			if o.cells, err = in.stmt().Cells(nil, in.SQL, name, in.columns); err != nil {
				return err
			}
		}
		in.operands = append(in.operands, o)
	}
	if in.Binding == nil {
		in.Planner.Slots = in.Planner.Slots[:0]
		return in.stmt().Bind("", in.columns)
	}
	in.Fill.Keys, err = in.Planner.ReadRows(in.SQL, in.Binding, false)
	return err
}

// judge plans how the ids are filled.
func (in *ShardedInsert) judge() (err error) {
	in.Kind, in.Effect = Pass, EffectOfExplicit(in.stmt())
	if in.Binding == nil {
		if slices.ContainsFunc(in.described.Columns, func(c catalog.Column) bool { return c.AutoIncrement() }) {
			in.Effect = MayLook | MayChangeLastID
		}
		return nil
	}
	keys := in.Fill.Keys
	if in.Fill, err = NewFill(in.stmt(), in.Binding, in.Planner.Slots, in.Binding.Mode(in.Mode)); err != nil {
		return err
	}
	in.Fill.Keys = keys
	in.Fill.Appends = in.Fill.AppendsID(in.SQL)
	in.Kind, in.Effect = in.Planner.KindOf(&in.Fill, in.Effect)
	return nil
}

// checkQueryColumns refuses a query for a table whose vindex columns the statement does
// not list.
func (in *ShardedInsert) checkQueryColumns() error {
	if !in.stmt().HasColumns {
		return nil
	}
	for _, name := range in.vindexColumns() {
		listed := in.Binding != nil && strings.EqualFold(name, in.Binding.Column)
		for _, column := range in.stmt().Columns {
			listed = listed || strings.EqualFold(name, column)
		}
		if !listed {
			return mysql.NewError(mysql.ER_UNKNOWN_ERROR, fmt.Sprintf(
				"VT09003: INSERT query does not have primary vindex column '%s' in the column list", name))
		}
	}
	return nil
}

// SameRows reports whether each shard gets all rows: it is a reference table. So no shard may be left to compute a value for
// itself.
func (in *ShardedInsert) SameRows() bool { return in.Table.Type == vschema.Reference }

// checkComputed refuses rows of which a reference table's shards would compute values.
func (in *ShardedInsert) checkComputed() error {
	if len(in.Keyspace.Shards) == 1 {
		return nil
	}
	var cells []parser.Cell
	for i := range in.described.Columns {
		c := &in.described.Columns[i]
		filled := in.Binding != nil && strings.EqualFold(c.Name, in.Binding.Column)
		if c.ComputesUpdate() && in.stmt().OnDuplicate {
			return in.computes(c, "leave ON DUPLICATE KEY UPDATE away, and UPDATE that column too")
		}
		if filled || !c.AutoIncrement() && !c.ComputesDefault() {
			continue
		}
		var err error
		if cells, err = in.stmt().Cells(cells[:0], in.SQL, c.Name, in.columns); err != nil {
			return err
		}
		if slices.ContainsFunc(cells, c.LeavesOpen) {
			return in.computes(c, "write its value, or give the table a sequence in the vschema for its ids")
		}
	}
	return nil
}

// computes is the error for a value that each shard would compute.
func (in *ShardedInsert) computes(c *catalog.Column, advice string) error {
	return in.unsupported("a value of column '"+c.Name+"' that each shard would compute for itself", advice+
		": a reference table has the same rows in all shards")
}

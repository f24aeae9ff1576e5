package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/vschema"
)

// operand is a column of the primary vindex, with what the rows say of it.
type operand struct {
	name   string
	column *catalog.Column
	id     bool          // its open values are new ids
	cells  []parser.Cell // of each row; none when all are new ids
}

// place finds the shard of each row that does not depend on a new id.
func (in *ShardedInsert) place() (err error) {
	if len(in.operands) == 0 {
		return in.placeWhole()
	}
	if in.Shards = in.room.shards[:]; in.stmt().Rows != len(in.Shards) {
		in.Shards = make([]int, in.stmt().Rows)
	}
	if in.Pending, err = in.placeRows(false); err != nil {
		return err
	}
	return in.mayReturn()
}

// PlaceByIDs finds the shards of the other rows, once the ids are taken, and so those that get the statement.
func (in *ShardedInsert) PlaceByIDs() error {
	if len(in.operands) == 0 {
		return nil
	}
	if in.Pending {
		if _, err := in.placeRows(true); err != nil {
			return err
		}
	}
	in.Targets = in.room.targets[:0]
	for _, shard := range in.Shards {
		if !slices.Contains(in.Targets, shard) {
			in.Targets = append(in.Targets, shard)
		}
	}
	slices.Sort(in.Targets)
	return nil
}

// mayReturn refuses RETURNING where rows may be of several shards, before ids are taken:
// of several rows that are placed by new ids that is not known by then.
func (in *ShardedInsert) mayReturn() error {
	switch {
	case !in.stmt().Returning || len(in.Shards) == 1 || len(in.Keyspace.Shards) == 1:
		return nil
	case in.Pending:
		return in.returnsSeveral()
	}
	for _, shard := range in.Shards {
		if shard != in.Shards[0] {
			return in.returnsSeveral()
		}
	}
	return nil
}

func (in *ShardedInsert) returnsSeveral() error {
	return in.unsupported("RETURNING with rows of several shards", "insert the rows of each shard, or each row with a new id, by a statement of its own")
}

// placeWhole places a statement on a table without vindex: in all shards, or in the
// one that the vschema pins the table to.
func (in *ShardedInsert) placeWhole() error {
	switch {
	case in.Table.Pinned != nil:
		in.Targets = []int{in.Keyspace.Layout.Find(in.Table.Pinned)}
	case in.SameRows():
		for i := range in.Keyspace.Shards {
			in.Targets = append(in.Targets, i)
		}
		if in.stmt().Returning && len(in.Targets) > 1 {
			return in.returnsSeveral()
		}
	default:
		return mysql.NewError(mysql.ER_REQUIRES_PRIMARY_KEY, fmt.Sprintf(
			"table '%s' does not have a primary vindex: give it one in the vschema, or make it a reference table", in.Table.Name))
	}
	return nil
}

// placeRows places the rows whose shard depends on a new id, or the others. pending
// says that there are some of the former.
func (in *ShardedInsert) placeRows(byID bool) (pending bool, err error) {
	n := 0 // of the open rows so far
	for row := range in.Shards {
		values := in.room.values[:0]
		depends := false
		for i := range in.operands {
			o := &in.operands[i]
			if o.id && in.Planner.IsOpen(row) {
				depends = true
				values = append(values, in.newID(n))
				continue
			}
			v, err := in.value(o, row)
			if err != nil {
				return false, err
			}
			values = append(values, v)
		}
		if in.Binding != nil && in.Planner.IsOpen(row) {
			n++
		}
		pending = pending || depends
		if depends != byID {
			continue
		}
		id, err := in.Table.ColumnVindexes[0].Map(in.room.id[:0], values)
		if err != nil {
			return false, in.unmapped(row, err.Error())
		}
		if !in.strict() && slices.ContainsFunc(values, vschema.Value.IsNull) {
			return false, in.stored("NULL") // NOT NULL makes 0 or an empty string of it
		}
		in.Shards[row] = in.Keyspace.Layout.Find(id)
	}
	return pending, nil
}

// newID returns the n-th new id, another value while there are none.
func (in *ShardedInsert) newID(n int) vschema.Value {
	switch {
	case in.Fill.Texts != nil:
		return vschema.Text(in.Fill.Text(n))
	case in.Fill.First == 0:
		return vschema.Int(0)
	}
	return vschema.Int(in.Fill.ID(n))
}

// value returns what a row's column is to the vindex: what the server will store, so
// that the row is found by it.
func (in *ShardedInsert) value(o *operand, row int) (vschema.Value, error) {
	c := &o.cells[row]
	if in.changes(o, c) {
		return vschema.Value{}, in.stored("a value")
	}
	switch c.Kind {
	case parser.CellNull:
		return vschema.Null(), nil
	case parser.CellSigned, parser.CellUnsigned, parser.CellString, parser.CellBits, parser.CellDecimal:
		if v, ok := o.column.Stored(c); ok {
			return v, nil
		}
		if o.column.IsInteger() {
			return vschema.Value{}, in.unmapped(row, "column '"+o.name+"' holds whole numbers")
		}
		return vschema.Value{}, in.unsupported("a value that vindex column '"+o.name+"' of type "+o.column.Type+" may store as another one",
			"write it as the column stores it: the row is found by that")
	}
	return vschema.Value{}, in.unmapped(row, "vindex column '"+o.name+"' has no value")
}

// strict reports whether the server refuses what it cannot store as it is.
func (in *ShardedInsert) strict() bool { return in.Mode.Strict && !in.stmt().Ignore }

// stored is the error for a value that would be stored as another one, so that its row
// would not be found by it.
func (in *ShardedInsert) stored(what string) error {
	return in.unsupported("IGNORE, or an sql_mode that is not strict, with "+what+" that a vindex column would store as another one",
		"write a value that the column holds")
}

// changes reports whether the server may store a value as another one, where it does
// not refuse to.
func (in *ShardedInsert) changes(o *operand, c *parser.Cell) bool {
	if in.strict() {
		return false
	}
	switch name, _ := o.column.TypeName(); name {
	case "bit", "float", "double", "year":
		return c.Kind != parser.CellNull
	}
	switch c.Kind {
	case parser.CellSigned:
		return !o.column.Holds(int64(c.Number), c.Number)
	case parser.CellUnsigned:
		return !o.column.Holds(math.MaxInt64, c.Number)
	case parser.CellString:
		if o.column.IsInteger() {
			return !o.column.HoldsText(string(c.Text))
		}
		if o.column.HasCharacters() && o.column.Charset != "utf8mb4" && !parser.IsASCII(c.Text) {
			return true // it may have no such characters
		}
		n, ok := o.column.MaxCharacters()
		return ok && utf8.RuneCount(c.Text) > n || len(c.Text) > o.column.MaxBytes()
	case parser.CellBits:
		n, ok := o.column.MaxCharacters()
		return ok && len(c.Text) > n
	}
	return false
}

// unmapped is the error for a row that belongs to no shard.
func (in *ShardedInsert) unmapped(row int, why string) error {
	shown := make([]string, len(in.operands))
	for i, o := range in.operands {
		shown[i] = "NULL"
		if o.cells != nil {
			shown[i] = showCell(&o.cells[row])
		}
	}
	return mysql.NewError(mysql.ER_UNKNOWN_ERROR, fmt.Sprintf("VT09023: could not map [%s] to a keyspace id: %s", strings.Join(shown, " "), why))
}

// showCell shows a value as Vitess does.
func showCell(c *parser.Cell) string {
	const maxShown = 64
	text := string(c.Text[:min(len(c.Text), maxShown)])
	switch c.Kind {
	case parser.CellSigned:
		return fmt.Sprintf("INT64(%d)", int64(c.Number))
	case parser.CellUnsigned:
		return fmt.Sprintf("UINT64(%d)", c.Number)
	case parser.CellDecimal:
		return "DECIMAL(" + text + ")"
	case parser.CellString:
		return "VARCHAR(" + strconv.Quote(text) + ")"
	case parser.CellBits:
		return "VARBINARY(" + strconv.Quote(text) + ")"
	}
	return "NULL"
}

// DependsOnID reports whether the shard of a row is that of its new id.
func (in *ShardedInsert) DependsOnID(row int) bool { return in.idOperand() && in.Planner.IsOpen(row) }

package proxy

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
	"github.com/seqgate/seqgate/proxy/plan"
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
func (in *shardedInsert) place() (err error) {
	if len(in.operands) == 0 {
		return in.placeWhole()
	}
	if in.shards = in.room.shards[:]; in.stmt.Rows != len(in.shards) {
		in.shards = make([]int, in.stmt.Rows)
	}
	if in.pending, err = in.placeRows(false); err != nil {
		return err
	}
	return in.mayReturn()
}

// placeByIDs finds the shards of the other rows, once the ids are taken, and so those that get the statement.
func (in *shardedInsert) placeByIDs() error {
	if len(in.operands) == 0 {
		return nil
	}
	if in.pending {
		if _, err := in.placeRows(true); err != nil {
			return err
		}
	}
	in.targets = in.room.targets[:0]
	for _, shard := range in.shards {
		if !slices.Contains(in.targets, shard) {
			in.targets = append(in.targets, shard)
		}
	}
	slices.Sort(in.targets)
	return nil
}

// mayReturn refuses RETURNING where rows may be of several shards, before ids are taken:
// of several rows that are placed by new ids that is not known by then.
func (in *shardedInsert) mayReturn() error {
	switch {
	case !in.stmt.Returning || len(in.shards) == 1 || len(in.keyspace.Shards) == 1:
		return nil
	case in.pending:
		return in.returnsSeveral()
	}
	for _, shard := range in.shards {
		if shard != in.shards[0] {
			return in.returnsSeveral()
		}
	}
	return nil
}

func (in *shardedInsert) returnsSeveral() error {
	return in.unsupported("RETURNING with rows of several shards", "insert the rows of each shard, or each row with a new id, by a statement of its own")
}

// placeWhole places a statement on a table without vindex: in all shards, or in the
// one that the vschema pins the table to.
func (in *shardedInsert) placeWhole() error {
	switch {
	case in.table.Pinned != nil:
		in.targets = []int{in.keyspace.Layout.Find(in.table.Pinned)}
	case in.reference():
		for i := range in.keyspace.Shards {
			in.targets = append(in.targets, i)
		}
		if in.stmt.Returning && len(in.targets) > 1 {
			return in.returnsSeveral()
		}
	default:
		return mysql.NewError(mysql.ER_REQUIRES_PRIMARY_KEY, fmt.Sprintf(
			"table '%s' does not have a primary vindex: give it one in the vschema, or make it a reference table", in.table.Name))
	}
	return nil
}

// takeIDs takes the ids that the rows leave out.
func (in *shardedInsert) takeIDs() error {
	if in.kind != plan.Filled {
		return nil
	}
	if in.fill.Open > 1 {
		var err error
		if in.fill.Step, err = in.r.increment(in.keyspace.Shards); err != nil {
			return err
		}
	}
	return in.r.s.takeOpen(&in.fill)
}

// placeRows places the rows whose shard depends on a new id, or the others. pending
// says that there are some of the former.
func (in *shardedInsert) placeRows(byID bool) (pending bool, err error) {
	n := 0 // of the open rows so far
	for row := range in.shards {
		values := in.room.values[:0]
		depends := false
		for i := range in.operands {
			o := &in.operands[i]
			if o.id && in.r.s.isOpen(row) {
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
		if in.binding != nil && in.r.s.isOpen(row) {
			n++
		}
		pending = pending || depends
		if depends != byID {
			continue
		}
		id, err := in.table.ColumnVindexes[0].Map(in.room.id[:0], values)
		if err != nil {
			return false, in.unmapped(row, err.Error())
		}
		if !in.strict() && slices.ContainsFunc(values, vschema.Value.IsNull) {
			return false, in.stored("NULL") // NOT NULL makes 0 or an empty string of it
		}
		in.shards[row] = in.keyspace.Layout.Find(id)
	}
	return pending, nil
}

// newID gives the n-th new id, another value while there are none.
func (in *shardedInsert) newID(n int) vschema.Value {
	switch {
	case in.fill.Texts != nil:
		return vschema.Text(in.fill.Text(n))
	case in.fill.First == 0:
		return vschema.Int(0)
	}
	return vschema.Int(in.fill.ID(n))
}

// value gives what a row's column is to the vindex: what the server will store, so
// that the row is found by it.
func (in *shardedInsert) value(o *operand, row int) (vschema.Value, error) {
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
func (in *shardedInsert) strict() bool { return in.mode.Strict && !in.stmt.Ignore }

// stored is the error for a value that would be stored as another one, so that its row
// would not be found by it.
func (in *shardedInsert) stored(what string) error {
	return in.unsupported("IGNORE, or an sql_mode that is not strict, with "+what+" that a vindex column would store as another one",
		"write a value that the column holds")
}

// changes reports whether the server may store a value as another one, where it does
// not refuse to.
func (in *shardedInsert) changes(o *operand, c *parser.Cell) bool {
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
func (in *shardedInsert) unmapped(row int, why string) error {
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

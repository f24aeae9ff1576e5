package plan

import (
	"bytes"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/wire"
)

// Expressions in the place of an id, or of a vindex's column, are computed by the
// server before the statement is sent: it alone knows how, and it computes the same
// again in the statement. That costs a round trip.

// constant is such an expression.
type constant struct {
	text []byte
	cell *parser.Cell // of an operand; nil when only the id depends on it
	slot *parser.Slot // of the id; nil for other columns

	characters bool // it is for a column of characters, whatever character set it has itself
}

// compute puts the values of expressions that say where rows go in their places.
func (in *ShardedInsert) compute() error {
	all, err := in.constants()
	if len(all) == 0 || err != nil {
		return err
	}
	if in.computedRow != nil {
		return in.applyConstants(all, in.computedRow)
	}
	query := []byte("SELECT ")
	for i, c := range all {
		if i > 0 {
			query = append(query, ", "...)
		}
		if c.characters {
			query = append(append(append(query, "CAST(CONVERT(("...), c.text...), ") USING utf8mb4) AS BINARY)"...)
			continue
		}
		query = append(append(append(query, "CAST(("...), c.text...), ") AS BINARY)"...)
	}
	return &Missing{Fact: NeedsComputed, Query: string(query) + " LIMIT 1"} // whatever sql_select_limit says
}

// constants collects the expressions, all of which have to be constant.
func (in *ShardedInsert) constants() (all []constant, err error) {
	for i := range in.operands {
		o := &in.operands[i]
		for row := range o.cells {
			kind := o.cells[row].Kind
			// In a column of text a decimal number is what the server writes for it.
			if kind != parser.CellExpression && (kind != parser.CellDecimal || o.column.IsInteger()) {
				continue
			}
			c := constant{text: o.cells[row].Text, cell: &o.cells[row], characters: o.column.HasCharacters()}
			if o.column.IsInteger() && bitLiteral.Match(c.text) {
				return nil, in.unsupported("a hexadecimal or bit literal within the value of an integer vindex column",
					"write the number in decimal: the server may take such a literal for text, or for a number")
			}
			if slots := in.Planner.Slots; o.id && len(slots) > 0 && slots[row].State == parser.Unknown {
				c.slot = &slots[row]
			}
			all = append(all, c)
		}
	}
	if all, err = in.idConstants(all); err != nil {
		return nil, err
	}
	for _, c := range all {
		if !parser.IsConstant(c.text, in.Mode) {
			return nil, in.unsupported("the expression "+string(c.text[:min(len(c.text), 64)])+" as the value of an id or of a vindex column",
				"write a literal there: its value has to be known before the statement is sent")
		}
	}
	return all, nil
}

// idConstants adds the expressions of an id that has no part in a vindex.
func (in *ShardedInsert) idConstants(all []constant) ([]constant, error) {
	slots := in.Planner.Slots
	unknown := func() bool {
		for i := range slots {
			if slots[i].State == parser.Unknown {
				return true
			}
		}
		return false
	}
	if in.Binding == nil || in.idOperand() || !unknown() {
		return all, nil
	}
	cells, err := in.stmt().Cells(nil, in.SQL, in.Binding.Column, in.columns)
	if err != nil {
		return nil, err
	}
	if in.Planner.Slots, err = in.stmt().Slots(slots[:0], in.SQL, in.Binding.Column, in.columns); err != nil {
		return nil, err
	}
	for row := range in.Planner.Slots {
		if slot := &in.Planner.Slots[row]; slot.State == parser.Unknown {
			all = append(all, constant{text: cells[row].Text, slot: slot})
		}
	}
	return all, nil
}

// idOperand reports whether the id is a column of the vindex.
func (in *ShardedInsert) idOperand() bool {
	for i := range in.operands {
		if in.operands[i].id {
			return true
		}
	}
	return false
}

// applyConstants takes in the computed values, a row of the text protocol.
func (in *ShardedInsert) applyConstants(all []constant, row []byte) error {
	for _, c := range all {
		text, null, rest, ok := wire.Text(row)
		if !ok {
			return backend.ErrMalformedAnswer
		}
		v := in.computed(text, null, c.characters)
		row = rest
		if v.Kind == parser.CellExpression {
			return in.unsupported("an expression whose value is not in the client's character set", "write it as a literal")
		}
		if c.cell != nil {
			*c.cell = v
		}
		if c.slot != nil {
			in.applySlot(c.slot, &v)
		}
	}
	return nil
}

// computed returns what a value that the server computed is.
func (in *ShardedInsert) computed(text []byte, null, characters bool) parser.Cell {
	if null {
		return parser.Cell{Kind: parser.CellNull}
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil && strconv.FormatInt(n, 10) == string(text) {
		return parser.SignedCell(n)
	}
	raw := bytes.Clone(text)
	if characters && utf8.Valid(raw) {
		return parser.Cell{Kind: parser.CellString, Text: raw, Raw: raw}
	}
	decoded, ok := in.Mode.Charset.Decode(raw)
	if !ok {
		return parser.Cell{Kind: parser.CellExpression}
	}
	return parser.Cell{Kind: parser.CellString, Text: []byte(decoded), Raw: raw}
}

// applySlot takes a computed value as an id.
func (in *ShardedInsert) applySlot(slot *parser.Slot, v *parser.Cell) {
	mode, at := in.Binding.Mode(in.Mode), slot.Param
	switch v.Kind {
	case parser.CellNull:
		*slot = parser.Slot{State: parser.Open}
	case parser.CellSigned:
		*slot = parser.IntegerSlot(int64(v.Number), false, mode)
	default:
		*slot = parser.StringSlot(v.Raw, mode, in.stmt().Ignore)
	}
	slot.Param = at
}

// bitLiteral may be within text of an expression: there it does no harm to take it
// for a literal.
var bitLiteral = regexp.MustCompile(`(?i)(^|[^0-9a-z_$'"])([xb]'|0[xb][0-9a-f])`)

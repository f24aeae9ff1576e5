package route

import (
	"slices"
	"strings"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/vschema"
)

// column is a column of one of the statement's tables, its name in lower case.
type column struct {
	table int
	name  string
}

// fact is the values that a column has one of.
type fact struct {
	values []parser.RouteOperand
}

// resolveColumn finds the table of a column: of a name without a qualifier, the one table of its block that has a vindex
// over a column of this name. Were there another table with such a column, the server would find it ambiguous.
func (s *statement) resolveColumn(c parser.RouteColumn) (column, bool) {
	if c.Table >= 0 || c.Block < 0 {
		return column{c.Table, c.Name}, c.Table >= 0
	}
	block := &s.Blocks[c.Block]
	found, ok := column{}, false
	for t := block.First; t < block.Last; t++ {
		if !s.hasVindexColumn(t, c.Name) {
			continue
		}
		if ok {
			shared, first := block.Shares()
			return found, shared && first
		}
		found, ok = column{t, c.Name}, true
	}
	return found, ok
}

func (s *statement) hasVindexColumn(t int, name string) bool {
	v := s.tables[t].primary
	return v != nil && slices.ContainsFunc(v.Columns, func(c string) bool { return strings.EqualFold(c, name) })
}

// maxRounds bounds how far values are carried from column to column.
const maxRounds = 64

// gather collects what values columns have, and carries them over equalities.
func (s *statement) gather() {
	s.facts = map[column][]fact{}
	for _, in := range s.Ins {
		if len(in.Columns) != 1 {
			continue
		}
		if c, ok := s.resolveColumn(in.Columns[0]); ok && in.Has(c.table) {
			values := make([]parser.RouteOperand, len(in.Rows))
			for i, row := range in.Rows {
				values[i] = row[0]
			}
			s.facts[c] = append(s.facts[c], fact{values})
		}
	}
	equals := s.equalColumns()
	for range maxRounds {
		changed := false
		for _, e := range equals {
			changed = s.carry(e.left, e.right, e.scope) || changed
			changed = s.carry(e.right, e.left, e.scope) || changed
		}
		if !changed {
			return
		}
	}
}

// equality is a condition between columns of known tables.
type equality struct {
	left, right column
	scope       parser.RouteScope
}

func (s *statement) equalColumns() []equality {
	var equals []equality
	for _, e := range s.Equals {
		left, ok := s.resolveColumn(e.Left)
		right, okRight := s.resolveColumn(e.Right)
		if e.NotNull && (!ok || !okRight || !s.neverNull(left) || !s.neverNull(right)) {
			continue
		}
		if ok && okRight && left != right {
			equals = append(equals, equality{left, right, e.RouteScope})
		}
	}
	return equals
}

// neverNull reports whether the column has no NULLs, as its vindex takes none.
func (s *statement) neverNull(c column) bool {
	if s.Tables[c.table].Optional || !s.hasVindexColumn(c.table, c.name) {
		return false
	}
	v := s.tables[c.table].primary
	i := slices.IndexFunc(v.Columns, func(name string) bool { return strings.EqualFold(name, c.name) })
	return takesNumbers(columnVindexType(*v, i))
}

// carry returns the column to the values of from, when the rows of its table have to be equal, and it has none. Text is
// carried between columns of one vindex only: of a number, equal texts may have other bytes.
func (s *statement) carry(to, from column, scope parser.RouteScope) bool {
	if !scope.Has(to.table) || len(s.facts[from]) == 0 {
		return false
	}
	if s.single(to) || len(s.facts[to]) > 0 && !s.single(from) {
		return false
	}
	k := s.classOf(to)
	if k == classUnknown || k != s.classOf(from) || k != classNumber && s.vindexOf(to) != s.vindexOf(from) {
		return false
	}
	s.facts[to] = append(s.facts[to], s.facts[from]...)
	return true
}

// single reports whether the column has one value.
func (s *statement) single(c column) bool {
	return slices.ContainsFunc(s.facts[c], func(f fact) bool { return len(f.values) == 1 })
}

// vindexOf returns the primary vindex that the column is of, nil for none.
func (s *statement) vindexOf(c column) *vschema.NamedVindex {
	if !s.hasVindexColumn(c.table, c.name) {
		return nil
	}
	return s.tables[c.table].primary.NamedVindex
}

// classOf returns the class of the column. One without a vindex has that of its type: a YEAR that is equal to 25 is 2025.
func (s *statement) classOf(c column) class {
	t := &s.tables[c.table]
	if t.primary != nil {
		for i, name := range t.primary.Columns {
			if strings.EqualFold(name, c.name) {
				return s.vindexClass(c.table, *t.primary, i)
			}
		}
	}
	return typeClass(s.typeOf(c))
}

// bind returns how table t is bound, nil when it is not.
func (s *statement) bind(t int) *binding {
	info := &s.tables[t]
	switch {
	case len(info.model.Pinned) > 0:
		return &binding{pinned: info.model.Pinned}
	case info.primary == nil:
		return nil
	}
	b := &binding{vindex: *info.primary}
	for i := range b.vindex.Columns {
		b.classes = append(b.classes, s.vindexClass(t, b.vindex, i))
	}
	if s.bindColumns(b, t) || s.bindRows(b, t) {
		return b
	}
	return nil
}

// bindColumns binds each column of the vindex by itself; one of them may have several values. Of a vindex that takes
// prefixes the last columns may be free.
func (s *statement) bindColumns(b *binding, t int) bool {
	rows := [][]slot{nil}
	for i, name := range b.vindex.Columns {
		values, ok := s.bestFact(column{t, strings.ToLower(name)}, b.classes[i])
		if !ok || len(values) > 1 && len(rows) > 1 {
			if _, takesPrefix := b.vindex.Vindex.(vschema.PrefixVindex); i == 0 || !takesPrefix {
				return false
			}
			b.prefix = true
			break
		}
		next := make([][]slot, 0, len(rows)*len(values))
		for _, row := range rows {
			for _, v := range values {
				next = append(next, append(slices.Clone(row), s.slot(v)))
			}
		}
		rows = next
	}
	b.rows = rows
	return true
}

// bestFact returns the values of a column that all are where the vindex puts them, one value before several.
func (s *statement) bestFact(c column, k class) (values []parser.RouteOperand, ok bool) {
	for _, f := range s.facts[c] {
		if (!ok || len(f.values) < len(values)) && s.allExact(f.values, k) {
			values, ok = f.values, true
		}
	}
	return values, ok
}

func (s *statement) allExact(values []parser.RouteOperand, k class) bool {
	for _, o := range values {
		if !s.isExact(o, k) {
			return false
		}
	}
	return true
}

// isExact reports whether the operand may bind a column of the class. Of placeholders that is seen with each execution.
func (s *statement) isExact(o parser.RouteOperand, k class) bool {
	if k == classUnknown {
		return false
	}
	if o.Kind != parser.OperandLiteral {
		return true
	}
	v, ok := literalValue(s.Literals()[o.Index], o.Negative, s.sql, s.mode)
	if ok {
		_, ok = k.exact(v)
	}
	s.inexact = s.inexact || !ok
	return ok
}

// bindRows binds the columns of the vindex by one condition on rows: (a, b) IN ((1, 2), (3, 4)).
func (s *statement) bindRows(b *binding, t int) bool {
	for _, in := range s.Ins {
		places, ok := s.rowPlaces(in, b, t)
		if !ok {
			continue
		}
		b.rows, b.prefix = nil, false
		for _, row := range in.Rows {
			var slots []slot
			for i, at := range places {
				if ok = ok && s.isExact(row[at], b.classes[i]); ok {
					slots = append(slots, s.slot(row[at]))
				}
			}
			b.rows = append(b.rows, slots)
		}
		if ok {
			return true
		}
	}
	return false
}

// rowPlaces returns where in the rows of the condition the vindex's columns are.
func (s *statement) rowPlaces(in parser.RouteIn, b *binding, t int) ([]int, bool) {
	if len(in.Columns) < 2 || !in.Has(t) {
		return nil, false
	}
	var places []int
	for _, name := range b.vindex.Columns {
		at := slices.IndexFunc(in.Columns, func(c parser.RouteColumn) bool {
			found, ok := s.resolveColumn(c)
			return ok && found.table == t && strings.EqualFold(found.name, name)
		})
		if at < 0 {
			return nil, false
		}
		places = append(places, at)
	}
	return places, true
}

// slot returns the place of the operand's value, which it adds to the plan's.
func (s *statement) slot(o parser.RouteOperand) slot {
	switch o.Kind {
	case parser.OperandParam:
		return slot{slotParam, o.Index}
	case parser.OperandLiteral:
		l := literalSlot{o.Index, o.Negative}
		if i, ok := s.places[l]; ok {
			return slot{slotValue, i}
		}
		if s.places == nil {
			s.places = map[literalSlot]int{}
		}
		s.places[l] = len(s.values)
		v, _ := literalValue(s.Literals()[o.Index], o.Negative, s.sql, s.mode)
		s.slots, s.values = append(s.slots, l), append(s.values, v)
		return slot{slotValue, len(s.values) - 1}
	}
	return slot{}
}

// literalValue returns the value of a literal as vindexes take it, in memory of its own.
func literalValue(l parser.Literal, negative bool, sql []byte, m parser.Mode) (vschema.Value, bool) {
	v, ok := l.Value(sql, m)
	if !ok {
		return vschema.Value{}, false
	}
	switch v.Kind {
	case parser.LiteralInteger:
		switch {
		case negative && v.N <= 1<<63:
			return vschema.Int(-int64(v.N)), true
		case v.N < 1<<63:
			return vschema.Int(int64(v.N)), !negative
		}
		return vschema.Uint(v.N), !negative
	case parser.LiteralString:
		return vschema.Text(slices.Clone(v.Text)), true
	case parser.LiteralBits:
		return vschema.Bits(slices.Clone(v.Text)), true
	}
	return vschema.Value{}, false // a decimal: 5.0 is equal to 5, which is elsewhere
}

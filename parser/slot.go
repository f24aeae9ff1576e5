package parser

import (
	"slices"
	"strings"
)

// SlotState is what a row says of a column.
type SlotState uint8

const (
	// Open: the column is absent, NULL, DEFAULT or a zero, which asks the
	// server for a generated value.
	Open SlotState = iota
	// Explicit: a value of the client's own, or one that the server refuses.
	Explicit
	// Param: exactly one placeholder, to be decided by its value at execution.
	Param
	// Unknown: an expression whose value only the server can tell.
	Unknown
)

// Slot is what one row says of one column, taken as an integer column.
type Slot struct {
	State SlotState
	// HasValue says that Value is the value, rounded as MySQL stores it. It may
	// be set for Explicit only. An Explicit slot without it is out of the range
	// of int64, or no number at all and refused by the server.
	HasValue bool
	Value    int64
	// Param is, for State Param, the index of the placeholder in the whole text,
	// counted from 0; otherwise how many placeholders stand before the place
	// where the value is or will be.
	Param int
}

// binding is the column that Slots was asked for last.
type binding struct {
	column  string
	index   int      // in a row; -1 when the column is absent
	columns []string // of the table in order, when a full list has to be written
	places  []place  // where each row's value is, when the column is not absent
	sets    setting  // whether the text may assign user variables
}

type place struct{ start, end uint32 }

// Slots appends to dst what each row says of the column, one slot per row, and
// makes it the column that AppendFilled edits. sql is the text given to Parse.
//
// tableColumns are the table's columns in their order, without the invisible
// ones but with the generated ones: what a row without column list has values
// for. They are used for such statements only, and may be nil for others. When
// they are missing the error is ErrColumnsUnknown. Names compare without regard
// to case.
//
// A *ColumnCountError or a *DuplicateColumnError (both ErrServerRefuses) is for
// statements that the server refuses too. An *UnsupportedError is for rows in
// which another value reads the column, which MySQL evaluates before the id is
// generated.
func (s *InsertStmt) Slots(dst []Slot, sql []byte, column string, tableColumns []string) ([]Slot, error) {
	if err := s.Bind(column, tableColumns); err != nil {
		return dst, err
	}
	dst = slices.Grow(dst, len(s.body.rows))
	if s.bound.index < 0 {
		for i := range s.body.rows {
			dst = append(dst, Slot{State: Open, Param: s.body.paramsBefore(i + 1)})
		}
		return dst, nil
	}
	n := len(dst)
	s.bound.places = slices.Grow(s.bound.places, len(s.body.rows))
	sc := newScanner(sql, s.mode)
	for i := range s.body.rows {
		v := s.valueOf(&sc, i, s.bound.index)
		s.bound.places = append(s.bound.places, place{uint32(v.start), uint32(v.end)})
		dst = append(dst, s.slot(sql, v))
	}
	if s.body.readsNames && !allExplicit(dst[n:]) && s.readsColumn(&sc) {
		return dst[:n], &UnsupportedError{
			Form:   s.verb() + " in which a value reads the column " + column,
			Schema: s.Schema, Table: s.Table,
		}
	}
	return dst, nil
}

func allExplicit(slots []Slot) bool {
	for _, slot := range slots {
		if slot.State != Explicit {
			return false
		}
	}
	return true
}

// Bind is Slots for a caller that first wants to know whether the statement
// LeavesOut the column: then it needs no slots, of which each row has one.
func (s *InsertStmt) Bind(column string, tableColumns []string) error {
	b := &s.bound
	b.column, b.columns, b.places, b.sets = column, b.columns[:0], b.places[:0], settingUnknown
	named := s.Columns
	if len(named) == 0 && s.body.values > 0 {
		if tableColumns == nil {
			return ErrColumnsUnknown
		}
		b.columns = append(b.columns, tableColumns...)
		named = b.columns
	}
	if err := b.find(named); err != nil {
		return err
	}
	switch {
	case s.body.values != len(named):
		return &ColumnCountError{Row: 1}
	case s.body.uneven > 0:
		return &ColumnCountError{Row: s.body.uneven + 1}
	}
	return s.spellable()
}

// find sets the index of the column in the row.
func (b *binding) find(named []string) error {
	b.index = -1
	for i, name := range named {
		if !sameColumn(name, b.column) {
			continue
		}
		if b.index >= 0 {
			return &DuplicateColumnError{Column: b.column}
		}
		b.index = i
	}
	return nil
}

// sameColumn reports whether two columns' names are equal but for case. MySQL
// folds some more, so that it may refuse a statement with both as having one
// column twice.
func sameColumn(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// spellable checks that the names which AppendFilled may have to write can be
// written in the client's character set.
func (s *InsertStmt) spellable() error {
	ok := s.mode.Charset.spells(s.bound.column)
	for _, name := range s.bound.columns {
		ok = ok && s.mode.Charset.spells(name)
	}
	if !ok {
		return &UnsupportedError{
			Form:   s.verb() + " in a character set that the column's name cannot be written in",
			Schema: s.Schema, Table: s.Table,
		}
	}
	return nil
}

// valueOf returns the value at index of a row.
func (s *InsertStmt) valueOf(sc *scanner, row, index int) value {
	if len(s.body.assigns) > 0 {
		a := s.body.assigns[index]
		sc.end, sc.params = int(a.start), int(a.params)
		v, _ := sc.value(sc.next())
		return v
	}
	if before := s.body.paramsBefore(row); index == s.body.watch && before == s.body.paramsBefore(row+1) {
		sc.end, sc.params = int(s.body.rows[row].from), before
	} else {
		s.enter(sc, row)
		for range index {
			sc.skipValue()
		}
	}
	v, _ := sc.value(sc.next())
	return v
}

// enter moves behind the opening parenthesis of a row of VALUES.
func (s *InsertStmt) enter(sc *scanner, row int) {
	sc.end, sc.params = s.body.begin, s.body.paramsBefore(row)
	if row > 0 {
		sc.end = int(s.body.rows[row-1].close) + 1
	}
	for t := sc.next(); t != '(' && t != tokenEOF; {
		t = sc.next()
	}
}

// skipValue moves behind the comma after the next value of a row.
func (s *scanner) skipValue() {
	for depth := 0; ; {
		switch s.next() {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				return
			}
		case tokenEOF, tokenInvalid:
			return
		}
	}
}

// readsColumn reports whether a value other than the column's own names the
// column, outside subqueries on tables of their own.
func (s *InsertStmt) readsColumn(sc *scanner) bool {
	first, last := s.body.begin, s.body.rows[len(s.body.rows)-1].close
	if isPlainWord(s.bound.column) && !ContainsWord(sc.sql[first:last], s.bound.column) {
		return false
	}
	for i, a := range s.body.assigns {
		if i != s.bound.index && s.readsColumnIn(sc, a.start, a.end) {
			return true
		}
	}
	if len(s.body.assigns) > 0 {
		return false
	}
	for i, r := range s.body.rows {
		p := s.bound.places[i]
		s.enter(sc, i)
		if s.readsColumnIn(sc, uint32(sc.end), p.start) || s.readsColumnIn(sc, p.end, r.close) {
			return true
		}
	}
	return false
}

// maxDepth is how deep the parentheses of a value may be for readsColumnIn. Servers
// refuse such depths themselves.
const maxDepth = 1000

// parenthesis is an open one in a value.
type parenthesis struct {
	query bool // it begins a subquery
	from  bool // ... with a FROM clause: its columns are of tables of its own
	reads bool // the column is named within
}

// readsColumnIn is readsColumn for the values in one part of the text, in one pass.
// What is nested too deep counts as reading it.
func (s *InsertStmt) readsColumnIn(sc *scanner, from, to uint32) bool {
	var buffer [8]parenthesis
	stack := append(buffer[:0], parenthesis{})
	sc.end = int(from)
	for opened := false; ; {
		t := sc.next()
		top := &stack[len(stack)-1]
		top.query = top.query || opened && sc.is(t, "select")
		opened = t == '('
		switch {
		case t == tokenEOF, t == tokenInvalid, sc.start >= int(to):
			return slices.ContainsFunc(stack, func(p parenthesis) bool { return p.reads })
		case opened && len(stack) == maxDepth:
			return true
		case opened:
			stack = append(stack, parenthesis{})
		case t == ')' && len(stack) > 1:
			stack = stack[:len(stack)-1]
			if top.reads && !(top.query && top.from) {
				stack[len(stack)-1].reads = true
			}
		case sc.is(t, "from"):
			top.from = true
		case isName(t) && !top.reads && s.isColumn(sc, t):
			top.reads = true
		}
	}
}

// isColumn reports whether the current token t is the bound column's name.
func (s *InsertStmt) isColumn(sc *scanner, t token) bool {
	name, ok := sc.appendName(nil, t, s.mode.Charset)
	return ok && sameColumn(string(name), s.bound.column)
}

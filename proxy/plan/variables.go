package plan

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// variablesOf finds the user variables that are ids in the INSERT in Stmt. Those of a text are judged at once, and it is
// reported whether there are any; those of a prepared statement are given, nil for none.
func (p *Planner) variablesOf(sql []byte, b *catalog.Binding, prepared bool) (judged bool, bound *IDVariables, err error) {
	if b.Approximate {
		return false, nil, nil // they are refused: ROUND takes a half for 1
	}
	if prepared {
		bound, err = p.boundVariables(sql, b)
	} else {
		judged, err = p.judgeVariables(sql, b)
	}
	return judged, bound, err
}

// boundVariables notes the rows of the INSERT in Stmt whose ids are user variables, nil for none, and makes parameters of
// them in Slots.
func (p *Planner) boundVariables(sql []byte, b *catalog.Binding) (*IDVariables, error) {
	var v IDVariables
	for row := range p.Slots {
		slot := &p.Slots[row]
		slot.Param += len(v.At)
		if slot.State != parser.Unknown {
			continue
		}
		name := p.Stmt.Variable(sql, row)
		switch {
		case name == nil:
			continue // it is refused for this
		case len(v.At) == MaxOwnVariables:
			return nil, tooManyIDVariables(b)
		case ReadsDiagnostics(sql):
			return nil, diagnosticsBeside(b)
		}
		slot.State = parser.Param
		v.Names, v.At, v.Rows = append(v.Names, slices.Clone(name)), append(v.At, slot.Param), append(v.Rows, row)
	}
	if len(v.At) == 0 {
		return nil, nil
	}
	return &v, nil
}

// judgeVariables checks those rows of the INSERT in Stmt, in Slots, whose ids are user variables, by copies of them: what was
// judged is so what the statement writes. It reports whether there are any.
func (p *Planner) judgeVariables(sql []byte, b *catalog.Binding) (bool, error) {
	var rows []int
	var names [][]byte
	for row, slot := range p.Slots {
		if slot.State != parser.Unknown {
			continue
		}
		variable := p.Stmt.Variable(sql, row)
		switch {
		case variable == nil && b.Form != 0:
			continue // an expression, which may be the row's own
		case variable == nil:
			return false, nil // it is refused for this
		case len(rows) == MaxOwnVariables:
			return false, tooManyIDVariables(b)
		}
		rows, names = append(rows, row), append(names, variable)
	}
	switch {
	case len(rows) == 0:
		return false, nil
	case ReadsDiagnostics(sql):
		return false, diagnosticsBeside(b)
	}
	copied, mode := &p.Fetched.Variables, b.Mode(p.Session.Mode)
	if !slices.Equal(copied.Rows, rows) || !slices.EqualFunc(copied.Names, names, bytes.Equal) || copied.Mode != mode {
		return false, &Missing{Fact: NeedsVariables, Rows: rows, Names: names, Mode: mode}
	}
	for i, row := range rows {
		p.Slots[row] = copied.Slots[i]
	}
	return true, nil
}

func tooManyIDVariables(b *catalog.Binding) error {
	return catalog.Unsupported(fmt.Sprintf("more than %d user variables as ids in one statement", MaxOwnVariables), b.Table, "insert fewer rows at once")
}

func diagnosticsBeside(b *catalog.Binding) error {
	return catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings beside a user variable as the id", b.Table, "read it with SELECT first")
}

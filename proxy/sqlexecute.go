package proxy

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
)

// planExecuteSQL plans SQL's EXECUTE.
func (x *textRunner) planExecuteSQL(p textPlan, sql []byte) (textPlan, error) {
	if len(x.named) == 0 {
		return p, nil
	}
	mode, err := x.Readable(sql)
	if err != nil {
		return p, err
	}
	name, using, ok := parser.ParseExecute(sql, mode)
	st := x.named[name]
	if !ok || st == nil {
		return p, nil // under this name the server has what needs no ids, or nothing
	}
	if st.fill == nil {
		return p, x.stillBound(&st.statement)
	}
	using = cloneAll(using)
	p.command("EXECUTE")
	p.effect = 0
	p.run = func(attributes []byte) error { return x.executeNamed(attributes, st, using) }
	return p, nil
}

func cloneAll(list [][]byte) [][]byte {
	all := slices.Clone(list)
	for i := range all {
		all[i] = slices.Clone(all[i])
	}
	return all
}

// executeNamed executes an INSERT that SQL's PREPARE has prepared.
func (x *textRunner) executeNamed(attributes []byte, st *namedStmt, using [][]byte) error {
	if err := x.KnowLastID(); err != nil {
		return err
	}
	if err := x.stillBound(&st.statement); err != nil {
		return err
	}
	p := st.execution()
	using, open, err := x.openUsing(&st.statement, &p, using)
	if err != nil {
		return err
	}
	name := st.server
	if p.RunsFilled() {
		name = st.filledName()
		if using, err = x.fillUsing(st, &p, open, using); err != nil {
			return err
		}
	}
	if err := x.beforeSQL(&st.statement, &p); err != nil {
		return err
	}
	if err := x.Send(appendUsing(append(attributes, "EXECUTE "+name...), using)); err != nil {
		return err
	}
	return x.answerExecute(&st.statement, &p)
}

// beforeSQL prepares the backend session for an execution.
func (f *filler) beforeSQL(st *statement, p *plan.Fill) error {
	switch {
	case !p.Rewrites():
		return f.before(st.effect)
	case !p.Wrap:
		return f.before(plan.MayLook)
	}
	return nil
}

// appendUsing appends the values of an EXECUTE.
func appendUsing(dst []byte, using [][]byte) []byte {
	if len(using) == 0 {
		return dst
	}
	return append(append(dst, " USING "...), bytes.Join(using, []byte(", "))...)
}

// openUsing counts the rows whose ids are open in an execution with these values,
// and tells which they are. It gives the values with those of variables that are ids.
func (f *filler) openUsing(st *statement, p *plan.Fill, using [][]byte) (all [][]byte, open func(row int) bool, err error) {
	if len(using) != st.params {
		return nil, nil, mysql.NewDefaultError(mysql.ER_WRONG_ARGUMENTS, "EXECUTE")
	}
	if using, err = f.usingVariables(st, using); err != nil {
		return nil, nil, err
	}
	slots := slices.Clone(st.slots)
	if err := f.judgeUsing(slots, p, using); err != nil {
		return nil, nil, err
	}
	strict := p.Binding.Mode(f.State.Mode).Strict && !p.Ignore
	for row := range slots {
		slots[row] = p.Binding.Judge(slots[row], strict)
		switch slots[row].State {
		case parser.Open:
			p.Open++
		case parser.Unknown, parser.Param:
			return nil, nil, catalog.Unsupported("an expression in USING as the value of '"+p.Binding.Column+"'", p.Binding.Table,
				"write a user variable, NULL or a literal there")
		}
		p.NoteExplicit(slots[row])
	}
	p.Own = plan.OwnOf(slots)
	return using, func(row int) bool { return slots[row].State == parser.Open }, nil
}

// judgeUsing checks those rows whose ids are values of EXECUTE's USING. The session
// is asked for user variables.
func (f *filler) judgeUsing(slots []parser.Slot, p *plan.Fill, using [][]byte) error {
	mode := p.Binding.Mode(f.State.Mode)
	var rows []int
	var variables [][]byte
	for row, slot := range slots {
		if slot.State != parser.Param {
			continue
		}
		value := using[slot.Param]
		if parser.IsUserVariable(value, mode) {
			rows, variables = append(rows, row), append(variables, value)
		} else {
			slots[row] = parser.ValueSlot(value, mode, p.Ignore)
		}
	}
	if len(variables) > plan.MaxOwnVariables {
		return tooManyVariables(p.Binding)
	}
	values, err := f.readVariables(variables, mode, p.Ignore)
	for i, v := range values {
		slots[rows[i]] = v
	}
	return err
}

// fillUsing takes ids for the open rows and puts them among the values of USING.
// MySQL takes user variables only, so they are put into some there.
func (f *filler) fillUsing(st *namedStmt, p *plan.Fill, open func(row int) bool, using [][]byte) ([][]byte, error) {
	if !f.MariaDB && p.Open > plan.MaxOwnVariables {
		return nil, tooManyVariables(p.Binding)
	}
	if err := f.takeIDs(p, open, nil); err != nil {
		return nil, err
	}
	if f.MariaDB || p.Open == 0 {
		return withIDs(st.slots, using, open, func(n, _ int) []byte { return p.AppendValue(nil, n) }), nil
	}
	set := []byte("SET ")
	using = withIDs(st.slots, using, open, func(n, _ int) []byte {
		if n > 0 {
			set = append(set, ", "...)
		}
		variable := fmt.Appendf(nil, idVariable, n)
		set = p.AppendValue(append(append(set, variable...), " = "...), n)
		return variable
	})
	return using, f.Quietly(string(set))
}

func tooManyVariables(b *catalog.Binding) error {
	return catalog.Unsupported(fmt.Sprintf("more than %d rows in SQL's EXECUTE", plan.MaxOwnVariables), b.Table, "insert fewer rows at once, or use the driver's prepared statements")
}

// executeImmediate runs MariaDB's EXECUTE IMMEDIATE of an INSERT, which is in
// s.planner.Stmt: the text that is prepared gets the ids.
func (x *textRunner) executeImmediate(attributes []byte, st *statement, command, text []byte, using [][]byte) error {
	if err := x.KnowLastID(); err != nil {
		return err
	}
	p := st.execution()
	p.Prepared = false // only an id is wrapped
	using, open, err := x.openUsing(st, &p, using)
	if err != nil {
		return err
	}
	if p.RunsFilled() {
		if command, err = x.fillImmediate(st, &p, open, text, using); err != nil {
			return err
		}
	}
	if err := x.beforeSQL(st, &p); err != nil {
		return err
	}
	if err := x.Send(append(attributes, command...)); err != nil {
		return err
	}
	return x.answerExecute(st, &p)
}

// fillImmediate returns the EXECUTE IMMEDIATE of the text with its ids, and with the
// values of USING whose places they do not take.
func (f *filler) fillImmediate(st *statement, p *plan.Fill, open func(row int) bool, text []byte, using [][]byte) ([]byte, error) {
	if err := f.takeIDs(p, open, nil); err != nil {
		return nil, err
	}
	n := 0
	var kept [][]byte
	taken := 0
	value := func(dst []byte, row int) ([]byte, bool) {
		variable := p.Bound.Has(row)
		if !open(row) && !variable {
			return dst, false
		}
		slot := st.slots[row]
		if slot.State == parser.Param {
			kept = append(kept, using[taken:slot.Param]...)
			taken = slot.Param + 1
		}
		if !open(row) {
			return append(dst, using[slot.Param]...), true
		}
		dst = p.AppendOpen(dst, n)
		n++
		return dst, true
	}
	filled := f.planner.Stmt.AppendFilled(nil, text, p.Binding.Column, value, p.Options())
	command := parser.AppendLiteral([]byte("EXECUTE IMMEDIATE "), filled, f.State.Mode)
	return appendUsing(command, append(kept, using[taken:]...)), nil
}

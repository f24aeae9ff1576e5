package proxy

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// planInsert judges an INSERT or REPLACE. What seqgate cannot read of one on a
// sequenced table is refused: it must not reach the server without its ids.
func (f *insertPlanner) planInsert(p textPlan, sql []byte, prepared bool) (textPlan, error) {
	p, err := f.planRead(p, sql, prepared)
	return p, unread(err, sql)
}

// planRead is planInsert with seqgate's own errors.
func (f *insertPlanner) planRead(p textPlan, sql []byte, prepared bool) (textPlan, error) {
	if !f.State.EnvironmentKnown {
		if f.insertsElsewhere(sql, prepared) {
			return p, nil
		}
		if !prepared && f.planUnlisted(&p, sql) {
			return p, nil
		}
	}
	if asks := !f.State.EnvironmentKnown || !f.State.LastIDKnown; asks && f.State.DatabaseKnown && plan.ReadsDiagnostics(sql) {
		return f.planWithoutProbe(p, sql)
	}
	if err := f.Know(); err != nil {
		return p, err
	}
	b, err := f.parseInsert(sql)
	if b == nil || err != nil {
		return p, err
	}
	if err := f.KnowLastID(); err != nil {
		return p, err
	}
	if f.insert.FromQuery() {
		if plan.ReadsDiagnostics(sql) { // the count is a statement of its own
			return p, catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in INSERT ... SELECT", b.Table, "read it with SELECT first")
		}
		return f.planQuery(p, b, prepared)
	}
	return f.planValues(p, sql, b, prepared)
}

// planValues judges the rows of the INSERT ... VALUES or SET in s.insert.
func (f *insertPlanner) planValues(p textPlan, sql []byte, b *catalog.Binding, prepared bool) (textPlan, error) {
	keys, err := f.readRows(sql, b, prepared)
	if errors.Is(err, parser.ErrServerRefuses) && !f.insert.HasColumns {
		// Counted by the columns that are known here: they may have changed.
		if b, err = f.bindAnew(); b == nil || err != nil {
			return p, err
		}
		if keys, err = f.readRows(sql, b, prepared); errors.Is(err, parser.ErrServerRefuses) {
			return p, mysql.NewDefaultError(mysql.ER_WRONG_VALUE_COUNT_ON_ROW, 1)
		}
	}
	if errors.Is(err, parser.ErrServerRefuses) {
		return p, nil // rows of the wrong length and the like: the server's own error, and no id is used
	}
	if err != nil {
		return p, refuseForm(err, b.Table)
	}
	variables, bound, err := f.variablesOf(sql, b, prepared)
	if err != nil {
		return p, err
	}
	if p.fill, err = plan.NewFill(&f.insert, b, f.slots, b.Mode(f.State.Mode)); err != nil {
		return p, err
	}
	p.fill.FoundRows, p.fill.Keys, p.fill.Variables = f.Has(mysql.CLIENT_FOUND_ROWS), keys, variables
	p.fill.Appends = p.fill.AppendsID(sql)
	if bound != nil {
		p.fill.Bound, p.fill.Wrap = bound, false
	}
	if p.fill.Params == 0 || prepared { // else a ? in a text: the server's own syntax error
		p.kind, p.effect = f.kindOfFill(&p.fill, p.effect)
	}
	return p, nil
}

// kindOfFill gives what becomes of a statement whose ids are judged.
func (f *insertPlanner) kindOfFill(p *plan.Fill, e plan.Effect) (planKind, plan.Effect) {
	switch {
	case p.Rewrites() || p.Params > 0:
		return planFill, f.effectOfFill(p)
	case p.Variables:
		return planFill, e
	case p.Reports():
		return planReport, plan.EffectOfExplicit(&f.insert)
	case p.Tells():
		return planReport, e
	}
	return planPass, e
}

// readRows reads what each row of the INSERT in s.insert says of its id, into
// s.slots, and of its key where the sequence has keys. Of a text that leaves the id
// out there are no slots.
func (f *insertPlanner) readRows(sql []byte, b *catalog.Binding, prepared bool) (keys []parser.Key, err error) {
	if keys, err = f.planKeys(sql, b); err != nil {
		return nil, err
	}
	if err = f.insert.Bind(b.Column, b.Columns); err != nil || f.insert.LeavesOut() && !prepared {
		f.slots = f.slots[:0]
		return keys, err
	}
	f.slots, err = f.insert.Slots(f.slots[:0], sql, b.Column, b.Columns)
	return keys, err
}

// bindAnew looks the statement's table up at the server, not in the cache.
func (f *insertPlanner) bindAnew() (*catalog.Binding, error) {
	f.srv.catalog.Forget()
	return f.binding(f.insert.Schema, f.insert.Table)
}

// planWithoutProbe judges such a statement by its table alone, without asking the
// session for its settings: it passes when the table has no sequence.
func (f *insertPlanner) planWithoutProbe(p textPlan, sql []byte) (textPlan, error) {
	m := parser.Mode{MariaDB: f.MariaDB}
	if f.State.EnvironmentKnown {
		m = f.State.Mode
	}
	if err := f.insert.ParseTarget(sql, m); err != nil {
		return p, f.refuseUnread(err, sql)
	}
	b, err := f.binding(f.insert.Schema, f.insert.Table)
	if b != nil {
		err = catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in an INSERT before it knows the session", b.Table,
			"read it with SELECT first")
	}
	return p, err
}

// parseInsert reads an INSERT into s.insert and gives its table's binding, nil
// when the statement goes to the server as it is.
func (f *insertPlanner) parseInsert(sql []byte) (*catalog.Binding, error) {
	if err := f.insert.ParseTarget(sql, f.State.Mode); err == nil {
		b, err := f.binding(f.insert.Schema, f.insert.Table)
		if b == nil || err != nil {
			return nil, err // the rows of a table without a sequence are never looked at
		}
		if err := f.insert.ParseFor(sql, b.Mode(f.State.Mode), b.Column, b.Columns); err == nil {
			return b, nil
		}
		if err := f.insert.ParseQuery(sql, b.Mode(f.State.Mode)); err == nil {
			return b, nil
		} else if f.insert.FromQuery() {
			return nil, refuseForm(err, b.Table)
		}
	}
	return nil, f.refuseUnread(f.insert.Parse(sql, f.State.Mode), sql)
}

// refuseUnread refuses an INSERT that could not be read, unless its table has no
// sequence: then the server judges it.
func (f *insertPlanner) refuseUnread(err error, sql []byte) error {
	var form *parser.UnsupportedError
	if errors.As(err, &form) {
		b, lookupErr := f.binding(form.Schema, form.Table)
		if b == nil || lookupErr != nil {
			return lookupErr
		}
		return refuseForm(err, b.Table)
	}
	if tables, ok := parser.Writes(nil, sql, f.State.Mode); ok && len(tables) == 0 {
		return err // it names no table
	}
	return f.refuseWrites("this INSERT, which it cannot read ("+err.Error()+"),", sql)
}

// refuseForm refuses a statement that the parser understood well enough to know
// that it cannot be filled.
func refuseForm(err error, table string) error {
	form := err.Error()
	var known *parser.UnsupportedError
	if errors.As(err, &known) {
		form = known.Form
	}
	return catalog.Unsupported(form, table, "use INSERT or REPLACE ... VALUES or SET with a column list")
}

func columnFull(b *catalog.Binding, id int64) error {
	return mysql.NewError(mysql.ER_AUTOINC_READ_FAILED, fmt.Sprintf(
		"the next id %d of sequence %s is past the largest that column '%s' of table '%s' holds (%d); widen the column",
		id, b.Sequence, b.Column, b.Table, b.Max))
}

// settleFill reads the server's answer to a filled statement and tells the
// client what a native AUTO_INCREMENT column would have.
func (x *insertRunner) settleFill(p *plan.Fill, t catalog.TableName) error {
	if p.Binding.Form != 0 {
		return x.settleTexts(p)
	}
	if p.Returning && x.AnswersRows() {
		return x.settleReturning(p, t)
	}
	ok, err := x.answerOK()
	ok, err = x.repeatTaken(p, t, ok, err)
	x.tellExplicit(p, t, x.ownOutcome(p, ok, err))
	if err != nil {
		var refused *wire.ServerError
		if errors.As(err, &refused) {
			// LAST_INSERT_ID(id) may have been evaluated before it failed.
			x.State.Restore = x.State.Restore || p.Wrap || p.Appends
			x.forgetIfStale(refused)
		}
		return err
	}
	x.tellInserted(p, t, &ok)
	return x.replyOK(ok)
}

// settleText reads the answer to a statement whose text was rewritten.
func (x *insertRunner) settleText(p *plan.Fill) error {
	if p.Rewrites() {
		return x.settleFill(p, catalog.TableName{Schema: x.insertSchema(), Table: x.insert.Table})
	}
	return x.settleExplicit(p, catalog.TableName{Schema: x.insertSchema(), Table: x.insert.Table})
}

// settleExplicit reads the answer to a statement with ids of its own. On a column
// without AUTO_INCREMENT the OK packet is made to tell the last one, as on a
// column with it.
func (x *insertRunner) settleExplicit(p *plan.Fill, t catalog.TableName) error {
	if p.Returning && x.AnswersRows() {
		return x.relayReturning(p, t)
	}
	ok, err := x.answerOK()
	x.tellExplicit(p, t, x.ownOutcome(p, ok, err))
	if err != nil {
		return err
	}
	if p.Reports() && ok.AffectedRows > 0 && ok.InsertID == 0 {
		ok.InsertID = p.ToldExplicit()
	}
	return x.replyOK(ok)
}

// answerOK reads an answer of one packet. An ERR packet is a *wire.ServerError.
func (x *insertRunner) answerOK() (wire.OK, error) {
	x.Sent = !x.out.more
	return x.readOK()
}

// replyOK sends an OK packet in the place of the server's own.
func (x *insertRunner) replyOK(ok wire.OK) error {
	if x.out.more {
		ok.Status |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	if x.owner.inTransactionWithout() {
		ok.Status |= mysql.SERVER_STATUS_IN_TRANS
	}
	ok.Tidy(x.Has(mysql.CLIENT_SESSION_TRACK))
	x.packet = ok.Append(x.replyBuffer())
	return x.replyPacket(x.packet)
}

func (f *insertPlanner) insertSchema() string {
	if f.insert.Schema != "" {
		return f.insert.Schema
	}
	return f.State.Database
}

// settleTexts passes on the answer to a statement with ids that are no numbers. It tells no insert id, as that of a
// native column of such a type; that of another column is the server's own.
func (x *insertRunner) settleTexts(p *plan.Fill) error {
	if p.ReadsLastID || p.Binding.Counts {
		x.State.LastIDKnown = false
	}
	if p.Returning && x.AnswersRows() {
		return x.relayComposed(wire.ShapeResults)
	}
	ok, err := x.answerOK()
	var refused *wire.ServerError
	if errors.As(err, &refused) {
		x.forgetIfStale(refused)
	}
	if err != nil {
		return err
	}
	return x.replyOK(ok)
}

func (x *insertRunner) settleExecute(st *statement, p *plan.Fill) error {
	switch {
	case p.Rewrites():
		return x.settleFill(p, catalog.TableName{Schema: st.schema, Table: st.table})
	case p.Reports():
		err := x.settleExplicit(p, catalog.TableName{Schema: st.schema, Table: st.table})
		if !p.Wrap {
			x.after(st.effect)
		}
		return err
	case p.Tells():
		err := x.settleExplicit(p, catalog.TableName{Schema: st.schema, Table: st.table})
		x.after(st.effect)
		return err
	}
	err := x.relayComposed(wire.ShapeResults)
	x.after(st.effect)
	return err
}

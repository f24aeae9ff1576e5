package proxy

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// planInsert plans an INSERT or REPLACE.
func (f *insertPlanner) planInsert(p textPlan, sql []byte, prepared bool) (textPlan, error) {
	err := f.planned(func() error {
		in, err := f.planner.Insert(p.effect, sql, prepared)
		if err == nil {
			in.Fill.FoundRows = f.Has(mysql.CLIENT_FOUND_ROWS)
			p.kind, p.effect, p.fill = in.Kind, in.Effect, in.Fill
		}
		return err
	})
	return p, unread(err, sql)
}

func columnFull(b *catalog.Binding, id int64) error {
	return mysql.NewError(mysql.ER_AUTOINC_READ_FAILED, fmt.Sprintf(
		"the next id %d of sequence %s is past the largest that column '%s' of table '%s' holds (%d); widen the column",
		id, b.Sequence, b.Column, b.Table, b.Max))
}

// answerFilled reads the server's answer to a filled statement and tells the
// client what a native AUTO_INCREMENT column would have.
func (x *insertRunner) answerFilled(p *plan.Fill, t catalog.TableName) error {
	if p.Binding.Form != 0 {
		return x.answerTexts(p)
	}
	if p.Returning && x.AnswersRows() {
		return x.answerReturning(p, t)
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

// answerText reads the answer to a statement whose text was rewritten.
func (x *insertRunner) answerText(p *plan.Fill) error {
	if p.Rewrites() {
		return x.answerFilled(p, catalog.TableName{Schema: x.planner.Schema(), Table: x.planner.Stmt.Table})
	}
	return x.answerExplicit(p, catalog.TableName{Schema: x.planner.Schema(), Table: x.planner.Stmt.Table})
}

// answerExplicit reads the answer to a statement with ids of its own. On a column
// without AUTO_INCREMENT the OK packet is made to tell the last one, as on a
// column with it.
func (x *insertRunner) answerExplicit(p *plan.Fill, t catalog.TableName) error {
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

// answerTexts passes on the answer to a statement with ids that are no numbers. It tells no insert id, as that of a
// native column of such a type; that of another column is the server's own.
func (x *insertRunner) answerTexts(p *plan.Fill) error {
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

func (x *insertRunner) answerExecute(st *statement, p *plan.Fill) error {
	switch {
	case p.Rewrites():
		return x.answerFilled(p, catalog.TableName{Schema: st.schema, Table: st.table})
	case p.Reports():
		err := x.answerExplicit(p, catalog.TableName{Schema: st.schema, Table: st.table})
		if !p.Wrap {
			x.after(st.effect)
		}
		return err
	case p.Tells():
		err := x.answerExplicit(p, catalog.TableName{Schema: st.schema, Table: st.table})
		x.after(st.effect)
		return err
	}
	err := x.relayComposed(wire.ShapeResults)
	x.after(st.effect)
	return err
}

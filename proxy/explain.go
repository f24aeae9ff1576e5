package proxy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// SHOW SEQGATE PLAN FOR 'statement' shows what would become of a statement: the same planner reads it as would plan the
// statement itself, and nothing of it runs. No id is taken: in the texts that servers would get, ids are :id1, :id2 ...

// refused is the plan of a statement that would be refused with this error. An error that says nothing of the statement is
// returned.
func refused(err error) (e plan.Explanation, _ error) {
	if isConnectionFailure(err) {
		return nil, err
	}
	e.Add("plan", "refuse")
	var its *wire.ServerError
	if errors.As(err, &its) {
		e.Add("error", "%d (%s): %s", its.Code(), its.State(), its.Text())
		return e, nil
	}
	own := clientError(err)
	e.Add("error", "%d (%s): %s", own.Code, own.State, own.Message)
	return e, nil
}

// explanationColumns are those of SHOW SEQGATE PLAN.
var explanationColumns = []wire.Column{wire.TextColumn("About", 64), wire.TextColumn("Plan", plan.MaxExplained)}

// errExplainOne refuses several statements in one SHOW SEQGATE PLAN.
var errExplainOne = mysql.NewError(mysql.ER_WRONG_ARGUMENTS, "SHOW SEQGATE PLAN takes one statement; ask for each of several")

// oneStatement returns a text without what is behind its statement, and an error where it has several.
func oneStatement(sql []byte, m parser.Mode) ([]byte, error) {
	sql = parser.TrimEnd(sql)
	if spans, err := parser.Split(nil, sql, m); err == nil && len(spans) > 1 { // one with a compound statement is not split
		return nil, errExplainOne
	}
	return sql, nil
}

// explain shows the plan of a statement on this server.
func (x *textRunner) explain(sql []byte) (e plan.Explanation, err error) {
	keeps := x.keeps
	defer func() {
		x.unfilled, x.keeps = nil, keeps // nothing has run
		x.noteKind(meter.Admin)
	}()
	if err := x.Know(); err != nil {
		return nil, err
	}
	x.Intervened = false // by what would not run for the statement itself
	if sql, err = oneStatement(sql, x.State.Mode); err != nil {
		return nil, err
	}
	if places, err := parser.Placeholders(nil, sql, x.State.Mode); err == nil && len(places) > 0 {
		return x.explainPrepared(sql)
	}
	if parser.MayCall(sql) {
		if calls, err := x.planCallsText(sql); calls != nil || err != nil {
			return x.explainCalls(calls, sql, err)
		}
	}
	p, _, err := x.planText(sql)
	if err == nil && p.fill.Binding != nil {
		err = x.denial(sql)
	}
	if err != nil {
		return refused(err)
	}
	switch p.kind {
	case plan.Pass:
		e.Add("plan", "relay")
		e.Server(x.keyspace, sql)
	case plan.Report:
		e.Add("plan", "relay")
		e.Binding(&p.fill)
		e.OwnIDs(&p.fill)
		e.Server(x.keyspace, sql)
	case plan.Filled:
		e.Add("plan", "fill")
		e.Binding(&p.fill)
		e.IDs(&p.fill)
		e.Server(x.keyspace, x.explainFilled(sql, &p.fill))
	case plan.Query:
		e.Add("plan", "fill from query")
		e.Binding(&p.fill)
		e.Add("ids", "the server counts the query's rows, which are then numbered from the first id of a block on")
		e.Server(x.keyspace, sql)
	case plan.Ticket:
		e.Add("plan", "ticket")
		e.Binding(&p.fill)
		e.Add("ids", "1; the server's table stays as it is")
	case plan.Next:
		return x.explainNext(&p.next)
	case plan.Command:
		e.Add("plan", "command")
		e.Add("command", "%s", p.what)
		if p.own != nil && p.own.Shown() != "" {
			e.Server(x.keyspace, []byte(p.own.Shown()))
		}
	}
	return e, nil
}

// explainNext shows a query of a sequence's value, and why it would be refused.
func (x *textRunner) explainNext(n *plan.NextValues) (e plan.Explanation, err error) {
	if n.Decode {
		e.Add("plan", "command")
		e.Add("command", "SELECT SEQGATE_DECODE")
		return e, nil
	}
	if n.Call == parser.NextValue {
		if err = x.checkCount(n); err == nil {
			err = x.mayTake(n.Name)
		}
	}
	if err != nil {
		return refused(err)
	}
	e.Next(n)
	return e, nil
}

// explainCalls shows a statement with calls such as NEXTVAL(s).
func (x *textRunner) explainCalls(p *plan.Calls, sql []byte, err error) (e plan.Explanation, _ error) {
	if err != nil {
		return refused(err)
	}
	if p.Whole {
		return x.explainNext(&p.Next)
	}
	if err := x.explainValues(&e, p, sql); err != nil {
		return refused(err)
	}
	const stand = 1 << 62 // in for the first value: a number that no text has
	edited := p.Stmt.AppendReplaced(nil, sql, func(dst []byte, i int, typed bool) ([]byte, bool) {
		if !p.Known[i] {
			return dst, false
		}
		return number{n: int64(stand + i)}.append(dst, typed), true
	})
	rest, err := x.explain(edited)
	for _, row := range rest {
		for i := range p.Stmt.Calls {
			row[1] = strings.ReplaceAll(row[1], strconv.Itoa(stand+i), fmt.Sprintf(":value%d", i+1))
		}
	}
	return append(e, rest...), err
}

// explainValues adds the calls whose values seqgate puts in their places. The error says why they would be refused.
func (x *textRunner) explainValues(e *plan.Explanation, p *plan.Calls, sql []byte) error {
	for i, c := range p.Stmt.Calls {
		if !p.Known[i] {
			continue
		}
		if c.Kind == parser.NextValue {
			if err := x.mayTake(p.Names[i]); err != nil {
				return err
			}
		}
		says := string(sql[c.Start:c.End])
		if c.Sequence.Name != "" {
			says += " of " + p.Names[i].String()
		}
		e.Add(fmt.Sprintf(":value%d", i+1), "%s", says)
	}
	return nil
}

// explainPrepared shows what becomes of a statement with placeholders, which drivers prepare.
func (x *textRunner) explainPrepared(sql []byte) (e plan.Explanation, err error) {
	st, filled, _, err := x.planPrepareText(sql)
	if err == nil && st.calls != nil {
		err = x.explainValues(&e, st.calls.plan, sql)
		sql = st.calls.text
	}
	if err == nil && st.fill != nil {
		err = x.denial(sql)
	}
	if err != nil {
		return refused(err)
	}
	switch {
	case st.next != nil:
		return x.explainNext(st.next)
	case st.fill == nil:
		e.Add("plan", "relay")
		e.Server(x.keyspace, sql)
		return e, nil
	case st.query != nil:
		e.Add("plan", "fill from query")
	case st.fill.Binding.Ticket:
		e.Add("plan", "ticket")
		e.Binding(st.fill)
		return e, nil
	case filled == nil:
		e.Add("plan", "relay")
	default:
		e.Add("plan", "fill")
	}
	e.Binding(st.fill)
	switch {
	case st.query != nil:
		e.Add("ids", "the server counts the query's rows at each execution")
	case filled != nil:
		e.IDs(st.fill)
		e.Server(x.keyspace, filled)
	default:
		e.OwnIDs(st.fill)
		e.Server(x.keyspace, sql)
	}
	return e, nil
}

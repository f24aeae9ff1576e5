package proxy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// SHOW SEQGATE PLAN FOR 'statement' shows what would become of a statement: the same planner reads it as would plan the
// statement itself, and nothing of it runs. No id is taken: in the texts that servers would get, ids are :id1, :id2 ...

// explanation is a plan in lines: what each is about, and what it says.
type explanation [][]string

func (e *explanation) add(about, format string, args ...any) {
	says := fmt.Sprintf(format, args...)
	if len(says) > maxExplained {
		says = fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(says[:maxExplained], ""), len(says))
	}
	*e = append(*e, []string{about, says})
}

// maxExplained is how much of a text is shown, in bytes: a long one has more rows of the same kind.
const maxExplained = 64 << 10

// refusal adds the error with which a statement would be refused. It returns those that say nothing of the statement.
func (e *explanation) refusal(err error) error {
	if isConnectionFailure(err) {
		return err
	}
	var its *wire.ServerError
	e.add("plan", "refuse")
	if errors.As(err, &its) {
		e.add("error", "%d (%s): %s", its.Code(), its.State(), its.Text())
		return nil
	}
	refused := clientError(err)
	e.add("error", "%d (%s): %s", refused.Code, refused.State, refused.Message)
	return nil
}

// explanationColumns are those of SHOW SEQGATE PLAN.
var explanationColumns = []wire.Column{wire.TextColumn("About", 64), wire.TextColumn("Plan", maxExplained)}

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
func (x *textRunner) explain(sql []byte) (e explanation, err error) {
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
		return e, e.refusal(err)
	}
	switch p.kind {
	case plan.Pass:
		e.add("plan", "relay")
		e.text(x.keyspace, sql)
	case plan.Report:
		e.add("plan", "relay")
		e.binding(&p.fill)
		e.ownIDs(&p.fill)
		e.text(x.keyspace, sql)
	case plan.Filled:
		e.add("plan", "fill")
		e.binding(&p.fill)
		e.ids(&p.fill)
		e.text(x.keyspace, x.explainFilled(sql, &p.fill))
	case plan.Query:
		e.add("plan", "fill from query")
		e.binding(&p.fill)
		e.add("ids", "the server counts the query's rows, which are then numbered from the first id of a block on")
		e.text(x.keyspace, sql)
	case plan.Ticket:
		e.add("plan", "ticket")
		e.binding(&p.fill)
		e.add("ids", "1; the server's table stays as it is")
	case plan.Next:
		return x.explainNext(&p.next)
	case plan.Command:
		e.add("plan", "command")
		e.add("command", "%s", p.what)
		if p.own != nil && p.own.SQL() != "" {
			e.text(x.keyspace, []byte(p.own.SQL()))
		}
	}
	return e, nil
}

// binding adds what fills which column.
func (e *explanation) binding(p *plan.Fill) {
	e.add("table", "%s", p.Binding.Table)
	e.add("column", "%s", p.Binding.Column)
	switch b := p.Binding; {
	case b.Generator != nil:
		e.add("generator", "%s (%s)", b.Sequence, b.Generator.Type)
	case b.Key.Name != "":
		e.add("sequence", "%s, for each value of %s", b.Sequence, b.Key.Name)
	default:
		e.add("sequence", "%s", b.Sequence)
	}
}

// text adds the text that a keyspace's server gets.
func (e *explanation) text(k *catalog.Keyspace, sql []byte) {
	name := k.String()
	if name == "" {
		name = "server"
	}
	e.add(name, "%s", sql)
}

// ownIDs adds what becomes of ids that the statement brings along.
func (e *explanation) ownIDs(p *plan.Fill) {
	if p.Binding.OnExplicit != catalog.ExplicitIgnore && p.Binding.Key.Name == "" {
		e.add("ids", "its own; the sequence is moved past them once the server has stored them")
		return
	}
	e.add("ids", "its own")
}

// ids adds how many ids the statement takes.
func (e *explanation) ids(p *plan.Fill) {
	switch {
	case p.Params > 0:
		e.add("ids", "%d, and one more for each of %d rows whose parameter leaves it open", p.Open, p.Params)
	case p.Step > 1:
		e.add("ids", "%d, each %d above the one before", p.Open, p.Step)
	default:
		e.add("ids", "%d", p.Open)
	}
}

// next adds what a query of a sequence's value takes.
func (e *explanation) next(n *plan.NextValues) {
	e.add("plan", "next value")
	e.add("sequence", "%s", n.Name)
	switch {
	case n.Call == parser.LastValue:
		e.add("ids", "0; it is the session's latest value")
	case n.Call == parser.SetValue:
		e.add("ids", "0; the next value becomes %d at least", n.Next)
	case n.CountParam:
		e.add("ids", "as many as its parameter says")
	default:
		e.add("ids", "%d", n.Count)
	}
}

// explainNext shows a query of a sequence's value, and why it would be refused.
func (x *textRunner) explainNext(n *plan.NextValues) (e explanation, err error) {
	if n.Decode {
		e.add("plan", "command")
		e.add("command", "SELECT SEQGATE_DECODE")
		return e, nil
	}
	if n.Call == parser.NextValue {
		if err = x.checkCount(n); err == nil {
			err = x.mayTake(n.Name)
		}
	}
	if err != nil {
		return e, e.refusal(err)
	}
	e.next(n)
	return e, nil
}

// appendNamedID appends what stands in the place of the n-th id.
func appendNamedID(dst []byte, n int, wrap bool) []byte {
	if wrap {
		return append(appendNamedID(append(dst, "LAST_INSERT_ID("...), n, false), ')')
	}
	return strconv.AppendInt(append(dst, ":id"...), int64(n), 10)
}

// explainCalls shows a statement with calls such as NEXTVAL(s).
func (x *textRunner) explainCalls(p *plan.Calls, sql []byte, err error) (e explanation, _ error) {
	if err != nil {
		return e, e.refusal(err)
	}
	if p.Whole {
		return x.explainNext(&p.Next)
	}
	if err := x.explainValues(&e, p, sql); err != nil {
		return nil, e.refusal(err)
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
func (x *textRunner) explainValues(e *explanation, p *plan.Calls, sql []byte) error {
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
		e.add(fmt.Sprintf(":value%d", i+1), "%s", says)
	}
	return nil
}

// explainPrepared shows what becomes of a statement with placeholders, which drivers prepare.
func (x *textRunner) explainPrepared(sql []byte) (e explanation, err error) {
	st, filled, _, err := x.planPrepareText(sql)
	if err == nil && st.calls != nil {
		err = x.explainValues(&e, st.calls.plan, sql)
		sql = st.calls.text
	}
	if err == nil && st.fill != nil {
		err = x.denial(sql)
	}
	if err != nil {
		e = nil
		return e, e.refusal(err)
	}
	switch {
	case st.next != nil:
		return x.explainNext(st.next)
	case st.fill == nil:
		e.add("plan", "relay")
		e.text(x.keyspace, sql)
		return e, nil
	case st.query != nil:
		e.add("plan", "fill from query")
	case st.fill.Binding.Ticket:
		e.add("plan", "ticket")
		e.binding(st.fill)
		return e, nil
	case filled == nil:
		e.add("plan", "relay")
	default:
		e.add("plan", "fill")
	}
	e.binding(st.fill)
	switch {
	case st.query != nil:
		e.add("ids", "the server counts the query's rows at each execution")
	case filled != nil:
		e.ids(st.fill)
		e.text(x.keyspace, filled)
	default:
		e.ownIDs(st.fill)
		e.text(x.keyspace, sql)
	}
	return e, nil
}

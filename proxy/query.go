package proxy

import (
	"bytes"
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// sniffLength is how much of a long statement is looked at before it is decided
// whether the rest has to be.
const sniffLength = 512

// passesUnread reports whether a statement with this beginning goes to the server
// whatever else it says. A comment may hide the words that decide.
func passesUnread(sql []byte) bool {
	if bytes.ContainsAny(sql, "#") || bytes.Contains(sql, []byte("/*")) || bytes.Contains(sql, []byte("--")) {
		return false
	}
	switch parser.Sniff(sql) {
	case parser.Select, parser.Update, parser.Delete, parser.Show:
		return !parser.MayCall(sql)
	}
	return false
}

// passLong relays a statement that is longer than the buffer as it comes.
func (x *textRunner) passLong(begin int) error {
	const unseen = plan.MayLook | plan.MayChangeLastID | plan.KeepsSomething
	x.left, x.failedBy = nil, nil
	x.noteKind(kindOf(parser.Sniff(x.front.Unread()[wire.HeaderSize+begin:])))
	if err := x.before(unseen); err != nil {
		return err
	}
	err := x.pass(wire.ShapeResults)
	x.after(unseen)
	return err
}

// queryOne handles a text of one statement.
func (x *textRunner) queryOne(payload []byte, begin, size int) error {
	if parser.MayCall(payload[begin:]) {
		if done, err := x.queryCalls(payload, begin, size); done {
			return err
		}
	}
	text, err := x.withLeft(payload[begin:])
	if text != nil {
		payload = append(slices.Clone(payload[:begin]), text...)
	}
	var p textPlan
	var resolved bool
	if err == nil {
		p, resolved, err = x.planText(payload[begin:])
		resolved = resolved || text != nil
	}
	if err == nil {
		err = x.compose(&p, payload[:begin], payload[begin:])
	}
	if err == nil {
		err = x.before(p.effect)
	}
	if err == nil && (p.kind == plan.Pass || p.kind == plan.Report) {
		err = x.sendResolved(payload, size, resolved)
	}
	x.front.Skip(size)
	if err != nil {
		return err
	}
	return x.finish(&p)
}

// finish does what is left of a planned statement once its text was dealt
// with: a composed one stands in s.scratch, a passed one was sent.
func (x *textRunner) finish(p *textPlan) (err error) {
	switch p.kind {
	case plan.Filled:
		if err = x.sendComposed(p); err == nil {
			err = x.syntaxError(x.answerText(&p.fill), p.quoted)
		}
	case plan.Command:
		err = p.run(p.attributes)
	case plan.Query:
		err = x.insertFromQuery(p.query, catalog.TableName{Schema: x.planner.Schema(), Table: x.planner.Stmt.Table})
	case plan.Next:
		if p.next.Params() > 0 {
			return &parser.SyntaxError{Near: "?", Line: 1}
		}
		return x.answerNext(p.next, false)
	case plan.Report:
		err = x.answerExplicit(&p.fill, catalog.TableName{Schema: x.planner.Schema(), Table: x.planner.Stmt.Table})
	case plan.Ticket:
		err = x.answerTicket(&p.fill)
	case plan.Pass:
		err = x.relayResult()
	}
	x.after(p.effect)
	if err == nil && p.database != "" && !x.Answer.Failed {
		x.SetDatabase(p.database)
	}
	return err
}

// textPlan is what becomes of one statement, and what that does to the session.
type textPlan struct {
	kind     plan.Kind
	effect   plan.Effect
	database string // the default one when it has succeeded; "" for no change, or one that is not known
	fill     plan.Fill
	query    *insertQuery
	next     plan.NextValues
	own      *plan.CommandPlan // of a command of seqgate's own
	// run runs a plan.Command, with what stands before the text of a COM_QUERY, and answers the client.
	run        func(attributes []byte) error
	what       string // such a command does, in a word or two
	attributes []byte
	long       []byte // a long statement that is filled as it is sent
	quoted     []byte // the client's own text of it, where that is short
}

// command makes it the plan of a command, whose run is to be set.
func (p *textPlan) command(what string) { p.kind, p.what = plan.Command, what }

// plan plans one statement, and runs nothing of it. Errors are for the client; nothing was sent then.
func (x *textRunner) plan(sql []byte) (textPlan, error) {
	kind := parser.Sniff(sql)
	x.noteKind(kindOf(kind))
	p := textPlan{effect: x.effectOf(kind, sql)}
	if err := x.refuseLost(kind, sql); err != nil {
		return p, err
	}
	if done, err := x.planLeft(&p, kind, sql); done || err != nil {
		return p, err
	}
	switch kind {
	case parser.Insert, parser.Replace, parser.Load:
		x.keeps = x.keeps || p.effect&plan.KeepsSomething != 0 // the effect may become another one
	}
	switch kind {
	case parser.Update, parser.With:
		return p, x.refuseDuality(sql)
	case parser.Insert, parser.Replace:
		return x.planInsert(p, sql, false)
	case parser.Select:
		if x.asksLastID(sql) {
			return x.planLastID(p, sql), nil
		}
		if parser.SniffCommand(sql) != parser.NoCommand {
			return x.planCommand(p, sql)
		}
	case parser.Load:
		return x.planLoad(p, sql)
	case parser.DynamicSQL:
		return x.planDynamicSQL(p, sql)
	case parser.Prepare:
		return x.planPrepareSQL(p, sql)
	case parser.Execute:
		return x.planExecuteSQL(p, sql)
	case parser.Deallocate:
		return x.planDeallocate(p, sql)
	case parser.Next:
		return x.planNext(p, sql)
	case parser.Kill:
		return x.planKill(p, sql)
	case parser.Use:
		return x.planUse(p, sql), nil
	case parser.DDL, parser.Show:
		if parser.SniffCommand(sql) != parser.NoCommand {
			return x.planCommand(p, sql)
		}
	}
	return p, nil
}

// planUse reads the name of the new default database, where it reads alike in
// every session.
func (x *textRunner) planUse(p textPlan, sql []byte) textPlan {
	if !parser.Plain(sql) {
		return p
	}
	if name, ok := parser.UseTarget(sql, parser.Mode{MariaDB: x.MariaDB}); ok {
		p.database, p.effect = name, 0
	}
	return p
}

// passCommand relays a command that frontPacket read, and its answer, with what it
// does to the session.
func (x *textRunner) passCommand(payload []byte, size int, as wire.Shape, e plan.Effect) error {
	err := x.before(e)
	if err == nil {
		err = x.passPacket(payload, size)
	}
	x.front.Skip(size)
	if err != nil {
		return err
	}
	err = x.relay(as)
	x.after(e)
	return err
}

// queryPlain sends a statement that has no calls of sequences in it.
func (x *textRunner) queryPlain(attributes, sql []byte) error {
	text, err := x.withLeft(sql)
	if err != nil {
		return err
	}
	if text != nil {
		sql = text
	}
	p, _, err := x.planText(sql)
	if err != nil {
		return err
	}
	if err := x.before(p.effect); err != nil {
		return err
	}
	if err := x.compose(&p, attributes, sql); err != nil {
		return err
	}
	if p.kind == plan.Pass || p.kind == plan.Report {
		x.out.composed = true
		if err := x.sendPart(attributes, sql); err != nil {
			return err
		}
	}
	return x.finish(&p)
}

// passPacket sends the client's command on as it came, once it was read by
// frontPacket with this result.
func (x *textRunner) passPacket(payload []byte, size int) error {
	if size == 0 {
		return x.SendLong(payload)
	}
	return x.WriteBack(x.front.Unread()[:size])
}

// transactionVariables are those that SET SESSION TRANSACTION sets.
func (x *textRunner) transactionVariables() []parser.Assignment {
	prefix := "transaction_"
	if x.MariaDB {
		prefix = "tx_"
	}
	return []parser.Assignment{{Scope: parser.SetSessionVariable, Name: prefix + "isolation"},
		{Scope: parser.SetSessionVariable, Name: prefix + "read_only"}}
}

package proxy

import (
	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A prepared statement with calls of sequences has a parameter of seqgate's own in
// the place of each, beside the client's: the server tells of all, the client sees
// its own, and each execution brings new values.

// preparedCalls are the calls of a prepared statement.
type preparedCalls struct {
	plan *plan.Calls
	text []byte // the statement with a parameter for each call
}

// refuseCallsIn refuses calls in a prepared statement that is run in another way.
func refuseCallsIn(st *statement) error {
	const form, instead = "LASTVAL or the next value of a sequence in a prepared", "take the value first, and bind it"
	switch {
	case st.query != nil:
		return catalog.Unsupported(form+" INSERT ... SELECT", st.fill.Binding.Table, instead)
	case st.fill != nil && st.fill.Binding.Ticket:
		return catalog.Unsupported(form+" INSERT", st.fill.Binding.Table, instead)
	}
	return nil
}

// own returns the indexes of seqgate's parameters among all, in order.
func (c *preparedCalls) own() []int {
	var own []int
	for i := range c.plan.Stmt.Calls {
		if c.plan.Known[i] {
			own = append(own, c.plan.Stmt.Calls[i].Params+len(own))
		}
	}
	return own
}

// withValues puts the values of an execution among the client's parameters.
func (c *preparedCalls) withValues(params []wire.Param, values []number) []wire.Param {
	all := make([]wire.Param, 0, len(params)+len(values))
	taken := 0
	for i := range c.plan.Stmt.Calls {
		if !c.plan.Known[i] {
			continue
		}
		before := c.plan.Stmt.Calls[i].Params
		all = append(all, params[taken:before]...)
		taken = before
		p := wire.IDParam(values[i].n)
		p.Null = values[i].null
		all = append(all, p)
	}
	return append(all, params[taken:]...)
}

// relayPrepareCalls passes on the answer to a COM_STMT_PREPARE without seqgate's
// own parameters. It reports whether the statement was accepted.
func (x *executor) relayPrepareCalls(st *statement) (bool, error) {
	x.StartAnswer(wire.ShapePrepare)
	payload, size, err := x.Follow()
	if err != nil {
		return false, x.AnswerCut(err)
	}
	own := st.calls.own()
	drop := make(map[int]bool)
	if !x.Answer.Failed {
		drop = x.cutPrepared(st, payload, own)
	}
	b, seq := wire.AppendPacket(nil, x.out.sequence, payload)
	x.Wire.Skip(size)
	for i := 0; !x.Answer.Done(); i++ {
		if payload, size, err = x.Follow(); err != nil {
			return false, &backend.LostError{Err: err}
		}
		if !drop[i] {
			b, seq = wire.AppendPacket(b, seq, payload)
		}
		x.Wire.Skip(size)
	}
	x.out.sequence = seq
	x.Sent = true
	return !x.Answer.Failed, x.writeFront(b)
}

// executeCalls executes a statement with calls.
func (x *executor) executeCalls(st *statement, payload []byte, size int) error {
	p, params, err := x.planExecuteCalls(st, payload)
	if err != nil {
		x.front.Skip(size)
		st.long = nil
		return err
	}
	flags, as := payload[executeFlags], executeShape(payload)
	if st.fill != nil {
		return x.executeFill(st, p, params, flags, size)
	}
	if err := x.before(st.effect); err != nil {
		x.front.Skip(size)
		return err
	}
	if err := x.sendExecute(st.id, flags, params, size); err != nil {
		return err
	}
	err = x.relayComposed(as)
	x.after(st.effect)
	return err
}

// planExecuteCalls returns all the parameters of an execution, seqgate's own among
// them, and for an INSERT into a sequenced table how its ids are filled.
func (x *executor) planExecuteCalls(st *statement, payload []byte) (*plan.Fill, []wire.Param, error) {
	if err := checkCallsExecute(st, payload); err != nil {
		return nil, nil, err
	}
	if st.fill != nil {
		if err := x.KnowLastID(); err != nil {
			return nil, nil, err
		}
	}
	if st.writes {
		if err := x.stillBound(st); err != nil {
			return nil, nil, err
		}
	}
	params, err := x.readExecute(st, payload)
	if err != nil {
		return nil, nil, err
	}
	values, err := x.callValues(st.calls.plan)
	if err != nil {
		return nil, nil, err
	}
	params = st.calls.withValues(params, values)
	if st.fill == nil {
		return nil, params, nil
	}
	if params, err = x.withVariables(st, params); err != nil {
		return nil, nil, err
	}
	p := st.execution()
	return &p, params, x.openRows(st, &p, params)
}

// checkCallsExecute refuses an execution of a kind that calls do not have.
func checkCallsExecute(st *statement, payload []byte) error {
	switch {
	case payload[0] == comStmtBulkExecute:
		return mysql.NewDefaultError(mysql.ER_UNSUPPORTED_PS)
	case len(st.long) > 0:
		return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
			"seqgate does not yet support COM_STMT_SEND_LONG_DATA in a statement with the next value of a sequence; bind the value")
	}
	return nil
}

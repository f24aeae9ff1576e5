package proxy

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/param"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// stmtCommand reads a command about a prepared statement whole. The statement
// is nil when seqgate need not know of it.
func (x *executor) stmtCommand() (st *statement, payload []byte, size int, err error) {
	payload, size, err = x.frontPacket()
	if err != nil {
		return nil, nil, 0, err
	}
	if len(payload) < 5 {
		return nil, payload, size, nil
	}
	id := binary.LittleEndian.Uint32(payload[1:])
	if id == lastPrepared && x.MariaDB {
		id = x.lastStmt // not the second one that seqgate may have prepared since
		binary.LittleEndian.PutUint32(payload[1:], id)
	}
	x.noteExecuted(id)
	st = x.stmts[id]
	return st, payload, size, nil
}

// execute handles a COM_STMT_EXECUTE or COM_STMT_BULK_EXECUTE.
func (x *executor) execute() error {
	if len(x.stmts) == 0 {
		return x.executeUnseen()
	}
	st, payload, size, err := x.stmtCommand()
	if err != nil {
		return err
	}
	return x.executePacket(st, payload, size)
}

// executePacket executes a statement by a command that stmtCommand read, which has
// its id at the backend. st is nil for one that seqgate keeps nothing of.
func (x *executor) executePacket(st *statement, payload []byte, size int) error {
	x.left = nil
	switch {
	case st != nil && st.next != nil && payload[0] == comStmtBulkExecute:
		x.front.Skip(size)
		return mysql.NewDefaultError(mysql.ER_UNSUPPORTED_PS) // as to any SELECT
	case st != nil && st.next != nil:
		err := x.readNext(st, payload)
		x.front.Skip(size)
		if err != nil {
			return err
		}
		return x.answerNext(*st.next, true)
	case st != nil && st.calls != nil:
		return x.executeCalls(st, payload, size)
	case st != nil && st.writes:
		return x.executeInsert(st, payload, size)
	}
	return x.executeSeen(st, payload, size)
}

// executeUnseen relays an execution of a statement that seqgate keeps nothing of,
// however long it is.
func (x *executor) executeUnseen() error {
	length, _, err := x.front.Header()
	if err != nil {
		return &frontError{err}
	}
	n := min(length, executeFlags+1)
	if err := x.front.Need(wire.HeaderSize + n); err != nil {
		return &frontError{err}
	}
	if n >= executeFlags {
		x.noteExecuted(binary.LittleEndian.Uint32(x.front.Unread()[wire.HeaderSize+1:]))
	}
	return x.pass(executeShape(x.front.Unread()[wire.HeaderSize:][:n]))
}

// executeShape returns the shape of the answer to a COM_STMT_EXECUTE.
func executeShape(payload []byte) wire.Shape {
	if len(payload) > executeFlags && payload[executeFlags]&cursorTypes != 0 {
		return wire.ShapeCursor
	}
	return wire.ShapeResults
}

// executeSeen relays an execution, with what it does to the session.
func (x *executor) executeSeen(st *statement, payload []byte, size int) error {
	var e plan.Effect
	if st != nil {
		e = st.effect
	}
	return x.passCommand(payload, size, executeShape(payload), e)
}

// executeInsert executes an INSERT or REPLACE, with ids where some are open.
func (x *executor) executeInsert(st *statement, payload []byte, size int) error {
	var err error
	if st.fill != nil {
		err = x.KnowLastID()
	}
	if err == nil {
		err = x.stillBound(st)
	}
	if err != nil {
		x.front.Skip(size)
		return err
	}
	if st.fill == nil {
		return x.executeSeen(st, payload, size)
	}
	if st.fill.Binding.Ticket {
		return x.executeTicket(st, payload, size)
	}
	if st.query != nil {
		return x.executeQuery(st, payload, size)
	}
	if payload[0] == comStmtBulkExecute {
		return x.executeBulk(st, payload, size)
	}
	p := st.execution()
	params, err := x.readExecute(st, payload)
	if err == nil {
		params, err = x.withVariables(st, params)
	}
	if err == nil {
		err = x.openRows(st, &p, params)
	}
	if err != nil {
		x.front.Skip(size)
		return errors.Join(err, x.dropLong(st))
	}
	return x.executeFill(st, &p, params, payload[5], size)
}

// execution returns the plan of one execution, of which nothing was read yet.
func (st *statement) execution() plan.Fill {
	p := *st.fill
	p.Open, p.Lowest, p.Highest, p.Ahead, p.Prepared = 0, 0, 0, false, true
	return p
}

// stillBound checks that the table's ids are still made as when the statement
// was prepared.
func (f *filler) stillBound(st *statement) error {
	b, err := f.binding(st.schema, st.table)
	if err != nil || b == nil && st.fill == nil {
		return err
	}
	if b == nil || st.fill == nil || !st.holds(b, f.State.Mode) || st.query != nil && (st.reading(f.State.Mode) != st.mode || f.State.Database != st.database) {
		return mysql.NewDefaultError(mysql.ER_NEED_REPREPARE)
	}
	st.fill.Binding = b
	return nil
}

// reading returns the mode in which the text reads in a session of mode m: what is ASCII
// reads alike in all character sets.
func (st *statement) reading(m parser.Mode) parser.Mode {
	if st.ascii {
		m.Charset = st.mode.Charset
	}
	return m
}

// holds reports whether what was judged of the text at PREPARE is so still, with
// this binding and in this mode.
func (st *statement) holds(b *catalog.Binding, m parser.Mode) bool {
	was := st.fill.Binding
	m = st.reading(m)
	literal := func(slot parser.Slot) bool { return slot.State != parser.Param }
	if m != st.mode && st.fill.Bound != nil {
		return false // names of variables may read in another way
	}
	return b.Column == was.Column && b.Key == was.Key && b.AutoIncrement == was.AutoIncrement && b.Unsigned == was.Unsigned && b.Transactional == was.Transactional && b.Ticket == was.Ticket && b.Form == was.Form && b.Required == was.Required &&
		(st.listed || slices.Equal(b.Columns, was.Columns)) &&
		(m == st.mode || !slices.ContainsFunc(st.slots, literal))
}

// uncountedExecute is MySQL's error where query attributes were agreed on and it is not
// told how many there are: whether parameters have names is then unclear.
func uncountedExecute() error {
	return mysql.NewDefaultError(mysql.ER_WRONG_ARGUMENTS, "COM_STMT_EXECUTE")
}

func malformedExecute() error {
	return mysql.NewError(mysql.ER_MALFORMED_PACKET, "Malformed communication packet: COM_STMT_EXECUTE")
}

// openRows counts the rows whose ids are open in an execution with these
// parameters.
func (f *filler) openRows(st *statement, p *plan.Fill, params []wire.Param) error {
	for _, slot := range st.slots {
		v := f.decide(p, slot, params)
		switch v.State {
		case parser.Open:
			p.Open++
		case parser.Unknown:
			return catalog.Unsupported("a value of this type, or sent by COM_STMT_SEND_LONG_DATA, for '"+p.Binding.Column+"'", p.Binding.Table,
				"bind the id as an integer")
		}
		p.NoteExplicit(v)
	}
	return nil
}

// decide returns what a row says of its id in an execution with these parameters.
func (f *filler) decide(p *plan.Fill, slot parser.Slot, params []wire.Param) parser.Slot {
	mode := p.Binding.Mode(f.State.Mode)
	if slot.State == parser.Param {
		slot = param.Slot(&params[slot.Param], mode, p.Ignore)
	}
	return p.Binding.Judge(slot, mode.Strict && !p.Ignore)
}

// executeFill sends the execution of the statement that fits: the client's own
// when it can go as it came, else the one with a parameter for each id.
func (x *executor) executeFill(st *statement, p *plan.Fill, params []wire.Param, flags byte, size int) error {
	id := st.id
	flags &^= cursorTypes // MariaDB has none on RETURNING
	err := x.dropStale(st)
	if err == nil {
		err = x.beforeExecute(st, p)
	}
	if err == nil && p.RunsFilled() {
		id = st.filled
		params, err = x.fillParams(st, p, params)
	}
	if size == 0 {
		p.Sent = plan.SentOnce // it does not stand in s.scratch
	}
	if err != nil {
		x.front.Skip(size)
		return err
	}
	if err := x.sendExecute(id, flags, params, size); err != nil {
		return err
	}
	err = x.answerExecute(st, p)
	other := st.filled
	if p.RunsFilled() {
		other = st.id
	}
	if len(st.long) > 0 {
		st.stale = other // not at once: the client may ask what its statement has left
	}
	st.long = nil
	return err
}

// beforeExecute prepares the backend session for an execution.
func (f *filler) beforeExecute(st *statement, p *plan.Fill) error {
	switch {
	case p.RunsFilled() && st.filled == 0:
		return mysql.NewDefaultError(mysql.ER_NEED_REPREPARE)
	case !p.Rewrites():
		return f.before(st.effect)
	case !p.Wrap:
		return f.before(plan.MayLook)
	}
	return nil
}

// fillParams takes ids for the open rows and puts them among the parameters.
func (f *filler) fillParams(st *statement, p *plan.Fill, params []wire.Param) ([]wire.Param, error) {
	open := func(row int) bool { return f.decide(p, st.slots[row], params).State == parser.Open }
	if p.MovesAhead() {
		p.Own = f.ownOfParams(st, p.Binding, p.Ignore, params)
	}
	if err := f.takeIDs(p, open, params); err != nil {
		return nil, err
	}
	f.idsAt = f.idsAt[:0]
	all := withIDs(st.slots, params, open, func(n, at int) wire.Param {
		f.idsAt = append(f.idsAt, at)
		return p.OpenParam(n)
	})
	if p.Sent = plan.SentOnce; p.Repeatable && p.LearnsTaken() && len(st.long) == 0 {
		p.Sent, p.SentParams = plan.SentExecute, len(all)
	}
	return all, nil
}

// ownOfParams returns the own ids of an execution with these parameters.
func (f *filler) ownOfParams(st *statement, b *catalog.Binding, ignore bool, params []wire.Param) plan.EachOwn {
	return func(first, last int64, yield func(int64)) {
		p := plan.Fill{Binding: b, Ignore: ignore}
		slots := make([]parser.Slot, len(st.slots))
		for i, slot := range st.slots {
			slots[i] = f.decide(&p, slot, params)
		}
		plan.OwnOf(slots)(first, last, yield)
	}
}

// withIDs returns the parameters of the filled statement: those of the client's own,
// and the n-th id in the place of the n-th row that is open.
func withIDs[T any](slots []parser.Slot, params []T, open func(row int) bool, id func(n, at int) T) []T {
	all := make([]T, 0, len(params)+len(slots))
	taken, n := 0, 0
	for row, slot := range slots {
		all = append(all, params[taken:slot.Param]...)
		taken = slot.Param
		if slot.State == parser.Explicit || !open(row) {
			continue
		}
		all = append(all, id(n, len(all)))
		n++
		if slot.State == parser.Param {
			taken++
		}
	}
	return append(all, params[taken:]...)
}

// sendExecute sends an execution and skips the client's own, in which the values
// of its parameters stand, by its size.
func (x *executor) sendExecute(id uint32, flags byte, params []wire.Param, size int) error {
	if size > 0 {
		x.scratch = x.appendExecute(x.packetBuffer(), id, flags, params)
		x.front.Skip(size)
		return x.SendPacket(x.scratch)
	}
	flags, named := x.counted(flags)
	parts := [][]byte{wire.AppendExecuteHead(nil, id, flags, params, named)}
	for i := range params {
		parts = append(parts, params[i].Bytes())
	}
	return x.SendLong(parts...)
}

// executeRelayed passes an execution on, and its answer.
func (x *executor) executeRelayed(st *statement, payload []byte, size int) error {
	as := executeShape(payload)
	x.left = nil
	err := x.before(st.effect)
	if err == nil {
		err = x.passPacket(payload, size)
	}
	x.front.Skip(size)
	if err != nil {
		return err
	}
	err = x.relayComposed(as)
	x.after(st.effect)
	return err
}

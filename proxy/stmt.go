package proxy

import (
	"encoding/binary"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// statement is a prepared statement that seqgate has to know of: one that may
// change the session's state, or write, or ask for a value. All others are
// relayed unseen.
type statement struct {
	id     uint32
	effect plan.Effect // of each execution
	params int         // as the client knows them

	columns int // of its result, as the server tells at PREPARE

	next  *plan.NextValues // answered from a sequence: the backend has no such statement
	calls *preparedCalls   // has values of sequences among its parameters

	writes        bool // INSERT or REPLACE, into:
	schema, table string
	fill          *plan.Fill // nil when the table has no sequence
	slots         []parser.Slot
	mode          parser.Mode // in which the text was read
	ascii         bool        // the text is ASCII, which reads alike in all character sets
	listed        bool        // it names its columns
	query         []byte      // the text of an INSERT ... SELECT
	database      string      // ... and in which default database that was read
	// Where some id may be open the statement is prepared twice at the backend:
	// as it came, which the client sees and which runs when no id is open, and
	// with a parameter in the place of each id.
	filled uint32          // the second one's id, 0 for none
	types  []wire.Param    // of the latest execution that brought types
	long   map[uint16]bool // parameters whose values were sent ahead
	stale  uint32          // the id at the backend that such values have to be dropped of; 0 for none
}

// preparePacket prepares the text of a COM_STMT_PREPARE that frontPacket read, and
// answers the client. st is nil when it was not accepted.
func (x *executor) preparePacket(payload []byte, size int) (st *statement, err error) {
	st, filled, resolved, err := x.planPrepareText(payload[1:])
	switch {
	case err != nil || st.next != nil:
	case st.calls != nil:
		err = x.Send(append([]byte{mysql.COM_STMT_PREPARE}, st.calls.text...))
	default:
		err = x.sendResolved(payload, size, resolved)
	}
	x.front.Skip(size)
	prepared := true
	switch {
	case err != nil:
	case st.next != nil:
		err = x.answerPrepareNext(st)
	case filled == nil:
		prepared, err = x.relayPrepare(st)
	default:
		prepared, err = x.prepareTwice(st, filled)
	}
	if err != nil || !prepared {
		return nil, err
	}
	return st, nil
}

// parameterText returns the statement with a parameter in the place of each id
// that is open or may be.
func (f *filler) parameterText(sql []byte, p *plan.Fill) []byte {
	wrap := p.Wrap
	value := func(dst []byte, row int) ([]byte, bool) {
		if state := f.planner.Slots[row].State; state != parser.Open && state != parser.Param {
			return dst, false
		}
		if wrap {
			wrap = false
			return append(dst, "LAST_INSERT_ID(?)"...), true
		}
		return append(dst, '?'), true
	}
	return f.planner.Stmt.AppendFilled(nil, sql, p.Binding.Column, value, p.Options())
}

// prepareTwice sends the second text behind the first, which is under way. It reports
// whether the first was accepted.
func (x *executor) prepareTwice(st *statement, filled []byte) (prepared bool, err error) {
	if err := x.Send(append([]byte{mysql.COM_STMT_PREPARE}, filled...)); err != nil {
		return false, err
	}
	prepared, err = x.relayPrepare(st)
	if err != nil {
		return false, err
	}
	x.out.silent = true
	second, err := x.ReadPrepared()
	var refused *wire.ServerError
	switch {
	case errors.As(err, &refused):
		return prepared, nil // its execution prepares it again, and tells the error then
	case err != nil:
		return prepared, err
	case !prepared:
		return false, x.SendClose(second.ID)
	}
	st.filled = second.ID
	return true, nil
}

// relayPrepare passes on the answer to a COM_STMT_PREPARE, and remembers the
// statement under the id that the backend gave it. It reports whether it was
// accepted.
func (x *executor) relayPrepare(st *statement) (bool, error) {
	if st.calls != nil {
		return x.relayPrepareCalls(st)
	}
	x.StartAnswer(wire.ShapePrepare)
	if err := x.Wire.Need(wire.HeaderSize); err != nil {
		return false, x.AnswerCut(err)
	}
	payload, _, _, err := x.Wire.Packet(backend.MaxStatement)
	if err != nil {
		return false, x.AnswerCut(err)
	}
	ok, prepared := backend.ParsePrepared(payload)
	if prepared {
		x.notePrepared(ok.ID)
		x.keepKind(ok.ID)
		st.id, st.params, st.columns = ok.ID, ok.Params, ok.Columns
		binary.LittleEndian.PutUint32(payload[1:], x.idForClient(ok.ID))
	}
	if prepared && (st.effect != 0 || st.writes) {
		x.remember(st)
	}
	return prepared, x.relayRest()
}

// lastPrepared stands for the statement prepared last, in MariaDB's protocol
// ("COM_STMT_EXECUTE" in MariaDB's documentation).
const lastPrepared = 0xffffffff

// executeFlags is where a COM_STMT_EXECUTE says whether it wants a cursor.
const executeFlags = 5

// cursorTypes are the flags that ask for a cursor.
const cursorTypes = 0x07

// sendLongData passes a parameter's value on, to each statement that may run.
func (x *executor) sendLongData() error {
	x.out.silent = true
	if err := x.forgetKind(); err != nil {
		return err
	}
	if len(x.stmts) == 0 {
		return x.forward()
	}
	st, payload, size, err := x.stmtCommand()
	if err != nil {
		return err
	}
	return x.passLongData(st, payload, size)
}

// passLongData passes on a COM_STMT_SEND_LONG_DATA that stmtCommand read.
func (x *executor) passLongData(st *statement, payload []byte, size int) error {
	if st != nil && st.calls != nil && len(payload) >= 7 {
		st.noteLong(binary.LittleEndian.Uint16(payload[5:])) // its execution is refused
		x.front.Skip(size)
		return nil
	}
	if st == nil || st.fill == nil || len(payload) < 7 {
		err := x.passPacket(payload, size)
		x.front.Skip(size)
		return err
	}
	index := binary.LittleEndian.Uint16(payload[5:])
	st.noteLong(index)
	body := append([]byte(nil), payload...)
	err := x.dropStale(st)
	if err == nil {
		err = x.passPacket(payload, size)
	}
	x.front.Skip(size)
	if err != nil {
		return err
	}
	if st.filled == 0 {
		return nil
	}
	binary.LittleEndian.PutUint32(body[1:], st.filled)
	binary.LittleEndian.PutUint16(body[5:], st.filledIndex(index))
	return x.Send(body)
}

func (st *statement) noteLong(index uint16) {
	if st.long == nil {
		st.long = make(map[uint16]bool)
	}
	st.long[index] = true
}

// filledIndex returns where the client's parameter stands among those of the
// filled statement.
func (st *statement) filledIndex(index uint16) uint16 {
	added := uint16(0)
	index = uint16(st.fill.Bound.Index(int(index)))
	for _, slot := range st.slots {
		if slot.State == parser.Open && slot.Param <= int(index) {
			added++
		}
	}
	return index + added
}

// closeStmt closes a statement; there is no answer.
func (x *executor) closeStmt() error {
	x.out.silent = true
	if len(x.stmts) == 0 {
		return x.forward()
	}
	st, payload, size, err := x.stmtCommand()
	if err != nil {
		return err
	}
	if st == nil || st.next == nil {
		err = x.passPacket(payload, size)
	}
	x.front.Skip(size)
	if st == nil || err != nil {
		return err
	}
	delete(x.stmts, st.id)
	if st.filled != 0 {
		return x.SendClose(st.filled)
	}
	return nil
}

// resetStmt drops what was sent ahead for a statement.
func (x *executor) resetStmt() error {
	if len(x.stmts) == 0 {
		return x.pass(wire.ShapeSingle)
	}
	st, payload, size, err := x.stmtCommand()
	if err != nil {
		return err
	}
	if st != nil && st.next != nil {
		x.front.Skip(size)
		return x.replyOK(wire.OK{Status: x.Status()})
	}
	err = x.passPacket(payload, size)
	x.front.Skip(size)
	if err == nil {
		err = x.relay(wire.ShapeSingle)
	}
	if err != nil || st == nil || st.filled == 0 && st.calls == nil {
		return err
	}
	st.long, st.stale = nil, 0
	if st.filled == 0 {
		return nil
	}
	x.out.silent = true
	return x.ResetBackend(st.filled)
}

// prepareQuietly prepares a statement that the client has prepared before, on another
// connection.
func (x *executor) prepareQuietly(text []byte) (*statement, error) {
	st, filled, _, err := x.planPrepareText(text)
	if err != nil {
		return nil, err
	}
	if st.next != nil {
		st.params = st.next.Params()
		return st, nil
	}
	own := 0 // of its parameters that are seqgate's
	if st.calls != nil {
		text, own = st.calls.text, len(st.calls.own())
	}
	ok, err := x.PrepareBackend(text)
	if err != nil {
		return nil, err
	}
	st.id, st.params, st.columns = ok.ID, ok.Params-own, ok.Columns
	if filled != nil {
		ok, err = x.PrepareBackend(filled)
		st.filled = ok.ID
	}
	return st, ignoreRefusal(err) // of the second: its execution tells
}

// prepareAsIs prepares a statement of which the server runs none of the executions,
// and answers the client. own is nil when it was not accepted.
func (x *executor) prepareAsIs(payload []byte) (own *statement, err error) {
	if err := x.Send(payload); err != nil {
		return nil, err
	}
	if ok, accepted, err := x.PeekPrepared(); err != nil || accepted && ok.Columns > 0 {
		if err == nil {
			err = x.Drop(wire.ShapePrepare)
		}
		if err == nil {
			err = x.SendClose(ok.ID)
		}
		if err == nil {
			err = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
				"seqgate does not support rows as the answer to this prepared statement in front of sharded keyspaces; leave RETURNING away, or connect to one shard")
		}
		return nil, err
	}
	own = &statement{}
	if accepted, err := x.relayPrepare(own); err != nil || !accepted {
		return nil, err
	}
	return own, nil
}

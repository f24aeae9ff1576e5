package proxy

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// statement is a prepared statement that seqgate has to know of: one that may
// change the session's state, or write, or ask for a value. All others are
// relayed unseen.
type statement struct {
	id     uint32
	effect effect // of each execution
	params int    // as the client knows them

	next  *nextPlan      // answered from a sequence: the backend has no such statement
	calls *preparedCalls // has values of sequences among its parameters

	writes        bool // INSERT or REPLACE, into:
	schema, table string
	fill          *fillPlan // nil when the table has no sequence
	slots         []parser.Slot
	mode          parser.Mode // in which the text was read
	listed        bool        // it names its columns
	query         []byte      // the text of an INSERT ... SELECT
	database      string      // ... and in which default database that was read
	// Where some id may be open the statement is prepared twice at the backend:
	// as it came, which the client sees and which runs when no id is open, and
	// with a parameter in the place of each id.
	filled uint32          // the second one's id, 0 for none
	types  []param         // of the latest execution that brought types
	long   map[uint16]bool // parameters whose values were sent ahead
}

// prepare deals with a COM_STMT_PREPARE.
func (s *session) prepare() error {
	payload, size, err := s.frontPacket()
	if err != nil {
		return err
	}
	s.lastStmt = 0
	st, filled, resolved, err := s.planPrepareText(payload[1:])
	switch {
	case err != nil || st.next != nil:
	case st.calls != nil:
		err = s.send(append([]byte{mysql.COM_STMT_PREPARE}, st.calls.text...))
	default:
		err = s.sendResolved(payload, size, resolved)
	}
	s.front.skip(size)
	switch {
	case err != nil:
		return err
	case st.next != nil:
		return s.answerPrepareNext(st)
	case filled == nil:
		_, err := s.relayPrepare(st)
		return err
	}
	return s.prepareTwice(st, filled)
}

// planPrepare judges the text of a statement to prepare. filled is the second
// text to prepare, nil for none.
func (s *session) planPrepare(sql []byte) (st *statement, filled []byte, err error) {
	if parser.MayCall(sql) {
		if st, filled, err = s.planPrepareCalls(sql); st != nil || err != nil {
			return st, filled, err
		}
	}
	return s.planPrepared(sql)
}

// planPrepared is planPrepare for a text without calls of sequences.
func (s *session) planPrepared(sql []byte) (st *statement, filled []byte, err error) {
	kind := parser.Sniff(sql)
	st = &statement{effect: s.effectOf(kind, sql)}
	if kind == parser.Kill || kind == parser.Select {
		return st, nil, nil // executed, it is the server's, with the server's ids
	}
	if kind != parser.Insert && kind != parser.Replace {
		p, err := s.plan(sql)
		switch p.kind {
		case planNext:
			st.next = &p.next
		case planOwn:
			return st, nil, mysql.NewDefaultError(mysql.ER_UNSUPPORTED_PS) // as both servers say
		}
		return st, nil, err
	}
	st.writes = true
	p, err := s.planInsert(plan{effect: st.effect}, sql, true)
	st.schema, st.table = s.insertSchema(), s.insert.Table
	if err != nil || p.fill.binding == nil {
		return st, nil, err
	}
	if p.fill.binding.ticket {
		if err := s.checkTicket(&p.fill); err != nil {
			return nil, nil, err
		}
		p.kind = planTicket
	}
	st.fill, st.slots = &p.fill, slices.Clone(s.slots)
	st.mode, st.listed = s.state.mode, s.insert.HasColumns && len(s.insert.Columns) > 0
	switch p.kind {
	case planFill:
		filled = s.parameterText(sql, &p.fill)
	case planQuery:
		st.query, st.database = slices.Clone(sql), s.state.database
	}
	return st, filled, nil
}

// parameterText gives the statement with a parameter in the place of each id
// that is open or may be.
func (s *session) parameterText(sql []byte, p *fillPlan) []byte {
	wrap := p.wrap
	value := func(dst []byte, row int) ([]byte, bool) {
		if state := s.slots[row].State; state != parser.Open && state != parser.Param {
			return dst, false
		}
		if wrap {
			wrap = false
			return append(dst, "LAST_INSERT_ID(?)"...), true
		}
		return append(dst, '?'), true
	}
	return s.insert.AppendFilled(nil, sql, p.binding.Column, value, s.fillOptions(p))
}

// prepareTwice sends the second text behind the first, which is under way.
func (s *session) prepareTwice(st *statement, filled []byte) error {
	if err := s.send(append([]byte{mysql.COM_STMT_PREPARE}, filled...)); err != nil {
		return err
	}
	prepared, err := s.relayPrepare(st)
	if err != nil {
		return err
	}
	s.out.silent = true
	id, err := s.readPrepared()
	var refused *serverError
	switch {
	case errors.As(err, &refused):
		return nil // its execution prepares it again, and tells the error then
	case err != nil:
		return err
	case !prepared:
		return s.sendClose(id)
	}
	st.filled = id
	return nil
}

// relayPrepare passes on the answer to a COM_STMT_PREPARE, and remembers the
// statement under the id that the backend gave it. It reports whether it was
// accepted.
func (s *session) relayPrepare(st *statement) (bool, error) {
	if st.calls != nil {
		return s.relayPrepareCalls(st)
	}
	s.answer.start(shapePrepare, s.capabilities)
	if err := s.back.need(headerSize); err != nil {
		return false, s.answerCut(err)
	}
	payload, _, _, err := s.back.packet(maxStatement)
	if err != nil {
		return false, s.answerCut(err)
	}
	prepared := first(payload) == mysql.OK_HEADER && len(payload) >= 9
	if prepared {
		s.lastStmt, s.prepared = binary.LittleEndian.Uint32(payload[1:]), true
	}
	if prepared && (st.effect != 0 || st.writes) {
		st.id = binary.LittleEndian.Uint32(payload[1:])
		st.params = int(binary.LittleEndian.Uint16(payload[7:]))
		s.remember(st)
	}
	return prepared, s.relayRest()
}

func (s *session) remember(st *statement) {
	if s.stmts == nil {
		s.stmts = make(map[uint32]*statement)
	}
	s.stmts[st.id] = st
}

// readPrepared reads the answer to a COM_STMT_PREPARE of seqgate's own.
func (s *session) readPrepared() (id uint32, err error) {
	payload, _, _, err := s.back.packet(maxStatement)
	if err != nil {
		return 0, &backendError{err}
	}
	if first(payload) == mysql.OK_HEADER && len(payload) >= 9 {
		id = binary.LittleEndian.Uint32(payload[1:])
	}
	return id, s.drop(shapePrepare)
}

// lastPrepared stands for the statement prepared last, in MariaDB's protocol
// ("COM_STMT_EXECUTE" in MariaDB's documentation).
const lastPrepared = 0xffffffff

// stmtCommand reads a command about a prepared statement whole. The statement
// is nil when seqgate need not know of it.
func (s *session) stmtCommand() (st *statement, payload []byte, size int, err error) {
	payload, size, err = s.frontPacket()
	if err != nil {
		return nil, nil, 0, err
	}
	if len(payload) < 5 {
		return nil, payload, size, nil
	}
	id := binary.LittleEndian.Uint32(payload[1:])
	if id == lastPrepared && s.mariaDB {
		id = s.lastStmt // not the second one that seqgate may have prepared since
		binary.LittleEndian.PutUint32(payload[1:], id)
	}
	st = s.stmts[id]
	return st, payload, size, nil
}

// execute deals with a COM_STMT_EXECUTE or COM_STMT_BULK_EXECUTE.
func (s *session) execute() error {
	if len(s.stmts) == 0 {
		return s.executeUnseen()
	}
	st, payload, size, err := s.stmtCommand()
	if err != nil {
		return err
	}
	switch {
	case st != nil && st.next != nil && payload[0] == comStmtBulkExecute:
		s.front.skip(size)
		return mysql.NewDefaultError(mysql.ER_UNSUPPORTED_PS) // as to any SELECT
	case st != nil && st.next != nil:
		err := s.readNext(st, payload)
		s.front.skip(size)
		if err != nil {
			return err
		}
		return s.answerNext(*st.next, true)
	case st != nil && st.calls != nil:
		return s.executeCalls(st, payload, size)
	case st != nil && st.writes:
		return s.executeInsert(st, payload, size)
	}
	return s.executeSeen(st, payload, size)
}

// executeUnseen relays an execution of a statement that seqgate keeps nothing of,
// however long it is.
func (s *session) executeUnseen() error {
	length, _, err := s.front.header()
	if err != nil {
		return &frontError{err}
	}
	n := min(length, executeFlags+1)
	if err := s.front.need(headerSize + n); err != nil {
		return &frontError{err}
	}
	return s.pass(executeShape(s.front.unread()[headerSize:][:n]))
}

// executeFlags is where a COM_STMT_EXECUTE says whether it wants a cursor.
const executeFlags = 5

// cursorTypes are the flags that ask for a cursor.
const cursorTypes = 0x07

// executeShape gives the shape of the answer to a COM_STMT_EXECUTE.
func executeShape(payload []byte) shape {
	if len(payload) > executeFlags && payload[executeFlags]&cursorTypes != 0 {
		return shapeCursor
	}
	return shapeResults
}

// executeSeen relays an execution, with what it does to the session.
func (s *session) executeSeen(st *statement, payload []byte, size int) error {
	var e effect
	if st != nil {
		e = st.effect
	}
	return s.passCommand(payload, size, executeShape(payload), e)
}

// executeInsert executes an INSERT or REPLACE, with ids where some are open.
func (s *session) executeInsert(st *statement, payload []byte, size int) error {
	var err error
	if st.fill != nil {
		err = s.knowLastID()
	}
	if err == nil {
		err = s.stillBound(st)
	}
	if err != nil {
		s.front.skip(size)
		return err
	}
	if st.fill == nil {
		return s.executeSeen(st, payload, size)
	}
	if st.fill.binding.ticket {
		return s.executeTicket(st, payload, size)
	}
	if st.query != nil {
		return s.executeQuery(st, payload, size)
	}
	if payload[0] == comStmtBulkExecute {
		return s.executeBulk(st, payload, size)
	}
	p := st.execution()
	params, err := s.readExecute(st, payload)
	if err == nil {
		params, err = s.withVariables(st, params)
	}
	if err == nil {
		err = s.openRows(st, &p, params)
	}
	if err != nil {
		s.front.skip(size)
		return errors.Join(err, s.dropLong(st))
	}
	return s.executeFill(st, &p, params, payload[5], size)
}

// execution gives the plan of one execution, of which nothing was read yet.
func (st *statement) execution() fillPlan {
	p := *st.fill
	p.open, p.lowest, p.highest, p.prepared = 0, 0, 0, true
	return p
}

// stillBound checks that the table's ids are still made as when the statement
// was prepared.
func (s *session) stillBound(st *statement) error {
	b, err := s.binding(st.schema, st.table)
	if err != nil || b == nil && st.fill == nil {
		return err
	}
	if b == nil || st.fill == nil || !st.holds(b, s.state.mode) || st.query != nil && (s.state.mode != st.mode || s.state.database != st.database) {
		return mysql.NewDefaultError(mysql.ER_NEED_REPREPARE)
	}
	st.fill.binding = b
	return nil
}

// holds reports whether what was judged of the text at PREPARE is so still, with
// this binding and in this mode.
func (st *statement) holds(b *Binding, m parser.Mode) bool {
	was := st.fill.binding
	literal := func(slot parser.Slot) bool { return slot.State != parser.Param }
	if m != st.mode && st.fill.bound != nil {
		return false // names of variables may read in another way
	}
	return b.Column == was.Column && b.key == was.key && b.AutoIncrement == was.AutoIncrement && b.Unsigned == was.Unsigned && b.Transactional == was.Transactional && b.ticket == was.ticket &&
		(st.listed || slices.Equal(b.Columns, was.Columns)) &&
		(m == st.mode || !slices.ContainsFunc(st.slots, literal))
}

// readExecute reads the parameters of an execution.
func (s *session) readExecute(st *statement, payload []byte) ([]param, error) {
	const header, countAvailable = 10, 8
	r := paramReader{b: payload, at: header}
	if len(payload) < header {
		return nil, malformedExecute()
	}
	named := s.has(mysql.CLIENT_QUERY_ATTRIBUTES)
	count := uint64(st.params)
	if named && payload[5]&countAvailable != 0 {
		count = r.number()
	}
	if count == 0 && st.params == 0 && !r.bad {
		return nil, nil
	}
	params := r.readParams(count, named, st.types, st.long)
	if r.bad || len(params) < st.params {
		return nil, malformedExecute()
	}
	st.types = st.types[:0]
	for _, p := range params {
		st.types = append(st.types, param{typ: p.typ, name: p.name})
	}
	return params, nil
}

func malformedExecute() error {
	return mysql.NewError(mysql.ER_MALFORMED_PACKET, "Malformed communication packet: COM_STMT_EXECUTE")
}

// openRows counts the rows whose ids are open in an execution with these
// parameters.
func (s *session) openRows(st *statement, p *fillPlan, params []param) error {
	for _, slot := range st.slots {
		v := s.decide(p, slot, params)
		switch v.State {
		case parser.Open:
			p.open++
		case parser.Unknown:
			return unsupported("a value of this type, or sent by COM_STMT_SEND_LONG_DATA, for '"+p.binding.Column+"'", p.binding.Table,
				"bind the id as an integer")
		}
		p.noteExplicit(v)
	}
	return nil
}

// decide gives what a row says of its id in an execution with these parameters.
func (s *session) decide(p *fillPlan, slot parser.Slot, params []param) parser.Slot {
	mode := p.binding.mode(s.state.mode)
	if slot.State == parser.Param {
		slot = params[slot.Param].slot(mode, p.ignore)
	}
	return p.binding.judge(slot, mode.Strict && !p.ignore)
}

// executeFill sends the execution of the statement that fits: the client's own
// when it can go as it came, else the one with a parameter for each id.
func (s *session) executeFill(st *statement, p *fillPlan, params []param, flags byte, size int) error {
	id := st.id
	flags &^= cursorTypes // MariaDB has none on RETURNING
	err := s.beforeExecute(st, p)
	if err == nil && p.runsFilled() {
		id = st.filled
		params, err = s.fillParams(st, p, params)
	}
	if err != nil {
		s.front.skip(size)
		return err
	}
	if err := s.sendExecute(id, flags, params, size); err != nil {
		return err
	}
	err = s.settleExecute(st, p)
	other := st.filled
	if p.runsFilled() {
		other = st.id
	}
	if len(st.long) > 0 && other != 0 {
		s.out.silent = err == nil
		err = errors.Join(err, s.resetBackend(other))
	}
	st.long = nil
	return err
}

// beforeExecute prepares the backend session for an execution.
func (s *session) beforeExecute(st *statement, p *fillPlan) error {
	switch {
	case p.runsFilled() && st.filled == 0:
		return mysql.NewDefaultError(mysql.ER_NEED_REPREPARE)
	case !p.rewrites():
		return s.before(st.effect)
	case !p.wrap:
		return s.before(mayLook)
	}
	return nil
}

// dropLong forgets values that were sent ahead for an execution that was refused.
func (s *session) dropLong(st *statement) error {
	if len(st.long) == 0 {
		return nil
	}
	st.long = nil
	err := s.resetBackend(st.id)
	if st.filled != 0 {
		err = errors.Join(err, s.resetBackend(st.filled))
	}
	return err
}

func (s *session) settleExecute(st *statement, p *fillPlan) error {
	switch {
	case p.rewrites():
		return s.settleFill(p, target{st.schema, st.table})
	case p.reports():
		err := s.settleExplicit(p)
		if !p.wrap {
			s.after(st.effect)
		}
		return err
	case p.tells():
		err := s.settleExplicit(p)
		s.after(st.effect)
		return err
	}
	err := s.relayComposed(shapeResults)
	s.after(st.effect)
	return err
}

// fillParams takes ids for the open rows and puts them among the parameters.
func (s *session) fillParams(st *statement, p *fillPlan, params []param) ([]param, error) {
	open := func(row int) bool { return s.decide(p, st.slots[row], params).State == parser.Open }
	if err := s.takeIDs(p, open, params); err != nil {
		return nil, err
	}
	return withIDs(st.slots, params, open, func(n int) param { return idParam(p.id(n)) }), nil
}

// withIDs gives the parameters of the filled statement: those of the client's own,
// and the n-th id in the place of the n-th row that is open.
func withIDs[T any](slots []parser.Slot, params []T, open func(row int) bool, id func(n int) T) []T {
	all := make([]T, 0, len(params)+len(slots))
	taken, n := 0, 0
	for row, slot := range slots {
		all = append(all, params[taken:slot.Param]...)
		taken = slot.Param
		if slot.State == parser.Explicit || !open(row) {
			continue
		}
		all = append(all, id(n))
		n++
		if slot.State == parser.Param {
			taken++
		}
	}
	return append(all, params[taken:]...)
}

// sendExecute sends an execution and skips the client's own, in which the values
// of its parameters stand, by its size.
func (s *session) sendExecute(id uint32, flags byte, params []param, size int) error {
	if size > 0 {
		s.scratch = s.appendExecute(s.packetBuffer(), id, flags, params)
		s.front.skip(size)
		return s.sendPacket(s.scratch)
	}
	flags, named := s.counted(flags)
	parts := [][]byte{appendExecuteHead(nil, id, flags, params, named)}
	for i := range params {
		parts = append(parts, params[i].bytes())
	}
	return s.sendLong(parts...)
}

func (s *session) appendExecute(dst []byte, id uint32, flags byte, params []param) []byte {
	flags, named := s.counted(flags)
	return appendExecute(dst, id, flags, params, named)
}

// counted gives the flags of an execution: with query attributes agreed on, the
// count of its parameters has to be told, and each has a name.
func (s *session) counted(flags byte) (_ byte, named bool) {
	const countAvailable = 8
	if named = s.has(mysql.CLIENT_QUERY_ATTRIBUTES); named {
		flags |= countAvailable
	}
	return flags, named
}

// sendLongData passes a parameter's value on, to each statement that may run.
func (s *session) sendLongData() error {
	s.out.silent = true
	if len(s.stmts) == 0 {
		return s.forward()
	}
	st, payload, size, err := s.stmtCommand()
	if err != nil {
		return err
	}
	if st != nil && st.calls != nil && len(payload) >= 7 {
		st.noteLong(binary.LittleEndian.Uint16(payload[5:])) // its execution is refused
		s.front.skip(size)
		return nil
	}
	if st == nil || st.fill == nil || len(payload) < 7 {
		err := s.passPacket(payload, size)
		s.front.skip(size)
		return err
	}
	index := binary.LittleEndian.Uint16(payload[5:])
	st.noteLong(index)
	body := append([]byte(nil), payload...)
	err = s.passPacket(payload, size)
	s.front.skip(size)
	if err != nil {
		return err
	}
	if st.filled == 0 {
		return nil
	}
	binary.LittleEndian.PutUint32(body[1:], st.filled)
	binary.LittleEndian.PutUint16(body[5:], st.filledIndex(index))
	return s.send(body)
}

func (st *statement) noteLong(index uint16) {
	if st.long == nil {
		st.long = make(map[uint16]bool)
	}
	st.long[index] = true
}

// filledIndex gives where the client's parameter stands among those of the
// filled statement.
func (st *statement) filledIndex(index uint16) uint16 {
	added := uint16(0)
	index = uint16(st.fill.bound.index(int(index)))
	for _, slot := range st.slots {
		if slot.State == parser.Open && slot.Param <= int(index) {
			added++
		}
	}
	return index + added
}

// closeStmt closes a statement; there is no answer.
func (s *session) closeStmt() error {
	s.out.silent = true
	if len(s.stmts) == 0 {
		return s.forward()
	}
	st, payload, size, err := s.stmtCommand()
	if err != nil {
		return err
	}
	if st == nil || st.next == nil {
		err = s.passPacket(payload, size)
	}
	s.front.skip(size)
	if st == nil || err != nil {
		return err
	}
	delete(s.stmts, st.id)
	if st.filled != 0 {
		return s.sendClose(st.filled)
	}
	return nil
}

func (s *session) sendClose(id uint32) error {
	return s.send(binary.LittleEndian.AppendUint32([]byte{mysql.COM_STMT_CLOSE}, id))
}

// resetStmt drops what was sent ahead for a statement.
func (s *session) resetStmt() error {
	if len(s.stmts) == 0 {
		return s.pass(shapeSingle)
	}
	st, payload, size, err := s.stmtCommand()
	if err != nil {
		return err
	}
	if st != nil && st.next != nil {
		s.front.skip(size)
		return s.replyOK(okPacket{status: s.answer.status})
	}
	err = s.passPacket(payload, size)
	s.front.skip(size)
	if err == nil {
		err = s.relay(shapeSingle)
	}
	if err != nil || st == nil || st.filled == 0 && st.calls == nil {
		return err
	}
	st.long = nil
	if st.filled == 0 {
		return nil
	}
	s.out.silent = true
	return s.resetBackend(st.filled)
}

func (s *session) resetBackend(id uint32) error {
	if err := s.send(binary.LittleEndian.AppendUint32([]byte{mysql.COM_STMT_RESET}, id)); err != nil {
		return err
	}
	return s.drop(shapeSingle)
}

package proxy

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/sequence"
)

// UPDATE t SET c = NEXTVAL(s) of many rows: the server is asked how many there are,
// by a SELECT ... FOR UPDATE of the same rows, and a block of values for as many is
// taken. In the UPDATE each call is an expression that counts the rows up. One row
// beyond the block makes the whole statement fail, and it is counted again.

// rowsUpdate is such a statement under way.
type rowsUpdate struct {
	plan       *callPlan
	sql        []byte
	attributes []byte // what stands before the text of a COM_QUERY
	prepared   bool
	params     []param // of an execution, and query attributes behind them

	last   []number  // the value of each call of LASTVAL
	values []*rowsOf // of each call; nil for those that take none
	taken  map[sequence.Name]*rowsOf

	counted int64 // rows there are
	rows    int64 // rows for which values were taken
	places  int64 // calls that take values, in each row
}

// rowsOf is what one sequence gives to the rows of an UPDATE.
type rowsOf struct {
	first int64
	calls int64 // in each row
}

// needsRows reports whether each row of the statement takes values of its own.
func (p *callPlan) needsRows() bool {
	for i := range p.stmt.Calls {
		if p.takes(i) {
			return p.stmt.PerRow()
		}
	}
	return false
}

// takes reports whether a call takes a value of a sequence that seqgate knows.
func (p *callPlan) takes(call int) bool {
	return p.known[call] && p.stmt.Calls[call].Kind == parser.NextValue
}

// checkRows refuses what would not be evaluated in a statement of many rows as
// MariaDB does, or as it is in the client's own text.
func (p *callPlan) checkRows(sql []byte) error {
	if !p.needsRows() {
		return nil
	}
	taken := make(map[sequence.Name]bool)
	var name sequence.Name
	for i := range p.stmt.Calls {
		if p.takes(i) {
			name = p.names[i]
			taken[name] = true
		}
	}
	for i, c := range p.stmt.Calls {
		if p.known[i] && c.Kind == parser.LastValue && (taken[p.names[i]] || p.names[i] == sequence.Name{}) {
			return refuseCall("the last value of a sequence beside its next one in an UPDATE without LIMIT 1", name)
		}
	}
	switch {
	case parser.MentionsLastInsertID(sql), readsDiagnostics(sql):
		return refuseCall("the next value of a sequence beside LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS() or a count of warnings in an UPDATE without LIMIT 1", name)
	case bytes.Contains(p.stmt.Tail(sql), []byte(":=")):
		return refuseCall("the next value of a sequence in an UPDATE whose WHERE, ORDER BY or LIMIT sets a user variable", name)
	}
	return nil
}

// updateRows runs the statement and answers it.
func (s *session) updateRows(u *rowsUpdate) error {
	if err := s.knowLastID(); err != nil {
		return err
	}
	u.readCalls(s)
	if err := s.refuseViews(u); err != nil {
		return err
	}
	for attempt := range int64(queryAttempts) {
		uncounted := s.countRows(u)
		if uncounted != nil && !mayBeUpdated(uncounted) {
			return uncounted
		}
		if err := s.takeRows(u, attempt); err != nil {
			return err
		}
		text := u.plan.stmt.AppendReplaced(nil, u.sql, u.value)
		s.out.part = text
		ok, err := s.runQuery(u.prepared, text, u.attributes, u.params)
		if !overranRows(err) {
			return s.settleRows(u, ok, err)
		}
		if uncounted != nil {
			return refuseCall("the next value of a sequence in an UPDATE whose rows cannot be counted ("+uncounted.Error()+")", u.name())
		}
		if undone, err := s.undoes(u.plan.stmt.Table()); err != nil || !undone {
			return errors.Join(err, changedRows("more rows came than were counted while values of sequence '%s' were written, to a table that cannot undo those it has got; look at them before you repeat the statement", u))
		}
	}
	return changedRows("the rows that take values of sequence '%s' changed each time between counting and updating them; repeat it in a REPEATABLE READ transaction", u)
}

// refuseViews refuses a statement that may read a view which sets LAST_INSERT_ID(),
// where the rows are counted.
func (s *session) refuseViews(u *rowsUpdate) error {
	t := u.plan.stmt.Table()
	if t.Schema == "" {
		t.Schema = s.state.database
	}
	e, err := s.srv.catalog.lookup(s.ctx, s.keyspace, t.Schema, t.Name)
	if err != nil || e.table.kind != kindView && !parser.Mentions(u.sql, "select") {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, catalogTimeout)
	defer cancel()
	var view string
	err = s.keyspace.DB.QueryRowContext(ctx, "SELECT TABLE_NAME FROM information_schema.VIEWS WHERE TABLE_SCHEMA <> 'sys' AND"+
		" (VIEW_DEFINITION = '' OR LOCATE('last_insert_id', LOWER(VIEW_DEFINITION)) > 0) LIMIT 1").Scan(&view)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return &describeError{"the views", err}
	}
	return refuseCall("the next value of a sequence in an UPDATE that reads others, while view '"+view+"' uses LAST_INSERT_ID() or cannot be looked into (SHOW VIEW),", u.name())
}

func changedRows(format string, u *rowsUpdate) error {
	return mysql.NewError(mysql.ER_CHECKREAD, fmt.Sprintf(format, u.name()))
}

// name gives the first sequence that the statement takes values of.
func (u *rowsUpdate) name() sequence.Name {
	return u.plan.names[slices.IndexFunc(u.values, func(v *rowsOf) bool { return v != nil })]
}

// readCalls prepares what is the same in each attempt.
func (u *rowsUpdate) readCalls(s *session) {
	p := u.plan
	u.taken = make(map[sequence.Name]*rowsOf)
	u.values, u.last = make([]*rowsOf, len(p.stmt.Calls)), make([]number, len(p.stmt.Calls))
	for i := range p.stmt.Calls {
		switch name := p.names[i]; {
		case p.takes(i):
			if u.taken[name] == nil {
				u.taken[name] = new(rowsOf)
			}
			u.values[i] = u.taken[name]
			u.taken[name].calls++
			u.places++
		case p.known[i]:
			u.last[i] = s.lastValue(name)
		}
	}
}

// countRows asks how many rows the statement is about, in the client's session and
// with the locks of the UPDATE. LAST_INSERT_ID() is 0 then, and is set back later.
func (s *session) countRows(u *rowsUpdate) error {
	u.counted = 0
	text := u.plan.stmt.AppendRowCount(nil, u.sql, u.value)
	s.state.restore = true
	if !u.prepared {
		row, err := s.queryRow(string(text), 1)
		if err == nil {
			u.counted, err = strconv.ParseInt(row[0], 10, 64)
		}
		return err
	}
	id, err := s.executeOnce(text, u.params[u.plan.stmt.TailParams():])
	if err != nil {
		return err
	}
	row, err := s.readRow()
	if err := errors.Join(err, s.sendClose(id)); err != nil {
		return err
	}
	const header = 2 // a 0, and the bits of columns that are NULL
	if len(row) != header+8 {
		return fmt.Errorf("count the rows of an UPDATE: the server answered with %d bytes", len(row))
	}
	u.counted = int64(binary.LittleEndian.Uint64(row[header:]))
	return nil
}

// mayBeUpdated reports whether rows may be updated though an error says that they
// cannot be counted: it is one in the reading of the SELECT, or of rights. What the
// server says of the UPDATE itself decides.
func mayBeUpdated(err error) bool {
	var refused *serverError
	return errors.As(err, &refused) && (slices.Contains(namingErrors, refused.code()) ||
		refused.code() == mysql.ER_TABLEACCESS_DENIED_ERROR || refused.code() == mysql.ER_COLUMNACCESS_DENIED_ERROR)
}

// takeRows takes values for the rows. A further attempt takes more.
func (s *session) takeRows(u *rowsUpdate, attempt int64) error {
	rows := u.counted
	if attempt > 0 {
		rows += rows/8*attempt*attempt + 64*attempt
	}
	u.rows = rows
	if rows == 0 {
		return nil
	}
	for name, v := range u.taken {
		block, err := s.nextValues(nextPlan{name: name, count: rows * v.calls})
		if err != nil {
			return err
		}
		v.first = block.First
	}
	return nil
}

// value appends what stands in the place of a call.
func (u *rowsUpdate) value(dst []byte, call int, typed bool) ([]byte, bool) {
	v := u.values[call]
	if v == nil {
		return u.last[call].append(dst, typed), u.plan.known[call]
	}
	row := parser.RowValue{First: v.first, Step: v.calls, Places: u.places, Rows: u.rows}
	for i := range call {
		if u.values[i] != nil {
			row.Place++
		}
		if u.values[i] == v {
			row.Index++
		}
	}
	return row.Append(dst), true
}

// overranRows reports whether a statement failed because it came to more rows than
// were counted.
func overranRows(err error) bool {
	var refused *serverError
	return errors.As(err, &refused) && refused.code() == mysql.ER_DATA_OUT_OF_RANGE &&
		bytes.Contains(bytes.ToLower(refused.packet), []byte(parser.RowOverrun))
}

// settleRows answers the statement. Unless a trigger had insert ids of its own, the
// OK packet tells how far LAST_INSERT_ID() has counted; natively it is 0.
func (s *session) settleRows(u *rowsUpdate, ok okPacket, err error) error {
	e := s.effectOf(parser.Update, u.sql)
	if err != nil {
		s.after(e)
		return err
	}
	rows := u.counted
	if ok.insertID > 0 {
		rows = (int64(ok.insertID)-1)/u.places + 1
	}
	for i, v := range u.values {
		if v != nil && rows > 0 {
			s.noteValue(u.plan.names[i], v.first+rows*v.calls-1)
		}
	}
	s.after(e)
	ok.insertID = 0
	return s.replyOK(ok)
}

// undoes reports whether a table undoes a statement that fails; not when it is a
// view or the session's temporary table, of which that is not known.
func (s *session) undoes(t parser.Table) (bool, error) {
	if t.Schema == "" {
		t.Schema = s.state.database
	}
	if hidden, err := s.isTemporary(t.Schema, t.Name); hidden || err != nil {
		return false, err
	}
	e, err := s.srv.catalog.lookup(s.ctx, s.keyspace, t.Schema, t.Name)
	return err == nil && e.table.transactional(), err
}

// executeRows executes a prepared statement each of whose rows takes values. What
// is made of it is prepared for this execution only.
func (s *session) executeRows(st *statement, payload []byte, size int) error {
	u, err := s.planRows(st, payload)
	s.front.skip(size)
	if err != nil {
		return errors.Join(err, s.dropLong(st))
	}
	return s.updateRows(u)
}

// planRows reads what an execution needs.
func (s *session) planRows(st *statement, payload []byte) (*rowsUpdate, error) {
	if err := checkCallsExecute(st, payload); err != nil {
		return nil, err
	}
	if err := s.know(); err != nil {
		return nil, err
	}
	if s.state.mode != st.mode || s.state.database != st.database {
		return nil, mysql.NewDefaultError(mysql.ER_NEED_REPREPARE)
	}
	params, err := s.readExecute(st, payload)
	if err != nil {
		return nil, err
	}
	u := &rowsUpdate{plan: st.calls.plan, sql: st.calls.sql, prepared: true}
	for _, p := range params {
		p.value = bytes.Clone(p.value) // the packet is gone when it is sent
		u.params = append(u.params, p)
	}
	return u, nil
}

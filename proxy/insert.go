package proxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// planInsert judges an INSERT or REPLACE. What seqgate cannot read of one on a
// sequenced table is refused: it must not reach the server without its ids.
func (f *filler) planInsert(p plan, sql []byte, prepared bool) (plan, error) {
	p, err := f.planRead(p, sql, prepared)
	return p, unread(err, sql)
}

// planRead is planInsert with seqgate's own errors.
func (f *filler) planRead(p plan, sql []byte, prepared bool) (plan, error) {
	if !f.state.environmentKnown {
		if f.insertsElsewhere(sql, prepared) {
			return p, nil
		}
		if !prepared && f.planUnlisted(&p, sql) {
			return p, nil
		}
	}
	if asks := !f.state.environmentKnown || !f.state.lastIDKnown; asks && f.state.databaseKnown && readsDiagnostics(sql) {
		return f.planWithoutProbe(p, sql)
	}
	if err := f.know(); err != nil {
		return p, err
	}
	b, err := f.parseInsert(sql)
	if b == nil || err != nil {
		return p, err
	}
	if err := f.knowLastID(); err != nil {
		return p, err
	}
	if f.insert.FromQuery() {
		if readsDiagnostics(sql) { // the count is a statement of its own
			return p, catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in INSERT ... SELECT", b.Table, "read it with SELECT first")
		}
		return f.planQuery(p, b, prepared)
	}
	return f.planValues(p, sql, b, prepared)
}

// planValues judges the rows of the INSERT ... VALUES or SET in s.insert.
func (f *filler) planValues(p plan, sql []byte, b *catalog.Binding, prepared bool) (plan, error) {
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
	if p.fill, err = newFillPlan(&f.insert, b, f.slots, b.Mode(f.state.mode)); err != nil {
		return p, err
	}
	p.fill.foundRows, p.fill.keys, p.fill.variables = f.has(mysql.CLIENT_FOUND_ROWS), keys, variables
	p.fill.appends = p.fill.appendsID(sql)
	if bound != nil {
		p.fill.bound, p.fill.wrap = bound, false
	}
	if p.fill.params == 0 || prepared { // else a ? in a text: the server's own syntax error
		p.kind, p.effect = f.kindOfFill(&p.fill, p.effect)
	}
	return p, nil
}

// kindOfFill gives what becomes of a statement whose ids are judged.
func (f *filler) kindOfFill(p *fillPlan, e effect) (planKind, effect) {
	switch {
	case p.rewrites() || p.params > 0:
		return planFill, f.effectOfFill(p)
	case p.variables:
		return planFill, e
	case p.reports():
		return planReport, effectOfExplicit(&f.insert)
	case p.tells():
		return planReport, e
	}
	return planPass, e
}

// readRows reads what each row of the INSERT in s.insert says of its id, into
// s.slots, and of its key where the sequence has keys. Of a text that leaves the id
// out there are no slots.
func (f *filler) readRows(sql []byte, b *catalog.Binding, prepared bool) (keys []parser.Key, err error) {
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
func (f *filler) bindAnew() (*catalog.Binding, error) {
	f.srv.catalog.Forget()
	return f.binding(f.insert.Schema, f.insert.Table)
}

// readsDiagnostics reports whether a statement may read what the one before it
// left behind, which a question of seqgate's own would change.
func readsDiagnostics(sql []byte) bool {
	return containsAnyWord(sql, "row_count", "found_rows", "warning_count", "error_count")
}

// planWithoutProbe judges such a statement by its table alone, without asking the
// session for its settings: it passes when the table has no sequence.
func (f *filler) planWithoutProbe(p plan, sql []byte) (plan, error) {
	m := parser.Mode{MariaDB: f.mariaDB}
	if f.state.environmentKnown {
		m = f.state.mode
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

// effectOfFill: only a statement that uses LAST_INSERT_ID() itself looks at it. Ids that are no numbers leave it alone,
// but another column of the table may not.
func (f *filler) effectOfFill(p *fillPlan) effect {
	switch {
	case p.wrap:
		return 0
	case p.binding.Form != 0 && p.binding.Counts:
		return mayLook | mayChangeLastID
	case p.binding.Form != 0:
		return effectOfExplicit(&f.insert)
	}
	return mayLook
}

// effectOfExplicit: an INSERT with explicit ids leaves LAST_INSERT_ID() alone
// on a column without AUTO_INCREMENT.
func effectOfExplicit(stmt *parser.InsertStmt) effect {
	if stmt.UsesLastInsertID {
		return mayLook | mayChangeLastID
	}
	return 0
}

// parseInsert reads an INSERT into s.insert and gives its table's binding, nil
// when the statement goes to the server as it is.
func (f *filler) parseInsert(sql []byte) (*catalog.Binding, error) {
	if err := f.insert.ParseTarget(sql, f.state.mode); err == nil {
		b, err := f.binding(f.insert.Schema, f.insert.Table)
		if b == nil || err != nil {
			return nil, err // the rows of a table without a sequence are never looked at
		}
		if err := f.insert.ParseFor(sql, b.Mode(f.state.mode), b.Column, b.Columns); err == nil {
			return b, nil
		}
		if err := f.insert.ParseQuery(sql, b.Mode(f.state.mode)); err == nil {
			return b, nil
		} else if f.insert.FromQuery() {
			return nil, refuseForm(err, b.Table)
		}
	}
	return nil, f.refuseUnread(f.insert.Parse(sql, f.state.mode), sql)
}

// refuseUnread refuses an INSERT that could not be read, unless its table has no
// sequence: then the server judges it.
func (f *filler) refuseUnread(err error, sql []byte) error {
	var form *parser.UnsupportedError
	if errors.As(err, &form) {
		b, lookupErr := f.binding(form.Schema, form.Table)
		if b == nil || lookupErr != nil {
			return lookupErr
		}
		return refuseForm(err, b.Table)
	}
	if tables, ok := parser.Writes(nil, sql, f.state.mode); ok && len(tables) == 0 {
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

// fillText takes ids for the statement in s.insert and appends its text, filled,
// to dst.
func (f *filler) fillText(dst, sql []byte, p *fillPlan) ([]byte, error) {
	if err := f.takeOpen(p); err != nil {
		return dst, err
	}
	f.idsAt = f.idsAt[:0]
	p.sent = sentText
	return f.insert.AppendFilled(dst, sql, p.binding.Column, f.fillValues(sql, p), f.fillOptions(p)), nil
}

// isOpen reports whether a row of the statement in s.insert gets an id.
func (f *filler) isOpen(row int) bool {
	return len(f.slots) == 0 || f.slots[row].State == parser.Open
}

// takeOpen takes ids for the open rows of the statement in s.insert.
func (f *filler) takeOpen(p *fillPlan) error {
	if p.movesAhead() {
		p.own = ownOf(f.slots)
	}
	return f.takeIDs(p, f.isOpen, nil)
}

// fillValues gives the ids that were taken, row by row.
func (f *filler) fillValues(sql []byte, p *fillPlan) func(dst []byte, row int) ([]byte, bool) {
	n := 0
	return func(dst []byte, row int) ([]byte, bool) {
		if !f.isOpen(row) {
			return f.appendCopied(dst, sql, p, row)
		}
		if p.sent == sentText {
			f.idsAt = append(f.idsAt, len(dst))
		}
		dst = p.appendOpen(dst, n)
		n++
		return dst, true
	}
}

// takeIDs takes an id for each open row. params are those of an execution.
func (f *filler) takeIDs(p *fillPlan, open func(row int) bool, params []wire.Param) (err error) {
	if p.open == 0 {
		return nil
	}
	f.owner.noteFilled()
	if err = f.takeEach(p, open, params); err == nil {
		f.noteIDs(p.open)
	}
	return err
}

// takeEach is takeIDs where at least one row is open.
func (f *filler) takeEach(p *fillPlan, open func(row int) bool, params []wire.Param) (err error) {
	if p.binding.Form != 0 {
		return f.takeTexts(p)
	}
	if f.state.ids.forced != 0 || p.forced != 0 {
		return f.takeForced(p)
	}
	if err := f.spread(p); err != nil {
		return err
	}
	switch {
	case p.binding.Numbers != nil && !p.fromQuery:
		return f.takeNumbers(p)
	case p.binding.Key.Name == "":
		return f.takeBlock(p)
	}
	keys, err := f.openKeys(p.binding, p.keys, open, params)
	if err != nil {
		return err
	}
	if p.ids, err = f.nextEach(p.binding, keys); err == nil {
		p.first = p.ids[0]
	}
	return err
}

// next takes a block of n ids, all of which the column can hold.
func (f *filler) next(b *catalog.Binding, n int64) (int64, error) {
	ids, err := f.nextRange(b, n)
	if err != nil {
		return 0, err
	}
	if ids.First > b.Max-n+1 {
		return 0, columnFull(b, ids.Last())
	}
	return ids.First, nil
}

func (f *filler) nextRange(b *catalog.Binding, n int64) (sequence.Range, error) {
	if b.Numbers != nil {
		return b.Numbers.Next(f.spanContext(), n)
	}
	seq, err := f.srv.cfg.Sequences.Get(b.Sequence)
	if err != nil {
		return sequence.Range{}, err
	}
	ids, err := seq.Next(f.spanContext(), n)
	f.srv.discard(b.Sequence, err)
	return ids, err
}

// discard drops what was opened as a sequence and is none: a table that counts by key, say. It would stay in memory, in the
// metrics and on the page.
func (s *Server) discard(name sequence.Name, err error) {
	if errors.Is(err, sequence.ErrNotSequence) {
		s.cfg.Sequences.Discard(name)
	}
}

func columnFull(b *catalog.Binding, id int64) error {
	return mysql.NewError(mysql.ER_AUTOINC_READ_FAILED, fmt.Sprintf(
		"the next id %d of sequence %s is past the largest that column '%s' of table '%s' holds (%d); widen the column",
		id, b.Sequence, b.Column, b.Table, b.Max))
}

// fillOptions: with ON DUPLICATE KEY UPDATE a row that was there already has to
// be told apart, and its id told to the client, as a native column does.
func (f *filler) fillOptions(p *fillPlan) parser.FillOptions {
	return parser.FillOptions{TellUpdated: p.tellsUpdated()}
}

func appendID(dst []byte, id int64, wrap bool) []byte {
	if !wrap {
		return strconv.AppendInt(dst, id, 10)
	}
	dst = append(dst, "LAST_INSERT_ID("...)
	return append(strconv.AppendInt(dst, id, 10), ')')
}

// settleFill reads the server's answer to a filled statement and tells the
// client what a native AUTO_INCREMENT column would have.
func (x *executor) settleFill(p *fillPlan, t catalog.TableName) error {
	if p.binding.Form != 0 {
		return x.settleTexts(p)
	}
	if p.returning && x.answersRows() {
		return x.settleReturning(p, t)
	}
	ok, err := x.answerOK()
	ok, err = x.repeatTaken(p, t, ok, err)
	x.tellExplicit(p, t, x.ownOutcome(p, ok, err))
	if err != nil {
		var refused *wire.ServerError
		if errors.As(err, &refused) {
			// LAST_INSERT_ID(id) may have been evaluated before it failed.
			x.state.restore = x.state.restore || p.wrap || p.appends
			x.forgetIfStale(refused)
		}
		return err
	}
	x.tellInserted(p, t, &ok)
	return x.replyOK(ok)
}

// tellInserted puts into an OK packet the insert id that a native column tells.
func (f *filler) tellInserted(p *fillPlan, t catalog.TableName, ok *wire.OK) {
	o := outcome{affected: ok.AffectedRows, reported: ok.InsertID, first: uint64(p.first)}
	var inserted uint64
	if p.needsProbe(o) {
		inserted = f.probe(p, t, int64(o.affected))
	}
	if inserted == 0 && p.hidesUpdated(o) {
		o.reported = f.askUpdated(p, o)
	}
	v := p.settle(o, inserted, f.state.lastID)
	if v.unknown {
		f.state.lastIDKnown = false
	} else {
		f.setLastID(v.lastID, v.actual)
		// LAST_INSERT_ID(id) of another row may be behind a packet that tells something else: a trigger's own INSERT hides it.
		f.state.restore = f.state.restore || p.wrap && (o.first == 0 || ok.InsertID != o.first)
	}
	ok.InsertID = v.insertID
}

// askUpdated asks for the id of a row that was there and has changed, which the OK packet does not tell. The statement
// has set LAST_INSERT_ID() to it.
func (f *filler) askUpdated(p *fillPlan, o outcome) uint64 {
	id, err := f.askBehind(int64(o.affected), "SELECT "+bytesOf("LAST_INSERT_ID()")+" LIMIT 1")
	if err != nil {
		f.log.Warn("insert id not known", "table", p.binding.Table, "err", err)
	}
	return id
}

// settleText reads the answer to a statement whose text was rewritten.
func (x *executor) settleText(p *fillPlan) error {
	if p.rewrites() {
		return x.settleFill(p, catalog.TableName{Schema: x.insertSchema(), Table: x.insert.Table})
	}
	return x.settleExplicit(p, catalog.TableName{Schema: x.insertSchema(), Table: x.insert.Table})
}

// settleExplicit reads the answer to a statement with ids of its own. On a column
// without AUTO_INCREMENT the OK packet is made to tell the last one, as on a
// column with it.
func (x *executor) settleExplicit(p *fillPlan, t catalog.TableName) error {
	if p.returning && x.answersRows() {
		return x.relayReturning(p, t)
	}
	ok, err := x.answerOK()
	x.tellExplicit(p, t, x.ownOutcome(p, ok, err))
	if err != nil {
		return err
	}
	if p.reports() && ok.AffectedRows > 0 && ok.InsertID == 0 {
		ok.InsertID = p.toldExplicit()
	}
	return x.replyOK(ok)
}

// answerOK reads an answer of one packet. An ERR packet is a *wire.ServerError.
func (x *executor) answerOK() (wire.OK, error) {
	x.sent = !x.out.more
	return x.readOK()
}

// readOK is answerOK while more may have to be sent to the backend.
func (f *filler) readOK() (wire.OK, error) {
	payload, size, err := f.followSingle()
	if err != nil {
		return wire.OK{}, err
	}
	defer f.back.Skip(size)
	if f.answer.Failed {
		return wire.OK{}, &wire.ServerError{Packet: append([]byte(nil), payload...)}
	}
	ok, valid := wire.ParseOK(payload)
	if wire.First(payload) != mysql.OK_HEADER || !valid {
		return ok, &backendError{fmt.Errorf("answer to an INSERT begins with %#x", wire.First(payload))}
	}
	if len(ok.Rest) > 0 {
		ok.Rest = append([]byte(nil), ok.Rest...)
	}
	return ok, nil
}

// replyOK sends an OK packet in the place of the server's own.
func (x *executor) replyOK(ok wire.OK) error {
	if x.out.more {
		ok.Status |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	if x.owner.inTransactionWithout(x.serverConn) {
		ok.Status |= mysql.SERVER_STATUS_IN_TRANS
	}
	ok.Tidy(x.has(mysql.CLIENT_SESSION_TRACK))
	x.packet = ok.Append(x.replyBuffer())
	return x.replyPacket(x.packet)
}

// probe finds the first id of the statement's block that is in the table. Ids
// of a block are in no other statement, so what stands there was inserted by
// this one. It looks from outside the client's session, whose warnings and row
// count stay as they are, and sees what is not committed yet; where that waits for
// another session, as behind an ALTER TABLE that waits for this one, from within, and so
// in front of a cluster, where outside may be another node.
// rows is what ROW_COUNT() gives behind the statement.
func (f *filler) probe(p *fillPlan, t catalog.TableName, rows int64) uint64 {
	limit := time.Second
	if f.hasTransaction() {
		limit = 100 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(f.ctx, limit)
	defer cancel()
	err := errOtherServer
	if !f.srv.clusters.has(ctx, f.keyspace) {
		var id uint64
		if id, err = firstPresent(ctx, f.keyspace, t, p); err == nil || f.ctx.Err() != nil {
			return id
		}
	}
	id, within := f.askBehind(rows, "SELECT "+bytesOf(p.firstOf())+fromBlock(p, t))
	if within != nil {
		f.log.Warn("insert id not verified", "table", p.binding.Table, "err", errors.Join(err, within))
		return uint64(p.first)
	}
	return id
}

func (f *filler) insertSchema() string {
	if f.insert.Schema != "" {
		return f.insert.Schema
	}
	return f.state.database
}

// forgetIfStale drops what is known of tables when the server's error says that
// a table is not what it was.
func (f *filler) forgetIfStale(e *wire.ServerError) {
	switch e.Code() {
	case mysql.ER_BAD_FIELD_ERROR, mysql.ER_NO_SUCH_TABLE, mysql.ER_WRONG_VALUE_COUNT_ON_ROW:
		f.srv.catalog.Forget()
	}
}

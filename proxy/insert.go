package proxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/sequence"
)

// planInsert judges an INSERT or REPLACE. What seqgate cannot read of one on a
// sequenced table is refused: it must not reach the server without its ids.
func (s *session) planInsert(p plan, sql []byte, prepared bool) (plan, error) {
	p, err := s.planRead(p, sql, prepared)
	return p, s.serversError(err, sql)
}

// planRead is planInsert with seqgate's own errors.
func (s *session) planRead(p plan, sql []byte, prepared bool) (plan, error) {
	if !s.state.environmentKnown {
		if s.insertsElsewhere(sql, prepared) {
			return p, nil
		}
		if !prepared && s.planUnlisted(&p, sql) {
			return p, nil
		}
	}
	if asks := !s.state.environmentKnown || !s.state.lastIDKnown; asks && s.state.databaseKnown && readsDiagnostics(sql) {
		return s.planUnasked(p, sql)
	}
	if err := s.know(); err != nil {
		return p, err
	}
	b, err := s.parseInsert(sql)
	if b == nil || err != nil {
		return p, err
	}
	if err := s.knowLastID(); err != nil {
		return p, err
	}
	if s.insert.FromQuery() {
		if readsDiagnostics(sql) { // the count is a statement of its own
			return p, unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in INSERT ... SELECT", b.Table, "read it with SELECT first")
		}
		return s.planQuery(p, b, prepared)
	}
	return s.planValues(p, sql, b, prepared)
}

// planValues judges the rows of the INSERT ... VALUES or SET in s.insert.
func (s *session) planValues(p plan, sql []byte, b *Binding, prepared bool) (plan, error) {
	keys, err := s.readRows(sql, b, prepared)
	if errors.Is(err, parser.ErrServerRefuses) && !s.insert.HasColumns {
		// Counted by the columns that are known here: they may have changed.
		if b, err = s.bindAnew(); b == nil || err != nil {
			return p, err
		}
		if keys, err = s.readRows(sql, b, prepared); errors.Is(err, parser.ErrServerRefuses) {
			return p, mysql.NewDefaultError(mysql.ER_WRONG_VALUE_COUNT_ON_ROW, 1)
		}
	}
	if errors.Is(err, parser.ErrServerRefuses) {
		return p, nil // rows of the wrong length and the like: the server's own error, and no id is used
	}
	if err != nil {
		return p, refuseForm(err, b.Table)
	}
	variables, bound, err := s.variablesOf(sql, b, prepared)
	if err != nil {
		return p, err
	}
	if p.fill, err = newFillPlan(&s.insert, b, s.slots, b.mode(s.state.mode)); err != nil {
		return p, err
	}
	p.fill.foundRows, p.fill.keys, p.fill.variables = s.has(mysql.CLIENT_FOUND_ROWS), keys, variables
	p.fill.appends = p.fill.appendsID(sql)
	if bound != nil {
		p.fill.bound, p.fill.wrap = bound, false
	}
	if p.fill.params == 0 || prepared { // else a ? in a text: the server's own syntax error
		p.kind, p.effect = s.kindOfFill(&p.fill, p.effect)
	}
	return p, nil
}

// kindOfFill gives what becomes of a statement whose ids are judged.
func (s *session) kindOfFill(p *fillPlan, e effect) (planKind, effect) {
	switch {
	case p.rewrites() || p.params > 0:
		return planFill, s.effectOfFill(p)
	case p.variables:
		return planFill, e
	case p.reports():
		return planReport, effectOfExplicit(&s.insert)
	case p.tells():
		return planReport, e
	}
	return planPass, e
}

// readRows reads what each row of the INSERT in s.insert says of its id, into
// s.slots, and of its key where the sequence has keys. Of a text that leaves the id
// out there are no slots.
func (s *session) readRows(sql []byte, b *Binding, prepared bool) (keys []parser.Key, err error) {
	if keys, err = s.planKeys(sql, b); err != nil {
		return nil, err
	}
	if err = s.insert.Bind(b.Column, b.Columns); err != nil || s.insert.LeavesOut() && !prepared {
		s.slots = s.slots[:0]
		return keys, err
	}
	s.slots, err = s.insert.Slots(s.slots[:0], sql, b.Column, b.Columns)
	return keys, err
}

// bindAnew looks the statement's table up at the server, not in the cache.
func (s *session) bindAnew() (*Binding, error) {
	s.srv.catalog.Forget()
	return s.binding(s.insert.Schema, s.insert.Table)
}

// readsDiagnostics reports whether a statement may read what the one before it
// left behind, which a question of seqgate's own would change.
func readsDiagnostics(sql []byte) bool {
	return mentionsAny(sql, "row_count", "found_rows", "warning_count", "error_count")
}

// planUnasked judges such a statement by its table alone, without asking the
// session for its settings: it passes when the table has no sequence.
func (s *session) planUnasked(p plan, sql []byte) (plan, error) {
	m := parser.Mode{MariaDB: s.mariaDB}
	if s.state.environmentKnown {
		m = s.state.mode
	}
	if err := s.insert.ParseTarget(sql, m); err != nil {
		return p, s.refuseUnread(err, sql)
	}
	b, err := s.binding(s.insert.Schema, s.insert.Table)
	if b != nil {
		err = unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in an INSERT before it knows the session", b.Table,
			"read it with SELECT first")
	}
	return p, err
}

// effectOfFill: only a statement that uses LAST_INSERT_ID() itself looks at it. Ids that are no numbers leave it alone,
// but another column of the table may not.
func (s *session) effectOfFill(p *fillPlan) effect {
	switch {
	case p.wrap:
		return 0
	case p.binding.form != 0 && p.binding.counts:
		return mayLook | mayChangeLastID
	case p.binding.form != 0:
		return effectOfExplicit(&s.insert)
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
func (s *session) parseInsert(sql []byte) (*Binding, error) {
	if err := s.insert.ParseTarget(sql, s.state.mode); err == nil {
		b, err := s.binding(s.insert.Schema, s.insert.Table)
		if b == nil || err != nil {
			return nil, err // the rows of a table without a sequence are never looked at
		}
		if err := s.insert.ParseFor(sql, b.mode(s.state.mode), b.Column, b.Columns); err == nil {
			return b, nil
		}
		if err := s.insert.ParseQuery(sql, b.mode(s.state.mode)); err == nil {
			return b, nil
		} else if s.insert.FromQuery() {
			return nil, refuseForm(err, b.Table)
		}
	}
	return nil, s.refuseUnread(s.insert.Parse(sql, s.state.mode), sql)
}

// refuseUnread refuses an INSERT that could not be read, unless its table has no
// sequence: then the server judges it.
func (s *session) refuseUnread(err error, sql []byte) error {
	var form *parser.UnsupportedError
	if errors.As(err, &form) {
		b, lookupErr := s.binding(form.Schema, form.Table)
		if b == nil || lookupErr != nil {
			return lookupErr
		}
		return refuseForm(err, b.Table)
	}
	if tables, ok := parser.Writes(nil, sql, s.state.mode); ok && len(tables) == 0 {
		return err // it names no table
	}
	return s.refuseWrites("this INSERT, which it cannot read ("+err.Error()+"),", sql)
}

// refuseForm refuses a statement that the parser understood well enough to know
// that it cannot be filled.
func refuseForm(err error, table string) error {
	form := err.Error()
	var known *parser.UnsupportedError
	if errors.As(err, &known) {
		form = known.Form
	}
	return unsupported(form, table, "use INSERT or REPLACE ... VALUES or SET with a column list")
}

// fillText takes ids for the statement in s.insert and appends its text, filled,
// to dst.
func (s *session) fillText(dst, sql []byte, p *fillPlan) ([]byte, error) {
	if err := s.takeOpen(p); err != nil {
		return dst, err
	}
	s.idsAt = s.idsAt[:0]
	p.sent = sentText
	return s.insert.AppendFilled(dst, sql, p.binding.Column, s.fillValues(sql, p), s.fillOptions(p)), nil
}

// isOpen reports whether a row of the statement in s.insert gets an id.
func (s *session) isOpen(row int) bool {
	return len(s.slots) == 0 || s.slots[row].State == parser.Open
}

// takeOpen takes ids for the open rows of the statement in s.insert.
func (s *session) takeOpen(p *fillPlan) error {
	if p.movesAhead() {
		p.own = ownOf(s.slots)
	}
	return s.takeIDs(p, s.isOpen, nil)
}

// fillValues gives the ids that were taken, row by row.
func (s *session) fillValues(sql []byte, p *fillPlan) func(dst []byte, row int) ([]byte, bool) {
	n := 0
	return func(dst []byte, row int) ([]byte, bool) {
		if !s.isOpen(row) {
			return s.appendCopied(dst, sql, p, row)
		}
		if p.sent == sentText {
			s.idsAt = append(s.idsAt, len(dst))
		}
		dst = p.appendOpen(dst, n)
		n++
		return dst, true
	}
}

// takeIDs takes an id for each open row. params are those of an execution.
func (s *session) takeIDs(p *fillPlan, open func(row int) bool, params []param) (err error) {
	if p.open == 0 {
		return nil
	}
	s.noteFilled()
	if err = s.takeEach(p, open, params); err == nil {
		s.noteIDs(p.open)
	}
	return err
}

// takeEach is takeIDs where at least one row is open.
func (s *session) takeEach(p *fillPlan, open func(row int) bool, params []param) (err error) {
	if p.binding.form != 0 {
		return s.takeTexts(p)
	}
	if s.state.ids.forced != 0 || p.forced != 0 {
		return s.takeForced(p)
	}
	if err := s.spread(p); err != nil {
		return err
	}
	switch {
	case p.binding.numbers != nil && !p.fromQuery:
		return s.takeNumbers(p)
	case p.binding.key.name == "":
		return s.takeBlock(p)
	}
	keys, err := s.openKeys(p.binding, p.keys, open, params)
	if err != nil {
		return err
	}
	if p.ids, err = s.nextEach(p.binding, keys); err == nil {
		p.first = p.ids[0]
	}
	return err
}

// next takes a block of n ids, all of which the column can hold.
func (s *session) next(b *Binding, n int64) (int64, error) {
	ids, err := s.nextRange(b, n)
	if err != nil {
		return 0, err
	}
	if ids.First > b.Max-n+1 {
		return 0, columnFull(b, ids.Last())
	}
	return ids.First, nil
}

func (s *session) nextRange(b *Binding, n int64) (sequence.Range, error) {
	if b.numbers != nil {
		return b.numbers.Next(s.spanContext(), n)
	}
	seq, err := s.srv.cfg.Sequences.Get(b.Sequence)
	if err != nil {
		return sequence.Range{}, err
	}
	return seq.Next(s.spanContext(), n)
}

func columnFull(b *Binding, id int64) error {
	return mysql.NewError(mysql.ER_AUTOINC_READ_FAILED, fmt.Sprintf(
		"the next id %d of sequence %s is past the largest that column '%s' of table '%s' holds (%d); widen the column",
		id, b.Sequence, b.Column, b.Table, b.Max))
}

// fillOptions: with ON DUPLICATE KEY UPDATE a row that was there already has to
// be told apart, and its id told to the client, as a native column does.
func (s *session) fillOptions(p *fillPlan) parser.FillOptions {
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
func (s *session) settleFill(p *fillPlan, t target) error {
	if p.binding.form != 0 {
		return s.settleTexts(p)
	}
	if p.returning && s.answersRows() {
		return s.settleReturning(p, t)
	}
	ok, err := s.answerOK()
	ok, err = s.repeatTaken(p, t, ok, err)
	s.tellExplicit(p, t, s.ownOutcome(p, ok, err))
	if err != nil {
		var refused *serverError
		if errors.As(err, &refused) {
			// LAST_INSERT_ID(id) may have been evaluated before it failed.
			s.state.restore = s.state.restore || p.wrap || p.appends
			s.forgetIfStale(refused)
		}
		return err
	}
	s.tellInserted(p, t, &ok)
	return s.replyOK(ok)
}

// tellInserted puts into an OK packet the insert id that a native column tells.
func (s *session) tellInserted(p *fillPlan, t target, ok *okPacket) {
	o := outcome{affected: ok.affectedRows, reported: ok.insertID, first: uint64(p.first)}
	var inserted uint64
	if p.needsProbe(o) {
		inserted = s.probe(p, t, int64(o.affected))
	}
	if inserted == 0 && p.hidesUpdated(o) {
		o.reported = s.askUpdated(p, o)
	}
	v := p.settle(o, inserted, s.state.lastID)
	if v.unknown {
		s.state.lastIDKnown = false
	} else {
		s.setLastID(v.lastID, v.actual)
		// LAST_INSERT_ID(id) of another row may be behind a packet that tells something else: a trigger's own INSERT hides it.
		s.state.restore = s.state.restore || p.wrap && (o.first == 0 || ok.insertID != o.first)
	}
	ok.insertID = v.insertID
}

// askUpdated asks for the id of a row that was there and has changed, which the OK packet does not tell. The statement
// has set LAST_INSERT_ID() to it.
func (s *session) askUpdated(p *fillPlan, o outcome) uint64 {
	id, err := s.askBehind(int64(o.affected), "SELECT "+bytesOf("LAST_INSERT_ID()")+" LIMIT 1")
	if err != nil {
		s.log.Warn("insert id not known", "table", p.binding.Table, "err", err)
	}
	return id
}

// settleText reads the answer to a statement whose text was rewritten.
func (s *session) settleText(p *fillPlan) error {
	if p.rewrites() {
		return s.settleFill(p, target{s.insertSchema(), s.insert.Table})
	}
	return s.settleExplicit(p, target{s.insertSchema(), s.insert.Table})
}

// settleExplicit reads the answer to a statement with ids of its own. On a column
// without AUTO_INCREMENT the OK packet is made to tell the last one, as on a
// column with it.
func (s *session) settleExplicit(p *fillPlan, t target) error {
	if p.returning && s.answersRows() {
		return s.relayReturning(p, t)
	}
	ok, err := s.answerOK()
	s.tellExplicit(p, t, s.ownOutcome(p, ok, err))
	if err != nil {
		return err
	}
	if p.reports() && ok.affectedRows > 0 && ok.insertID == 0 {
		ok.insertID = p.toldExplicit()
	}
	return s.replyOK(ok)
}

// answerOK reads an answer of one packet. An ERR packet is a *serverError.
func (s *session) answerOK() (okPacket, error) {
	s.sent = !s.out.more
	return s.readOK()
}

// readOK is answerOK while more may have to be sent to the backend.
func (s *session) readOK() (okPacket, error) {
	payload, size, err := s.followSingle()
	if err != nil {
		return okPacket{}, err
	}
	defer s.back.skip(size)
	if s.answer.failed {
		return okPacket{}, &serverError{append([]byte(nil), payload...)}
	}
	ok, valid := parseOK(payload)
	if first(payload) != mysql.OK_HEADER || !valid {
		return ok, &backendError{fmt.Errorf("answer to an INSERT begins with %#x", first(payload))}
	}
	if len(ok.rest) > 0 {
		ok.rest = append([]byte(nil), ok.rest...)
	}
	return ok, nil
}

// replyOK sends an OK packet in the place of the server's own.
func (s *session) replyOK(ok okPacket) error {
	if s.out.more {
		ok.status |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	if s.besideTransaction() {
		ok.status |= mysql.SERVER_STATUS_IN_TRANS
	}
	ok.tidy(s.has(mysql.CLIENT_SESSION_TRACK))
	s.scratch = ok.append(s.packetBuffer())
	return s.replyPacket(s.scratch)
}

// probe finds the first id of the statement's block that is in the table. Ids
// of a block are in no other statement, so what stands there was inserted by
// this one. It looks from outside the client's session, whose warnings and row
// count stay as they are, and sees what is not committed yet; where that waits for
// another session, as behind an ALTER TABLE that waits for this one, from within, and so
// in front of a cluster, where outside may be another node.
// rows is what ROW_COUNT() gives behind the statement.
func (s *session) probe(p *fillPlan, t target, rows int64) uint64 {
	patience := time.Second
	if s.inLegTransaction() {
		patience = 100 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	err := errOtherServer
	if !s.srv.clusters.has(ctx, s.keyspace) {
		var id uint64
		if id, err = s.srv.catalog.firstPresent(ctx, s.keyspace, t, p); err == nil || s.ctx.Err() != nil {
			return id
		}
	}
	id, within := s.askBehind(rows, "SELECT "+bytesOf(p.firstOf())+fromBlock(p, t))
	if within != nil {
		s.log.Warn("insert id not verified", "table", p.binding.Table, "err", errors.Join(err, within))
		return uint64(p.first)
	}
	return id
}

// target is the table that a statement writes to.
type target struct{ schema, table string }

func (s *session) insertSchema() string {
	if s.insert.Schema != "" {
		return s.insert.Schema
	}
	return s.state.database
}

// forgetIfStale drops what is known of tables when the server's error says that
// a table is not what it was.
func (s *session) forgetIfStale(e *serverError) {
	switch e.code() {
	case mysql.ER_BAD_FIELD_ERROR, mysql.ER_NO_SUCH_TABLE, mysql.ER_WRONG_VALUE_COUNT_ON_ROW:
		s.srv.catalog.Forget()
	}
}

package proxy

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

// sniffLength is how much of a long statement is looked at before it is decided
// whether the rest has to be.
const sniffLength = 512

// query deals with a COM_QUERY whose first packet has the given length.
func (s *session) query(length int) error {
	if err := s.front.need(headerSize + min(length, sniffLength)); err != nil {
		return &frontError{err}
	}
	unread := s.front.unread()
	if headerSize+length > max(len(unread), smallBuffer) && !s.has(mysql.CLIENT_MULTI_STATEMENTS) {
		begin := s.textBegin(unread[headerSize:])
		if begin > 0 && passesUnread(unread[headerSize+begin:]) {
			return s.passLong()
		}
	}
	payload, size, err := s.frontPacket()
	if err != nil {
		return err
	}
	begin := s.textBegin(payload)
	if begin == 0 {
		s.front.skip(size)
		return mysql.NewError(mysql.ER_MALFORMED_PACKET, "Malformed communication packet.")
	}
	sql := payload[begin:]
	if s.has(mysql.CLIENT_MULTI_STATEMENTS) && !parser.Single(sql) {
		return s.queryParts(payload, begin, size)
	}
	return s.queryOne(payload, begin, size)
}

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
func (s *session) passLong() error {
	const unseen = mayLook | mayChangeLastID | keepsSomething
	if err := s.before(unseen); err != nil {
		return err
	}
	err := s.pass(shapeResults)
	s.after(unseen)
	return err
}

// textBegin gives where the SQL text begins in the payload of a COM_QUERY: after
// the query attributes, where client and server have agreed on those ("COM_QUERY"
// page of the MySQL manual). It is 0 when they are malformed or cut.
func (s *session) textBegin(payload []byte) int {
	if !s.has(mysql.CLIENT_QUERY_ATTRIBUTES) {
		return 1
	}
	r := paramReader{b: payload, at: 1}
	count := r.number()
	r.number() // sets of attributes: always 1
	if count > 0 {
		r.readParams(count, true, nil, nil)
	}
	if r.bad {
		return 0
	}
	return r.at
}

// queryOne deals with a text of one statement.
func (s *session) queryOne(payload []byte, begin, size int) error {
	if parser.MayCall(payload[begin:]) {
		if done, err := s.queryCalls(payload, begin, size); done {
			return err
		}
	}
	p, resolved, err := s.planText(payload[begin:])
	if err == nil {
		err = s.compose(&p, payload[:begin], payload[begin:])
	}
	if err == nil {
		err = s.before(p.effect)
	}
	if err == nil && (p.kind == planPass || p.kind == planReport) {
		err = s.sendResolved(payload, size, resolved)
	}
	s.front.skip(size)
	if err != nil {
		return err
	}
	return s.finish(&p)
}

// compose builds in s.scratch the command of a statement that does not go to the
// server as it came. attributes is what stands before the text. A long statement
// gets but its ids.
func (s *session) compose(p *plan, attributes, sql []byte) (err error) {
	switch {
	case p.kind == planFill && isLong(sql) && p.fill.open > 0:
		p.attributes, p.long = attributes, sql
		err = s.takeOpen(&p.fill)
	case p.kind == planFill:
		s.scratch = append(s.packetBuffer(), attributes...)
		s.scratch, err = s.fillText(s.scratch, sql, &p.fill)
	case p.kind == planOwn:
		p.attributes = slices.Clone(attributes)
	case p.kind == planQuery:
		// attributes begin with the command's own byte
		p.query = &insertQuery{sql: bytes.Clone(sql), attributes: bytes.Clone(attributes[1:]), fill: p.fill}
	}
	return err
}

// finish does what is left of a planned statement once its text was dealt
// with: a composed one stands in s.scratch, a passed one was sent.
func (s *session) finish(p *plan) (err error) {
	switch p.kind {
	case planFill:
		if err = s.sendComposed(p); err == nil {
			err = s.settleText(&p.fill)
		}
	case planOwn:
		err = p.own(p.attributes)
	case planQuery:
		err = s.insertFromQuery(p.query, target{s.insertSchema(), s.insert.Table})
	case planNext:
		if p.next.params() > 0 {
			return &parser.SyntaxError{Near: "?", Line: 1}
		}
		return s.answerNext(p.next, false)
	case planReport:
		err = s.settleExplicit(&p.fill)
	case planTicket:
		err = s.answerTicket(&p.fill)
	case planDone:
		return s.replyOK(okPacket{status: s.answer.status})
	case planPass:
		err = s.relayResult()
	}
	s.after(p.effect)
	if err == nil && p.database != "" && !s.answer.failed {
		s.setDatabase(p.database)
	}
	return err
}

// sendComposed sends what compose made.
func (s *session) sendComposed(p *plan) error {
	if p.long != nil {
		return s.sendFilled(&p.fill, p.attributes, p.long)
	}
	return s.sendPacket(s.scratch)
}

// relayResult passes on the answer to a text, or to a part of one.
func (s *session) relayResult() error {
	switch {
	case s.out.parts:
		return s.relayPart()
	case s.out.composed:
		return s.relayComposed(shapeResults)
	}
	return s.relay(shapeResults)
}

// relayComposed passes on the answer to a command that seqgate made. Where that took
// another number of packets than the client's, the answer's numbers are not those
// that the client awaits.
func (s *session) relayComposed(as shape) error {
	s.sent = !s.out.more
	if err := s.back.need(headerSize); err == nil && s.back.unread()[headerSize-1] != s.out.sequence {
		return s.relayNumbered(as)
	}
	if s.out.parts {
		return s.relayPart()
	}
	return s.relay(as)
}

// planKind is what becomes of a statement.
type planKind uint8

const (
	planPass   planKind = iota // it goes to the server as it came
	planReport                 // so too; its OK packet is read for the ids that it brought along
	planFill                   // its ids are filled in
	planDone                   // it was done, and is answered with OK
	planNext                   // it is answered from a sequence
	planTicket                 // it asks a ticket table for an id
	planOwn                    // what becomes of it is its own
	planQuery                  // its rows come from a query, whose ids are counted first
)

// plan is what becomes of one statement, and what that does to the session.
type plan struct {
	kind     planKind
	effect   effect
	database string // the default one when it has succeeded; "" for no change, or one that is not known
	fill     fillPlan
	query    *insertQuery
	next     nextPlan
	// own runs the statement, with what stands before the text of a command, and
	// answers the client.
	own        func(attributes []byte) error
	attributes []byte
	long       []byte // a long statement that is filled as it is sent
}

// plan judges one statement. Errors are for the client; nothing was sent then.
func (s *session) plan(sql []byte) (plan, error) {
	kind := parser.Sniff(sql)
	p := plan{effect: s.effectOf(kind, sql)}
	switch kind {
	case parser.Insert, parser.Replace:
		return s.planTicket(s.planInsert(p, sql, false))
	case parser.Select:
		if s.asksLastID(sql) {
			return s.planLastID(p, sql), nil
		}
	case parser.Load:
		return s.planLoad(p, sql)
	case parser.Carrier:
		return s.planCarrier(p, sql)
	case parser.Prepare:
		return s.planPrepareSQL(p, sql)
	case parser.Execute:
		return s.planExecuteSQL(p, sql)
	case parser.Deallocate:
		return s.planDeallocate(p, sql)
	case parser.Next:
		return s.planNext(p, sql)
	case parser.Kill:
		return s.planKill(p, sql)
	case parser.Use:
		return s.planUse(p, sql), nil
	case parser.DDL, parser.Show:
		if verb := parser.SniffOwn(sql); verb != parser.NoOwn {
			return s.planOwn(p, verb, sql)
		}
	}
	return p, nil
}

// planUse reads the name of the new default database, where it reads alike in
// every session.
func (s *session) planUse(p plan, sql []byte) plan {
	if !parser.Plain(sql) {
		return p
	}
	if name, ok := parser.UseTarget(sql, parser.Mode{MariaDB: s.mariaDB}); ok {
		p.database, p.effect = name, 0
	}
	return p
}

// refuseWrites refuses a statement that writes to a sequenced table in a form
// that cannot be filled.
func (s *session) refuseWrites(form string, sql []byte) error {
	if !s.state.environmentKnown && s.writesElsewhere(sql, false) {
		return nil
	}
	if err := s.know(); err != nil {
		return err
	}
	tables, ok := parser.Writes(nil, sql, s.state.mode)
	if !ok {
		return errNotRead
	}
	for _, table := range tables {
		b, err := s.binding(table.Schema, table.Name)
		if err != nil {
			return err
		}
		if b != nil {
			return unsupported(form, b.Table, "use INSERT or REPLACE ... VALUES or SET, each as a statement of its own")
		}
	}
	return nil
}

// errNotRead is for a statement of which it cannot be told what it writes to.
var errNotRead = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate cannot read where this statement writes to; write it without version comments, and the text of a PREPARE as a plain string")

// refuseCarried is refuseWrites for a statement that may make another one of
// literals, which have to be plain.
func (s *session) refuseCarried(form string, sql []byte) error {
	if !parser.MayPrepare(sql) {
		return s.refuseWrites(form, sql)
	}
	if !s.state.environmentKnown && s.writesElsewhere(sql, false) && s.preparesElsewhere(sql) {
		return nil
	}
	err := s.know()
	var refused *serverError
	if errors.As(err, &refused) && refused.code() == mysql.ER_MUST_CHANGE_PASSWORD {
		return nil // the server itself prepares nothing but the new password
	}
	if err != nil {
		return err
	}
	text, ok := parser.Literals(sql, s.state.mode)
	if !ok {
		return errNotRead
	}
	if err := s.refuseWrites(form, text); err != nil {
		return err
	}
	return s.refuseWrites(form, sql)
}

// binding looks up how a table's ids are made; nil when it has no sequence.
func (s *session) binding(schema, table string) (*Binding, error) {
	if schema == "" {
		schema = s.state.database
	}
	if schema == "" {
		return nil, nil // the server answers 1046: no database selected
	}
	b, err := s.srv.catalog.Binding(s.ctx, s.keyspace, schema, table)
	if s.temporary == nil || b == nil && err == nil {
		return b, err
	}
	hidden, askErr := s.isTemporary(schema, table)
	if hidden || askErr != nil {
		return nil, askErr
	}
	return b, err
}

// queryParts deals with a text of several statements. Where one of them may need
// seqgate they are sent one by one, and their results told as one answer.
func (s *session) queryParts(payload []byte, begin, size int) error {
	split, err := s.mustSplit(payload[begin:])
	if err != nil {
		s.front.skip(size)
		return err
	}
	if !split {
		return s.passCommand(payload, size, shapeResults, effectOfParts(payload[begin:]))
	}
	text := parser.TrimEnd(payload)
	if size > 0 {
		text = bytes.Clone(text)
	}
	s.front.skip(size)
	s.out.parts = true
	defer func() { s.out.part, s.out.rest = nil, nil }() // an idle session holds no text
	for rest := text[begin:]; len(rest) > 0; {
		if rest, err = s.runParts(text[:begin], rest); err != nil {
			s.out.more = false
			return err
		}
	}
	return nil
}

// passCommand relays a command that frontPacket read, and its answer, with what it
// does to the session.
func (s *session) passCommand(payload []byte, size int, as shape, e effect) error {
	err := s.before(e)
	if err == nil {
		err = s.passPacket(payload, size)
	}
	s.front.skip(size)
	if err != nil {
		return err
	}
	err = s.relay(as)
	s.after(e)
	return err
}

// runParts runs the statements of a text one by one, up to the first that fails
// or that changes how the text after it reads; what is left is returned.
func (s *session) runParts(attributes, text []byte) (rest []byte, err error) {
	spans, err := s.split(text)
	if len(spans) == 0 {
		return nil, err
	}
	last := len(spans) - 1
	switch {
	case errors.Is(err, parser.ErrModeChange):
		rest = text[spans[last].Start:spans[last].End]
		spans = spans[:last]
	case err != nil:
		return nil, s.runBeforeCompound(attributes, text, spans)
	}
	return s.runAll(attributes, text, spans, rest)
}

// runBeforeCompound runs the statements before one that cannot be taken apart,
// and then sends that with all after it as it came: a compound body is the
// server's own.
func (s *session) runBeforeCompound(attributes, text []byte, spans []parser.Span) error {
	compound := text[spans[len(spans)-1].Start:]
	if _, err := s.runAll(attributes, text, spans[:len(spans)-1], compound); err != nil || s.answer.failed {
		return err
	}
	if err := s.refuseBeside(compound); err != nil {
		return err
	}
	s.out.more, s.out.part, s.out.rest = false, nil, nil
	unseen := unknownEffect(compound) | changesSchema | makesTemporary
	if err := s.before(unseen); err != nil {
		return err
	}
	if err := s.send(append(slices.Clone(attributes), compound...)); err != nil {
		return err
	}
	err := s.relayPart()
	s.after(unseen)
	return err
}

// runAll runs statements one by one, up to the first that fails. More are to
// follow when rest is not empty; it is returned unless a statement failed.
func (s *session) runAll(attributes, text []byte, spans []parser.Span, rest []byte) ([]byte, error) {
	for i, span := range spans {
		s.out.more = i < len(spans)-1 || len(rest) > 0
		s.out.part, s.out.rest = text[span.Start:span.End], text[span.End:]
		if err := s.queryPart(attributes, s.out.part); err != nil {
			return nil, err
		}
		if s.answer.failed {
			return nil, nil
		}
	}
	return rest, nil
}

// queryPart deals with one statement of several. attributes stands before each
// text.
func (s *session) queryPart(attributes, sql []byte) error {
	s.answer.failed = false
	if parser.MayCall(sql) {
		p, err := s.planCallsText(sql)
		if err != nil {
			return err
		}
		if p != nil {
			return s.runCalls(p, attributes, sql)
		}
	}
	return s.queryPlain(attributes, sql)
}

// queryPlain sends a statement that has no calls of sequences in it.
func (s *session) queryPlain(attributes, sql []byte) error {
	p, _, err := s.planText(sql)
	if err != nil {
		return err
	}
	if err := s.before(p.effect); err != nil {
		return err
	}
	if err := s.compose(&p, attributes, sql); err != nil {
		return err
	}
	if p.kind == planPass || p.kind == planReport {
		s.out.composed = true
		if err := s.sendPart(attributes, sql); err != nil {
			return err
		}
	}
	return s.finish(&p)
}

// sendPart sends one statement of several as it is.
func (s *session) sendPart(attributes, sql []byte) error {
	if isLong(sql) {
		return s.sendLong(attributes, sql)
	}
	s.scratch = append(append(s.packetBuffer(), attributes...), sql...)
	return s.sendPacket(s.scratch)
}

// split splits a text. The session is asked how it reads only if that matters.
func (s *session) split(sql []byte) (spans []parser.Span, err error) {
	if !s.state.environmentKnown {
		readings := parser.Readings(sql, s.mariaDB)
		for i, m := range readings {
			other, otherErr := parser.Split(nil, sql, m)
			if i > 0 && (!slices.Equal(other, spans) || !sameReason(otherErr, err)) {
				readings = nil
				break
			}
			spans, err = other, otherErr
		}
		if len(readings) > 0 {
			return spans, err
		}
	}
	if err := s.know(); err != nil {
		return nil, err
	}
	return parser.Split(nil, sql, s.state.mode)
}

// sameReason reports whether two errors of parser.Split are of one kind.
func sameReason(a, b error) bool {
	return (a == nil) == (b == nil) && errors.Is(a, parser.ErrModeChange) == errors.Is(b, parser.ErrModeChange)
}

// mustSplit reports whether a statement of a text may need seqgate, so that the
// text cannot go to the server as it is.
func (s *session) mustSplit(sql []byte) (bool, error) {
	calls := parser.MayCall(sql)
	if !calls && (!mayNeedSeqgate(sql) && !s.executesNamed(sql) || !changesWhatFollows(sql) && s.writesElsewhere(sql, false)) {
		return false, nil
	}
	spans, err := s.split(sql)
	if errors.Is(err, parser.ErrModeChange) || err != nil && len(spans) > 1 {
		return true, nil
	}
	if errors.Is(err, parser.ErrCompound) && parser.Sniff(sql) == parser.DDL {
		return false, s.refuseBehindRoutines(sql)
	}
	if err != nil && !errors.Is(err, parser.ErrCompound) && changesWhatFollows(sql) {
		return false, errNotRead
	}
	if err != nil {
		return false, s.refuseBeside(sql)
	}
	for _, span := range spans {
		part := sql[span.Start:span.End]
		if calls && parser.MayCall(part) {
			return true, nil
		}
		switch parser.Sniff(part) {
		case parser.Next, parser.Load, parser.Carrier, parser.Prepare, parser.Kill:
			return true, nil
		case parser.Use, parser.Set, parser.DDL, parser.Call, parser.Execute, parser.Deallocate:
			return true, nil // what follows can be judged only after it ran
		case parser.Show:
			if parser.SniffOwn(part) != parser.NoOwn {
				return true, nil
			}
		case parser.Insert, parser.Replace:
			if p, err := s.planTicket(s.planInsert(plan{}, part, false)); err != nil || p.kind != planPass {
				return true, nil // its own turn tells
			}
		}
	}
	return false, nil
}

// refuseBehindRoutines refuses a text of stored programs, whose bodies are the
// server's own, and of statements behind them that may write to a sequenced table.
func (s *session) refuseBehindRoutines(sql []byte) error {
	if err := s.know(); err != nil {
		return err
	}
	rest, ok := sql, true
	for err := error(parser.ErrCompound); ok && errors.Is(err, parser.ErrCompound) && parser.Sniff(rest) == parser.DDL; {
		if rest, ok = parser.Behind(rest, s.state.mode); ok && len(rest) > 0 {
			_, err = parser.Split(nil, rest, s.state.mode)
		}
	}
	switch {
	case !ok:
		rest = sql
	case !mayNeedSeqgate(rest):
		return nil
	case changesWhatFollows(rest):
		return errNotRead
	}
	return s.refuseBeside(rest)
}

// refuseBeside refuses a text with a compound statement, within or behind which a
// row may be written to a sequenced table, or to one that a USE in it decides.
func (s *session) refuseBeside(sql []byte) error {
	hidden, err := s.hidesDatabase(sql)
	if err != nil {
		return err
	}
	if hidden {
		return errNotRead
	}
	return s.refuseCarried("an INSERT beside a compound statement in one text", sql)
}

// hidesDatabase reports whether a text writes to a table and may run a USE, also
// one that it makes of literals.
func (s *session) hidesDatabase(sql []byte) (bool, error) {
	if !mayNeedSeqgate(sql) || !parser.Mentions(sql, "use") && !parser.MayPrepare(sql) {
		return false, nil
	}
	if err := s.know(); err != nil {
		return false, err
	}
	literals, ok := parser.Literals(sql, s.state.mode)
	literals = bytes.ToLower(literals) // joined: a word's ends cannot be told
	uses := parser.Mentions(sql, "use") || bytes.Contains(literals, []byte("use"))
	tables, read := parser.Writes(nil, sql, s.state.mode)
	writes := !read || len(tables) > 0 || bytes.Contains(literals, []byte("insert")) ||
		bytes.Contains(literals, []byte("replace")) || bytes.Contains(literals, []byte("load"))
	return !ok || uses && writes, nil
}

// mayNeedSeqgate looks for the words without which no statement of a text needs
// more than being passed on.
func mayNeedSeqgate(sql []byte) bool {
	return mentionsAny(sql, "insert", "replace", "load", "next", "kill", "prepare", "immediate", "sequence", "sequences", "seqgate")
}

// changesWhatFollows looks for the words without which no statement of a text
// changes to which table a name after it belongs, and whether that has a sequence,
// nor needs seqgate whatever it writes to.
func changesWhatFollows(sql []byte) bool {
	return mentionsAny(sql, "create", "alter", "drop", "rename", "use", "call", "execute", "end", "next", "kill", "prepare", "immediate", "sequences", "seqgate")
}

// effectOfParts is that of a text of several statements.
func effectOfParts(sql []byte) effect {
	e := unknownEffect(sql)
	if changesWhatFollows(sql) || parser.Mentions(sql, "truncate") {
		e |= changesSchema | makesTemporary
	}
	return e
}

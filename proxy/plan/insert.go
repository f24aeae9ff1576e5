package plan

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// Kind is what becomes of a statement.
type Kind uint8

const (
	Pass    Kind = iota // it goes to the server as it came
	Report              // so too; its OK packet is read for the ids that it brought along
	Filled              // its ids are filled in
	Next                // it is answered from a sequence
	Ticket              // it asks a ticket table for an id
	Command             // seqgate runs it
	Query               // its rows come from a query, whose ids are counted first
)

// Insert is what becomes of an INSERT or REPLACE.
type Insert struct {
	Kind   Kind
	Effect Effect
	Fill   Fill // its Binding is nil where nothing is filled
}

// Insert plans an INSERT or REPLACE. What cannot be read of one on a sequenced table is refused: it must not reach the server
// without its ids. Prepared: its placeholders are parameters.
func (p *Planner) Insert(e Effect, sql []byte, prepared bool) (Insert, error) {
	in := Insert{Effect: e}
	err := p.insert(&in, sql, prepared)
	if err == nil && in.Fill.Binding != nil && in.Fill.Binding.Ticket {
		err = p.ticket(&in)
	}
	return in, err
}

func (p *Planner) insert(in *Insert, sql []byte, prepared bool) error {
	if !p.Session.EnvironmentKnown {
		if elsewhere, err := p.insertsElsewhere(sql, prepared); elsewhere || err != nil {
			return err
		}
		if !prepared {
			if done, err := p.unlisted(in, sql); done || err != nil {
				return err
			}
		}
	}
	asks := !p.Session.EnvironmentKnown || !p.Session.LastIDKnown || p.Fetched.Asked
	if asks && p.Session.DatabaseKnown && ReadsDiagnostics(sql) {
		return p.withoutAsking(sql)
	}
	if err := p.settings(); err != nil {
		return err
	}
	b, err := p.parse(sql)
	if b == nil || err != nil {
		return err
	}
	if err := p.lastID(); err != nil {
		return err
	}
	if p.Stmt.FromQuery() {
		if ReadsDiagnostics(sql) { // the count is a statement of its own
			return catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in INSERT ... SELECT", b.Table, "read it with SELECT first")
		}
		*in, err = p.Query(in.Effect, b, prepared)
		return err
	}
	return p.values(in, sql, b, prepared)
}

// values plans the rows of the INSERT ... VALUES or SET in Stmt.
func (p *Planner) values(in *Insert, sql []byte, b *catalog.Binding, prepared bool) error {
	keys, err := p.ReadRows(sql, b, prepared)
	if errors.Is(err, parser.ErrServerRefuses) && !p.Stmt.HasColumns {
		// Counted by the columns that are known here: they may have changed.
		if !p.Fetched.Anew {
			return &Missing{Fact: NeedsTableAnew, Table: catalog.TableName{Schema: p.Schema(), Table: p.Stmt.Table}}
		}
		return mysql.NewDefaultError(mysql.ER_WRONG_VALUE_COUNT_ON_ROW, 1)
	}
	if errors.Is(err, parser.ErrServerRefuses) {
		return nil // rows of the wrong length and the like: the server's own error, and no id is used
	}
	if err != nil {
		return RefuseForm(err, b.Table)
	}
	variables, bound, err := p.variablesOf(sql, b, prepared)
	if err != nil {
		return err
	}
	if in.Fill, err = NewFill(&p.Stmt, b, p.Slots, b.Mode(p.Session.Mode)); err != nil {
		return err
	}
	in.Fill.Keys, in.Fill.Variables = keys, variables
	in.Fill.Appends = in.Fill.AppendsID(sql)
	if bound != nil {
		in.Fill.Bound, in.Fill.Wrap = bound, false
	}
	if in.Fill.Params == 0 || prepared { // else a ? in a text: the server's own syntax error
		in.Kind, in.Effect = p.KindOf(&in.Fill, in.Effect)
	}
	return nil
}

// KindOf returns what becomes of a statement whose ids are judged, and what it may do then in place of e.
func (p *Planner) KindOf(f *Fill, e Effect) (Kind, Effect) {
	switch {
	case f.Rewrites() || f.Params > 0:
		return Filled, p.effectOf(f)
	case f.Variables:
		return Filled, e
	case f.Reports():
		return Report, EffectOfExplicit(&p.Stmt)
	case f.Tells():
		return Report, e
	}
	return Pass, e
}

// effectOf: only a statement that uses LAST_INSERT_ID() itself looks at it. Ids that are no numbers leave it alone,
// but another column of the table may not.
func (p *Planner) effectOf(f *Fill) Effect {
	switch {
	case f.Wrap:
		return 0
	case f.Binding.Form != 0 && f.Binding.Counts:
		return MayLook | MayChangeLastID
	case f.Binding.Form != 0:
		return EffectOfExplicit(&p.Stmt)
	}
	return MayLook
}

// ReadRows reads what each row of the INSERT in Stmt says of its id, into Slots, and of its key where the sequence has keys.
// Of a text that leaves the id out there are no slots.
func (p *Planner) ReadRows(sql []byte, b *catalog.Binding, prepared bool) (keys []parser.Key, err error) {
	if b.Key.Name != "" { // it comes before the slots are read
		if keys, err = p.Stmt.Keys(nil, sql, b.Key.Name, b.Columns); err != nil {
			return nil, err
		}
	}
	if err = p.Stmt.Bind(b.Column, b.Columns); err != nil || p.Stmt.LeavesOut() && !prepared {
		p.Slots = p.Slots[:0]
		return keys, err
	}
	p.Slots, err = p.Stmt.Slots(p.Slots[:0], sql, b.Column, b.Columns)
	return keys, err
}

// Query plans the INSERT ... SELECT that is read into Stmt.
func (p *Planner) Query(e Effect, b *catalog.Binding, prepared bool) (Insert, error) {
	in := Insert{Effect: e}
	if b.Key.Name != "" {
		return in, catalog.Unsupported("INSERT ... SELECT with a keyed sequence", b.Table, "read the rows, then INSERT ... VALUES")
	}
	if b.Form != 0 {
		return in, catalog.Unsupported("INSERT ... SELECT with a generator of ids that are no numbers", b.Table, "give the ids in the query (UUID()), or read the rows, then INSERT ... VALUES")
	}
	err := p.Stmt.BindQuery(b.Column, b.Columns, p.Session.QueryNames)
	switch {
	case errors.Is(err, parser.ErrServerRefuses):
		return in, nil
	case err != nil:
		return in, RefuseForm(err, b.Table)
	case p.Stmt.Params > 0 && !prepared:
		return in, nil // a ? in a text: the server's own syntax error
	}
	if p.Stmt.Returning {
		return in, catalog.Unsupported("INSERT ... SELECT ... RETURNING", b.Table, "leave RETURNING out, and read the rows from LAST_INSERT_ID() on")
	}
	in.Kind, in.Effect = Query, 0
	in.Fill = Fill{Binding: b, Wrap: !p.Stmt.UsesLastInsertID, Ignore: p.Stmt.Ignore, Upsert: p.Stmt.OnDuplicate, Replace: p.Stmt.Replace, FromQuery: true}
	return in, nil
}

// parse reads an INSERT into Stmt and gives its table's binding, nil when the statement goes to the server as it is.
func (p *Planner) parse(sql []byte) (*catalog.Binding, error) {
	if err := p.Stmt.ParseTarget(sql, p.Session.Mode); err == nil {
		b, err := p.Binding(p.Stmt.Schema, p.Stmt.Table)
		if b == nil || err != nil {
			return nil, err // the rows of a table without a sequence are never looked at
		}
		if err := p.Stmt.ParseFor(sql, b.Mode(p.Session.Mode), b.Column, b.Columns); err == nil {
			return b, nil
		}
		if err := p.Stmt.ParseQuery(sql, b.Mode(p.Session.Mode)); err == nil {
			return b, nil
		} else if p.Stmt.FromQuery() {
			return nil, RefuseForm(err, b.Table)
		}
	}
	return nil, p.refuseUnread(p.Stmt.Parse(sql, p.Session.Mode), sql)
}

// withoutAsking plans an INSERT that reads what the one before it has left by its table alone: asking the session for its
// settings would change that. It passes when the table has no sequence.
func (p *Planner) withoutAsking(sql []byte) error {
	m := parser.Mode{MariaDB: p.Session.MariaDB}
	if p.Session.EnvironmentKnown {
		m = p.Session.Mode
	}
	if err := p.Stmt.ParseTarget(sql, m); err != nil {
		return p.refuseUnread(err, sql)
	}
	b, err := p.Binding(p.Stmt.Schema, p.Stmt.Table)
	if b != nil {
		err = catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in an INSERT before it knows the session", b.Table,
			"read it with SELECT first")
	}
	return err
}

// unlisted plans an INSERT or REPLACE that has no value for the id and reads alike in every session: its ids are the same
// whatever the session's settings. It reports false for any other; Stmt has the table.
func (p *Planner) unlisted(in *Insert, sql []byte) (bool, error) {
	if !p.Session.LastIDKnown || p.Session.IDs.Unknown || p.Session.Temporary || !parser.Plain(sql) {
		return false, nil
	}
	if p.Stmt.Schema == "" {
		if known, err := p.database(); !known {
			return false, err
		}
	}
	b, err := p.Binding(p.Stmt.Schema, p.Stmt.Table)
	if isMissing(err) {
		return false, err
	}
	if err != nil || b == nil || b.Key.Name != "" || !backend.IsPlainName(b.Column) {
		return false, nil
	}
	mode := parser.Mode{MariaDB: p.Session.MariaDB}
	if err := p.Stmt.Parse(sql, mode); err != nil || !p.Stmt.HasColumns {
		return false, nil
	}
	if err := p.Stmt.Bind(b.Column, b.Columns); err != nil || !p.Stmt.LeavesOut() {
		return false, nil
	}
	p.Slots = p.Slots[:0]
	fill, err := NewFill(&p.Stmt, b, p.Slots, mode)
	if err != nil {
		return false, nil
	}
	fill.Appends = fill.AppendsID(sql)
	*in = Insert{Kind: Filled, Effect: p.effectOf(&fill), Fill: fill}
	return true, nil
}

// TicketAdvice tells what to write instead of a form that is refused for a ticket table.
const TicketAdvice = "a ticket table gives one id for each REPLACE or INSERT of one row without it"

// ticket makes an answer from memory of a planned INSERT or REPLACE into a ticket table. It refuses what is no asking for one id.
func (p *Planner) ticket(in *Insert) error {
	form, fill := "", &in.Fill
	switch {
	case fill.FromQuery:
		form = "INSERT ... SELECT"
	case fill.Returning:
		form = "RETURNING"
	case fill.Upsert:
		form = "ON DUPLICATE KEY UPDATE"
	case fill.Ignore:
		form = "IGNORE"
	case fill.Rows != 1:
		form = "several rows"
	case fill.Open != 1:
		form = "an id of one's own"
	}
	if form != "" {
		return catalog.Unsupported(form, fill.Binding.Table, TicketAdvice)
	}
	for _, column := range p.Stmt.Columns {
		if !slices.ContainsFunc(fill.Binding.Columns, func(c string) bool { return strings.EqualFold(c, column) }) {
			return mysql.NewDefaultError(mysql.ER_BAD_FIELD_ERROR, column, "field list")
		}
	}
	fill.Replace = p.Stmt.Replace
	in.Kind, in.Effect = Ticket, 0
	return nil
}

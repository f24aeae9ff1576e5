package plan

import (
	"errors"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// Load is a LOAD DATA LOCAL INFILE into a sequenced table.
type Load struct {
	Stmt    *parser.LoadStmt
	File    *parser.LoadSplitter
	Binding *catalog.Binding
}

// loadAdvice tells what to write instead of a LOAD DATA that is refused.
const loadAdvice = "use LOAD DATA LOCAL INFILE of a file in utf8mb4 or a single-byte character set, with terminated fields and without the id in SET, or INSERT ... VALUES"

// Load plans a LOAD DATA or LOAD XML; nil: it goes to the server as it came. One that cannot be read is refused when any
// table that it may write to has a sequence.
func (p *Planner) Load(sql []byte) (*Load, error) {
	if elsewhere, err := p.unaskedElsewhere(sql); elsewhere || err != nil {
		return nil, err
	}
	if err := p.settings(); err != nil {
		return nil, err
	}
	stmt, err := parser.ParseLoad(sql, p.Session.Mode)
	var form *parser.UnsupportedError
	switch {
	case errors.As(err, &form):
		b, lookupErr := p.Binding(form.Schema, form.Table)
		if b == nil || lookupErr != nil {
			return nil, lookupErr
		}
		return nil, catalog.Unsupported(form.Form, b.Table, loadAdvice)
	case errors.Is(err, parser.ErrServerRefuses):
		return nil, nil
	case err != nil:
		return nil, p.refuseWrites("LOAD DATA or LOAD XML", sql)
	}
	b, err := p.Binding(stmt.Schema, stmt.Table)
	if b == nil || err != nil {
		return nil, err
	}
	return p.loadInto(stmt, b)
}

// loadInto plans the loading of a file into a table.
func (p *Planner) loadInto(stmt *parser.LoadStmt, b *catalog.Binding) (*Load, error) {
	switch {
	case b.Ticket:
		return nil, catalog.Unsupported("LOAD DATA", b.Table, TicketAdvice)
	case b.Key.Name != "":
		return nil, catalog.Unsupported("LOAD DATA with a keyed sequence", b.Table, "use INSERT ... VALUES")
	case b.Form != 0:
		return nil, catalog.Unsupported("LOAD DATA with a generator of ids that are no numbers", b.Table, "write the ids into the file, or use INSERT ... VALUES")
	}
	l := &Load{Stmt: stmt, Binding: b}
	if err := stmt.Bind(b.Column, b.Columns); err != nil {
		return nil, refuseLoad(err, b)
	}
	if err := p.lastID(); err != nil {
		return nil, err
	}
	if p.Session.IDs.Forced != 0 {
		return nil, catalog.Unsupported("LOAD DATA after SET insert_id", b.Table, "write the ids into the file, or SET insert_id = 0")
	}
	charset := stmt.Charset
	if charset == "" {
		if !p.Fetched.HasCharset {
			return nil, &Missing{Fact: NeedsCharset}
		}
		charset = p.Fetched.Charset
	}
	var err error
	if l.File, err = stmt.Splitter(charset, p.Session.Mode); err != nil {
		return nil, refuseLoad(err, b)
	}
	return l, nil
}

func refuseLoad(err error, b *catalog.Binding) error {
	var form *parser.UnsupportedError
	if errors.As(err, &form) {
		return catalog.Unsupported(form.Form, b.Table, loadAdvice)
	}
	return err
}

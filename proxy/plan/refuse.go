package plan

import (
	"bytes"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// refuseWrites refuses a statement that writes to a sequenced table in a form that cannot be filled.
func (p *Planner) refuseWrites(form string, sql []byte) error {
	if elsewhere, err := p.unaskedElsewhere(sql); elsewhere || err != nil {
		return err
	}
	if err := p.settings(); err != nil {
		return err
	}
	tables, ok := parser.Writes(nil, sql, p.Session.Mode)
	if !ok {
		return ErrNotRead
	}
	for _, table := range tables {
		b, err := p.Binding(table.Schema, table.Name)
		if err != nil {
			return err
		}
		if b != nil {
			return catalog.Unsupported(form, b.Table, "use INSERT or REPLACE ... VALUES or SET, each as a statement of its own")
		}
	}
	return nil
}

// ErrNotRead is for a statement of which it cannot be told what it writes to.
var ErrNotRead = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate cannot read where this statement writes to; write it without version comments, and the text of a PREPARE as a plain string")

// RefuseDynamicSQL is refuseWrites for a statement that may make another one of literals, which have to be plain.
func (p *Planner) RefuseDynamicSQL(form string, sql []byte) error {
	if !parser.MayPrepare(sql) {
		return p.refuseWrites(form, sql)
	}
	elsewhere, err := p.unaskedElsewhere(sql)
	if elsewhere && err == nil {
		elsewhere, err = p.preparesElsewhere(sql)
	}
	if elsewhere || err != nil {
		return err
	}
	if err := p.settings(); err != nil {
		return err
	}
	text, ok := parser.Literals(sql, p.Session.Mode)
	if !ok {
		return ErrNotRead
	}
	if err := p.refuseWrites(form, text); err != nil {
		return err
	}
	return p.refuseWrites(form, sql)
}

// RefuseBehindRoutines refuses a text of stored programs, whose bodies are the server's own, and of statements behind them
// that may write to a sequenced table.
func (p *Planner) RefuseBehindRoutines(sql []byte) error {
	if err := p.settings(); err != nil {
		return err
	}
	rest, ok := sql, true
	for err := error(parser.ErrCompound); ok && errors.Is(err, parser.ErrCompound) && parser.Sniff(rest) == parser.DDL; {
		if rest, ok = parser.Behind(rest, p.Session.Mode); ok && len(rest) > 0 {
			_, err = parser.Split(nil, rest, p.Session.Mode)
		}
	}
	switch {
	case !ok:
		rest = sql
	case !MayNeedSeqgate(rest):
		return nil
	case ChangesWhatFollows(rest):
		return ErrNotRead
	}
	return p.RefuseBeside(rest)
}

// RefuseBeside refuses a text with a compound statement, within or behind which a row may be written to a sequenced table,
// or to one that a USE in it decides.
func (p *Planner) RefuseBeside(sql []byte) error {
	hidden, err := p.hidesDatabase(sql)
	if err != nil {
		return err
	}
	if hidden {
		return ErrNotRead
	}
	return p.RefuseDynamicSQL("an INSERT beside a compound statement in one text", sql)
}

// hidesDatabase reports whether a text writes to a table and may run a USE, also one that it makes of literals.
func (p *Planner) hidesDatabase(sql []byte) (bool, error) {
	if !MayNeedSeqgate(sql) || !parser.ContainsWord(sql, "use") && !parser.MayPrepare(sql) {
		return false, nil
	}
	if err := p.settings(); err != nil {
		return false, err
	}
	literals, ok := parser.Literals(sql, p.Session.Mode)
	literals = bytes.ToLower(literals) // joined: a word's ends cannot be told
	uses := parser.ContainsWord(sql, "use") || bytes.Contains(literals, []byte("use"))
	tables, read := parser.Writes(nil, sql, p.Session.Mode)
	writes := !read || len(tables) > 0 || bytes.Contains(literals, []byte("insert")) ||
		bytes.Contains(literals, []byte("replace")) || bytes.Contains(literals, []byte("load"))
	return !ok || uses && writes, nil
}

// refuseUnread refuses an INSERT that could not be read, unless its table has no sequence: then the server judges it.
func (p *Planner) refuseUnread(err error, sql []byte) error {
	var form *parser.UnsupportedError
	if errors.As(err, &form) {
		b, lookupErr := p.Binding(form.Schema, form.Table)
		if b == nil || lookupErr != nil {
			return lookupErr
		}
		return RefuseForm(err, b.Table)
	}
	if tables, ok := parser.Writes(nil, sql, p.Session.Mode); ok && len(tables) == 0 {
		return err // it names no table
	}
	return p.refuseWrites("this INSERT, which it cannot read ("+err.Error()+"),", sql)
}

// RefuseForm refuses a statement that the parser understood well enough to know that it cannot be filled.
func RefuseForm(err error, table string) error {
	form := err.Error()
	var known *parser.UnsupportedError
	if errors.As(err, &known) {
		form = known.Form
	}
	return catalog.Unsupported(form, table, "use INSERT or REPLACE ... VALUES or SET with a column list")
}

// MayNeedSeqgate looks for the words without which no statement of a text needs more than being passed on.
func MayNeedSeqgate(sql []byte) bool {
	return ContainsAnyWord(sql, "insert", "replace", "load", "next", "kill", "prepare", "immediate", "sequence", "sequences", "seqgate", "seqgate_decode", "vschema")
}

// ChangesWhatFollows looks for the words without which no statement of a text changes to which table a name after it
// belongs, and whether that has a sequence, nor needs seqgate whatever it writes to.
func ChangesWhatFollows(sql []byte) bool {
	return ContainsAnyWord(sql, "create", "alter", "drop", "rename", "use", "call", "execute", "end", "next", "kill", "prepare", "immediate", "sequences", "seqgate", "vschema")
}

// What seqgate asks in a client's session is a statement there: it changes what FOUND_ROWS() and ROW_COUNT() give, it is
// counted, profiled and tracked, and it costs a round trip. So a session is asked only for a statement that may concern a
// table with a sequence, and whose reading depends on the answer.

// insertsElsewhere reports whether an INSERT or REPLACE can only write to tables without a sequence, whatever the session's
// settings are. Stmt has its table then, if prepared: later executions look it up again.
func (p *Planner) insertsElsewhere(sql []byte, prepared bool) (bool, error) {
	if p.Stmt.ParsePlainTarget(sql, p.Session.MariaDB) {
		may, err := p.mayBeSequenced(p.Stmt.Schema, p.Stmt.Table)
		return !may, err
	}
	if prepared {
		return false, nil
	}
	return p.WritesElsewhere(sql, true)
}

// unaskedElsewhere is WritesElsewhere while the session's settings are not known, else false.
func (p *Planner) unaskedElsewhere(sql []byte) (bool, error) {
	if p.Session.EnvironmentKnown {
		return false, nil
	}
	return p.WritesElsewhere(sql, false)
}

// maxTables is of how many tables it is looked up whether they have a sequence, for a text in which each INTO counts, also
// those in literals.
const maxTables = 16

// WritesElsewhere reports whether a text can only write to tables without a sequence, of all that it may name in any
// reading. One that is known to write names a table: with none found, it was not understood.
func (p *Planner) WritesElsewhere(sql []byte, writes bool) (bool, error) {
	tables, ok := parser.Writes(nil, sql, p.Session.Mode)
	if !ok || len(tables) > maxTables || writes && len(tables) == 0 {
		return false, nil
	}
	for _, t := range tables {
		if !p.Session.EnvironmentKnown && !backend.IsPlainName(t.Schema+t.Name) {
			return false, nil
		}
		if may, err := p.mayBeSequenced(t.Schema, t.Name); may || err != nil {
			return false, err
		}
	}
	return true, nil
}

// mayBeSequenced reports whether a table has a sequence, as far as that can be told.
func (p *Planner) mayBeSequenced(schema, table string) (bool, error) {
	if schema == "" {
		if known, err := p.database(); !known {
			return true, err
		}
		schema = p.Session.Database
	}
	if schema == "" {
		return false, nil // the server answers 1046: no database selected
	}
	b, err := p.tableBinding(schema, table)
	if isMissing(err) {
		return true, err
	}
	return b != nil || err != nil, nil
}

// preparesElsewhere is WritesElsewhere for the statement that SQL's PREPARE and the like make of literals.
func (p *Planner) preparesElsewhere(sql []byte) (bool, error) {
	readings := parser.Readings(sql, p.Session.MariaDB)
	for _, m := range readings {
		text, ok := parser.Literals(sql, m)
		if !ok {
			return false, nil
		}
		if elsewhere, err := p.WritesElsewhere(text, false); !elsewhere || err != nil {
			return false, err
		}
	}
	return len(readings) > 0, nil
}

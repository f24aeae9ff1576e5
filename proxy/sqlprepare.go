package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// An INSERT in SQL's PREPARE is prepared twice at the server, as one of
// COM_STMT_PREPARE is: as it came, and with a placeholder for each id. Both have
// names of seqgate's own there. Under the client's name there is nothing: a name
// that the server takes for it by its collation (é for e), or that a routine
// executes, finds no statement, and none without its ids.

// namedStmt is a statement of SQL's PREPARE that writes to a table.
type namedStmt struct {
	statement
	server string // its name at the server, when its table has a sequence
	twin   bool   // there is one with a placeholder for each id too
}

// filledName is what the statement with a placeholder for each id is called.
func (st *namedStmt) filledName() string { return st.server + "_filled" }

// planDynamicSQL plans MariaDB's EXECUTE IMMEDIATE, and refuses all else that carries
// an INSERT into a sequenced table within it.
func (x *textRunner) planDynamicSQL(p textPlan, sql []byte) (textPlan, error) {
	const form = "an INSERT inside another statement"
	if err := x.refuseDuality(sql); err != nil {
		return p, err
	}
	if !x.MariaDB || !plan.ContainsAnyWord(sql, "immediate", "prepare") {
		return p, unread(x.refuseDynamicSQL(form, sql), sql)
	}
	src, text, st, _, err := x.judgePrepare(form, sql, parser.ParseImmediate)
	if err != nil || st == nil || st.fill == nil {
		return p, err
	}
	text, command, using := slices.Clone(text), slices.Clone(sql), cloneAll(src.Using)
	p.command("EXECUTE IMMEDIATE")
	p.effect = 0
	p.run = func(attributes []byte) error { return x.executeImmediate(attributes, st, command, text, using) }
	return p, nil
}

// planPrepareSQL plans SQL's PREPARE.
func (x *textRunner) planPrepareSQL(p textPlan, sql []byte) (textPlan, error) {
	src, text, st, filled, err := x.judgePrepare("an INSERT in SQL's PREPARE", sql, parser.ParsePrepare)
	if err != nil {
		return p, err
	}
	if st != nil && st.fill != nil && !parser.IsASCII([]byte(src.Name)) {
		return p, catalog.Unsupported("a name outside ASCII for an INSERT in SQL's PREPARE", st.fill.Binding.Table, "name it in ASCII") // servers compare them each in its way
	}
	if st != nil && st.fill != nil {
		n := &namedStmt{statement: *st, server: fmt.Sprintf("seqgate_%016x", rand.Uint64()), twin: filled != nil}
		raw, text := slices.Clone(src.Raw), slices.Clone(text)
		p.command("PREPARE")
		p.effect = 0
		p.run = func(attributes []byte) error { return x.prepareNamed(attributes, src.Name, raw, n, text, filled) }
		return p, nil
	}
	if x.named[src.Name] == nil && (st == nil || !st.writes) {
		return p, nil
	}
	command := slices.Clone(sql)
	p.command("PREPARE")
	p.run = func(attributes []byte) error { return x.prepareOther(attributes, src.Name, st, command) }
	return p, nil
}

// judgePrepare reads what PREPARE or EXECUTE IMMEDIATE prepares, and plans it as
// COM_STMT_PREPARE's. st is nil when it can be nothing that needs seqgate.
func (x *textRunner) judgePrepare(form string, sql []byte, read func([]byte, parser.Mode) (parser.PrepareStmt, bool)) (
	src parser.PrepareStmt, text []byte, st *statement, filled []byte, err error,
) {
	if err := x.refuseDuality(sql); err != nil {
		return src, nil, nil, nil, err
	}
	if !x.State.EnvironmentKnown && !parser.Plain(sql) && len(x.named) == 0 && bytes.IndexByte(sql, '@') < 0 &&
		x.writesElsewhere(sql) && x.preparesElsewhere(sql) {
		return src, nil, nil, nil, nil
	}
	mode, err := x.Readable(sql)
	if mustChangePassword(err) {
		return src, nil, nil, nil, nil // the server itself prepares nothing but the new password
	}
	if err != nil {
		return src, nil, nil, nil, err
	}
	src, ok := read(sql, mode)
	if x.MariaDB && (ok && !src.IsText && src.Expr == nil || !ok && parser.PreparesInSet(sql)) {
		return src, nil, nil, nil, errSourceNotRead
	}
	if !ok || !src.IsText && src.Expr == nil {
		return src, nil, nil, nil, x.refuseDynamicSQL(form, sql)
	}
	text, exact := src.Text, true
	if src.Expr != nil {
		if text, exact, err = x.readSource(src.Expr); err != nil {
			return src, nil, nil, nil, err
		}
	}
	if st, filled, err = x.planPrepare(text); err == nil {
		err = refusePrepared(form, st)
	}
	if err != nil || st.fill == nil {
		return src, text, st, nil, err
	}
	if plan.ReadsDiagnostics(text) {
		return src, nil, nil, nil, catalog.Unsupported("ROW_COUNT(), FOUND_ROWS() or a count of warnings in "+form, st.fill.Binding.Table, "read it with SELECT first")
	}
	st.params = x.planner.Stmt.Params
	return src, text, st, filled, x.checkReading(text, exact, st.fill.Binding)
}

// refusePrepared refuses what seqgate answers or makes anew at each execution of a
// driver's prepared statement, and cannot for the server's own.
func refusePrepared(form string, st *statement) error {
	const instead = "use the statement itself, or the driver's prepared statements"
	switch {
	case st.next != nil || st.calls != nil:
		return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate cannot ask for next values, or take ids apart, in SQL's PREPARE; "+instead)
	case st.query != nil:
		return catalog.Unsupported("INSERT ... SELECT in SQL's PREPARE", st.fill.Binding.Table, instead)
	case st.fill != nil && st.fill.Binding.Ticket:
		return catalog.Unsupported(form, st.fill.Binding.Table, instead)
	}
	return nil
}

// errSourceNotRead is for MariaDB, where anything may give what is prepared.
var errSourceNotRead = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate cannot read what this statement prepares; SET a user variable to it first, and prepare that")

// mustChangePassword reports whether the server answers nothing in this session
// before its password was changed.
func mustChangePassword(err error) bool {
	var refused *wire.ServerError
	return errors.As(err, &refused) && refused.Code() == mysql.ER_MUST_CHANGE_PASSWORD
}

// readSource evaluates the expression that PREPARE takes its text from. exact says
// that the server reads the same bytes from a literal.
func (c *serverConn) readSource(expr []byte) (text []byte, exact bool, err error) {
	row, err := c.QueryRow(fmt.Sprintf("SELECT CAST(CHARSET(%[1]s) AS BINARY), COALESCE(CAST(%[1]s AS BINARY), '') LIMIT 1", expr), 2)
	if mustChangePassword(err) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	text = []byte(row[1])
	switch row[0] {
	case "ucs2", "utf16", "utf16le", "utf32":
		return c.readWide(expr)
	case "utf8mb4", "utf8mb3", "utf8":
		// A literal is converted to utf8mb3 on MySQL, a variable is not.
		return text, !slices.ContainsFunc(bytes.Runes(text), func(r rune) bool { return r > 0xffff }), nil
	}
	return text, parser.IsASCII(text), nil
}

// readWide is readSource for a text in a character set of two or four bytes. The server
// converts it to the client's before it prepares it, which changes nothing of ASCII.
func (c *serverConn) readWide(expr []byte) (text []byte, exact bool, err error) {
	row, err := c.QueryRow(fmt.Sprintf("SELECT COALESCE(CAST(CONVERT(%s USING utf8mb4) AS BINARY), '') LIMIT 1", expr), 1)
	if err != nil {
		return nil, false, err
	}
	text = []byte(row[0])
	if tables, ok := parser.Writes(nil, text, c.State.Mode); !parser.IsASCII(text) && (!ok || slices.ContainsFunc(tables, namedOutsideASCII)) {
		return nil, false, plan.ErrNotRead // its table may be another one for the server
	}
	return text, parser.IsASCII(text), nil
}

func namedOutsideASCII(t parser.Table) bool { return !parser.IsASCII([]byte(t.Schema + t.Name)) }

// checkReading refuses a text for a sequenced table that the server may read in
// another way than seqgate: it converts what is outside ASCII.
func (c *serverConn) checkReading(text []byte, exact bool, b *catalog.Binding) error {
	if parser.IsASCII(text) {
		return nil
	}
	row, err := c.QueryRow("SELECT CAST(@@character_set_client AS BINARY), CAST(@@character_set_connection AS BINARY) LIMIT 1", 2)
	if err != nil {
		return err
	}
	for _, name := range row {
		exact = exact && (name == "utf8mb4" || name == "utf8mb3" || name == "utf8")
	}
	if !exact || !utf8.Valid(text) {
		return catalog.Unsupported("an INSERT with text outside ASCII in SQL's PREPARE, but in UTF-8,", b.Table, "use placeholders for such values")
	}
	return nil
}

// prepareNamed prepares an INSERT into a sequenced table. raw is the client's name
// for it, as it was written: what it stood for is gone, as it is natively.
func (x *textRunner) prepareNamed(attributes []byte, name string, raw []byte, st *namedStmt, text, filled []byte) error {
	if err := x.forgetNamed(name); err != nil {
		return err
	}
	if err := ignoreRefusal(x.Quietly("DEALLOCATE PREPARE " + string(raw))); err != nil {
		return err
	}
	if st.twin {
		if err := x.Quietly(string(x.prepareText(nil, st.server, text))); err != nil {
			return err
		}
		text = filled
	}
	last := st.server
	if st.twin {
		last = st.filledName()
	}
	if err := x.Send(x.prepareText(attributes, last, text)); err != nil {
		return err
	}
	err := x.relayComposed(wire.ShapeResults)
	if err == nil && x.Answer.Failed && st.twin {
		x.out.silent = true // the client has its answer
		return x.Quietly("DEALLOCATE PREPARE " + st.server)
	}
	if err != nil || x.Answer.Failed {
		return err
	}
	x.settled = true
	x.rememberNamed(name, st)
	return nil
}

// prepareOther passes a PREPARE on: of an INSERT into a table without a sequence,
// which may get one, or of a name that stood for such a statement so far.
func (x *textRunner) prepareOther(attributes []byte, name string, st *statement, command []byte) error {
	if err := x.forgetNamed(name); err != nil {
		return err
	}
	if err := x.Send(append(attributes, command...)); err != nil {
		return err
	}
	err := x.relayComposed(wire.ShapeResults)
	if err == nil && !x.Answer.Failed && st != nil && st.writes {
		x.rememberNamed(name, &namedStmt{statement: *st})
	}
	return err
}

// ignoreRefusal keeps failures of the connection only.
func ignoreRefusal(err error) error {
	var refused *wire.ServerError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// planDeallocate plans DEALLOCATE PREPARE.
func (x *textRunner) planDeallocate(p textPlan, sql []byte) (textPlan, error) {
	if len(x.named) == 0 {
		return p, nil
	}
	mode, err := x.Readable(sql)
	if err != nil {
		return p, err
	}
	name, ok := parser.ParseDeallocate(sql, mode)
	st := x.named[name]
	if !ok || st == nil {
		return p, nil
	}
	p.command("DEALLOCATE PREPARE")
	if st.fill == nil {
		text := slices.Clone(sql)
		p.run = func(attributes []byte) error {
			delete(x.named, name)
			return x.passOn(attributes, text)
		}
		return p, nil
	}
	p.effect = 0
	p.run = func(attributes []byte) error { return x.deallocateNamed(attributes, name, st) }
	return p, nil
}

// deallocateNamed answers with what the server says of one of the statements.
func (x *textRunner) deallocateNamed(attributes []byte, name string, st *namedStmt) error {
	delete(x.named, name)
	if st.twin {
		if err := x.deallocate(st.filledName()); err != nil {
			return err
		}
	}
	if err := x.Send(append(attributes, "DEALLOCATE PREPARE "+st.server...)); err != nil {
		return err
	}
	return x.relayComposed(wire.ShapeResults)
}

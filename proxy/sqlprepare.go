package proxy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

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
	server    string // its name at the server, when its table has a sequence
	hasFilled bool   // there is one with a placeholder for each id too
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
	d, st, _, err := x.planDynamic(form, sql, parser.ParseImmediate)
	if err != nil || st == nil || st.fill == nil {
		return p, err
	}
	text, command, using := slices.Clone(d.Text), slices.Clone(sql), cloneAll(d.Using)
	p.command("EXECUTE IMMEDIATE")
	p.effect = 0
	p.run = func(attributes []byte) error { return x.executeImmediate(attributes, st, command, text, using) }
	return p, nil
}

// planPrepareSQL plans SQL's PREPARE.
func (x *textRunner) planPrepareSQL(p textPlan, sql []byte) (textPlan, error) {
	d, st, filled, err := x.planDynamic("an INSERT in SQL's PREPARE", sql, parser.ParsePrepare)
	if err != nil || d == nil {
		return p, err
	}
	if st != nil && st.fill != nil && !parser.IsASCII([]byte(d.Name)) {
		return p, catalog.Unsupported("a name outside ASCII for an INSERT in SQL's PREPARE", st.fill.Binding.Table, "name it in ASCII") // servers compare them each in its way
	}
	if st != nil && st.fill != nil {
		n := &namedStmt{statement: *st, server: fmt.Sprintf("seqgate_%016x", rand.Uint64()), hasFilled: filled != nil}
		raw, text := slices.Clone(d.Raw), slices.Clone(d.Text)
		p.command("PREPARE")
		p.effect = 0
		p.run = func(attributes []byte) error { return x.prepareNamed(attributes, d.Name, raw, n, text, filled) }
		return p, nil
	}
	if x.named[d.Name] == nil && (st == nil || !st.writes) {
		return p, nil
	}
	command := slices.Clone(sql)
	p.command("PREPARE")
	p.run = func(attributes []byte) error { return x.prepareOther(attributes, d.Name, st, command) }
	return p, nil
}

// planDynamic reads what PREPARE or EXECUTE IMMEDIATE prepares, and plans it as COM_STMT_PREPARE's. d is nil when it can be
// nothing that needs seqgate, st when its text was not read.
func (x *textRunner) planDynamic(form string, sql []byte, read func([]byte, parser.Mode) (parser.PrepareStmt, bool)) (
	d *plan.Dynamic, st *statement, filled []byte, err error,
) {
	err = x.planned(func() (err error) {
		d, err = x.planner.Prepare(form, sql, len(x.named) > 0, read)
		return err
	})
	if mustChangePassword(err) {
		return nil, nil, nil, nil // the server itself prepares nothing but the new password
	}
	if err != nil || d == nil || d.Unread {
		return d, nil, nil, err
	}
	if st, filled, err = x.planPrepare(d.Text); err == nil {
		err = refusePrepared(form, st)
	}
	if err != nil || st.fill == nil {
		return d, st, nil, err
	}
	st.params = x.planner.Stmt.Params
	return d, st, filled, x.planned(func() error { return x.planner.RefuseDynamic(form, d, st.fill.Binding) })
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

// mustChangePassword reports whether the server answers nothing in this session
// before its password was changed.
func mustChangePassword(err error) bool {
	var refused *wire.ServerError
	return errors.As(err, &refused) && refused.Code() == mysql.ER_MUST_CHANGE_PASSWORD
}

// evaluate returns the value of an expression that has no effects.
func (c *serverConn) evaluate(expr string) (e plan.Expression, err error) {
	row, err := c.QueryRow(fmt.Sprintf("SELECT CAST(CHARSET(%[1]s) AS BINARY), COALESCE(CAST(%[1]s AS BINARY), '') LIMIT 1", expr), 2)
	if err != nil {
		return e, err
	}
	e = plan.Expression{Charset: row[0], Text: []byte(row[1])}
	if !e.Wide() {
		return e, nil
	}
	if row, err = c.QueryRow(fmt.Sprintf("SELECT COALESCE(CAST(CONVERT(%s USING utf8mb4) AS BINARY), '') LIMIT 1", expr), 1); err == nil {
		e.Text = []byte(row[0])
	}
	return e, err
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
	if st.hasFilled {
		if err := x.Quietly(string(x.prepareText(nil, st.server, text))); err != nil {
			return err
		}
		text = filled
	}
	last := st.server
	if st.hasFilled {
		last = st.filledName()
	}
	if err := x.Send(x.prepareText(attributes, last, text)); err != nil {
		return err
	}
	err := x.relayComposed(wire.ShapeResults)
	if err == nil && x.Answer.Failed && st.hasFilled {
		x.out.silent = true // the client has its answer
		return x.Quietly("DEALLOCATE PREPARE " + st.server)
	}
	if err != nil || x.Answer.Failed {
		return err
	}
	x.hasSessionState = true
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
	if st.hasFilled {
		if err := x.deallocate(st.filledName()); err != nil {
			return err
		}
	}
	if err := x.Send(append(attributes, "DEALLOCATE PREPARE "+st.server...)); err != nil {
		return err
	}
	return x.relayComposed(wire.ShapeResults)
}

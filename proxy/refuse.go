package proxy

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// refuseWrites refuses a statement that writes to a sequenced table in a form
// that cannot be filled.
func (f *statementReader) refuseWrites(form string, sql []byte) error {
	if !f.State.EnvironmentKnown && f.writesElsewhere(sql, false) {
		return nil
	}
	if err := f.Know(); err != nil {
		return err
	}
	tables, ok := parser.Writes(nil, sql, f.State.Mode)
	if !ok {
		return errNotRead
	}
	for _, table := range tables {
		b, err := f.binding(table.Schema, table.Name)
		if err != nil {
			return err
		}
		if b != nil {
			return catalog.Unsupported(form, b.Table, "use INSERT or REPLACE ... VALUES or SET, each as a statement of its own")
		}
	}
	return nil
}

// errNotRead is for a statement of which it cannot be told what it writes to.
var errNotRead = mysql.NewError(mysql.ER_NOT_SUPPORTED_YET,
	"seqgate cannot read where this statement writes to; write it without version comments, and the text of a PREPARE as a plain string")

// refuseDynamicSQL is refuseWrites for a statement that may make another one of
// literals, which have to be plain.
func (f *statementReader) refuseDynamicSQL(form string, sql []byte) error {
	if !parser.MayPrepare(sql) {
		return f.refuseWrites(form, sql)
	}
	if !f.State.EnvironmentKnown && f.writesElsewhere(sql, false) && f.preparesElsewhere(sql) {
		return nil
	}
	err := f.Know()
	var refused *wire.ServerError
	if errors.As(err, &refused) && refused.Code() == mysql.ER_MUST_CHANGE_PASSWORD {
		return nil // the server itself prepares nothing but the new password
	}
	if err != nil {
		return err
	}
	text, ok := parser.Literals(sql, f.State.Mode)
	if !ok {
		return errNotRead
	}
	if err := f.refuseWrites(form, text); err != nil {
		return err
	}
	return f.refuseWrites(form, sql)
}

// refuseBehindRoutines refuses a text of stored programs, whose bodies are the
// server's own, and of statements behind them that may write to a sequenced table.
func (f *statementReader) refuseBehindRoutines(sql []byte) error {
	if err := f.Know(); err != nil {
		return err
	}
	rest, ok := sql, true
	for err := error(parser.ErrCompound); ok && errors.Is(err, parser.ErrCompound) && parser.Sniff(rest) == parser.DDL; {
		if rest, ok = parser.Behind(rest, f.State.Mode); ok && len(rest) > 0 {
			_, err = parser.Split(nil, rest, f.State.Mode)
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
	return f.refuseBeside(rest)
}

// refuseBeside refuses a text with a compound statement, within or behind which a
// row may be written to a sequenced table, or to one that a USE in it decides.
func (f *statementReader) refuseBeside(sql []byte) error {
	hidden, err := f.hidesDatabase(sql)
	if err != nil {
		return err
	}
	if hidden {
		return errNotRead
	}
	return f.refuseDynamicSQL("an INSERT beside a compound statement in one text", sql)
}

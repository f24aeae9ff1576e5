package proxy

import (
	"bytes"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
)

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

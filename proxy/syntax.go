package proxy

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A statement that seqgate cannot read or fill may be one that no server takes either.
// Then the error is the server's own, of the client's own text: the text is prepared
// there, which runs nothing, and what the server says of it is passed on.

// maxKeptText is the length of text up to which a filled statement's own text is kept, for
// the case that the server finds a syntax error in it.
const maxKeptText = 64 << 10

// isUnread reports whether err refuses a statement for what its text is.
func isUnread(err error) bool {
	if err == nil { // as nearly always: nothing is allocated
		return false
	}
	var own *mysql.MyError
	var syntax *parser.SyntaxError
	var form *parser.UnsupportedError
	var planned *route.Error
	switch {
	case errors.As(err, &own):
		return own.Code == mysql.ER_NOT_SUPPORTED_YET
	case errors.As(err, &planned):
		return planned.Errno == mysql.ER_NOT_SUPPORTED_YET
	}
	return errors.As(err, &syntax) || errors.As(err, &form)
}

// isMiscounted reports whether err is one of columns and values, which seqgate counts
// before the server has seen whether they are any.
func isMiscounted(err error) bool {
	if err == nil {
		return false
	}
	var own *mysql.MyError
	return errors.As(err, &own) && (own.Code == mysql.ER_WRONG_VALUE_COUNT_ON_ROW || own.Code == mysql.ER_FIELD_SPECIFIED_TWICE)
}

// isSyntaxError reports whether err is a server's own syntax error.
func isSyntaxError(err error) bool {
	if err == nil {
		return false
	}
	var refused *wire.ServerError
	return errors.As(err, &refused) && refused.Code() == mysql.ER_PARSE_ERROR
}

// unreadError refuses a statement for what its text is, with the text as it was read: the server may not take that either.
type unreadError struct {
	error
	sql []byte
}

func (e *unreadError) Unwrap() error { return e.error }

// unread makes an *unreadError of one that refuses a statement for what its text is.
func unread(err error, sql []byte) error {
	if isUnread(err) {
		return &unreadError{err, sql}
	}
	return err
}

// serversError returns the server's own error for a statement that was refused with an
// *unreadError, if the server does not take it either; else err.
func (c *serverConn) serversError(err error) error {
	if err == nil { // as nearly always: nothing is allocated
		return nil
	}
	var refusal *unreadError
	if !errors.As(err, &refusal) {
		return err
	}
	its := c.tryPrepare(refusal.sql)
	var refused *wire.ServerError
	switch {
	case its == nil:
		return err
	case errors.As(its, &refused) && (refused.Code() == mysql.ER_UNSUPPORTED_PS || refused.Code() == mysql.ER_MAX_PREPARED_STMT_COUNT_REACHED):
		return err // of its preparing, not of the statement
	}
	return its
}

// syntaxError returns the server's syntax error for the client's own text in the place of
// the one for what was made of it.
func (c *serverConn) syntaxError(err error, sql []byte) error {
	if len(sql) == 0 || !isSyntaxError(err) {
		return err
	}
	its := c.tryPrepare(sql)
	if isSyntaxError(its) || isConnectionFailure(its) {
		return its
	}
	return err
}

// tryPrepare prepares a text at the server and gives it up again. The error is the
// server's, or one of the connection.
func (c *serverConn) tryPrepare(sql []byte) error {
	status := c.Answer.Status
	ok, err := c.PrepareBackend(sql)
	c.Answer.Status = status
	if err == nil {
		err = c.SendClose(ok.ID)
	}
	return err
}

package proxy

import (
	"context"
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/merge"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

// Failures of connections to servers have texts of MySQL's client library (its
// errors 2003 and 2013), but numbers of a server's: MariaDB's client library takes
// an error packet with a client's number for malformed. The SQLSTATE tells drivers
// that it is the connection that failed.
const (
	errUnreachable = mysql.ER_CONNECT_TO_FOREIGN_DATA_SOURCE
	errLost        = mysql.ER_NET_READ_ERROR
)

// frontError is a failure of the connection to the client: nobody is left to tell.
type frontError struct{ err error }

// isConnectionFailure reports whether err leaves a connection in the middle of a
// command or an answer.
func isConnectionFailure(err error) bool {
	if err == nil { // as nearly always: nothing is allocated
		return false
	}
	var front *frontError
	var back *backend.LostError
	return errors.As(err, &front) || errors.As(err, &back)
}

func (e *frontError) Error() string { return "client connection: " + e.err.Error() }
func (e *frontError) Unwrap() error { return e.err }
func errShutdown() *mysql.MyError {
	return mysql.NewError(mysql.ER_SERVER_SHUTDOWN, "seqgate is shutting down; connect again")
}

// clientError returns the MySQL error that a client sees for err: the one place
// where errors of every origin are mapped.
func clientError(err error) *mysql.MyError {
	var own *mysql.MyError
	var syntax *parser.SyntaxError
	var count *parser.CountError
	var connect *backend.ConnectError
	var lost *backend.LostError
	var describe *catalog.DescribeError
	var planned *route.Error
	var unmerged *merge.UnsupportedError
	var held *merge.LimitError
	code := uint16(mysql.ER_UNKNOWN_ERROR)
	switch {
	case errors.As(err, &planned):
		return mysql.NewError(planned.Errno, planned.Message)
	case errors.As(err, &own):
		return own
	case errors.As(err, &unmerged):
		return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, "seqgate does not yet support "+unmerged.Form+"; query by the sharding key, or by other columns")
	case errors.As(err, &held):
		return mysql.NewError(mysql.ER_TOO_BIG_SELECT, "seqgate: "+held.Error())
	case errors.As(err, &syntax):
		code = mysql.ER_PARSE_ERROR
	case errors.As(err, &count), errors.Is(err, sequence.ErrInvalidCount):
		code = mysql.ER_WRONG_ARGUMENTS
	case errors.As(err, &connect):
		return &mysql.MyError{Code: errUnreachable, State: backend.StateLink, Message: connect.Error()}
	case errors.As(err, &lost):
		return &mysql.MyError{Code: errLost, State: backend.StateLink,
			Message: "Lost connection to MySQL server during query: seqgate's connection to the server ended"}
	case errors.As(err, &describe) && sequence.IsTemporary(err):
		return &mysql.MyError{Code: errLost, State: backend.StateLink, Message: describe.Error()}
	case errors.Is(err, sequence.ErrNoTable):
		code = mysql.ER_NO_SUCH_TABLE
	case errors.Is(err, sequence.ErrNotSequence):
		code = mysql.ER_WRONG_OBJECT
	case errors.Is(err, sequence.ErrExhausted), errors.Is(err, sequence.ErrNoRow), errors.Is(err, sequence.ErrBadRow):
		code = mysql.ER_AUTOINC_READ_FAILED
	case errors.Is(err, keyed.ErrMoved):
		code = mysql.ER_LOCK_WAIT_TIMEOUT // the seqgate that asked looks for the holder again
	case errors.Is(err, sequence.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		code = mysql.ER_LOCK_WAIT_TIMEOUT
	case errors.Is(err, sequence.ErrClosed), errors.Is(err, context.Canceled):
		code = mysql.ER_SERVER_SHUTDOWN
	}
	if number, state, ok := sequence.ServerError(err); ok && code == mysql.ER_UNKNOWN_ERROR {
		if refusesAccount(number) {
			return ownRefused() // it was logged where it came from
		}
		return &mysql.MyError{Code: number, State: state, Message: err.Error()}
	}
	return mysql.NewError(code, err.Error())
}

package backend

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/wire"
)

// StateLink is the SQLSTATE of a connection that failed.
const StateLink = "08S01"

// LostError is a failure of the connection to the server.
type LostError struct{ Err error }

func (e *LostError) Error() string { return "backend connection: " + e.Err.Error() }

func (e *LostError) Unwrap() error { return e.Err }

// ErrMalformedAnswer ends a session whose server sent what the protocol does not
// allow: where its answer ends is not known then.
var ErrMalformedAnswer = &mysql.MyError{Code: mysql.ER_MALFORMED_PACKET, State: StateLink,
	Message: "Malformed communication packet: the server's answer is none that seqgate can follow; connect again"}

// ErrAnswerBegun ends a session whose answer was cut in the middle: no error
// packet can be put there without being taken for a row.
var ErrAnswerBegun = errors.New("the server went away in the middle of an answer")

// textRow returns the first columns of a row of the text protocol; nil when it has
// fewer.
func textRow(b []byte, columns int) []string {
	row := make([]string, 0, columns)
	for len(b) > 0 {
		text, _, rest, ok := wire.Text(b)
		if !ok {
			return nil
		}
		row = append(row, string(text))
		b = rest
	}
	if len(row) < columns {
		return nil
	}
	return row[:columns]
}

// MaxStatement bounds a statement that seqgate has to look into: what the
// protocol itself allows (max_allowed_packet's maximum). Memory grows with
// what has come, not with what was announced.
const MaxStatement = 1 << 30

func PutHeader(b []byte, sequence byte) {
	n := len(b) - wire.HeaderSize
	b[0], b[1], b[2], b[3] = byte(n), byte(n>>8), byte(n>>16), sequence
}

package route

import "fmt"

// Numbers of MySQL's errors.
const (
	errNoDatabase      = 1046 // ER_NO_DB_ERROR
	errUnknownDatabase = 1049 // ER_BAD_DB_ERROR
	errUnknown         = 1105 // ER_UNKNOWN_ERROR
	errNoTable         = 1146 // ER_NO_SUCH_TABLE
	errNoVindex        = 1173 // ER_REQUIRES_PRIMARY_KEY, as Vitess has it for a table without a primary vindex
	errUnsupported     = 1235 // ER_NOT_SUPPORTED_YET
)

// An Error says why a statement goes nowhere. Errno is the number of MySQL's error, Message its text for the client.
type Error struct {
	Errno   uint16
	Message string
}

func (e *Error) Error() string { return e.Message }

func errorf(errno uint16, format string, args ...any) *Error {
	return &Error{errno, fmt.Sprintf(format, args...)}
}

// engine is the way out for what needs rows of several shards at once.
const engine = "put a distributed engine such as Vitess or TiDB behind seqgate"

// refuse is the error of a statement that the shards could only answer together. way is what else the client can do.
func refuse(why, way string) *Error {
	if way != "" {
		way += ", or "
	}
	return errorf(errUnsupported, "seqgate does not support %s; %s%s", why, way, engine)
}

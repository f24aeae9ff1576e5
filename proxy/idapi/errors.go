package idapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/sequence"
)

// MySQL's numbers of what this package itself refuses; the others are proxy's.
const (
	errAccessDenied  = 1045 // ER_ACCESS_DENIED_ERROR
	errAmbiguous     = 1052 // ER_NON_UNIQ_ERROR
	errShutdown      = 1053 // ER_SERVER_SHUTDOWN
	errTableDenied   = 1142 // ER_TABLEACCESS_DENIED_ERROR
	errNoSuchTable   = 1146 // ER_NO_SUCH_TABLE
	errNetRead       = 1158 // ER_NET_READ_ERROR
	errLockWait      = 1205 // ER_LOCK_WAIT_TIMEOUT
	errUnreachable   = 1429 // ER_CONNECT_TO_FOREIGN_DATA_SOURCE
	errWrongArgument = 1210 // ER_WRONG_ARGUMENTS
	errLimitReached  = 1226 // ER_USER_LIMIT_REACHED
)

// fault is an error as it is answered.
type fault struct {
	status int
	code   string
	text   string
	errno  uint16        // 0: MySQL has none
	retry  time.Duration // after which to ask again; 0: it will not help
}

// Error returns the text.
func (f fault) Error() string { return f.text }

func badRequest(format string, args ...any) fault {
	return fault{status: http.StatusBadRequest, code: "bad_request", errno: errWrongArgument, text: fmt.Sprintf(format, args...)}
}

// faultOf returns what is answered for err. The text is the one that a MySQL client is told.
func faultOf(err error) fault {
	var f fault
	if errors.As(err, &f) {
		return f
	}
	f = fault{status: http.StatusInternalServerError, code: "internal"}
	f.errno, f.text = proxy.ErrorNumber(err)
	switch {
	case errors.Is(err, proxy.ErrUnknownIDs):
		f.status, f.code, f.errno = http.StatusNotFound, "unknown_sequence", errNoSuchTable
	case errors.Is(err, sequence.ErrNoTable):
		f.status, f.code = http.StatusNotFound, "unknown_sequence"
	case errors.Is(err, proxy.ErrAmbiguousIDs):
		f.status, f.code, f.errno = http.StatusBadRequest, "bad_request", errAmbiguous
	case errors.Is(err, proxy.ErrIDsWithKey):
		f.status, f.code, f.errno = http.StatusBadRequest, "bad_request", errWrongArgument
	case errors.Is(err, sequence.ErrInvalidCount), errors.Is(err, sequence.ErrNotSequence):
		f.status, f.code = http.StatusBadRequest, "bad_request"
	case errors.Is(err, sequence.ErrExhausted):
		f.code = "exhausted"
	case errors.Is(err, sequence.ErrNoRow), errors.Is(err, sequence.ErrBadRow):
		f.code = "broken_sequence"
	case errors.Is(err, sequence.ErrClosed):
		f.status, f.code, f.retry = http.StatusServiceUnavailable, "draining", time.Second
	case errors.Is(err, context.Canceled): // the client sends no more, and may read on
		f.status, f.code, f.errno, f.retry = http.StatusServiceUnavailable, "unavailable", errNetRead, time.Second
	case f.errno == errLockWait || f.errno == errNetRead || f.errno == errUnreachable: // no ids in time, or the server that knows of the name is away
		f.status, f.code, f.retry = http.StatusServiceUnavailable, "unavailable", time.Second
	}
	return f
}

// writeHeaders sets the headers that go with the status.
func (f fault) writeHeaders(w http.ResponseWriter) {
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="seqgate"`)
	}
	if f.retry > 0 { // in whole seconds: RFC 9110, section 10.2.3
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(f.retry.Seconds())), 10))
	}
}

// errorAnswer is an error in JSON.
type errorAnswer struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Errno   uint16 `json:"errno,omitempty"` // of MySQL
}

// codes are all values of errorDetail.Code with their status, for openapi.yaml.
var codes = map[string]int{
	"bad_request": 400, "unauthorized": 401, "forbidden": 403, "unknown_sequence": 404, "not_found": 404, "method_not_allowed": 405,
	"rate_limited": 429, "exhausted": 500, "broken_sequence": 500, "internal": 500, "unavailable": 503, "draining": 503,
}

func failJSON(w http.ResponseWriter, f fault) {
	writeJSON(w, f.status, errorAnswer{errorDetail{f.code, f.text, f.errno}})
}

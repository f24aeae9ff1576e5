package sequence

import (
	"errors"
	"fmt"
	"time"
)

// What can be wrong with a sequence. The errors that [Sequence.Next] and the stores return match one of these by
// [errors.Is], name the sequence as database.table, and say what to do.
var (
	// ErrExhausted: the ids up to the last one allowed do not suffice. MySQL's counterpart is error 1467,
	// ER_AUTOINC_READ_FAILED.
	ErrExhausted = errors.New("sequence exhausted")
	// ErrNoTable: the table or its database does not exist.
	ErrNoTable = errors.New("no such sequence table")
	// ErrNotSequence: the table lacks the columns of a sequence, or its comment lacks 'vitess_sequence'.
	ErrNotSequence = errors.New("not a sequence")
	// ErrNoRow: the table lacks the row that is the sequence: that with id 0, or that of a [Request] for another.
	ErrNoRow = errors.New("sequence without a row")
	// ErrBadRow: the row holds values that no id can be taken from, as NULL or a cache under 1.
	ErrBadRow = errors.New("bad sequence row")
	// ErrInvalidCount: a number of ids under 1 or over [MaxN] was asked for.
	ErrInvalidCount = errors.New("invalid number of ids")
	// ErrUnavailable: no ids are left in memory and the database gave none until the deadline. The error is an
	// [*UnavailableError].
	ErrUnavailable = errors.New("sequence unavailable")
	// ErrClosed: the registry was closed; this process hands out no more ids.
	ErrClosed = errors.New("sequence closed")
)

// Error is what is wrong with one sequence.
type Error struct {
	Kind     error  // one of the Err values of this package
	Sequence string // database.table
	Text     string // what is wrong and what to do, without the sequence's name
	Cause    error  // the server's error, if there is one
	// Next says, with ErrExhausted, which id the sequence could not give: the first one that nobody has. 0: not known.
	Next int64
}

// Error returns the sequence's name, what is wrong and what to do.
func (e *Error) Error() string { return "sequence " + e.Sequence + " " + e.Text }

// Unwrap makes [errors.Is] and [errors.As] find Kind and Cause.
func (e *Error) Unwrap() []error { return unwrapped(e.Kind, e.Cause) }

// UnavailableError is [ErrUnavailable] with what is known about the outage.
type UnavailableError struct {
	Sequence string        // database.table
	Waited   time.Duration // how long the caller waited
	Since    time.Time     // when the first of the attempts failed that have failed since; zero when none has
	Away     time.Duration // how long that was ago
	Cause    error         // why the latest attempt failed; nil when none has ended yet
}

// Error names the sequence, for how long its database has been away and why.
func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("sequence %s has no ids left in memory and got none in %v", e.Sequence, e.Waited.Round(time.Millisecond))
	if e.Cause == nil {
		return text + ": its database has not answered yet; try again, seqgate goes on asking"
	}
	return fmt.Sprintf("%s: its database has not served it for %v, since %s (%v); see to the database, seqgate goes on by itself when it answers",
		text, e.Away.Round(time.Millisecond), e.Since.Format(time.RFC3339), e.Cause)
}

// Unwrap makes [errors.Is] and [errors.As] find [ErrUnavailable] and Cause.
func (e *UnavailableError) Unwrap() []error { return unwrapped(ErrUnavailable, e.Cause) }

func unwrapped(kind, cause error) []error {
	if cause == nil {
		return []error{kind}
	}
	return []error{kind, cause}
}

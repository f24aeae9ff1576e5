package snowflake

import (
	"fmt"

	"github.com/seqgate/seqgate/sequence"
)

// Why a generator gives no ids now, though it will later: all three match [sequence.ErrUnavailable].
var (
	// ErrClock: the clock stands further behind the ids that were given than Config.MaxBorrow.
	ErrClock = fmt.Errorf("%w: clock behind", sequence.ErrUnavailable)
	// ErrBusy: more ids are asked for than the layout has in that time, and MaxBorrow is used up.
	ErrBusy = fmt.Errorf("%w: out of sequence numbers", sequence.ErrUnavailable)
	// ErrLimit: ids may not be given beyond the time set by [Generator.SetLimit].
	ErrLimit = fmt.Errorf("%w: worker id not leased", sequence.ErrUnavailable)
)

// Error is why a generator gave no ids.
type Error struct {
	Kind      error // one of this package's errors, [sequence.ErrExhausted] or [sequence.ErrInvalidCount]
	Generator string
	Text      string // what is wrong and what to do
}

// Error names the generator, what is wrong and what to do.
func (e *Error) Error() string { return e.Generator + ": " + e.Text }

// Unwrap returns Kind.
func (e *Error) Unwrap() error { return e.Kind }

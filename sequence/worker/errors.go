package worker

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// Why there is no worker id. ErrNoWorkerID and ErrClock match [sequence.ErrUnavailable]: they may pass by themselves.
var (
	// ErrNoWorkerID: all are taken, or in quarantine.
	ErrNoWorkerID = fmt.Errorf("%w: no worker id is free", sequence.ErrUnavailable)
	// ErrClock: the time of day of this process differs too much from others'.
	ErrClock = fmt.Errorf("%w: clock differs", sequence.ErrUnavailable)
	// ErrBroken: what worker ids are kept in is damaged, or something else.
	ErrBroken = errors.New("worker ids not kept")
	// ErrLost: the worker id is not this holder's any more.
	ErrLost = errors.New("worker id lost")
)

// Error is what is wrong with the worker ids of a set.
type Error struct {
	Kind  error  // one of this package's errors, or [sequence.ErrUnavailable]
	Set   string // the name of the set
	Text  string // what is wrong and what to do
	Cause error  // what it comes from, if that is another error; Text does not have it
}

// Error names the set, what is wrong and what to do.
func (e *Error) Error() string {
	text := "worker ids of " + e.Set + ": " + e.Text
	if e.Cause != nil {
		text += fmt.Sprintf(" (%v)", e.Cause)
	}
	return text
}

// Unwrap makes [errors.Is] and [errors.As] find Kind and Cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

// Taken is a worker id that is not free, for [NoneFree].
type Taken struct {
	Worker  int64
	Address string
	Until   time.Time // when the lease ends; zero when it has ended, and the id is in quarantine
	Free    time.Time // when the quarantine ends, unless the lease is extended; zero when that is not known
}

// shown is how many holders an error names.
const shown = 8

// NoneFree returns the error that matches [ErrNoWorkerID] and tells who has the n worker ids that a claim can have of a set.
func NoneFree(set string, n int64, taken []Taken) error {
	var holders []string
	var soonest time.Time
	quarantined := 0
	for _, t := range taken {
		if t.Until.IsZero() {
			quarantined++
			if soonest.IsZero() || t.Free.Before(soonest) {
				soonest = t.Free
			}
		} else if len(holders) < shown {
			holders = append(holders, fmt.Sprintf("%d by %s until %s", t.Worker, t.Address, stamp(t.Until)))
		}
	}
	text := fmt.Sprintf("all %d are taken", n)
	if held := len(taken) - quarantined; held > 0 {
		text += fmt.Sprintf(", %d by holders (%s", held, strings.Join(holders, ", "))
		if held > len(holders) {
			text += fmt.Sprintf(" and %d more", held-len(holders))
		}
		text += ")"
	}
	if quarantined > 0 {
		text += fmt.Sprintf(", %d in quarantine after their last holder, the first of them until %s", quarantined, stamp(soonest))
	}
	return &Error{Kind: ErrNoWorkerID, Set: set,
		Text: text + "; stop holders that are not needed, wait for the quarantine, or take a layout with more worker bits"}
}

// InRivalUse returns the error that matches [ErrNoWorkerID] and tells up to when ids are given with worker ids of a set whose
// ids may be the same; address is that of a holder, "" when there is none any more.
func InRivalUse(set, rival string, until time.Time, address string) error {
	if address != "" {
		address = " and on, by " + address
	}
	return &Error{Kind: ErrNoWorkerID, Set: set, Text: fmt.Sprintf("%s gives ids that may be the same, up to %s%s; "+
		"stop all holders with that layout and wait until then, or take another epoch", rival, stamp(until), address)}
}

// Lost returns the error that matches [ErrLost] and tells whose the worker id is now; address is "" when it is nobody's.
func Lost(set string, worker int64, address string) error {
	text := fmt.Sprintf("the lease of %d ended and is not in the table any more", worker)
	if address != "" {
		text = fmt.Sprintf("the lease of %d ended, and it is %s's now", worker, address)
	}
	return &Error{Kind: ErrLost, Set: set, Text: text + "; another worker id will be leased"}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

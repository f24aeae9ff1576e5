package worker

import (
	"fmt"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

// systemClock is the clock of the machine.
type systemClock struct{ start time.Time }

func newClock() snowflake.Clock { return systemClock{time.Now()} }

// Monotonic implements [snowflake.Clock].
func (c systemClock) Monotonic() time.Duration { return time.Since(c.start) }

// Now implements [snowflake.Clock].
func (c systemClock) Now() (time.Time, time.Duration) {
	now := time.Now()
	return now.Round(0), now.Sub(c.start) // without the monotonic time, which would hide that the time of day was set
}

// reading is a [View] and the own time of day: it was early when the Leaser was asked, and took later there was an answer.
type reading struct {
	view  View
	early time.Time
	took  time.Duration
}

// aheadOf returns how far the own clock is ahead of one that said from to to at some moment between question and answer:
// at least, if it can be told. A slow answer therefore never makes a clock wrong.
func (r reading) aheadOf(from, to time.Time) time.Duration {
	if ahead := r.early.Sub(to); ahead > 0 {
		return ahead
	}
	if behind := from.Sub(r.early.Add(r.took)); behind > 0 {
		return -behind
	}
	return 0
}

// ahead returns how far the own clock is ahead of the Leaser's as far as one knows best: in the middle of the call.
func (r reading) ahead() (time.Duration, bool) {
	if r.view.Now.IsZero() {
		return 0, false
	}
	return r.early.Add(r.took / 2).Sub(r.view.Now), true
}

// Compare returns how far this host's clock is ahead of the Leaser's, as far as one knows best, after a Look for the worker
// ids of a set that was begun at early and took so long. The error matches [ErrClock] when a [Holder] with that MaxSkew would
// give no ids.
func Compare(v View, set string, early time.Time, took, maxSkew time.Duration) (ahead time.Duration, err error) {
	r := reading{view: v, early: early.Round(0), took: took}
	ahead, _ = r.ahead()
	return ahead, r.verdict(set, maxSkew)
}

// verdict returns the error of a clock that differs by more than most from the Leaser's, or from that of most of at least
// two others. Without a Leaser's clock one other is enough.
func (r reading) verdict(set string, most time.Duration) error {
	least := 2
	if r.view.Now.IsZero() {
		least = 1
	} else if ahead := r.aheadOf(r.view.Now, r.view.Now); ahead.Abs() > most {
		return r.wrong(set, ahead, most, "that of the server where worker ids are kept")
	}
	var out []time.Duration
	for _, p := range r.view.Peers {
		if ahead := r.aheadOf(p.Clock, p.Clock.Add(p.Slack)); ahead.Abs() > most {
			out = append(out, ahead)
		}
	}
	if n := len(r.view.Peers); n >= least && 2*len(out) > n {
		return r.wrong(set, out[0], most, fmt.Sprintf("those of %d of %d other holders", len(out), n))
	}
	return nil
}

func (r reading) wrong(set string, ahead, most time.Duration, than string) error {
	way := "ahead of"
	if ahead < 0 {
		way = "behind"
	}
	return &Error{Kind: ErrClock, Set: set, Text: fmt.Sprintf("this host's clock says %s, %v %s %s, and %v is allowed; set the clocks right (NTP)",
		stamp(r.early), ahead.Abs().Round(time.Millisecond), way, than, most)}
}

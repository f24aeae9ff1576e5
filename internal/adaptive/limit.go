package adaptive

import "time"

// Limit is how many attempts a process may have under way at one server: fewer when the server does not answer, one more
// after each round of answers. So thousands of processes share a server that they all come back to, and none of them needs
// to know of the others, as TCP connections share a line (RFC 5681, congestion avoidance).
type Limit struct {
	most, now float64
	lowered   int // how often
}

// NewLimit returns a limit that begins at most, which it never exceeds.
func NewLimit(most int) Limit { return Limit{most: float64(most), now: float64(most)} }

// N is how many attempts may be under way, at least 1.
func (l *Limit) N() int { return int(l.now) }

// Lowered is how often the limit was lowered: an attempt that begins keeps it for [Limit.Unanswered].
func (l *Limit) Lowered() int { return l.lowered }

// A server that takes more than 1/slow of the time that an attempt has is not given more work but slowly. It still is, as
// it may be far away instead of busy.
const (
	slow       = 8
	slowGrowth = 1. / 16
)

// Answered takes in that a server answered an attempt, whatever it said, after took of the time that an attempt has.
func (l *Limit) Answered(took, has time.Duration) {
	more := 1 / l.now
	if took > has/slow {
		more *= slowGrowth
	}
	l.now = min(l.now+more, l.most)
}

// Restore takes in that nothing is under way or waits any more: whatever comes next may use the whole limit.
func (l *Limit) Restore() { l.now = l.most }

// Unanswered takes in that an attempt got no answer, which began when the limit was lowered so often. Of all that were under
// way together only the first halves the limit: the others met with the same fault.
func (l *Limit) Unanswered(lowered int) {
	if lowered == l.lowered {
		l.now = max(l.now/2, 1)
		l.lowered++
	}
}

package sequence

import (
	"time"

	"github.com/seqgate/seqgate/internal/adaptive"
)

// MaxRunway is the longest [Status.Runway], also that of a sequence that nobody uses: a year.
const MaxRunway = 365 * 24 * time.Hour

// pace says how many ids were gone at some time.
type pace struct {
	at       time.Time
	consumed int64
}

// until returns how many ids went from p to now, and in which time.
func (p pace) until(now pace) (used int64, spent time.Duration) {
	return now.consumed - p.consumed, now.at.Sub(p.at)
}

// meter measures the rate for people: over a second or more where it can, while refills may follow each other faster.
type meter struct{ before, latest pace }

// note takes p in as the end of a time to measure, if that was long enough.
func (m *meter) note(p pace) {
	if m.latest.at.IsZero() {
		*m = meter{p, p}
	} else if p.at.Sub(m.latest.at) >= time.Second {
		*m = meter{m.latest, p}
	}
}

// rate returns ids per second up to now.
func (m *meter) rate(now pace) float64 {
	used, spent := m.before.until(now)
	if m.before.at.IsZero() || spent <= 0 {
		return 0
	}
	return float64(used) / spent.Seconds()
}

// runway returns how long n ids last at the rate up to now.
func (m *meter) runway(n int64, now pace) time.Duration {
	if n == 0 {
		return 0
	}
	used, spent := m.before.until(now)
	return min(adaptive.Lifetime(n, used, spent), MaxRunway)
}

// Package buckets counts durations in fixed buckets, for histograms that are read while they are written.
package buckets

import (
	"sync/atomic"
	"time"
)

// Bounds are the upper bounds of the buckets but the last, which has none. They span what a round trip within a rack takes
// and what a client waits for before it gives up.
var Bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second,
}

// Histogram counts durations. The zero value is empty; its methods may be called at the same time.
type Histogram struct {
	counts [len(Bounds) + 1]atomic.Int64
	sum    atomic.Int64
}

// Observe counts one duration. It neither locks nor allocates.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	for i < len(Bounds) && d > Bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Snapshot is what a Histogram has counted.
type Snapshot struct {
	Counts [len(Bounds) + 1]int64 // of each bucket by itself
	Sum    time.Duration
}

// Snapshot returns what was counted so far.
func (h *Histogram) Snapshot() (s Snapshot) {
	s.Sum = time.Duration(h.sum.Load())
	for i := range h.counts {
		s.Counts[i] = h.counts[i].Load()
	}
	return s
}

// Add adds what another one has counted.
func (s *Snapshot) Add(other Snapshot) {
	s.Sum += other.Sum
	for i, n := range other.Counts {
		s.Counts[i] += n
	}
}

// Count returns how many durations were counted.
func (s Snapshot) Count() (n int64) {
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// Since returns what was counted after an earlier snapshot of the same histogram.
func (s Snapshot) Since(then Snapshot) Snapshot {
	s.Sum -= then.Sum
	for i, n := range then.Counts {
		s.Counts[i] -= n
	}
	return s
}

// Quantile returns the duration that the share q, from 0 to 1, of those counted did not pass, as far as the buckets tell: it
// lies evenly between the bounds of its bucket, as Prometheus's histogram_quantile has it. It is 0 when nothing was counted.
func (s Snapshot) Quantile(q float64) time.Duration {
	rank := q * float64(s.Count())
	var below float64
	var lower time.Duration
	for i, n := range s.Counts {
		if below+float64(n) >= rank && n > 0 {
			if i == len(Bounds) {
				return lower // nothing is known but that it is more
			}
			return lower + time.Duration(float64(Bounds[i]-lower)*(rank-below)/float64(n))
		}
		below += float64(n)
		if i < len(Bounds) {
			lower = Bounds[i]
		}
	}
	return 0
}

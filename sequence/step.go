package sequence

import (
	"math"
	"time"
)

// nextStep returns the size of the next block when one of the size step lasts for lifetime: twice the size when that is
// under least, half when it is over twice least, else the same; a multiple of cache, from cache to most (Leaf's rule,
// SegmentIDGenImpl.updateSegmentFromDb, with arithmetic that cannot overflow). A cache over most is honoured.
func nextStep(step, cache, most int64, lifetime, least time.Duration) int64 {
	step = max(step, cache)
	switch {
	case lifetime < least && step <= most/2:
		step *= 2
	case lifetime < least:
		step = most
	case lifetime/2 > least:
		step /= 2
	}
	return max(min(step, most)/cache, 1) * cache
}

// lifetime returns how long n ids last when used ids went in a time of spent.
func lifetime(n, used int64, spent time.Duration) time.Duration {
	d := float64(spent) * float64(n) / float64(used)
	if used == 0 || d >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(d)
}

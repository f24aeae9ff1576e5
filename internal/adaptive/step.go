// Package adaptive has the rules by which the blocks of a sequence grow and are fetched ahead, as pure functions: package
// sequence lives by them, and bench/scale simulates thousands of its processes with the same code.
package adaptive

import (
	"math"
	"time"
)

// How much larger the next step is when a block does not last.
const (
	growth      = 2  // Leaf's
	growthBurst = 16 // when callers had to wait: then it takes four refills, not fourteen, from a cache of 100 to 1,000,000
)

// Growth returns by what factor the next step grows when a block does not last: more when callers had to wait for it.
func Growth(waited bool) int64 {
	if waited {
		return growthBurst
	}
	return growth
}

// NextStep returns the size of the next block when one of the size step lasts for lifetime: growth times the size when
// that is under least, half when it is over twice least, else the same; a multiple of cache, from cache to most (Leaf's
// rule, SegmentIDGenImpl.updateSegmentFromDb, with arithmetic that cannot overflow). A cache over most is honoured.
func NextStep(step, cache, most, growth int64, lifetime, least time.Duration) int64 {
	step = max(step, cache)
	switch {
	case lifetime < least && step <= most/growth:
		step *= growth
	case lifetime < least:
		step = most
	case lifetime/2 > least:
		step /= 2
	}
	return max(min(step, most)/cache, 1) * cache
}

// Lifetime returns how long n ids last when used ids went in a time of spent.
func Lifetime(n, used int64, spent time.Duration) time.Duration {
	d := float64(spent) * float64(n) / float64(used)
	if used == 0 || d >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(d)
}

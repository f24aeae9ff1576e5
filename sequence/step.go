package sequence

import "time"

// How much larger the next step is when a block does not last.
const (
	growth      = 2  // Leaf's
	growthBurst = 16 // when callers had to wait: then it takes four refills, not fourteen, from a cache of 100 to 1,000,000
)

// nextStep returns the size of the next block when one of the size step lasts for lifetime: growth times the size when
// that is under least, half when it is over twice least, else the same; a multiple of cache, from cache to most (Leaf's
// rule, SegmentIDGenImpl.updateSegmentFromDb, with arithmetic that cannot overflow). A cache over most is honoured.
func nextStep(step, cache, most, growth int64, lifetime, least time.Duration) int64 {
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

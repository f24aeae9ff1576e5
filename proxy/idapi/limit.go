package idapi

import (
	"sync"
	"time"
)

// bucket lets so many requests a second through, and bursts of one second's.
type bucket struct {
	rate, burst float64

	mu   sync.Mutex
	left float64
	seen time.Time
}

// newBucket returns a bucket for a rate; nil, which lets everything through, for 0.
func newBucket(rate float64) *bucket {
	if rate <= 0 {
		return nil
	}
	burst := max(1, rate)
	return &bucket{rate: rate, burst: burst, left: burst}
}

// longestWait is what who asks is told to wait at most, in seconds. What lies further ahead need not fit a Duration.
const longestWait = 24 * 60 * 60

// take lets one request through, or tells how long to wait until one is.
func (b *bucket) take(now time.Time) (wait time.Duration) {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.seen); !b.seen.IsZero() && passed > 0 {
		b.left = min(b.burst, b.left+passed.Seconds()*b.rate)
	}
	if now.After(b.seen) {
		b.seen = now
	}
	if b.left < 1 {
		return time.Duration(min((1-b.left)/b.rate, longestWait) * float64(time.Second))
	}
	b.left--
	return 0
}

package shapes

import (
	"slices"
	"sync"
	"time"
)

// maxSlow is how many of the latest slow statements are kept.
const maxSlow = 50

// Slow is a slow statement that has ended, without its values.
type Slow struct {
	Ended                  time.Time
	User, Keyspace, Shards string
	Took                   time.Duration
	Rows                   uint64
	Failed                 bool
	Text                   string
}

// SlowList keeps the latest slow statements. The zero value is empty; its methods may be called at the same time.
type SlowList struct {
	mu     sync.Mutex
	latest []Slow // the oldest stands at next, once there are maxSlow
	next   int
}

// Add adds a statement, in place of the oldest where there are enough.
func (l *SlowList) Add(s Slow) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.latest) < maxSlow {
		l.latest = append(l.latest, s)
		return
	}
	l.latest[l.next] = s
	l.next = (l.next + 1) % maxSlow
}

// Latest returns the statements, the latest first.
func (l *SlowList) Latest() []Slow {
	l.mu.Lock()
	all := append(slices.Clone(l.latest[l.next:]), l.latest[:l.next]...)
	l.mu.Unlock()
	slices.Reverse(all)
	return all
}

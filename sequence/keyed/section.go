package keyed

import (
	"math"
	"sync"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// maxValue is the last value of a key: next_id, which lies above it, is a signed BIGINT.
const maxValue = math.MaxInt64 - 1

// row is what the table says of a section.
type row struct {
	id      int
	next    int64 // every value given to any key of the section lies below
	least   int64 // no key of it gets a value below
	cache   int64 // by how much next is raised
	fence   int64 // grows when the section changes hands
	owner   string
	address string
	left    time.Duration // until the lease ends, by the server's clock; negative: it has ended
}

// section is what this process knows of a section. Its methods take the time, and touch no database.
type section struct {
	id int

	mu    sync.Mutex
	owned bool      // this process had the lease when the row was last seen
	fence int64     // of its latest lease; 0: there was none
	until time.Time // no value is given from then on
	limit int64     // next_id as the database has confirmed it: only values below may be given
	cache int64
	keys  counters
	high  int64 // above every value given, over all leases of this process

	raising bool
	need    int64     // what the limit is to allow at least, for those who wait
	wanted  bool      // somebody waits for the lease or for news of its holder
	claimAt time.Time // when the next claim is due, if there is reason for one
	seen    int64     // limit when the latest claim began
	holder  holder    // the other process that holds the lease, as last seen
	round   *round    // what waiters wait for; nil: nobody waits
	closed  bool
}

// holder is the other process that holds a section's lease.
type holder struct {
	owner, address string // "": not known
	until          time.Time
	silent         bool // it was asked, and gave nothing
}

// round ends with the next news of a section.
type round struct {
	done chan struct{}
	err  error // why waiting is no use; set before done is closed
}

// state says why a section gave no value.
type state int

const (
	taken state = iota // it gave one
	short              // the lease is held, the limit does not suffice
	away               // the lease is not held, or not for sure
	shut               // this process gives no more values
	spent              // the values end before
)

// take returns the key with that hash its next n values, in one block. low reports that the limit should be raised.
func (c *section) take(hash uint64, n int64, now time.Time) (r sequence.Range, st state, low bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.give(hash, n, now)
}

// join is take for those who wait: when it gives nothing it returns the round that ends with the next news of the section,
// and sees to it that there will be some; or no round but the process to ask instead, if forward allows.
func (c *section) join(hash uint64, n int64, now time.Time, forward bool) (r sequence.Range, st state, rd *round, h holder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, st, _ = c.give(hash, n, now)
	if st != short && st != away {
		return r, st, nil, holder{}
	}
	if st == away && forward && c.holder.address != "" && !c.holder.silent {
		return r, st, nil, c.holder
	}
	c.wanted = c.wanted || st == away
	if c.round == nil {
		c.round = &round{done: make(chan struct{})}
	}
	return r, st, c.round, c.holder
}

// give is take. c.mu is held.
func (c *section) give(hash uint64, n int64, now time.Time) (r sequence.Range, st state, low bool) {
	if c.closed {
		return r, shut, false
	}
	if !c.holds(now) {
		return r, away, false
	}
	first := c.keys.next(hash)
	switch {
	case first > maxValue-n+1:
		return r, spent, false
	case c.limit-first < n:
		c.need = max(c.need, first+n)
		return r, short, true
	}
	after := first + n
	c.keys.set(hash, after)
	c.high = max(c.high, after)
	return sequence.Range{First: first, N: n}, taken, c.limit-after < c.cache/2 && !c.raising && c.limit <= maxValue
}

// holds reports whether the lease may be used. Both clocks of now must be before the end: the monotonic one, which nobody
// sets, and the wall clock, which goes on while the machine sleeps.
func (c *section) holds(now time.Time) bool {
	return now.Before(c.until) && now.UnixNano() < c.until.UnixNano()
}

// claimed takes in what a claim that began at sent has found; the lease is used until margin before its end.
func (c *section) claimed(r row, me string, sent time.Time, t timing) (ev event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.news(nil)
	c.cache = r.cache
	c.wanted = false
	if r.owner != me {
		ev.lost = c.owned
		if c.owned && (r.next < c.high || c.holds(sent)) { // in a row that nobody has set back, neither can be
			ev.above = c.high
		}
		c.owned, c.until = false, time.Time{}
		c.keys.clear(0)
		c.holder = holder{owner: r.owner, address: r.address, until: sent.Add(r.left)}
		c.claimAt = sent.Add(min(t.poll, max(r.left, 0)+time.Millisecond))
		return ev
	}
	if ev.opened = !c.owned || r.fence != c.fence; ev.opened { // the fence alone may come again in a row that was set back
		c.open(r)
	}
	c.holder = holder{}
	c.owned, c.until = true, sent.Add(r.left-t.margin)
	c.claimAt = sent.Add(t.renew)
	c.limit = max(c.limit, r.next) // more: a raise whose answer was lost
	c.high = max(c.high, r.least)
	c.keys.raise(r.least)
	ev.behind = r.next < c.seen || c.limit < c.high
	if ev.behind {
		c.need = max(c.need, c.limit, c.high)
	}
	return ev
}

// event is what a claim has changed.
type event struct {
	opened bool // this process has the section now
	lost   bool // another has it now
	behind bool // the row lies below what it was or what was given: it must be raised

	above int64 // above what this process gave, when another had the section before this one's lease was over; else 0
}

// open begins a lease: every key goes on from next_id, which lies above all that former owners have given, or above what
// this process itself has given if the row was set back.
func (c *section) open(r row) {
	c.fence, c.limit, c.seen = r.fence, r.next, r.next
	c.high = max(c.high, r.next, 1)
	c.keys.clear(c.high)
}

// startRaise reports whether the caller is to raise the row; only one at a time does.
func (c *section) startRaise() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.raising || c.closed {
		return false
	}
	c.raising = true
	return true
}

// raiseTo returns the lease's fence and what next_id is to become; false, which ends the raising, when the lease ended or
// this process stops.
func (c *section) raiseTo(now time.Time) (fence, next int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || !c.holds(now) {
		c.raising = false
		c.news(nil)
		return 0, 0, false
	}
	return c.fence, addUpTo(max(c.limit, c.need), c.cache), true
}

// raised ends the raising. It was confirmed if ok; if not, the row is not what it should be, and a claim will tell.
func (c *section) raised(fence, next int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raising = false
	if ok && fence == c.fence {
		c.limit = max(c.limit, next)
		c.need = 0
	}
	if !ok && fence == c.fence {
		c.until, c.claimAt = time.Time{}, time.Time{}
	}
	c.news(nil)
}

func addUpTo(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// news ends the round that waiters wait for. c.mu is held.
func (c *section) news(err error) {
	if c.round != nil {
		c.round.err = err
		close(c.round.done)
		c.round = nil
	}
}

// fail tells those who wait that waiting is no use.
func (c *section) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = false
	c.news(err)
}

// due reports whether a claim is due at now, or so early if it is to renew a lease; if not, at says when it will be, zero
// for not at all.
func (c *section) due(now time.Time, early time.Duration) (yes bool, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || !c.owned && !c.wanted {
		return false, time.Time{}
	}
	at = c.claimAt
	if c.owned {
		at = at.Add(-early)
		if c.wanted && !c.holds(now) {
			at = now // whoever waits need not wait for the next renewal
		}
	}
	if now.Before(at) {
		return false, c.claimAt
	}
	c.seen = c.limit
	return true, at
}

// heldBy returns who else has the section, as far as is known.
func (c *section) heldBy() holder {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holder
}

// forget ensures that a holder that did not answer as one is not asked again before the next claim has found it.
func (c *section) forget(h holder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holder == h {
		c.holder.silent = true
	}
}

// close ends the giving of values.
func (c *section) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.news(nil)
}

// release returns what is to be released of a closed section; false when that is nothing.
func (c *section) release() (release, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return release{c.id, c.fence, c.high}, c.owned
}

// release is a lease that ends: next_id becomes next, which lies above every value given.
type release struct {
	id          int
	fence, next int64
}

package soak

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

// What a [LeaseEvent] tells.
const (
	Take = "take" // a worker id was acquired, or acquired again with the same token
	Hold = "hold" // its lease was extended
	Drop = "drop" // it is about to be released
	Give = "give" // ids were given
	Fail = "fail" // there were no ids
)

// LeaseEvent is what a process tells of itself. It does so before it acts on it: what a process was told by its Leaser it tells
// before it gives an id because of it. So of a process that was killed only ids that nobody has seen are unknown.
type LeaseEvent struct {
	Kind string

	// Of Take, Hold and Drop: the tenure, which a token and a worker id name, when the Leaser was asked and has answered by
	// the machine's clock, and for how long after Sent nobody else may get the worker id.
	Token             string        `json:",omitempty"`
	Worker            int64         `json:",omitempty"`
	Sent, Done        time.Time     `json:",omitzero"`
	Lease, Quarantine time.Duration `json:",omitempty"`

	// Of Take and Hold: ids may be given of times after After and up to Until. After is zero for a worker id that nobody
	// has had.
	After, Until time.Time `json:",omitzero"`

	Runs [][2]int64 `json:",omitempty"` // of Give: the first id of each run of ids, and how many they are
	Text string     `json:",omitempty"` // of Fail: the error
}

// LeaseChecker checks what processes tell. It is safe for concurrent use. It keeps a bit for each id and some 100 bytes for
// each tick of a worker id.
type LeaseChecker struct {
	layout snowflake.Layout

	mu       sync.Mutex
	workers  map[int64]*workerID
	runs     map[string]int64  // runs of ids, by process
	failures map[string]string // the last of each process
	ids      int64
	broken   []string
	breaches int // len(broken), and those that were too many to keep
}

// workerID is what is known of a worker id.
type workerID struct {
	tenures []*tenure
	ticks   map[int64]*tickIDs // by Unix microseconds
	latest  time.Time          // of the ids
	until   time.Time          // the latest time that was confirmed to anybody
}

// tenure is the time of a worker id with one token.
type tenure struct {
	process, token string
	begin, end     time.Time // by the machine's clock: it was somebody's at begin, and is nobody else's before end; see held
	after, until   time.Time // ids may be of times after the one, up to the other
}

// tickIDs are the ids of one tick.
type tickIDs struct {
	process string   // of the first of them
	given   []uint64 // a bit for each
}

// tolerance is by how much times of a machine's clock may be out of order because that was slewed.
const tolerance = 20 * time.Millisecond

// mostReported is how many broken promises are told: one wrong id can make thousands.
const mostReported = 10

// NewLeaseChecker returns the judge of ids of a layout without zones. Its runs must be ids that follow one another.
func NewLeaseChecker(l snowflake.Layout) *LeaseChecker {
	return &LeaseChecker{layout: l, workers: map[int64]*workerID{}, runs: map[string]int64{}, failures: map[string]string{}}
}

func (c *LeaseChecker) breach(format string, args ...any) {
	if c.breaches++; len(c.broken) < mostReported {
		c.broken = append(c.broken, fmt.Sprintf(format, args...))
	}
}

func (c *LeaseChecker) worker(id int64) *workerID {
	w := c.workers[id]
	if w == nil {
		w = &workerID{ticks: map[int64]*tickIDs{}}
		c.workers[id] = w
	}
	return w
}

// Add takes what a process, one life of it, has told.
func (c *LeaseChecker) Add(process string, e LeaseEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Kind {
	case Take:
		c.take(process, e)
	case Hold, Drop:
		c.hold(process, e)
	case Fail:
		c.failures[process] = e.Text
	case Give:
		c.runs[process] += int64(len(e.Runs))
		for _, run := range e.Runs {
			c.give(process, run[0], run[1])
		}
	}
}

// Given returns how many runs of ids a process has given, and why it had none when it last had none.
func (c *LeaseChecker) Given(process string) (runs int64, failure string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs[process], c.failures[process]
}

func (w *workerID) tenure(token string) *tenure {
	for _, t := range slices.Backward(w.tenures) {
		if t.token == token {
			return t
		}
	}
	return nil
}

func (c *LeaseChecker) take(process string, e LeaseEvent) {
	w := c.worker(e.Worker)
	if w.tenure(e.Token) != nil {
		c.hold(process, e)
		return
	}
	own := &tenure{process: process, token: e.Token, after: e.After, until: e.Until}
	own.held(e)
	c.alone(w, own, e)
	w.tenures = append(w.tenures, own)
	w.confirm(e.Until)
}

// alone compares a tenure, whose begin has just become known, with those of others.
func (c *LeaseChecker) alone(w *workerID, own *tenure, e LeaseEvent) {
	for _, t := range w.tenures {
		if t == own || own.begin.IsZero() || t.begin.IsZero() {
			continue
		}
		// The one that is told first need not be the earlier one.
		if t.begin.Before(e.Done) && t.end.After(e.Done.Add(tolerance)) {
			c.breach("exclusive: worker id %d is %s's until %s, and %s has it at %s", e.Worker, t.process, clock(t.end), own.process, clock(e.Done))
		}
	}
}

// held takes in that t is a process's for a time from when it asked. An answer that came only when that was over tells of no
// moment that it was: then begin stays zero.
func (t *tenure) held(e LeaseEvent) {
	t.end = e.Sent.Add(e.Lease + e.Quarantine)
	if t.begin.IsZero() && e.Done.Before(t.end) {
		t.begin = e.Done
	}
}

func (w *workerID) confirm(until time.Time) {
	if until.After(w.until) {
		w.until = until
	}
}

func (c *LeaseChecker) hold(process string, e LeaseEvent) {
	w := c.worker(e.Worker)
	t := w.tenure(e.Token)
	if t == nil {
		c.breach("exclusive: %s extends or releases the lease of worker id %d, which it has not acquired", process, e.Worker)
		return
	}
	if e.Kind == Drop { // which may not get to where worker ids are kept
		if end := e.Sent.Add(e.Quarantine); end.Before(t.end) {
			t.end = end
		}
		return
	}
	unknown := t.begin.IsZero()
	t.held(e)
	if unknown {
		c.alone(w, t, e)
	}
	if e.Until.After(t.until) {
		t.until = e.Until
	}
	w.confirm(t.until)
	for _, o := range w.tenures {
		if o != t && !t.begin.IsZero() && o.begin.After(t.begin) && o.begin.Add(tolerance).Before(t.end) {
			c.breach("exclusive: worker id %d is %s's since %s, and %s extends its lease until %s", e.Worker, o.process, clock(o.begin), process, clock(t.end))
		}
	}
}

// give takes n ids.
func (c *LeaseChecker) give(process string, first, n int64) {
	d, err := c.layout.Decode(first)
	if err != nil || n < 1 || d.Sequence+n-1 > c.layout.Max(snowflake.Sequence) {
		c.breach("ids: %s gave %d ids from %d on, which are not of one tick (%v)", process, n, first, err)
		return
	}
	c.ids += n
	w := c.worker(d.Worker)
	if d.Time.After(w.latest) {
		w.latest = d.Time
	}
	if !w.allows(process, d.Time) {
		c.breach("reserved: %s gave the id %d of worker id %d and %s, for which it had no lease", process, first, d.Worker, clock(d.Time))
	}
	ids := w.ticks[d.Time.UnixMicro()]
	if ids == nil {
		ids = &tickIDs{process: process, given: make([]uint64, c.layout.Max(snowflake.Sequence)/64+1)}
		w.ticks[d.Time.UnixMicro()] = ids
	}
	for i := range n {
		if !ids.add(d.Sequence + i) {
			c.breach("unique: %s gave the id %d of worker id %d and %s, which was given before (%s gave one of that time)",
				process, first+i, d.Worker, clock(d.Time), ids.process)
			return
		}
	}
}

// add reports whether the id was not given before.
func (t *tickIDs) add(sequence int64) bool {
	word, bit := &t.given[sequence/64], uint64(1)<<(sequence%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// allows reports whether a process had a tenure for ids of that time.
func (w *workerID) allows(process string, at time.Time) bool {
	for _, t := range slices.Backward(w.tenures) {
		if t.process == process && at.After(t.after) && !at.After(t.until) {
			return true
		}
	}
	return false
}

// Expect returns the times up to which worker ids are reserved at least, as of now, by all that was told: for
// [LeaseChecker.Kept], of what is read later.
func (c *LeaseChecker) Expect() map[int64]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	least := map[int64]time.Time{}
	for id, w := range c.workers {
		least[id] = w.until
		if w.latest.After(w.until) {
			least[id] = w.latest
		}
	}
	return least
}

// Kept takes the times up to which worker ids are reserved, as they are kept, and holds them against those expected.
func (c *LeaseChecker) Kept(expected, kept map[int64]time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, least := range expected {
		if kept[id].Before(least.Truncate(time.Microsecond)) {
			c.breach("kept: ids of worker id %d may be of times up to %s, and %s is what was kept before", id, clock(least), clock(kept[id]))
		}
	}
}

// Breaches returns the promises that were broken, some of them if they are many, and how many they are. It also finds times
// for which two tenures of a worker id may give ids.
func (c *LeaseChecker) Breaches() (some []string, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	some = slices.Clone(c.broken)
	for _, id := range slices.Sorted(maps.Keys(c.workers)) {
		some = append(some, c.workers[id].overlaps(id)...)
	}
	return some, c.breaches + len(some) - len(c.broken)
}

// overlaps finds the tenures that may give ids of the same times.
func (w *workerID) overlaps(id int64) (found []string) {
	tenures := slices.SortedFunc(slices.Values(w.tenures), func(a, b *tenure) int { return a.after.Compare(b.after) })
	for i := 1; i < len(tenures); i++ {
		if a, b := tenures[i-1], tenures[i]; a.until.After(b.after) {
			found = append(found, fmt.Sprintf("apart: of worker id %d, %s may give ids up to %s, and %s after %s", id,
				a.process, clock(a.until), b.process, clock(b.after)))
		}
	}
	return found
}

// Summary counts what there was to judge.
func (c *LeaseChecker) Summary() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tenures, again, ticks := 0, 0, 0
	for _, w := range c.workers {
		tenures += len(w.tenures)
		again += max(len(w.tenures)-1, 0)
		ticks += len(w.ticks)
	}
	return fmt.Sprintf("%d ids in %d ticks; %d leases of %d worker ids, %d of which had one before", c.ids, ticks, tenures, len(c.workers), again)
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000000") }

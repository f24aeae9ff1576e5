package snowflake

import (
	"sync/atomic"
	"time"
)

// Clock is where a generator has the time from. The system's is used when none is given.
type Clock interface {
	// Monotonic returns the time since some fixed moment. It never goes back.
	Monotonic() time.Duration
	// Now returns the time of day, which may be set either way, and the monotonic time of the same moment.
	Now() (wall time.Time, monotonic time.Duration)
}

// systemClock is the clock of the machine, with the monotonic time since start.
type systemClock struct{ start time.Time }

func (c systemClock) Monotonic() time.Duration { return time.Since(c.start) }

func (c systemClock) Now() (time.Time, time.Duration) {
	now := time.Now()
	return now, now.Sub(c.start)
}

const (
	// lookEvery is how often the time of day is looked at. In between the time is that plus the monotonic time passed.
	lookEvery = time.Second
	// stepSize is the least difference between the two clocks that counts as a step: less is slewing, or a process that
	// was not scheduled between two readings.
	stepSize = 10 * time.Millisecond
)

// A reading of the system's clock takes longer than all the rest of making an id. When burst readings took less than
// burstTime the time stands still for coarseTime: at such a rate many ids have one tick anyway.
const (
	burst      = 256
	burstTime  = burst * time.Microsecond
	coarseTime = time.Millisecond
)

// clock returns the time since an epoch, in nanoseconds. It follows the time of day through its steps, at most lookEvery
// late, and never goes back in between.
type clock struct {
	source Clock
	since  func(time.Time) int64 // nanoseconds from the epoch to a time of day

	coarse   atomic.Int64 // the time for now; 0: read the clock
	offset   atomic.Int64 // time since the epoch less monotonic time
	nextLook atomic.Int64 // monotonic time
	steps    atomic.Int64 // how many there were
	lastStep atomic.Int64 // nanoseconds; negative when the time of day was set back

	thaw       *time.Timer  // ends the time of coarse; nil for a clock that is always read
	readings   atomic.Int64 // of the present burst
	burstBegan atomic.Int64 // a time as now returns it
}

func newClock(source Clock, since func(time.Time) int64) *clock {
	c := &clock{source: source, since: since}
	if source == nil {
		c.source = systemClock{time.Now()}
		c.thaw = time.AfterFunc(0, func() { c.coarse.Store(0) })
	}
	wall, monotonic := c.source.Now()
	c.offset.Store(since(wall) - int64(monotonic))
	c.nextLook.Store(int64(monotonic + lookEvery))
	return c
}

// now returns the time. Under load it is up to coarseTime late, and when all processors are busy until the scheduler gets
// to the timer, some 10 ms.
func (c *clock) now() int64 {
	if now := c.coarse.Load(); now != 0 {
		return now
	}
	return c.countedRead()
}

func (c *clock) countedRead() int64 {
	now := c.read()
	if c.thaw != nil && c.readings.Add(1) == burst {
		c.endBurst(now)
	}
	return now
}

// endBurst lets the time stand still if the burst was fast. Of all the callers of now one gets here at a time.
func (c *clock) endBurst(now int64) {
	took := now - c.burstBegan.Swap(now)
	if took < int64(burstTime) && now > 0 {
		c.coarse.Store(now)
		c.thaw.Reset(coarseTime)
	}
	c.readings.Store(0)
}

// refresh returns the time exactly, and has now return no earlier one.
func (c *clock) refresh() int64 {
	coarse := c.coarse.Load()
	now := c.read()
	if coarse != 0 && now > coarse {
		c.coarse.CompareAndSwap(coarse, now)
	}
	return now
}

// read returns the time exactly.
func (c *clock) read() int64 {
	monotonic := int64(c.source.Monotonic())
	if look := c.nextLook.Load(); monotonic >= look {
		c.look() // before others are told that it was done: they would go by what was true before a long pause
		c.nextLook.CompareAndSwap(look, monotonic+int64(lookEvery))
	}
	return monotonic + c.offset.Load()
}

// look follows the time of day.
func (c *clock) look() {
	wall, monotonic := c.source.Now()
	offset := c.since(wall) - int64(monotonic)
	step := offset - c.offset.Swap(offset)
	if time.Duration(step).Abs() >= stepSize {
		c.steps.Add(1)
		c.lastStep.Store(step)
	}
}

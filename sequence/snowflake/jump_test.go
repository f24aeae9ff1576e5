package snowflake_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

var (
	jumpSeed   = flag.Uint64("snowflake.seed", 1, "what the first round of TestJumps begins from, the next with 1 more; 0 takes any")
	jumpRounds = flag.Int("snowflake.rounds", 40, "rounds of TestJumps")
)

// The clock jumps both ways by milliseconds, seconds and hours, while ids are made and between the lives of a process, whose
// lease is extended, at times not, and is kept. Whatever comes: no id twice, none out of order, none of a time that was not
// reserved or is too far ahead; each call ends by its deadline, without looking at the clock all the time; and ids go on
// when the clock is right.
func TestJumps(t *testing.T) {
	first := *jumpSeed
	if first == 0 {
		first = rand.Uint64N(1e9) + 1
	}
	for i := range uint64(*jumpRounds) {
		t.Run(fmt.Sprintf("seed=%d", first+i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newJumper(t, first+i)
				for range 4 {
					j.live(t)
				}
				wantUnique(t, j.ids)
				if j.given < 20 || j.refused == 0 {
					t.Errorf("%d calls were given ids and %d none: want some of both to tell anything", j.given, j.refused)
				}
			})
		})
	}
}

// watchedClock counts how often it is read.
type watchedClock struct {
	*testClock
	reads atomic.Int64
}

// mostReads is a count that a generator gets to only when it reads the clock without end, and never lets it go on.
const mostReads = 1_000_000

func (c *watchedClock) count() {
	if c.reads.Add(1) > mostReads {
		panic("the clock is read all the time")
	}
}

func (c *watchedClock) Monotonic() time.Duration {
	c.count()
	return c.testClock.Monotonic()
}

func (c *watchedClock) Now() (time.Time, time.Duration) {
	c.count()
	return c.testClock.Now()
}

// jumper is a machine, on which one process after another has the worker id.
type jumper struct {
	rng      *rand.Rand
	layout   snowflake.Layout
	clock    *watchedClock
	borrow   time.Duration
	timeout  time.Duration
	reserved time.Time // the latest that any limit was

	mu      sync.Mutex // guards what follows
	last    time.Time  // of the latest ids
	highest int64      // id of the lives before
	ids     []int64
	given   int // calls
	refused int

	was []offset // of the clock, as long as a generator may not have noticed that it was set
}

// offset is what the clock was set to until some time.
type offset struct {
	wall  int64
	until time.Time
}

func newJumper(t *testing.T, seed uint64) *jumper {
	rng := rand.New(rand.NewPCG(seed, 1))
	names := []string{"twitter", "leaf", "js53", "sonyflake", "uid_generator"}
	j := &jumper{rng: rng, layout: preset(t, names[rng.IntN(len(names))]), clock: &watchedClock{testClock: newTestClock()},
		borrow:  []time.Duration{-1, 50 * time.Millisecond, time.Second, 5 * time.Second}[rng.IntN(4)],
		timeout: time.Duration(1+rng.Int64N(3000)) * time.Millisecond}
	j.reserved = j.clock.now()
	return j
}

// live is a life of the process, from the reserved time on.
func (j *jumper) live(t *testing.T) {
	after := j.reserved
	g := newGenerator(t, j.layout, 0, 0, snowflake.Config{After: after, Limit: j.reserve(), MaxBorrow: j.borrow, Timeout: j.timeout, Clock: j.clock})
	for range 30 {
		switch j.rng.IntN(6) {
		case 0, 1:
			j.jump()
		case 2:
			g.SetLimit(j.reserve())
		case 3:
			time.Sleep(time.Duration(j.rng.Int64N(int64(3 * time.Second))))
		}
		j.callers(t, g, after)
	}
	j.setRight()
	j.wantIDs(t, g)
	if j.rng.IntN(2) == 0 {
		j.jump() // before the next one starts
	}
}

// reserve returns the time up to which ids are reserved anew.
func (j *jumper) reserve() time.Time {
	limit := j.clock.now().Add(2*j.layout.Unit + time.Duration(j.rng.Int64N(int64(6*time.Second))))
	if limit.After(j.reserved) {
		j.reserved = limit
	}
	return limit
}

// jump sets the clock.
func (j *jumper) jump() { j.set(j.clock.wall.Load() + j.distance()) }

// distance is how far the clock jumps.
func (j *jumper) distance() int64 {
	most := []time.Duration{10 * time.Millisecond, time.Second, 10 * time.Second, 5 * time.Hour}[j.rng.IntN(4)]
	return j.rng.Int64N(int64(2*most)) - int64(most)
}

func (j *jumper) set(wall int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.was = append(j.was, offset{j.clock.wall.Swap(wall), time.Now()})
}

// setRight sets the clock to what it was at first, or later when ids are of later times.
func (j *jumper) setRight() {
	j.set(date(2026, 1, 1).UnixNano())
	j.mu.Lock()
	behind := max(j.last.Sub(j.clock.now()), j.reserved.Sub(j.clock.now()))
	j.mu.Unlock()
	if behind > 0 {
		j.set(j.clock.wall.Load() + int64(behind+j.layout.Unit))
	}
}

// wantIDs has ids asked for when the clock is right, which a generator notices within a second, and the lease is extended.
func (j *jumper) wantIDs(t *testing.T, g *snowflake.Generator) {
	t.Helper()
	time.Sleep(time.Second)
	g.SetLimit(j.reserve())
	began := time.Now()
	run := next(t, g, 1)
	if waited := time.Since(began); waited > 2*j.layout.Unit {
		t.Errorf("waited %v with a clock that is right, want at most two ticks of %v", waited, j.layout.Unit)
	}
	j.highest = max(j.highest, run.First)
	j.ids = append(j.ids, run.First)
}

// callers has some goroutines take ids at once, while the clock may be set, and checks what they get.
func (j *jumper) callers(t *testing.T, g *snowflake.Generator, after time.Time) {
	before, began := j.clock.reads.Load(), time.Now()
	var jumps *time.Timer
	if j.rng.IntN(4) == 0 {
		by := j.distance()
		jumps = time.AfterFunc(time.Duration(j.rng.Int64N(int64(time.Second))), func() { j.set(j.clock.wall.Load() + by) })
	}
	var calling sync.WaitGroup
	for range 3 {
		n, deadline := 1+j.rng.Int64N(min(g.MaxRun(), 50)), time.Duration(1+j.rng.Int64N(int64(4*time.Second)))
		calling.Go(func() { j.call(t, g, after, n, deadline) })
	}
	calling.Wait()
	if jumps != nil {
		jumps.Stop()
		synctest.Wait() // for the jump that may just be made
	}
	took := time.Since(began)
	if reads, most := j.clock.reads.Load()-before, 30+int64(10*took/time.Second); reads > most {
		t.Errorf("the clock was read %d times by three calls in %v, want %d at most", reads, took, most)
	}
	for _, id := range j.ids {
		j.highest = max(j.highest, id)
	}
}

func (j *jumper) call(t *testing.T, g *snowflake.Generator, after time.Time, n int64, deadline time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	began := time.Now()
	run, err := g.Next(ctx, n)
	took, most := time.Since(began), min(deadline, j.timeout)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.refused++
		if !errors.Is(err, snowflake.ErrClock) && !errors.Is(err, snowflake.ErrLimit) && !errors.Is(err, snowflake.ErrBusy) {
			t.Errorf("got %v, want ErrClock, ErrLimit or ErrBusy", err)
		}
		if took != most {
			t.Errorf("got %v after %v, want it after %v", err, took, most)
		}
		return
	}
	j.given++
	if took > most {
		t.Errorf("got ids after %v, want an error after %v", took, most)
	}
	j.check(t, run, after)
}

// check takes the ids of a run. The caller holds mu.
func (j *jumper) check(t *testing.T, run snowflake.Run, after time.Time) {
	if run.First <= j.highest {
		t.Errorf("id %d after %d", run.First, j.highest)
	}
	at := decode(t, j.layout, run.First).Time
	if !at.After(after) || at.After(j.reserved) {
		t.Errorf("id of %v, want one after %v and up to %v", at, after, j.reserved)
	}
	if clock := j.latestClock(); at.After(clock.Add(max(j.borrow, 0))) {
		t.Errorf("id of %v, want at most %v after the clock's %v", at, j.borrow, clock)
	}
	if at.After(j.last) {
		j.last = at
	}
	for i := range run.N {
		j.ids = append(j.ids, run.ID(i))
	}
}

// latestClock returns the latest time that a generator can take for now. The caller holds mu.
func (j *jumper) latestClock() time.Time {
	now := j.clock.now()
	latest := now
	for _, o := range j.was {
		if time.Since(o.until) <= time.Second {
			if then := now.Add(time.Duration(o.wall - j.clock.wall.Load())); then.After(latest) {
				latest = then
			}
		}
	}
	return latest
}

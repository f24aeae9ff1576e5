// Package snowflake makes unique ids out of the time, a worker id and a count: no database is asked.
//
// A [Layout] says which bits are which. A [Generator] makes the ids of one worker; what holds of them:
//
//   - No id twice from one generator, and each above the ones before. No 0, and none negative.
//   - No id of a tick past the limit that the holder of the worker id has set ([Generator.SetLimit]), nor more than
//     MaxBorrow ahead of the clock. So whoever starts above these repeats none.
//   - The clock may jump: see [Generator.Next].
//
// Two processes with the same worker id give the same ids: who hands out worker ids must see to it that they differ.
package snowflake

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// Defaults of [Config].
const (
	DefaultMaxBorrow = time.Second
	DefaultTimeout   = 5 * time.Second
)

// Config says how a [Generator] works. Its zero value is good for a worker id that nobody else has, now or in the past
// that MaxBorrow covers.
type Config struct {
	// After is the time up to which earlier holders of the worker id may have given ids. The first id has a tick that
	// begins later. Zero: unknown; then it is MaxBorrow after now, which a predecessor with the same MaxBorrow and a
	// clock that was not set back cannot have passed.
	After time.Time
	// Limit is what [Generator.SetLimit] sets; zero: none.
	Limit time.Time
	// MaxBorrow is how far ahead of the clock the time of an id may be, in whole ticks: because more ids were wanted than a
	// tick has, or because the clock was set back. 0: DefaultMaxBorrow; negative: none.
	MaxBorrow time.Duration
	// Timeout is how long Next waits at most. 0: DefaultTimeout.
	Timeout time.Duration
	// Clock is used instead of the system's.
	Clock Clock
}

// maxBorrow is the most that MaxBorrow can be: so much that its sum with a time stays an int64.
const maxBorrow = 1 << 62 * time.Nanosecond

func (c Config) withDefaults() Config {
	if c.MaxBorrow == 0 {
		c.MaxBorrow = DefaultMaxBorrow
	}
	c.MaxBorrow = min(max(c.MaxBorrow, 0), maxBorrow)
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	return c
}

// Run is N ids of one tick: First, First+Step, First+2*Step and so on. Step is 1 in layouts whose lowest bits are the
// sequence.
type Run struct{ First, N, Step int64 }

// ID returns the id number i of r, from 0.
func (r Run) ID(i int64) int64 { return r.First + i*r.Step }

// Generator makes the ids of one worker in one layout. It may be used by any number of goroutines.
type Generator struct {
	codec
	clock  *clock
	layout Layout
	name   string
	cfg    Config
	size   int64 // ids in a tick
	bound  int64 // of the start of a tick

	limit    atomic.Int64  // the last tick that ids may have
	turn     chan struct{} // held by the one of the waiting calls that is to get ids next; the others queue for it
	queued   atomic.Int64  // how many they are
	starving atomic.Bool   // one has waited for long: new calls have to queue before they try
	waits    atomic.Int64  // calls that had to wait

	mu    sync.Mutex    // guards moved
	moved chan struct{} // closed when limit is set

	_    [cacheLine]byte
	next atomic.Int64 // the position after the last one given; every call writes it: a cache line of its own
	_    [cacheLine]byte
}

// cacheLine is the size of what processors take from each other, in bytes. Two lines are fetched at once by many.
const cacheLine = 128

// New returns the generator of a worker. There must be no other with the same ids: see [Generators]. Its errors are those
// of [Layout.Check], and match [ErrLayout] for a zone or worker id that does not fit.
func New(l Layout, zone, worker int64, cfg Config) (*Generator, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name  string
		value int64
	}{{Zone, zone}, {Worker, worker}} {
		if f.value < 0 || f.value > l.Max(f.name) {
			return nil, l.invalid("%s %d: it has 0 to %d", f.name, f.value, l.Max(f.name))
		}
	}
	cfg = cfg.withDefaults()
	g := &Generator{
		codec: l.codec(zone, worker), layout: l, cfg: cfg, size: l.sequences(), bound: l.startBound(),
		turn: make(chan struct{}, 1), moved: make(chan struct{}),
		name: fmt.Sprintf("snowflake %s, zone %d, worker %d", l.Name, zone, worker),
	}
	g.clock = newClock(cfg.Clock, g.since)
	now := g.at(g.clock.read())
	if err := l.Check(now); err != nil {
		return nil, err
	}
	if cfg.After.IsZero() {
		cfg.After = now.Add(cfg.MaxBorrow)
	}
	g.startAfter(cfg.After)
	g.SetLimit(cfg.Limit)
	return g, nil
}

// startAfter has the following ids in ticks that begin after t.
func (g *Generator) startAfter(t time.Time) {
	first := g.begin(max(g.tickOf(g.since(t)), 0) + 1) // never tick 0, which could give the id 0
	for {
		next := g.next.Load()
		if next >= first || g.next.CompareAndSwap(next, first) {
			return
		}
	}
}

// SetLimit sets the time up to which ids may be given: their ticks begin at t or before. Zero: no limit. Calls that wait
// look again. A t in the past ends the giving of ids, but for calls that are just about to return.
func (g *Generator) SetLimit(t time.Time) {
	limit := g.lastTick
	if !t.IsZero() {
		limit = min(limit, g.tickOf(g.since(t)))
	}
	g.limit.Store(limit)
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.moved)
	g.moved = make(chan struct{})
}

func (g *Generator) limitMoved() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.moved
}

// Next returns n ids, 1 to [Generator.MaxRun], as one run. What is left of a tick is dropped when it is too little.
//
// The time in the ids is the clock's, as long as it moves forward. When the ids of a tick are used up, those of the
// following ticks are given, and when the clock was set back, ids go on where they were: both as long as the ids are no
// more than MaxBorrow ahead of the clock. From then on Next waits, until the deadline of ctx or for Config.Timeout,
// whichever is nearer, and then returns an error that matches [ErrClock], [ErrBusy] or [ErrLimit].
//
// Its other errors match [sequence.ErrInvalidCount], [context.Canceled], and [sequence.ErrExhausted] when the time bits
// have ended.
func (g *Generator) Next(ctx context.Context, n int64) (Run, error) {
	if n < 1 || n > g.size {
		return Run{}, &Error{Kind: sequence.ErrInvalidCount, Generator: g.name,
			Text: fmt.Sprintf("cannot give %d ids in one run; ask for 1 to %d", n, g.size)}
	}
	return g.take(ctx, n, n)
}

// Fill sets ids to increasing ids, in as few runs as are at hand. It waits and fails as [Generator.Next] does, with
// Config.Timeout for each run; after an error the ids are not to be used.
func (g *Generator) Fill(ctx context.Context, ids []int64) error {
	for len(ids) > 0 {
		run, err := g.take(ctx, 1, int64(len(ids)))
		if err != nil {
			return err
		}
		for i := range run.N {
			ids[i] = run.ID(i)
		}
		ids = ids[run.N:]
	}
	return nil
}

// MaxRun returns how many ids one [Generator.Next] can give: as many as the layout has sequences.
func (g *Generator) MaxRun() int64 { return g.size }

func (g *Generator) take(ctx context.Context, least, most int64) (Run, error) {
	if !g.starving.Load() {
		now := g.clock.now()
		if most == 1 {
			if position, ok := g.following(now); ok {
				return Run{First: g.id(position), N: 1, Step: g.step()}, nil
			}
		}
		if run, _ := g.try(now, least, most); run.N > 0 {
			return run, nil
		}
	}
	return g.wait(ctx, least, most)
}

// following takes the position that follows the last one given, if it may be given at now: so it is for nearly all single
// ids. It adds, because a compare-and-swap fails when another processor was faster, and then costs as much again. What
// others took meanwhile can have made the position one that may not be given: then that is lost, and ok is false.
func (g *Generator) following(now int64) (position int64, ok bool) {
	limit := g.limit.Load()                      // read before the position is taken: a later one may be that of another lease
	if !g.mayFollow(g.next.Load(), now, limit) { // look first: calls in vain must not push the position ahead
		return 0, false
	}
	position = g.next.Add(1) - 1
	return position, g.mayFollow(position, now, min(limit, g.limit.Load()))
}

// mayFollow reports whether the id at a position can be given at now: its tick is neither over nor too far ahead.
func (g *Generator) mayFollow(position, now, limit int64) bool {
	tick := g.tick(position)
	return now < (tick+1)*g.unit && tick <= limit && tick*g.unit <= now+int64(g.cfg.MaxBorrow)
}

// try takes least to most ids of one tick, and tells the tick. N is 0 when that tick may not be used yet.
func (g *Generator) try(now, least, most int64) (run Run, tick int64) {
	for {
		next := g.next.Load()
		first := g.place(now, next, least)
		tick = g.tick(first)
		if tick > g.limit.Load() || tick*g.unit > now+int64(g.cfg.MaxBorrow) {
			return Run{}, tick
		}
		n := min(most, g.size-g.sequence(first))
		if g.next.CompareAndSwap(next, first+n) {
			return Run{First: g.id(first), N: n, Step: g.step()}, tick
		}
	}
}

// place returns the position for at least least ids: in the tick of now, or next's if that is later.
func (g *Generator) place(now, next, least int64) int64 {
	if now < (g.tick(next)+1)*g.unit && least <= g.size-g.sequence(next) {
		return next
	}
	return g.newTick(now, next, least)
}

func (g *Generator) newTick(now, next, least int64) int64 {
	tick := g.tick(next) + 1
	if now < tick*g.unit { // next's tick goes on, with too few ids
		return g.begin(tick)
	}
	return g.begin(g.tickOf(now)) + min(g.start(next), g.size-least)
}

// start returns the first sequence of a tick that follows next by time, not because its own tick was used up.
func (g *Generator) start(next int64) int64 {
	if g.layout.Start.Random {
		return rand.Int64N(g.bound)
	}
	return g.sequence(next) % g.bound
}

package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

func wantError(tb testing.TB, err, kind error, texts ...string) {
	tb.Helper()
	if !errors.Is(err, kind) {
		tb.Errorf("got the error %v, want %v", err, kind)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			tb.Errorf("got the error %q, want it to contain %q", err, text)
		}
	}
}

// today is when the tests in a bubble of package synctest begin, in which time.Now says 2000.
var today = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// host is a machine with a clock that can be set. In its bubble all hosts and [newLeases] agree at first.
type host struct {
	start time.Time
	wall  atomic.Int64 // how far the time of day is ahead of package time's
	reads atomic.Int64 // how often the clock was read

	mu  sync.Mutex // guards was
	was []offset   // what wall was before
}

// offset is what the time of day was ahead by, until some time.
type offset struct {
	ahead int64
	until time.Time
}

func newHost() *host {
	h := &host{start: time.Now()}
	h.wall.Store(int64(today.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))))
	return h
}

// set changes the time of day by d.
func (h *host) set(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.was = append(h.was, offset{h.wall.Load(), time.Now()})
	h.wall.Add(int64(d))
}

// latest returns the latest time that a generator can take for now: it notices within a second that the clock was set.
func (h *host) latest() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	ahead := h.wall.Load()
	for _, o := range h.was {
		if time.Since(o.until) <= time.Second {
			ahead = max(ahead, o.ahead)
		}
	}
	return time.Now().Round(0).Add(time.Duration(ahead))
}

func (h *host) Monotonic() time.Duration {
	h.reads.Add(1)
	return time.Since(h.start)
}

func (h *host) Now() (time.Time, time.Duration) {
	h.reads.Add(1)
	now := time.Now()
	return now.Round(0).Add(time.Duration(h.wall.Load())), now.Sub(h.start)
}

func (h *host) now() time.Time {
	wall, _ := h.Now()
	return wall
}

func newLeases(most int64) *sequencetest.Leases {
	s := sequencetest.NewLeases("test", most)
	s.Skew(today.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
	return s
}

// lease is that of the tests in a bubble: extended every 2 seconds, and over after 9.
const lease = 10 * time.Second

func open(tb testing.TB, l worker.Leaser, h *host) *worker.Holder {
	tb.Helper()
	holder, err := worker.Open(l, "test", sequencetest.HolderLayout(), 0, worker.Config{Address: "host", Lease: lease,
		Generator: snowflake.Config{Clock: h}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = holder.Close(context.Background()) }) // what comes of it is for the tests of Close
	return holder
}

// ready returns a holder with a worker id.
func ready(tb testing.TB, l worker.Leaser, h *host) *worker.Holder {
	tb.Helper()
	holder := open(tb, l, h)
	if err := holder.Ready(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return holder
}

// checker has all ids that were given.
type checker struct {
	sequencetest.IDs
	last int64
}

// next takes an id, which must be larger than the last one.
func (c *checker) next(tb testing.TB, h *worker.Holder) int64 {
	tb.Helper()
	if err := c.try(tb, h); err != nil {
		tb.Fatal(err)
	}
	return c.last
}

func (c *checker) try(tb testing.TB, h *worker.Holder) error {
	tb.Helper()
	run, err := h.Next(tb.Context(), 1)
	if err != nil {
		return err
	}
	c.add(tb, run)
	return nil
}

// add takes a run of one id.
func (c *checker) add(tb testing.TB, run snowflake.Run) {
	tb.Helper()
	if run.First <= c.last {
		tb.Errorf("got the id %d after %d", run.First, c.last)
	}
	c.last = run.First
	if err := c.Take(func() (sequence.Range, error) { return sequence.Range{First: run.First, N: 1}, nil }); err != nil {
		tb.Error(err)
	}
}

func decode(tb testing.TB, id int64) snowflake.Decoded {
	tb.Helper()
	d, err := sequencetest.HolderLayout().Decode(id)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

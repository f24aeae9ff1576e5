package snowflake_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testClock is a clock whose time of day can be set; it starts at 2026-01-01. Its monotonic time is that of package time.
type testClock struct {
	start time.Time
	wall  atomic.Int64 // the time of day at start, in Unix nanoseconds
}

func newTestClock() *testClock {
	c := &testClock{start: time.Now()}
	c.wall.Store(date(2026, 1, 1).UnixNano())
	return c
}

func (c *testClock) Monotonic() time.Duration { return time.Since(c.start) }

func (c *testClock) Now() (time.Time, time.Duration) {
	monotonic := c.Monotonic()
	return time.Unix(0, c.wall.Load()).Add(monotonic), monotonic
}

func (c *testClock) now() time.Time {
	wall, _ := c.Now()
	return wall.UTC()
}

// set changes the time of day by d and waits until a generator notices.
func (c *testClock) set(d time.Duration) {
	c.wall.Add(int64(d))
	time.Sleep(time.Second)
}

// past is for Config.After of a worker id that nobody has had.
var past = date(2025, 6, 1)

func newGenerator(tb testing.TB, l snowflake.Layout, zone, worker int64, cfg snowflake.Config) *snowflake.Generator {
	tb.Helper()
	g, err := snowflake.New(l, zone, worker, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func next(tb testing.TB, g *snowflake.Generator, n int64) snowflake.Run {
	tb.Helper()
	run, err := g.Next(tb.Context(), n)
	if err != nil {
		tb.Fatal(err)
	}
	return run
}

func nextID(tb testing.TB, g *snowflake.Generator) int64 {
	tb.Helper()
	return next(tb, g, 1).First
}

func decode(tb testing.TB, l snowflake.Layout, id int64) snowflake.Decoded {
	tb.Helper()
	d, err := l.Decode(id)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func wantTime(tb testing.TB, l snowflake.Layout, id int64, want time.Time) {
	tb.Helper()
	if got := decode(tb, l, id).Time; !got.Equal(want) {
		tb.Errorf("time of id %d: got %v, want %v", id, got, want)
	}
}

// wantRefused has g asked for an id for a minute of deadline, which Config.Timeout of 5 s cuts.
func wantRefused(tb testing.TB, g *snowflake.Generator, want error) {
	tb.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	run, err := g.Next(ctx, 1)
	if !errors.Is(err, want) {
		tb.Errorf("got %+v, %v, want %v", run, err, want)
	}
	if waited := time.Since(began); waited != snowflake.DefaultTimeout {
		tb.Errorf("waited %v, want %v", waited, snowflake.DefaultTimeout)
	}
}

func wantNoWait(tb testing.TB, g *snowflake.Generator) {
	tb.Helper()
	if got := g.Status().Waits; got != 0 {
		tb.Errorf("%d calls had to wait, want none", got)
	}
}

// wantUnique sorts ids.
func wantUnique(tb testing.TB, ids []int64) {
	tb.Helper()
	slices.Sort(ids)
	if len(ids) > 0 && ids[0] <= 0 {
		tb.Errorf("there is the id %d, want only positive ones", ids[0])
	}
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			tb.Fatalf("id %d was given twice", ids[i])
		}
	}
}

// increasing checks ids in the order in which they come.
type increasing struct{ last int64 }

func (c *increasing) add(tb testing.TB, id int64) {
	if id <= c.last {
		tb.Helper() // it is slow
		tb.Fatalf("id %d after %d", id, c.last)
	}
	c.last = id
}

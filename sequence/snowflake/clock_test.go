package snowflake_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
)

// The clock is set by each of these while ids are made. Within MaxBorrow, 1 s, nobody notices but by the times.
func TestClockIsSet(t *testing.T) {
	for _, step := range []time.Duration{
		-time.Millisecond, -3 * time.Millisecond, -990 * time.Millisecond, -10 * time.Second, -time.Hour,
		time.Millisecond, time.Second, time.Hour,
	} {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, clock := preset(t, "twitter"), newTestClock()
				g := newGenerator(t, l, 0, 0, snowflake.Config{After: past, Clock: clock})
				var order increasing
				order.add(t, nextID(t, g))
				before := clock.now()

				clock.set(step) // takes a second
				tooFar := step < -2*time.Second
				if tooFar {
					wantRefused(t, g, snowflake.ErrClock)
				}
				if step == -time.Hour { // back to where it was
					clock.set(time.Hour)
				}
				order.add(t, nextID(t, g))
				if now := clock.now(); now.After(before) {
					wantTime(t, l, order.last, now)
				}
				if !tooFar {
					wantNoWait(t, g)
				}
				status := g.Status()
				if noticed := step.Abs() >= 10*time.Millisecond; noticed != (status.Steps > 0) {
					t.Errorf("%d steps were counted, the last of %v", status.Steps, status.LastStep)
				}
			})
		})
	}
}

// As long as it waits for the clock a call is asleep, and goes on the moment that the clock allows it.
func TestWaitsForTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, clock := preset(t, "twitter"), newTestClock()
		g := newGenerator(t, l, 0, 0, snowflake.Config{After: past, Clock: clock, Timeout: time.Minute})
		first := nextID(t, g)
		clock.set(-10 * time.Second)
		began := time.Now()
		second := nextID(t, g)
		if waited, want := time.Since(began), 8*time.Second; waited != want { // 10 s less the second of set and MaxBorrow
			t.Errorf("waited %v, want %v", waited, want)
		}
		if second <= first {
			t.Errorf("id %d after %d", second, first)
		}
		wantTime(t, l, second, decode(t, l, first).Time)
	})
}

// A clock that was wrong by an hour and is set right while a call waits.
func TestClockIsSetRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, clock := preset(t, "leaf"), newTestClock()
		right := clock.now().Add(time.Hour)
		g := newGenerator(t, l, 0, 0, snowflake.Config{After: right, Clock: clock, Timeout: time.Minute})
		time.AfterFunc(10*time.Second, func() { clock.wall.Add(int64(time.Hour)) })
		began := time.Now()
		id := nextID(t, g)
		if waited := time.Since(began); waited > 11*time.Second {
			t.Errorf("waited %v, want at most a second more than 10", waited)
		}
		wantTime(t, l, id, clock.now())
	})
}

// A process ends at once and another one takes its worker id, with what was promised of the first one's ids.
func TestRestart(t *testing.T) {
	tests := []struct {
		name string
		step time.Duration // of the clock, while there is no process
		want error
	}{
		{"as it was", 0, nil},
		{"a moment back", -100 * time.Millisecond, nil},
		{"seconds back", -10 * time.Second, snowflake.ErrClock},
		{"an hour back", -time.Hour, snowflake.ErrClock},
		{"an hour on", time.Hour, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, clock := preset(t, "twitter"), newTestClock()
				limit := clock.now().Add(500 * time.Millisecond)
				g := newGenerator(t, l, 0, 0, snowflake.Config{After: past, Limit: limit, Clock: clock, Timeout: time.Nanosecond})
				var order increasing
				for range 501 * 4096 / 128 { // the 501 ticks up to the limit
					run := next(t, g, 128)
					order.add(t, run.First)
					order.add(t, run.ID(127))
				}
				if _, err := g.Next(t.Context(), 1); !errors.Is(err, snowflake.ErrLimit) {
					t.Fatalf("past the limit: got %v, want ErrLimit", err)
				}

				clock.wall.Add(int64(tt.step))
				g = newGenerator(t, l, 0, 0, snowflake.Config{After: limit, Clock: clock})
				if tt.want != nil {
					wantRefused(t, g, tt.want)
					return
				}
				order.add(t, nextID(t, g))
			})
		})
	}
}

// Nothing is known of the process before, which has borrowed all it could.
func TestRestartAfterAnUnknown(t *testing.T) {
	for _, name := range []string{"twitter", "js53", "sonyflake", "uid_generator"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, clock := preset(t, name), newTestClock()
				var order increasing
				for range 3 {
					g := newGenerator(t, l, 0, 1, snowflake.Config{Clock: clock, Timeout: 2 * time.Second})
					for range 2000 {
						run := next(t, g, g.MaxRun())
						order.add(t, run.First)
						order.add(t, run.ID(run.N-1))
					}
				}
			})
		})
	}
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, clock := preset(t, "twitter"), newTestClock()
		g := newGenerator(t, l, 0, 0, snowflake.Config{After: past, Limit: clock.now().Add(time.Second), Clock: clock})
		nextID(t, g)
		time.Sleep(time.Second)
		nextID(t, g)
		time.Sleep(time.Millisecond)
		wantRefused(t, g, snowflake.ErrLimit)

		// The holder of the lease renews it while a call waits.
		time.AfterFunc(1234*time.Millisecond, func() { g.SetLimit(clock.now()) })
		began := time.Now()
		id := nextID(t, g)
		if waited := time.Since(began); waited != 1234*time.Millisecond {
			t.Errorf("waited %v, want 1.234s", waited)
		}
		wantTime(t, l, id, clock.now())

		g.SetLimit(clock.now().Add(-time.Second)) // the lease is lost
		wantRefused(t, g, snowflake.ErrLimit)
		g.SetLimit(time.Time{})
		nextID(t, g)
	})
}

// A caller that wants all there is gets what the layout has, not less, and never an error.
func TestSaturation(t *testing.T) {
	tests := []struct {
		name   string
		borrow time.Duration
		ticks  int64 // that are borrowed
	}{
		{"js53", 0, 1000}, {"js53", -1, 0}, {"js53", 5 * time.Millisecond, 5}, {"uid_generator", 10 * time.Second, 10}, {"sonyflake", 0, 100},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.name, " ", tt.borrow), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, clock := preset(t, tt.name), newTestClock()
				g := newGenerator(t, l, 0, 0, snowflake.Config{After: past, MaxBorrow: tt.borrow, Clock: clock})
				const ticks = 40
				end := clock.now().Add(ticks * l.Unit)
				var order increasing
				var got int64
				for clock.now().Before(end) {
					order.add(t, nextID(t, g))
					got++
				}
				// The last id was given when the clock had reached end.
				if want := (ticks+tt.ticks)*g.MaxRun() + 1; got != want {
					t.Errorf("got %d ids in %d ticks, want %d", got, ticks, want)
				}
			})
		})
	}
}

// When callers want more than there is, all of them get ids in turn.
func TestFairness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		g := newGenerator(t, preset(t, "sonyflake"), 0, 0, snowflake.Config{After: past, MaxBorrow: -1, Clock: clock})
		end := clock.now().Add(3 * time.Second)
		var all sync.WaitGroup
		var longest [50]time.Duration // that one of them waited
		for i := range longest {
			all.Go(func() {
				for clock.now().Before(end) {
					began := time.Now()
					if _, err := g.Next(t.Context(), 1); err != nil {
						t.Error(err)
					}
					longest[i] = max(longest[i], time.Since(began))
				}
			})
		}
		all.Wait()
		if got, want := slices.Max(longest[:]), 50*time.Millisecond; got > want {
			t.Errorf("one of them waited %v for its id, want no more than %v, some ticks", got, want)
		}
	})
}

// A call that has waited for long is served before one that comes when there are ids again.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		g := newGenerator(t, preset(t, "twitter"), 0, 0, snowflake.Config{After: past, Limit: past, Clock: clock})
		var early int64
		var all sync.WaitGroup
		all.Go(func() { early = nextID(t, g) })
		time.Sleep(1500 * time.Millisecond)
		g.SetLimit(time.Time{})
		late := nextID(t, g)
		all.Wait()
		if early > late {
			t.Errorf("the call that waited got the id %d, the other one %d: want it in turn", early, late)
		}
	})
}

func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGenerator(t, preset(t, "uid_generator"), 0, 0, snowflake.Config{After: past, Clock: newTestClock(), Timeout: time.Millisecond})
		for range 2 {
			next(t, g, 8192)
		}
		if _, err := g.Next(t.Context(), 1); !errors.Is(err, snowflake.ErrBusy) || !errors.Is(err, sequence.ErrUnavailable) {
			t.Errorf("got %v, want ErrBusy, which is ErrUnavailable", err)
		}
		if got := g.Status(); !got.Limit.Add(time.Second).Equal(got.Ends) {
			t.Errorf("limit %v, want the last tick before %v", got.Limit, got.Ends)
		}
		if got := g.Status(); got.Ahead != 999*time.Millisecond || got.Waits != 1 {
			t.Errorf("ahead by %v with %d waits, want 999ms and 1", got.Ahead, got.Waits)
		}
	})
}

// When ids are taken very fast, the system's clock is not read for each: the ids must have the right time all the same as
// soon as they are taken slowly again.
func TestSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := preset(t, "twitter")
		l.Epoch = date(1999, 12, 1).UnixMilli() // the time in a synctest bubble begins in 2000
		g := newGenerator(t, l, 0, 0, snowflake.Config{After: date(1999, 12, 2)})
		for range 20 {
			for range 2000 {
				nextID(t, g)
			}
			time.Sleep(2 * time.Millisecond)
			wantTime(t, l, nextID(t, g), time.Now())
		}
	})
}

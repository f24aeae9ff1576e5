package snowflake_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
)

func TestNextFields(t *testing.T) {
	for _, l := range snowflake.Presets() {
		if l.Name == "uid_generator_2016" {
			continue
		}
		t.Run(l.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := newTestClock()
				zone, worker := l.Max(snowflake.Zone), l.Max(snowflake.Worker)-1
				g := newGenerator(t, l, zone, worker, snowflake.Config{After: past, Clock: clock})
				var order increasing
				for range 50 {
					id := nextID(t, g)
					order.add(t, id)
					got := decode(t, l, id)
					want := snowflake.Decoded{Layout: l.Name, Zone: zone, Worker: worker,
						Time: clock.now().Truncate(l.Unit), Sequence: got.Sequence}
					if l.Name == "twitter" || l.Name == "leaf" { // its epoch is not at a full second
						want.Time = clock.now()
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("id %d (-want +got):\n%s", id, diff)
					}
					time.Sleep(l.Unit)
				}
				wantNoWait(t, g)
			})
		})
	}
}

// At a low rate the low bits of the ids are spread: whoever takes them modulo a number of tables fills all of these.
func TestStart(t *testing.T) {
	tests := []struct {
		name     string
		start    snowflake.Start
		bound    int64
		distinct int // sequences among 1000 ids, at least
	}{
		{"goes on", snowflake.Start{}, 1024, 1000},
		{"goes on below a bound", snowflake.Start{Bound: 10}, 10, 10},
		{"at random", snowflake.Start{Random: true}, 1024, 500},
		{"at random below 100, as Leaf", snowflake.Start{Random: true, Bound: 100}, 100, 95},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := preset(t, "twitter")
				l.Start = tt.start
				g := newGenerator(t, l, 0, 0, snowflake.Config{After: past, Clock: newTestClock()})
				seen, odd := make(map[int64]bool), 0
				for range 1000 {
					time.Sleep(time.Millisecond)
					seq := decode(t, l, nextID(t, g)).Sequence
					if seq >= tt.bound {
						t.Fatalf("sequence %d, want below %d", seq, tt.bound)
					}
					seen[seq] = true
					odd += int(seq & 1)
				}
				if len(seen) < tt.distinct {
					t.Errorf("%d different sequences, want at least %d", len(seen), tt.distinct)
				}
				if odd < 400 || odd > 600 {
					t.Errorf("%d of 1000 ids are odd, want about half", odd)
				}
			})
		})
	}
}

func TestRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, clock := preset(t, "js53"), newTestClock() // 128 ids in a millisecond, starts below 32
		g := newGenerator(t, l, 0, 3, snowflake.Config{After: past, Clock: clock})
		var order increasing
		for _, n := range []int64{1, 20, 100, 28, 128, 127, 2, 1} {
			run := next(t, g, n)
			if run.N != n || run.Step != 1 {
				t.Errorf("got %d ids %d apart, want %d, 1 apart", run.N, run.Step, n)
			}
			first, last := decode(t, l, run.First), decode(t, l, run.ID(n-1))
			if !first.Time.Equal(last.Time) || last.Sequence-first.Sequence != n-1 || last.Worker != 3 {
				t.Errorf("run of %d from %+v to %+v, want it in one tick", n, first, last)
			}
			for i := range n {
				order.add(t, run.ID(i))
			}
		}
		// 1+20+100 in the first tick, 28 in the second, 128, 127, 2+1.
		wantTime(t, l, order.last, clock.now().Add(4*time.Millisecond))

		time.Sleep(time.Second) // the start of a tick leaves room for the run
		run := next(t, g, 128)
		wantTime(t, l, run.First, clock.now())
		if run.N != 128 {
			t.Errorf("got %d ids, want 128", run.N)
		}
		wantNoWait(t, g)
	})
}

func TestRunsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := preset(t, "sonyflake")
		g := newGenerator(t, l, 0, 0xbeef, snowflake.Config{After: past, Clock: newTestClock()})
		run := next(t, g, 256)
		if run.Step != 1<<16 {
			t.Errorf("ids are %d apart, want %d", run.Step, 1<<16)
		}
		for i := range run.N {
			if got := decode(t, l, run.ID(i)); got.Worker != 0xbeef || got.Sequence != i {
				t.Fatalf("id number %d: got %+v", i, got)
			}
		}
	})
}

func TestCount(t *testing.T) {
	g := newGenerator(t, preset(t, "js53"), 0, 0, snowflake.Config{After: past, Clock: newTestClock()})
	if g.MaxRun() != 128 {
		t.Errorf("longest run: got %d, want 128", g.MaxRun())
	}
	for _, n := range []int64{-1, 0, 129} {
		if run, err := g.Next(t.Context(), n); !errors.Is(err, sequence.ErrInvalidCount) {
			t.Errorf("%d ids: got %+v, %v, want ErrInvalidCount", n, run, err)
		}
	}
	if err := g.Fill(t.Context(), nil); err != nil {
		t.Errorf("no ids: %v", err)
	}
}

// Fill uses all the ids of the ticks.
func TestFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, clock := preset(t, "js53"), newTestClock()
		g := newGenerator(t, l, 0, 0, snowflake.Config{After: past, Clock: clock})
		ids := make([]int64, 100*128+1)
		began := clock.now()
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		var order increasing
		for _, id := range ids {
			order.add(t, id)
		}
		wantTime(t, l, ids[0], began)
		wantTime(t, l, order.last, began.Add(100*time.Millisecond))
	})
}

// A list that begins in the middle of a tick goes on in the next one, not in the ids of another worker.
func TestFillWithinTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := preset(t, "js53")
		g := newGenerator(t, l, 0, 5, snowflake.Config{After: past, Clock: newTestClock()})
		var order increasing
		order.add(t, nextID(t, g))
		ids := make([]int64, 3*128)
		if err := g.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			order.add(t, id)
			if d, err := l.Decode(id); err != nil || d.Worker != 5 {
				t.Fatalf("got an id of worker %d, %v, want 5", d.Worker, err)
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	old, twitter := preset(t, "uid_generator_2016"), preset(t, "twitter")
	future := twitter
	future.Epoch = date(2026, 1, 2).UnixMilli()
	tests := []struct {
		name         string
		layout       snowflake.Layout
		zone, worker int64
		want         error
	}{
		{"no layout", snowflake.Layout{}, 0, 0, snowflake.ErrLayout},
		{"ended", old, 0, 0, sequence.ErrExhausted},
		{"epoch in the future", future, 0, 0, snowflake.ErrLayout},
		{"worker too large", twitter, 0, 32, snowflake.ErrLayout},
		{"worker negative", twitter, 0, -1, snowflake.ErrLayout},
		{"zone too large", twitter, 32, 0, snowflake.ErrLayout},
		{"zone without a field", preset(t, "leaf"), 1, 0, snowflake.ErrLayout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := snowflake.New(tt.layout, tt.zone, tt.worker, snowflake.Config{Clock: newTestClock()}); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestExhaustion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, clock := preset(t, "uid_generator_2016"), newTestClock()
		clock.wall.Store(l.Ends().Add(-10 * time.Second).UnixNano())
		g := newGenerator(t, l, 0, 0, snowflake.Config{After: past.AddDate(-2, 0, 0), MaxBorrow: time.Minute, Clock: clock})
		var order increasing
		for {
			run, err := g.Next(t.Context(), 8192)
			if err != nil {
				if !errors.Is(err, sequence.ErrExhausted) || !strings.Contains(err.Error(), "2024-11-20T13:24:16Z") {
					t.Errorf("got %v, want ErrExhausted", err)
				}
				break
			}
			order.add(t, run.First)
			order.add(t, run.ID(8191))
		}
		wantTime(t, l, order.last, l.Ends().Add(-time.Second))

	})
}

// The clock says a time so far that its ticks do not fit into an int64 beside the sequence.
func TestClockOfAnotherAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := snowflake.Layout{Name: "fine", Epoch: date(2020, 1, 1).UnixMilli(), Unit: time.Microsecond,
			Fields: [4]snowflake.Field{{Name: snowflake.Time, Bits: 50}, {Name: snowflake.Worker, Bits: 1}, {Name: snowflake.Sequence, Bits: 12}}}
		clock := newTestClock()
		g := newGenerator(t, l, 0, 0, snowflake.Config{After: past, Clock: clock})
		before := nextID(t, g)
		const centuries = 220 * 365 * 24 * time.Hour
		clock.set(centuries)
		began := time.Now()
		if id, err := g.Next(t.Context(), 1); !errors.Is(err, sequence.ErrExhausted) || time.Since(began) != 0 {
			t.Errorf("got %+v, %v after %v, want ErrExhausted at once", id, err, time.Since(began))
		}
		clock.set(-centuries)
		if after := nextID(t, g); after <= before {
			t.Errorf("id %d after %d", after, before)
		}
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		g := newGenerator(t, preset(t, "twitter"), 0, 0, snowflake.Config{After: clock.now().Add(time.Hour), Clock: clock})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := g.Next(ctx, 1)
		if !errors.Is(err, context.Canceled) || errors.Is(err, sequence.ErrUnavailable) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

func TestGenerators(t *testing.T) {
	clock := newTestClock()
	var all snowflake.Generators
	get := func(name string, zone, worker int64, after time.Time) *snowflake.Generator {
		g, err := all.Get(preset(t, name), zone, worker, snowflake.Config{After: after, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g := get("twitter", 1, 2, past)
	if get("twitter", 1, 2, past) != g {
		t.Error("the same worker got a second generator")
	}
	if get("leaf", 0, 1<<5|2, past) != g {
		t.Error("Leaf's worker 34, whose ids are those of zone 1 and worker 2, got a generator of its own")
	}
	if get("twitter", 1, 3, past) == g || get("zone_hash", 1, 2, past) == g {
		t.Error("another worker or layout got the same generator")
	}
	// Another process has had the worker id in between.
	later := clock.now().Add(500 * time.Millisecond)
	get("twitter", 1, 2, later)
	if id := nextID(t, g); !decode(t, preset(t, "twitter"), id).Time.After(later) {
		t.Errorf("id of %v, want one after %v", decode(t, preset(t, "twitter"), id).Time, later)
	}
	if _, err := all.Get(preset(t, "twitter"), 0, 99, snowflake.Config{Clock: clock}); !errors.Is(err, snowflake.ErrLayout) {
		t.Errorf("worker 99: got %v, want ErrLayout", err)
	}
}

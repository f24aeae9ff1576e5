package snowflake_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

// Whatever the layout and the steps of the clock: no id twice, each above the one before, within the limit and what may be
// borrowed, and decoded to what went in.
func TestRandomLayouts(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 0))
				l, clock := randomLayout(rng), newTestClock()
				zone, worker := rng.Int64N(l.Max(snowflake.Zone)+1), rng.Int64N(l.Max(snowflake.Worker)+1)
				borrow := time.Duration(1+rng.Int64N(5000)) * time.Millisecond
				g := newGenerator(t, l, zone, worker, snowflake.Config{After: clock.now(), MaxBorrow: borrow, Timeout: time.Hour, Clock: clock})
				var order increasing
				last, limit := clock.now(), time.Time{}
				for range 300 {
					switch rng.IntN(4) {
					case 0:
						clock.set(time.Duration(rng.Int64N(int64(4*time.Second))) - 2*time.Second)
					case 1:
						time.Sleep(time.Duration(rng.Int64N(int64(2 * time.Second))))
					}
					for _, need := range []time.Time{last, clock.now()} { // so that the next tick is within the limit
						if need = need.Add(2 * l.Unit); need.After(limit) {
							limit = need
							g.SetLimit(limit)
						}
					}
					run := next(t, g, 1+rng.Int64N(min(g.MaxRun(), 50)))
					for i := range run.N {
						id := run.ID(i)
						order.add(t, id)
						got := decode(t, l, id)
						if got.Zone != zone || got.Worker != worker || got.Sequence > l.Max(snowflake.Sequence) {
							t.Fatalf("id %d: got %+v, want zone %d and worker %d", id, got, zone, worker)
						}
						if ahead := got.Time.Sub(clock.now()); ahead > borrow {
							t.Fatalf("id %d is %v ahead of the clock, want at most %v", id, ahead, borrow)
						}
						if got.Time.After(limit) {
							t.Fatalf("id %d is of %v, past the limit %v", id, got.Time, limit)
						}
						last = got.Time
						if back := encode(l, got); back != id {
							t.Fatalf("%+v makes the id %d, want %d", got, back, id)
						}
					}
				}
			})
		})
	}
}

// randomLayout returns one that has not ended in 2026, of 63 or 53 bits, with its fields after the time in any order.
func randomLayout(rng *rand.Rand) snowflake.Layout {
	for {
		l := snowflake.Layout{Name: "random", Epoch: date(2015+rng.IntN(10), 1, 1).UnixMilli(),
			Unit: []time.Duration{time.Microsecond, 64 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, time.Second, time.Minute}[rng.IntN(6)]}
		left := []int{53, 63}[rng.IntN(2)]
		fields := []snowflake.Field{{Name: snowflake.Worker}, {Name: snowflake.Sequence}}
		if rng.IntN(2) == 0 {
			fields = append(fields, snowflake.Field{Name: snowflake.Zone})
		}
		rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		for i := range fields {
			fields[i].Bits = 1 + rng.IntN(15)
			left -= fields[i].Bits
		}
		fields = slices.Insert(fields, 0, snowflake.Field{Name: snowflake.Time, Bits: left})
		copy(l.Fields[:], fields)
		l.Start.Random = rng.IntN(2) == 0
		if l.Check(date(2028, 1, 1)) == nil {
			return l
		}
	}
}

// Goroutines share a generator, with the system's clock.
func TestGoroutines(t *testing.T) {
	tests := []struct {
		name   string
		borrow time.Duration
		n      int64
		calls  int // of each goroutine
	}{
		{"twitter", 0, 1, 20_000}, {"twitter", -1, 3, 10_000}, {"leaf", 10 * time.Millisecond, 100, 2000}, {"js53", 0, 7, 2000}, {"js53", 0, 1, 5000},
		{"uid_generator", 365 * 24 * time.Hour, 1, 50_000}, {"uid_generator", 365 * 24 * time.Hour, 5000, 20_000},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.name, " ", tt.n), func(t *testing.T) {
			g := newGenerator(t, preset(t, tt.name), 0, 5, snowflake.Config{After: past, MaxBorrow: tt.borrow})
			const goroutines = 8
			ids := make([][]int64, goroutines)
			start := make(chan struct{})
			var all sync.WaitGroup
			for i := range goroutines {
				all.Go(func() {
					<-start
					ids[i] = endsOfRuns(t, g, tt.n, tt.calls)
				})
			}
			close(start)
			all.Wait()
			wantUnique(t, slices.Concat(ids...))
		})
	}
}

// Goroutines take single ids up to a limit that is raised again and again: none past it, and all of them but what they
// lost to each other there. Calls that are refused do not push the ids ahead.
func TestGoroutinesAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const goroutines, size = 8, 128
		l, clock := preset(t, "js53"), newTestClock()
		limit := clock.now()
		g := newGenerator(t, l, 0, 5, snowflake.Config{After: past, Limit: limit, Clock: clock})
		var all []int64
		for range 900 { // ms: as much as may be borrowed, as this clock stands still
			ids := untilRefused(t, g, goroutines)
			if n := len(ids); n > size || n < size-goroutines {
				t.Fatalf("%d ids up to %v, want %d less %d at most", n, limit, size, goroutines)
			}
			wantTime(t, l, slices.Max(ids), limit)
			all = append(all, ids...)
			limit = limit.Add(time.Millisecond)
			g.SetLimit(limit)
		}
		wantUnique(t, all)
	})
}

// untilRefused returns the single ids that goroutines get until each of them was refused several times.
func untilRefused(t *testing.T, g *snowflake.Generator, goroutines int) []int64 {
	noWait, cancel := context.WithCancel(t.Context())
	cancel()
	ids := make([][]int64, goroutines)
	var all sync.WaitGroup
	for i := range goroutines {
		all.Go(func() {
			for refused := 0; refused < 10; {
				run, err := g.Next(noWait, 1)
				if err != nil {
					refused++
					continue
				}
				ids[i] = append(ids[i], run.First)
			}
		})
	}
	all.Wait()
	return slices.Concat(ids...)
}

// endsOfRuns returns the first and the last id of each of many runs, which must increase.
func endsOfRuns(t *testing.T, g *snowflake.Generator, n int64, calls int) []int64 {
	ids := make([]int64, 0, 2*calls)
	last := int64(0)
	for range calls {
		run, err := g.Next(t.Context(), n)
		if err != nil || run.N != n || run.First <= last {
			t.Errorf("got %+v, %v after %d", run, err, last)
			break
		}
		last = run.ID(n - 1)
		ids = append(ids, run.First)
		if n > 1 {
			ids = append(ids, last)
		}
	}
	return ids
}

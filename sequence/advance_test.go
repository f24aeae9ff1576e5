package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// Where an explicit id lies decides what is left of the ids in memory, and whether the row has to move.
func TestObserve(t *testing.T) {
	for _, tt := range []struct {
		name    string
		id      int64
		next    int64 // the id after 5 were given of 1 to 10
		nextID  int64 // of the row, after the raise
		raises  []int64
		dropped int64
	}{
		{"none", 0, 6, 11, nil, 0},
		{"negative", math.MinInt64, 6, 11, nil, 0},
		{"given already", 3, 6, 11, nil, 0},
		{"just given", 5, 6, 11, nil, 0},
		{"the next one", 6, 7, 11, nil, 1},
		{"inside the segment", 8, 9, 11, nil, 3},
		{"the last one of the segment", 10, 11, 11, nil, 5},
		{"just above", 11, 12, 12, []int64{11}, 5},
		{"far above", 1000, 1001, 1001, []int64{1000}, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &rowStore{nextID: 1, cache: 10}
				seq := newSequence(t, store, sequence.Config{})
				firsts(t, seq, 5)
				seq.Observe(tt.id, tt.id)
				synctest.Wait()
				nextID, raises := store.row()
				if nextID != tt.nextID || cmp.Diff(tt.raises, raises) != "" {
					t.Errorf("got next_id %d after the raises %v, want %d after %v", nextID, raises, tt.nextID, tt.raises)
				}
				if got := seq.Status().Dropped; got != tt.dropped {
					t.Errorf("got %d ids dropped, want %d", got, tt.dropped)
				}
				wantIDs(t, firsts(t, seq, 1), tt.next)
			})
		})
	}
}

// The segment in use, the one after it, and both are cut where the explicit id lies; a block on its way is too.
func TestObserveBetweenSegments(t *testing.T) {
	for _, tt := range []struct {
		name string
		id   func(sequence.Status) int64
	}{
		{"in the current segment", func(st sequence.Status) int64 { return st.Current.Last() - 1 }},
		{"at its end", func(st sequence.Status) int64 { return st.Current.Last() }},
		{"in the next segment", func(st sequence.Status) int64 { return st.Next.First + 1 }},
		{"at its end", func(st sequence.Status) int64 { return st.Next.Last() }},
		{"above both", func(st sequence.Status) int64 { return st.Next.Last() + 7 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seq := newSequence(t, &rowStore{nextID: 1, cache: 10}, sequence.Config{})
				st := takeUntil(t, seq, func(st sequence.Status) bool { return st.Current.N > 2 && st.Next.N > 2 })
				id := tt.id(st)
				seq.Observe(id, id)
				wantIDs(t, firsts(t, seq, 1, 1), id+1, id+2)
			})
		})
	}
}

// An explicit id that comes while a block is on its way: the part of the block below it is not used.
func TestObserveDuringRefill(t *testing.T) {
	for _, tt := range []struct {
		name string
		id   int64
		want int64
	}{
		{"below the block", 5, 11},
		{"inside the block", 14, 15},
		{"above the block", 25, 26},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &rowStore{nextID: 11, cache: 10}
				store.before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
				seq := newSequence(t, store, sequence.Config{})
				time.AfterFunc(time.Second/2, func() { seq.Observe(tt.id, tt.id) })
				wantIDs(t, firsts(t, seq, 1, 1), tt.want, tt.want+1)
			})
		})
	}
}

// What explicit ids pass by is not demand: the step does not grow by it, and the row that was behind is no fault of its.
func TestObservedIsNotDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		store := &rowStore{nextID: 1, cache: 100}
		seq := newSequence(t, store, sequence.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for id := int64(1); id <= 100_000; id += 100 {
			seq.Observe(id, id)
			if id%1000 == 1 {
				firsts(t, seq, 1)
			}
			time.Sleep(20 * time.Second)
		}
		st := seq.Status()
		if !st.Warm || st.Step > 200 || st.Rate > 0.01 || st.Raised != 0 {
			t.Errorf("got %+v, want it warm with a step of 200 at most, at an id in 200 s, and no raises counted", st)
		}
		if log.Len() > 0 {
			t.Errorf("got the log %q, want none", log.String())
		}
		if st.Observed != 99_901 {
			t.Errorf("got %d observed, want 99901", st.Observed)
		}
	})
}

// However fast explicit ids come, the row is raised ten times a second, one raise at a time, and by the last of them.
func TestRaisesAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 10}
		var running, most atomic.Int64
		store.before = func(context.Context, sequence.Request) error {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(20 * time.Millisecond)
			running.Add(-1)
			return nil
		}
		seq := newSequence(t, store, sequence.Config{})
		for id := int64(1); id <= 10_000; id++ {
			seq.Observe(id, id)
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Second)
		nextID, raises := store.row()
		if nextID != 10_001 || len(raises) > 11 || most.Load() != 1 {
			t.Errorf("got next_id %d after %d raises, %d at a time, want 10001 after 11 at most, 1 at a time", nextID, len(raises), most.Load())
		}
	})
}

// A raise that fails is tried again until the database is back; one that is refused is told, and left to the next block.
func TestRaiseFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		store := &rowStore{nextID: 1, cache: 10}
		var fails atomic.Pointer[error]
		store.before = func(context.Context, sequence.Request) error {
			if err := fails.Load(); err != nil {
				return *err
			}
			return nil
		}
		seq := newSequence(t, store, sequence.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		fails.Store(&sequencetest.ErrLost)
		seq.Observe(100, 100)
		time.Sleep(time.Hour)
		if st := seq.Status(); !st.AwaySince.IsZero() || st.Failures < 360 {
			t.Errorf("got %d failures, away since %v, want a try every 10 s and no outage: ids may be there", st.Failures, st.AwaySince)
		}
		if n := strings.Count(log.String(), "could not be raised above an explicit id yet"); n != 1 {
			t.Errorf("got %d warnings, want one:\n%s", n, log.String())
		}
		fails.Store(nil)
		time.Sleep(10 * time.Second)
		if nextID, _ := store.row(); nextID != 101 {
			t.Errorf("got next_id %d, want 101", nextID)
		}

		var refused error = &sequence.Error{Kind: sequence.ErrNoRow, Sequence: "main.user_seq", Text: "has no row"}
		fails.Store(&refused)
		before := seq.Status().Failures
		seq.Observe(200, 200)
		time.Sleep(time.Hour)
		if st := seq.Status(); st.Failures != before+1 || !errors.Is(st.LastError, sequence.ErrNoRow) {
			t.Errorf("got %d further failures and %v, want 1 and ErrNoRow", st.Failures-before, st.LastError)
		}
		if !strings.Contains(log.String(), "could not be raised above an explicit id\"") {
			t.Errorf("got the log %q, want a warning", log.String())
		}
		fails.Store(nil)
		wantIDs(t, firsts(t, seq, 1), 201)
	})
}

// Without a raising store the next block lies above the explicit id all the same.
func TestObserveWithoutRaiser(t *testing.T) {
	store := sequencetest.NewStore(1, 10)
	seq := newSequence(t, struct{ sequence.Store }{store}, sequence.Config{})
	firsts(t, seq, 1)
	seq.Observe(1000, 1000)
	wantIDs(t, firsts(t, seq, 1, 1), 1001, 1002)
	wantRow(t, store, 1011)
}

// Close raises the row first, and then hands back only what lies above the explicit ids.
func TestCloseFlushesRaises(t *testing.T) {
	for _, tt := range []struct {
		name string
		ids  []int64
		want int64 // next_id
	}{
		{"inside the segment", []int64{4}, 5},
		{"above it", []int64{50}, 51},
		{"while a raise waits for its turn", []int64{50, 60, 70}, 71},
		{"the last id there is", []int64{math.MaxInt64}, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &rowStore{nextID: 1, cache: 10}
				reg := sequencetest.Registry(store, sequence.Config{})
				seq := get(t, reg, userSeq)
				firsts(t, seq, 2)
				for _, id := range tt.ids {
					seq.Observe(id, id)
					synctest.Wait()
				}
				if err := reg.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				if nextID, _ := store.row(); nextID != tt.want {
					t.Errorf("got next_id %d, want %d", nextID, tt.want)
				}
				seq.Observe(1000, 1000) // does no harm
			})
		})
	}
}

func TestCloseTellsOfALostRaise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 10}
		store.before = func(context.Context, sequence.Request) error { return sequencetest.ErrLost }
		reg := sequencetest.Registry(store, sequence.Config{})
		get(t, reg, userSeq).Observe(77, 77)
		synctest.Wait()
		err := reg.Close(t.Context())
		if !errors.Is(err, sequencetest.ErrLost) || !strings.Contains(err.Error(), "raise sequence main.user_seq above the explicit id 77") {
			t.Errorf("got %v, want ErrLost and what was not done", err)
		}
	})
}

// An explicit id at the end of the ids uses the sequence up, as it does with AUTO_INCREMENT.
func TestObserveTheEnd(t *testing.T) {
	for _, tt := range []struct {
		name    string
		max, id int64
	}{
		{"the last id of the column", 127, 127},
		{"past the column", 127, 1000},
		{"the last id there is", 0, math.MaxInt64},
		{"the last id there is, past the column", 127, math.MaxInt64},
	} {
		for _, ordered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/ordered=%v", tt.name, ordered), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := &rowStore{nextID: 1, cache: 10}
					seq := newOrderedOrNot(t, store, ordered, sequence.Config{Max: tt.max})
					firsts(t, seq, 1)
					seq.Observe(tt.id, tt.id)
					synctest.Wait()
					other := newOrderedOrNot(t, store, ordered, sequence.Config{Max: tt.max})
					for _, s := range []*sequence.Sequence{seq, other} {
						if r, err := s.Next(t.Context(), 1); !errors.Is(err, sequence.ErrExhausted) {
							t.Errorf("got %v, %v, want ErrExhausted", r, err)
						}
					}
				})
			})
		}
	}
}

// A row of which only the largest cache was reserved has more ids than one segment can count safely.
func TestObserveInTheLargestSegment(t *testing.T) {
	seq := newSequence(t, &rowStore{nextID: 1, cache: math.MaxInt64}, sequence.Config{})
	wantIDs(t, firsts(t, seq, 1), 1)
	seq.Observe(math.MaxInt64-1, math.MaxInt64-1)
	if r, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrExhausted) {
		t.Errorf("got %v, %v, want ErrExhausted: the row gave them all", r, err)
	}
}

func TestAbove(t *testing.T) {
	seq := newSequence(t, &rowStore{nextID: 1, cache: 10}, sequence.Config{})
	firsts(t, seq, 1)
	for id, want := range map[int64]bool{-1: false, 1: false, 10: false, 11: true, math.MaxInt64: true} {
		if got := seq.Above(id); got != want {
			t.Errorf("above %d: got %v, want %v", id, got, want)
		}
	}
}

// On real servers: the row is above the explicit id soon, and so is what the next process gives.
func TestObserveOnServers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, strategy := range strategies {
			t.Run(strategy, func(t *testing.T) {
				h := harness(t, s, strategy)
				if err := sequence.Seed(t.Context(), h.Admin, h.Database, "s", 1, 10); err != nil {
					t.Fatal(err)
				}
				name := sequence.Name{Database: h.Database, Table: "s"}
				for i := range int64(3) {
					reg := sequencetest.Registry(openStore(t, s, s.Addr, strategy), sequence.Config{})
					seq := get(t, reg, name)
					wantIDs(t, firsts(t, seq, 1), i*1000+1)
					for id := range (i + 1) * 1000 {
						seq.Observe(id+1, id+1)
					}
					if err := reg.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
}

// Ids that clients took from another process and wrote through this one are no reason to give up the ids in memory; those
// that nobody had reserved are.
func TestObserveIDsOfOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 100)
		here, there := newSequence(t, store, sequence.Config{}), newSequence(t, store, sequence.Config{})
		wantIDs(t, firsts(t, here, 1), 1)
		for i, want := range []int64{201, 202, 203, 204} { // the first time this process cannot know
			id := firsts(t, there, 1)[0]
			here.Observe(id, id)
			time.Sleep(time.Second) // for the raise
			if got := firsts(t, here, 1)[0]; got != want {
				t.Errorf("after %d ids of another process: got %d, want %d", i+1, got, want)
			}
		}
		here.Observe(1000, 1000)
		time.Sleep(time.Second)
		here.Observe(2000, 2000) // now the row has been seen to be behind
		wantIDs(t, firsts(t, here, 1), 2001)
		here.Observe(2050, 2050) // is in memory
		wantIDs(t, firsts(t, here, 1), 2051)
	})
}

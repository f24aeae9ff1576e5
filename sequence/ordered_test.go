package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// orderedRegistry returns a process of its own whose sequences are ordered.
func orderedRegistry(store sequence.Store, ordered bool, cfg sequence.Config) *sequence.Registry {
	return sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
		return sequence.Settings{Store: store, Ordered: ordered}, nil
	}, cfg)
}

func newOrderedOrNot(t *testing.T, store sequence.Store, ordered bool, cfg sequence.Config) *sequence.Sequence {
	t.Helper()
	reg := orderedRegistry(store, ordered, cfg)
	t.Cleanup(func() {
		if err := reg.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return get(t, reg, userSeq)
}

func newOrdered(t *testing.T, store sequence.Store, cfg sequence.Config) *sequence.Sequence {
	t.Helper()
	return newOrderedOrNot(t, store, true, cfg)
}

// Each call takes just its ids from the row, whatever the cache.
func TestOrderedKeepsNothing(t *testing.T) {
	store := &rowStore{nextID: 1, cache: 1000}
	a, b := newOrdered(t, store, sequence.Config{}), newOrdered(t, store, sequence.Config{})
	wantIDs(t, firsts(t, a, 1), 1)
	wantIDs(t, firsts(t, b, 5), 2)
	wantIDs(t, firsts(t, a, 1, 3), 7, 8)
	wantIDs(t, firsts(t, b, 1), 11)
	if nextID, _ := store.row(); nextID != 12 {
		t.Errorf("got next_id %d, want 12", nextID)
	}
	st := a.Status()
	if !st.Ordered || st.Current.N+st.Next.N != 0 || st.Warm || st.Runway != 0 || st.Given != 10 || st.Waits != 3 {
		t.Errorf("got %+v, want an ordered sequence with nothing in memory", st)
	}
}

// Callers that wait together share one attempt; those who come while it is on its way share the next one.
func TestOrderedSharesAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 1000}
		store.before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
		seq := newOrdered(t, store, sequence.Config{})
		var ids sequencetest.IDs
		var all sync.WaitGroup
		begin := time.Now()
		for n := range int64(64) {
			all.Go(func() {
				if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1+n%3) }); err != nil {
					t.Error(err)
				}
			})
			if n == 0 {
				synctest.Wait() // until its attempt is on its way
			}
		}
		all.Wait()
		if got := time.Since(begin); got != 2*time.Second || store.reserves != 2 {
			t.Errorf("64 callers took %v and %d attempts, want 2s and 2: one for the first, one for the rest", got, store.reserves)
		}
		ids.NoDuplicates(t)
		if ids.Unused() != 0 || seq.Status().Dropped != 0 {
			t.Errorf("got %d ids left out, %d dropped, want none", ids.Unused(), seq.Status().Dropped)
		}
		if seq.Status().Warm {
			t.Error("got it warm, want an ordered sequence to fetch nothing ahead")
		}
	})
}

// What a caller that left wanted is dropped: nobody who came later gets it.
func TestOrderedCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 1000}
		store.before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
		seq := newOrdered(t, store, sequence.Config{})
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := seq.Next(ctx, 5); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the caller's own cancellation", err)
			}
		})
		synctest.Wait()
		all.Go(func() { wantIDs(t, firsts(t, seq, 2), 6) }) // the attempt for 1 to 5 is on its way
		synctest.Wait()
		leave()
		all.Wait()
		if got := seq.Status().Dropped; got != 5 {
			t.Errorf("got %d ids dropped, want 5", got)
		}
	})
}

// When the ids that are left do not suffice for all who wait, those whom they suffice for get theirs.
func TestOrderedExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 118, cache: 1000}
		store.before = func(context.Context, sequence.Request) error { time.Sleep(time.Millisecond); return nil }
		seq := newOrdered(t, store, sequence.Config{Max: 127})
		var all sync.WaitGroup
		var served, refused atomic.Int64
		for i := range 64 {
			all.Go(func() {
				n := int64(1)
				if i%16 == 0 {
					n = 100 // never fits
				}
				_, err := seq.Next(t.Context(), n)
				switch {
				case err == nil && n == 1:
					served.Add(1)
				case errors.Is(err, sequence.ErrExhausted):
					refused.Add(1)
				default:
					t.Errorf("next %d: got %v", n, err)
				}
			})
		}
		all.Wait()
		if served.Load() != 10 || refused.Load() != 54 {
			t.Errorf("got %d served, %d refused, want the 10 ids that are left given and 54 refused", served.Load(), refused.Load())
		}
	})
}

// A request that could not be met does not keep the ones after it from sharing attempts.
func TestOrderedSharesAfterExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 1000}
		store.before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
		seq := newOrdered(t, store, sequence.Config{Max: 1000, Timeout: time.Hour})
		if _, err := seq.Next(t.Context(), 5000); !errors.Is(err, sequence.ErrExhausted) {
			t.Errorf("got %v, want ErrExhausted", err)
		}
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() { firsts(t, seq, 1) })
		}
		all.Wait()
		if store.reserves > 2 {
			t.Errorf("64 callers took %d attempts, want 2 at most", store.reserves)
		}
	})
}

// An attempt that is on its way when the process closes gives its ids back.
func TestOrderedClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 1000}
		store.before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
		reg := orderedRegistry(store, true, sequence.Config{})
		seq := get(t, reg, userSeq)
		firsts(t, seq, 3)
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := seq.Next(t.Context(), 7); !errors.Is(err, sequence.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
		synctest.Wait()
		if err := reg.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		if nextID, _ := store.row(); nextID != 4 {
			t.Errorf("got next_id %d, want 4", nextID)
		}
	})
}

// More than MaxN ids for all who wait together are taken in several attempts.
func TestOrderedLargeSums(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 1000}
		var largest atomic.Int64
		store.before = func(_ context.Context, req sequence.Request) error {
			largest.Store(max(largest.Load(), req.Need))
			time.Sleep(time.Second)
			return nil
		}
		seq := newOrdered(t, store, sequence.Config{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { firsts(t, seq, sequence.MaxN/2+1) })
		}
		all.Wait()
		if largest.Load() > sequence.MaxN {
			t.Errorf("got a request for %d ids, want %d at most", largest.Load(), int64(sequence.MaxN))
		}
	})
}

// Nothing is in memory, so an outage is felt at once and ends at once; and an attempt whose answer is lost is repeated.
func TestOrderedOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 10}
		var down atomic.Bool
		store.before = func(context.Context, sequence.Request) error {
			if down.Load() {
				return sequencetest.ErrLost
			}
			return nil
		}
		seq := newOrdered(t, store, sequence.Config{})
		wantIDs(t, firsts(t, seq, 1), 1)
		down.Store(true)
		if _, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
		time.AfterFunc(time.Second, func() { down.Store(false) })
		wantIDs(t, firsts(t, seq, 1), 2)
		if !seq.Status().AwaySince.IsZero() {
			t.Errorf("got %+v, want the outage over", seq.Status())
		}
	})
}

// A caller that gives up during an outage leaves no refill behind.
func TestOrderedOutageWithoutCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 10}
		var tries atomic.Int64
		store.before = func(context.Context, sequence.Request) error { tries.Add(1); return sequencetest.ErrLost }
		seq := newOrdered(t, store, sequence.Config{})
		_, _ = seq.Next(t.Context(), 1) // ErrUnavailable: see TestOrderedOutage
		time.Sleep(time.Second)
		before := tries.Load()
		time.Sleep(time.Hour)
		if got := tries.Load(); got != before {
			t.Errorf("got %d tries while nobody waited, want 0", got-before)
		}
	})
}

// Explicit ids only raise: there is nothing in memory to cut.
func TestOrderedObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 10}
		a, b := newOrdered(t, store, sequence.Config{}), newOrdered(t, store, sequence.Config{})
		firsts(t, a, 5)
		a.Observe(3, 3)
		a.Observe(50, 50)
		synctest.Wait()
		wantIDs(t, firsts(t, b, 1), 51)
		wantIDs(t, firsts(t, a, 1), 52)
		if _, raises := store.row(); len(raises) != 1 {
			t.Errorf("got the raises %v, want one", raises)
		}
	})
}

// Two processes and more, lost answers and callers that leave: no id twice, and every id larger than all that were
// received before it was asked for.
func TestOrderedInRealTime(t *testing.T) {
	for seed := range int64(4) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			store := &rowStore{nextID: 1, cache: 1000}
			var calls atomic.Int64
			store.before = func(context.Context, sequence.Request) error {
				switch n := calls.Add(1); {
				case n%17 == seed:
					return sequencetest.ErrLost
				case n%5 == 0:
					time.Sleep(time.Duration(n%7) * 50 * time.Microsecond)
				}
				return nil
			}
			var ids sequencetest.IDs
			callOrdered(t, &ids, 300, func() sequence.Store { return store })
			ids.NoDuplicates(t)
			ids.Increasing(t)
		})
	}
}

// The same on real servers, where the row's server says what the order is.
func TestOrderedOnServers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, strategy := range strategies {
			t.Run(strategy, func(t *testing.T) {
				h := harness(t, s, strategy)
				if err := sequence.Seed(t.Context(), h.Admin, h.Database, userSeq.Table, 1, 1000); err != nil {
					t.Fatal(err)
				}
				var ids sequencetest.IDs
				begin := time.Now()
				callOrdered(t, &ids, 25, func() sequence.Store { return inDatabase{openStore(t, s, s.Addr, strategy), h.Database} })
				ids.NoDuplicates(t)
				ids.Increasing(t)
				t.Logf("%d ids in %v", ids.Count(), time.Since(begin))
			})
		}
	})
}

// inDatabase is a store for userSeq in a test's own database.
type inDatabase struct {
	sequence.Store
	database string
}

func (s inDatabase) Reserve(ctx context.Context, req sequence.Request) (sequence.Reservation, error) {
	req.Database = s.database
	return s.Store.Reserve(ctx, req)
}

// callOrdered has three processes on one row, with 16 callers each, take ids the given number of times.
func callOrdered(t *testing.T, ids *sequencetest.IDs, times int, open func() sequence.Store) {
	var all sync.WaitGroup
	for range 3 {
		seq := newOrdered(t, open(), sequence.Config{Timeout: time.Minute})
		for n := range int64(16) {
			all.Go(func() {
				for i := range times {
					ctx, cancel := context.WithCancel(t.Context())
					if n == 0 && i%3 == 0 {
						time.AfterFunc(50*time.Microsecond, cancel) // a caller that leaves
					}
					err := ids.Take(func() (sequence.Range, error) { return seq.Next(ctx, 1+n%3) })
					if err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					cancel()
				}
			})
		}
	}
	all.Wait()
}

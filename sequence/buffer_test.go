package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

var userSeq = sequence.Name{Keyspace: "main", Database: "main", Table: "user_seq"}

// newSequence returns a sequence on store, closed at the end of the test.
func newSequence(t *testing.T, store sequence.Store, cfg sequence.Config) *sequence.Sequence {
	t.Helper()
	reg := sequencetest.Registry(store, cfg)
	t.Cleanup(func() {
		if err := reg.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return get(t, reg, userSeq)
}

func get(t *testing.T, reg *sequence.Registry, name sequence.Name) *sequence.Sequence {
	t.Helper()
	seq, err := reg.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// firsts takes blocks of the given sizes one after the other and returns their first ids.
func firsts(t *testing.T, seq *sequence.Sequence, sizes ...int64) (ids []int64) {
	t.Helper()
	for _, n := range sizes {
		r, err := seq.Next(t.Context(), n)
		if err != nil {
			t.Fatalf("next %d: %v", n, err)
		}
		if r.N != n {
			t.Fatalf("got %d ids, want %d", r.N, n)
		}
		ids = append(ids, r.First)
	}
	return ids
}

func wantIDs(t *testing.T, got []int64, want ...int64) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func wantRow(t *testing.T, store *sequencetest.Store, nextID int64) {
	t.Helper()
	if got := store.Row().NextID; got != nextID {
		t.Errorf("got next_id %d, want %d", got, nextID)
	}
}

// ones is n requests for one id.
func ones(n int) []int64 {
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = 1
	}
	return sizes
}

// A sequence that is little used gives the ids that Vitess gives, and leaves the row as Vitess leaves it. The cases are
// Vitess's own (go/vt/vttablet/endtoend/sequence_test.go) and observed ones.
func TestAsVitess(t *testing.T) {
	for _, tt := range []struct {
		name   string
		row    sequencetest.Row
		sizes  []int64
		want   []int64
		nextID int64
	}{
		{"first value", sequencetest.Row{NextID: 1, Cache: 1000}, []int64{1}, []int64{1}, 1001},
		{"a block, then one", sequencetest.Row{NextID: 1, Cache: 1000}, []int64{1, 5, 1}, []int64{1, 2, 7}, 1001},
		{"larger than the cache", sequencetest.Row{NextID: 1, Cache: 10}, []int64{25, 1}, []int64{1, 26}, 31},
		{"refills keep the tail", sequencetest.Row{NextID: 1, Cache: 3}, []int64{2, 2, 2, 2, 2}, []int64{1, 3, 5, 7, 9}, 13},
		{"the tail counts", sequencetest.Row{NextID: 1, Cache: 10}, []int64{5, 25, 1}, []int64{1, 6, 31}, 41},
		{"zero and negative values are never given", sequencetest.Row{NextID: -5, Cache: 10}, []int64{1, 1}, []int64{1, 2}, 11},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := sequencetest.NewStore(tt.row.NextID, tt.row.Cache)
			seq := newSequence(t, store, sequence.Config{})
			wantIDs(t, firsts(t, seq, tt.sizes...), tt.want...)
			wantRow(t, store, tt.nextID)
		})
	}
}

// What an operator does to the row while ids are in memory counts from the next refill on.
func TestRowEdited(t *testing.T) {
	for _, tt := range []struct {
		name   string
		edit   sequencetest.Row // after 8 of 10 ids
		sizes  []int64
		want   []int64
		nextID int64
		raised int64
	}{
		{"forwards", sequencetest.Row{NextID: 1000, Cache: 10}, []int64{1, 1, 1}, []int64{9, 10, 1000}, 1010, 0},
		{"forwards with a tail", sequencetest.Row{NextID: 1000, Cache: 10}, []int64{3, 1}, []int64{1000, 1003}, 1010, 0},
		{"backwards", sequencetest.Row{NextID: 5, Cache: 10}, []int64{1, 1, 1}, []int64{9, 10, 11}, 21, 1},
		{"backwards with a tail", sequencetest.Row{NextID: 5, Cache: 10}, []int64{3, 1}, []int64{9, 12}, 21, 1},
		{"backwards and forwards again, past the tail", sequencetest.Row{NextID: 10, Cache: 10}, []int64{3, 1}, []int64{11, 14}, 21, 1},
		{"larger cache", sequencetest.Row{NextID: 11, Cache: 50}, []int64{1, 1, 1}, []int64{9, 10, 11}, 61, 0},
		{"smaller cache", sequencetest.Row{NextID: 11, Cache: 2}, []int64{1, 1, 1}, []int64{9, 10, 11}, 13, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log strings.Builder
			store := sequencetest.NewStore(1, 10)
			seq := newSequence(t, store, sequence.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			firsts(t, seq, ones(8)...)
			store.SetRow(tt.edit)
			wantIDs(t, firsts(t, seq, tt.sizes...), tt.want...)
			wantRow(t, store, tt.nextID)
			if got := seq.Status().Raised; got != tt.raised {
				t.Errorf("got %d raises counted, want %d", got, tt.raised)
			}
			if got := strings.Contains(log.String(), "sequence row was behind"); got != (tt.raised > 0) {
				t.Errorf("raise logged: got %v in %q", got, log.String())
			}
		})
	}
}

func TestInvalidCounts(t *testing.T) {
	store := sequencetest.NewStore(1, 10)
	seq := newSequence(t, store, sequence.Config{})
	for _, n := range []int64{0, -1, sequence.MaxN + 1, -1 << 63, 1<<63 - 1} {
		if r, err := seq.Next(t.Context(), n); !errors.Is(err, sequence.ErrInvalidCount) || !strings.Contains(err.Error(), "main.user_seq") {
			t.Errorf("next %d: got %v, %v, want ErrInvalidCount", n, r, err)
		}
	}
	wantRow(t, store, 1)
	wantIDs(t, firsts(t, seq, sequence.MaxN), 1)
}

func TestExhausted(t *testing.T) {
	store := sequencetest.NewStore(121, 10)
	seq := newSequence(t, store, sequence.Config{Max: 127})
	wantIDs(t, firsts(t, seq, 1), 121)
	if _, err := seq.Next(t.Context(), 7); !errors.Is(err, sequence.ErrExhausted) {
		t.Errorf("next 7 of 6 left: got %v, want ErrExhausted", err)
	}
	wantIDs(t, firsts(t, seq, 5, 1), 122, 127)
	for range 3 {
		if _, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrExhausted) {
			t.Errorf("next 1 of 0 left: got %v, want ErrExhausted", err)
		}
	}
	store.SetRow(sequencetest.Row{NextID: 5, Cache: 10})
	if _, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrExhausted) {
		t.Errorf("after the row was set back: got %v, want ErrExhausted", err)
	}
}

// Callers that wait together for different amounts: who wants more than there is does not take the ids from the others.
func TestExhaustedForSome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(121, 1)
		store.Before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
		seq := newSequence(t, store, sequence.Config{Max: 127})
		var all sync.WaitGroup
		var large, small error
		all.Go(func() { _, large = seq.Next(t.Context(), 8) })
		synctest.Wait()
		all.Go(func() { _, small = seq.Next(t.Context(), 7) })
		all.Wait()
		if !errors.Is(large, sequence.ErrExhausted) || small != nil {
			t.Errorf("got %v and %v, want ErrExhausted and no error", large, small)
		}
	})
}

// A block whose commit was not confirmed is never used, whether it was committed or not.
func TestUnknownOutcome(t *testing.T) {
	store := sequencetest.NewStore(1, 10)
	var lost atomic.Bool
	store.After = func(context.Context, sequence.Reservation) error {
		if lost.CompareAndSwap(false, true) {
			return sequencetest.ErrLost
		}
		return nil
	}
	seq := newSequence(t, store, sequence.Config{})
	wantIDs(t, firsts(t, seq, 1, 1), 11, 12)
	wantRow(t, store, 21)
	if st := seq.Status(); st.Failures != 1 || !errors.Is(st.LastError, sequencetest.ErrLost) || !st.AwaySince.IsZero() {
		t.Errorf("got %+v, want one failure that is over", st)
	}
}

// badStore gives the same block again and again.
type badStore struct{ sequence.Reservation }

func (s badStore) Reserve(context.Context, sequence.Request) (sequence.Reservation, error) {
	return s.Reservation, nil
}

// Ids that this process was given before are not handed out, whatever a store says.
func TestStoreThatRepeatsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seq := newSequence(t, badStore{sequence.Reservation{Range: sequence.Range{First: 1, N: 2}, Cache: 2}}, sequence.Config{})
		wantIDs(t, firsts(t, seq, 1, 1), 1, 2)
		_, err := seq.Next(t.Context(), 1)
		if !errors.Is(err, sequence.ErrUnavailable) || !strings.Contains(err.Error(), "given 2 already") {
			t.Errorf("got %v, want ErrUnavailable with the reason", err)
		}
	})
}

func TestRefusals(t *testing.T) {
	store := &sequencetest.Store{}
	seq := newSequence(t, store, sequence.Config{})
	for range 2 {
		if _, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrNoRow) {
			t.Errorf("got %v, want ErrNoRow", err)
		}
	}
	store.SetRow(sequencetest.Row{NextID: 7, Cache: 10})
	wantIDs(t, firsts(t, seq, 1), 7)
}

// What keeps a sequence from fetching ahead is told before the ids run out, and does not keep it from the ids it has.
func TestRefusedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		store := sequencetest.NewStore(1, 10)
		seq := newSequence(t, store, sequence.Config{Max: 200, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for i := range int64(200) {
			wantIDs(t, firsts(t, seq, 1), i+1)
			synctest.Wait()
		}
		st := seq.Status()
		if !errors.Is(st.LastError, sequence.ErrExhausted) || st.Failures > 20 {
			t.Errorf("got %d failures and %v, want few and ErrExhausted", st.Failures, st.LastError)
		}
		if !strings.Contains(log.String(), "no further ids could be fetched ahead") {
			t.Errorf("got the log %q, want a warning", log.String())
		}
	})
}

// A database that comes back with a table that is unfit is not away any more.
func TestRefusedAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &sequencetest.Store{}
		back := time.Now().Add(time.Minute)
		store.Before = func(context.Context, sequence.Request) error {
			if time.Now().Before(back) {
				return sequencetest.ErrLost
			}
			return nil
		}
		seq := newSequence(t, store, sequence.Config{})
		for _, want := range []error{sequence.ErrUnavailable, sequence.ErrNoRow} {
			if _, err := seq.Next(t.Context(), 1); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			if away := !seq.Status().AwaySince.IsZero(); away != (want == sequence.ErrUnavailable) {
				t.Errorf("after %v: away is %v", want, away)
			}
			time.Sleep(time.Until(back))
			synctest.Wait()
			time.Sleep(time.Second)
		}
	})
}

func TestManyWaitForOneRefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		var running, most atomic.Int64
		store.Before = func(context.Context, sequence.Request) error {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(20 * time.Millisecond)
			running.Add(-1)
			return nil
		}
		seq := newSequence(t, store, sequence.Config{})
		var ids sequencetest.IDs
		var all sync.WaitGroup
		begin := time.Now()
		for range 64 {
			all.Go(func() {
				if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1) }); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		ids.NoDuplicates(t)
		if got, most := time.Since(begin), 40*time.Millisecond; got > most {
			t.Errorf("64 callers waited %v, want %v at most: a refill for the first and one for the rest", got, most)
		}
		if got := ids.Unused(); got != 0 {
			t.Errorf("got %d ids left out, want 0", got)
		}
		if most.Load() != 1 {
			t.Errorf("got %d refills in flight, want 1", most.Load())
		}
	})
}

func TestDeadlines(t *testing.T) {
	for _, tt := range []struct {
		name string
		with func(context.Context) (context.Context, context.CancelFunc)
		want time.Duration
		kind error
	}{
		{"the timeout", context.WithCancel, sequence.DefaultTimeout, sequence.ErrUnavailable},
		{"a nearer deadline", after(time.Second), time.Second, sequence.ErrUnavailable},
		{"a later deadline", after(time.Hour), sequence.DefaultTimeout, sequence.ErrUnavailable},
		{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, time.Second, context.Canceled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := sequencetest.NewStore(1, 10)
				store.Before = func(ctx context.Context, _ sequence.Request) error { <-ctx.Done(); return ctx.Err() }
				seq := newSequence(t, store, sequence.Config{})
				ctx, cancel := tt.with(t.Context())
				defer cancel()
				begin := time.Now()
				_, err := seq.Next(ctx, 1)
				if got := time.Since(begin); got != tt.want || !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), "main.user_seq") {
					t.Errorf("got %v after %v, want %v after %v", err, got, tt.kind, tt.want)
				}
				if st := seq.Status(); st.Waiting != 0 {
					t.Errorf("got %d callers waiting, want 0", st.Waiting)
				}
			})
		})
	}
}

func after(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
}

// While the database is away, ids in memory are given; later callers get an error that says what is wrong; and when it is
// back all goes on by itself.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		store := sequencetest.NewStore(1, 10)
		var down atomic.Bool
		store.Before = func(context.Context, sequence.Request) error {
			if down.Load() {
				return fmt.Errorf("dial: %w", sequencetest.ErrLost)
			}
			return nil
		}
		seq := newSequence(t, store, sequence.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		firsts(t, seq, 1)
		down.Store(true)
		wantIDs(t, firsts(t, seq, ones(9)...), 2, 3, 4, 5, 6, 7, 8, 9, 10)
		since := time.Now()
		for range 3 {
			_, err := seq.Next(t.Context(), 1)
			var away *sequence.UnavailableError
			if !errors.As(err, &away) || !errors.Is(err, sequence.ErrUnavailable) || !errors.Is(err, sequencetest.ErrLost) {
				t.Fatalf("got %v, want ErrUnavailable because of ErrLost", err)
			}
			if !away.Since.Equal(since) || away.Waited != 5*time.Second || !strings.Contains(err.Error(), since.Format(time.RFC3339)) {
				t.Errorf("got %v away since %v, want since %v", err, away.Since, since)
			}
		}
		time.Sleep(time.Hour)
		down.Store(false)
		begin := time.Now()
		wantIDs(t, firsts(t, seq, 1), 11)
		if got := time.Since(begin); got > 250*time.Millisecond {
			t.Errorf("took %v to go on, want 250 ms at most", got)
		}
		if got := strings.Count(log.String(), "gives no ids; trying again"); got != 1 {
			t.Errorf("got %d warnings in an hour, want 1", got)
		}
		if !strings.Contains(log.String(), "answers again") {
			t.Errorf("got the log %q, want the end of the outage", log.String())
		}
	})
}

// An attempt that hangs is ended, so that the next one can use another connection.
func TestHangingAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		var calls atomic.Int64
		store.Before = func(ctx context.Context, _ sequence.Request) error {
			if calls.Add(1) == 1 {
				<-ctx.Done()
			}
			return ctx.Err()
		}
		seq := newSequence(t, store, sequence.Config{})
		wantIDs(t, firsts(t, seq, 1), 1)
	})
}

// A warm sequence fetches ahead: callers do not wait while the database answers sooner than a segment lasts.
func TestFetchesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 100)
		store.Before = func(context.Context, sequence.Request) error { time.Sleep(20 * time.Millisecond); return nil }
		seq := newSequence(t, store, sequence.Config{})
		waits := 0
		for i := range 5000 {
			begin := time.Now()
			firsts(t, seq, 1)
			if time.Since(begin) > 0 {
				waits++
				if i > 10*100 {
					t.Errorf("id %d waited %v", i+1, time.Since(begin))
				}
			}
			time.Sleep(time.Millisecond)
		}
		if waits > 8 {
			t.Errorf("got %d waits, want 8 at most: those of the cold sequence", waits)
		}
		st := seq.Status()
		if !st.Warm || st.Step <= 100 || st.Rate < 900 || st.Rate > 1100 {
			t.Errorf("got %+v, want it warm with a larger step at 1000 ids/s", st)
		}
	})
}

// A sequence that is used slowly but steadily is never caught without ids either.
func TestFetchesAheadWhenSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 100)
		seq := newSequence(t, store, sequence.Config{})
		for range 50 {
			firsts(t, seq, 1)
			time.Sleep(20 * time.Second)
		}
		st := seq.Status()
		if st.Next.N != 100 || st.Step != 100 {
			t.Errorf("got %+v, want a next segment of 100: one lasts for 33 minutes", st)
		}
	})
}

// The share of a block at which the next one is fetched at the latest, when it lasts long enough.
func TestPrefetchShare(t *testing.T) {
	for _, tt := range []struct {
		share float64
		used  int64 // of 1000 ids when the next block is there
	}{
		{0, 100},
		{-1, 100},
		{math.NaN(), 100},
		{0.001, 1},
		{0.1, 100},
		{0.5, 500},
		{0.99, 990},
		{7, 990},
	} {
		t.Run(fmt.Sprint(tt.share), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := sequencetest.NewStore(1, 1000)
				seq := newSequence(t, store, sequence.Config{PrefetchShare: tt.share, MaxStep: 1000})
				for seq.Status().Refills < 9 { // the ninth is the first one that is fetched ahead
					firsts(t, seq, 1)
					time.Sleep(time.Minute)
				}
				st := takeUntil(t, seq, func(st sequence.Status) bool { return st.Current.N+st.Next.N == 1000 })
				before := st.Refills
				for seq.Status().Refills == before {
					firsts(t, seq, 1)
					time.Sleep(time.Minute)
				}
				if st := seq.Status(); st.Next.N != 1000 || 1000-st.Current.N != tt.used {
					t.Errorf("got %d of %d ids used when the next block came, want %d", 1000-st.Current.N, st.Step, tt.used)
				}
			})
		})
	}
}

// The runway says how long the ids in memory last.
func TestRunway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 1000)
		seq := newSequence(t, store, sequence.Config{})
		if got := seq.Status().Runway; got != 0 {
			t.Errorf("got %v before the first block, want 0", got)
		}
		for range 500 {
			firsts(t, seq, 1)
			time.Sleep(time.Second)
		}
		st := seq.Status()
		ids := st.Current.N + st.Next.N
		if got := st.Runway.Round(10 * time.Second); got != time.Duration(ids)*time.Second || ids < 500 {
			t.Errorf("got a runway of %v with %d ids at an id a second", got, ids)
		}
		time.Sleep(1000 * 24 * time.Hour)
		if st := seq.Status(); st.Runway != sequence.MaxRunway {
			t.Errorf("got a runway of %v after three idle years, want the longest, %v", st.Runway, sequence.MaxRunway)
		}
	})
}

func TestStepFollowsDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		seq := newSequence(t, store, sequence.Config{MaxStep: 1000})
		for range 60 {
			firsts(t, seq, ones(1000)...)
			time.Sleep(time.Second)
		}
		if got := seq.Status().Step; got != 1000 {
			t.Fatalf("got step %d at 1000 ids/s, want the largest, 1000", got)
		}
		for range 4000 {
			firsts(t, seq, 1)
			time.Sleep(time.Minute)
		}
		if got := seq.Status().Step; got > 40 || got < 10 {
			t.Errorf("got step %d at an id a minute, want 10 to 40: half an hour", got)
		}
	})
}

// A large request cannot be starved by small ones that take what it waits for.
func TestLargeAmongSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		store.Before = func(context.Context, sequence.Request) error { time.Sleep(10 * time.Millisecond); return nil }
		seq := newSequence(t, store, sequence.Config{MaxStep: 10})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for ctx.Err() == nil {
					_, _ = seq.Next(ctx, 1) // until the end of the test, which it may hear of while it waits
					time.Sleep(time.Microsecond)
				}
			})
		}
		for range 20 {
			begin := time.Now()
			firsts(t, seq, 95)
			if got := time.Since(begin); got > 50*time.Millisecond {
				t.Errorf("waited %v for 95 ids, want three refills at most", got)
			}
		}
		cancel()
		all.Wait()
	})
}

// Big requests that gave up leave no harm behind.
func TestWaiterGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		seq := newSequence(t, store, sequence.Config{})
		firsts(t, seq, 1)
		store.Before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := seq.Next(ctx, 100); !errors.Is(err, sequence.ErrUnavailable) {
			t.Fatalf("got %v, want ErrUnavailable", err)
		}
		time.Sleep(time.Minute)
		wantIDs(t, firsts(t, seq, ones(10)...), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	})
}

// skippingStore tells of a failover with each block.
type skippingStore struct{ *sequencetest.Store }

func (s skippingStore) Reserve(ctx context.Context, req sequence.Request) (sequence.Reservation, error) {
	res, err := s.Store.Reserve(ctx, req)
	res.Server, res.Skipped = "b:3306", 100
	return res, err
}

// A failover is told, with what it cost.
func TestFailoverIsTold(t *testing.T) {
	var log strings.Builder
	seq := newSequence(t, skippingStore{sequencetest.NewStore(1, 10)}, sequence.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	firsts(t, seq, 10, 1)
	if st := seq.Status(); st.Server != "b:3306" || st.Skipped != 200 {
		t.Errorf("got the server %q and %d ids skipped, want b:3306 and 200", st.Server, st.Skipped)
	}
	if got := strings.Count(log.String(), "served by another server last"); got != 2 {
		t.Errorf("got the log %q, want a warning for each failover", log.String())
	}
}

// repeatingStore gives ids again, once, from a row that was set back unseen.
type repeatingStore struct {
	*rowStore
	calls int
}

func (s *repeatingStore) Reserve(ctx context.Context, req sequence.Request) (sequence.Reservation, error) {
	if s.calls++; s.calls == 2 {
		s.nextID = 6
		return sequence.Reservation{Range: sequence.Range{First: 1, N: 5}}, nil
	}
	return s.rowStore.Reserve(ctx, req)
}

// What a store gives again is not given to anybody, nor believed.
func TestStoreGivesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seq := newSequence(t, &repeatingStore{rowStore: &rowStore{nextID: 1, cache: 10}}, sequence.Config{})
		wantIDs(t, firsts(t, seq, ones(20)...), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	})
}

package sequence_test

import (
	"context"
	"errors"
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

func TestRegistryHasOneSequencePerName(t *testing.T) {
	var opened atomic.Int64
	reg := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
		opened.Add(1)
		return sequence.Settings{Store: sequencetest.NewStore(1, 10)}, nil
	}, sequence.Config{})
	t.Cleanup(func() { _ = reg.Close(context.Background()) })
	names := []sequence.Name{{Keyspace: "b", Database: "b", Table: "s"}, {Keyspace: "a", Database: "a", Table: "t"}, {Keyspace: "a", Database: "a", Table: "s"}}
	var all sync.WaitGroup
	for range 8 {
		for _, name := range names {
			all.Go(func() {
				seq, err := reg.Get(name)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := seq.Next(t.Context(), 1); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if opened.Load() != 3 {
		t.Errorf("got %d stores opened, want 3", opened.Load())
	}
	var got []string
	for _, st := range reg.Snapshot() {
		got = append(got, st.Name.String())
	}
	if diff := cmp.Diff([]string{"a.s", "a.t", "b.s"}, got); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
}

func TestRegistryOpenFails(t *testing.T) {
	fails := errors.New("no such keyspace")
	reg := sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) { return sequence.Settings{}, fails }, sequence.Config{})
	for range 2 {
		if _, err := reg.Get(userSeq); !errors.Is(err, fails) || !strings.Contains(err.Error(), "main.user_seq") {
			t.Errorf("got %v, want %v for main.user_seq", err, fails)
		}
	}
}

func TestCloseHandsBack(t *testing.T) {
	for _, tt := range []struct {
		name string
		use  func(t *testing.T, store *sequencetest.Store, seq *sequence.Sequence) (nextID int64)
	}{
		{"the rest of a segment", func(t *testing.T, _ *sequencetest.Store, seq *sequence.Sequence) int64 {
			firsts(t, seq, 1, 2)
			return 4
		}},
		{"nothing of a used segment", func(t *testing.T, _ *sequencetest.Store, seq *sequence.Sequence) int64 {
			firsts(t, seq, 10)
			return 11
		}},
		{"not when it was not used", func(*testing.T, *sequencetest.Store, *sequence.Sequence) int64 { return 1 }},
		{"not when others took more", func(t *testing.T, store *sequencetest.Store, seq *sequence.Sequence) int64 {
			firsts(t, seq, 1)
			if _, err := store.Reserve(t.Context(), sequence.Request{Need: 1}); err != nil {
				t.Fatal(err)
			}
			return 21
		}},
		{"both segments that adjoin", func(t *testing.T, _ *sequencetest.Store, seq *sequence.Sequence) int64 {
			st := takeUntil(t, seq, func(st sequence.Status) bool { return st.Warm && st.Current.N > 0 && st.Next.N > 0 })
			if st.Current.Last()+1 != st.Next.First {
				t.Fatalf("got %+v, want two segments that adjoin", st)
			}
			return st.Current.First
		}},
		{"the segment that does not adjoin, of two", func(t *testing.T, store *sequencetest.Store, seq *sequence.Sequence) int64 {
			firsts(t, seq, ones(80)...)
			store.SetRow(sequencetest.Row{NextID: 100_000, Cache: 10})
			takeUntil(t, seq, func(st sequence.Status) bool { return st.Given > 100_000 })
			store.SetRow(sequencetest.Row{NextID: 1_000_000, Cache: 10})
			st := takeUntil(t, seq, func(st sequence.Status) bool {
				return st.Current.N > 0 && st.Current.First < 1_000_000 && st.Next.First >= 1_000_000
			})
			return st.Next.First
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := sequencetest.NewStore(1, 10)
				reg := sequencetest.Registry(store, sequence.Config{})
				seq := get(t, reg, userSeq)
				want := tt.use(t, store, seq)
				if err := reg.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				wantRow(t, store, want)
				if r, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrClosed) {
					t.Errorf("next after close: got %v, %v, want ErrClosed", r, err)
				}
				if _, err := reg.Get(sequence.Name{Table: "other"}); !errors.Is(err, sequence.ErrClosed) {
					t.Errorf("get after close: got %v, want ErrClosed", err)
				}
				if err := reg.Close(t.Context()); err != nil {
					t.Errorf("second close: %v", err)
				}
			})
		})
	}
}

// takeUntil takes ids one by one, and lets refills end, until the sequence is as wanted.
func takeUntil(t *testing.T, seq *sequence.Sequence, wanted func(sequence.Status) bool) sequence.Status {
	t.Helper()
	for range 10_000 {
		if st := seq.Status(); wanted(st) {
			return st
		}
		firsts(t, seq, 1)
		synctest.Wait()
	}
	t.Fatalf("got %+v", seq.Status())
	return sequence.Status{}
}

// A refill on its way is waited for, and its block goes back; the callers that wait are told at once.
func TestCloseDuringRefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		store.Before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
		reg := sequencetest.Registry(store, sequence.Config{})
		seq := get(t, reg, userSeq)
		var all sync.WaitGroup
		begin := time.Now()
		all.Go(func() {
			if _, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrClosed) || time.Since(begin) != 0 {
				t.Errorf("got %v after %v, want ErrClosed at once", err, time.Since(begin))
			}
		})
		synctest.Wait()
		if err := reg.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		all.Wait()
		if got := time.Since(begin); got != time.Second {
			t.Errorf("close took %v, want the second of the refill", got)
		}
		wantRow(t, store, 1)
	})
}

func TestCloseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		reg := sequencetest.Registry(hanging{store}, sequence.Config{})
		seq := get(t, reg, userSeq)
		firsts(t, seq, 1)
		store.Before = func(ctx context.Context, _ sequence.Request) error { <-ctx.Done(); return ctx.Err() }
		var all sync.WaitGroup
		all.Go(func() { _, _ = seq.Next(t.Context(), 100) }) // ErrClosed: see TestCloseDuringRefill
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if err := reg.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "ids 2 to 10") {
			t.Errorf("got %v, want the deadline and the ids that are lost", err)
		}
		if got := time.Since(begin); got != time.Second {
			t.Errorf("close took %v, want 1s", got)
		}
		all.Wait()
	})
}

// hanging takes nothing back.
type hanging struct{ *sequencetest.Store }

func (hanging) Release(ctx context.Context, _ sequence.Request, _ sequence.Range) (bool, error) {
	<-ctx.Done()
	return false, ctx.Err()
}

// Closing while the database is away and a refill waits for its next try.
func TestCloseDuringOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		store.Before = func(context.Context, sequence.Request) error { return sequencetest.ErrLost }
		reg := sequencetest.Registry(store, sequence.Config{})
		seq := get(t, reg, userSeq)
		if _, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrUnavailable) {
			t.Fatalf("got %v, want ErrUnavailable", err)
		}
		begin := time.Now()
		if err := reg.Close(t.Context()); err != nil || time.Since(begin) != 0 {
			t.Errorf("got %v after %v, want no error at once", err, time.Since(begin))
		}
	})
}

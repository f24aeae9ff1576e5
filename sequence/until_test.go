package sequence_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// hourly is a store whose blocks end with the hour in which they were reserved.
type hourly struct{ *sequencetest.Store }

func (s hourly) Reserve(ctx context.Context, q sequence.Request) (sequence.Reservation, error) {
	res, err := s.Store.Reserve(ctx, q)
	res.Until = time.Now().Truncate(time.Hour).Add(time.Hour)
	return res, err
}

// What is in memory is dropped when its time is over, and not before.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seq := newSequence(t, hourly{sequencetest.NewStore(1, 10)}, sequence.Config{})
		time.Sleep(time.Hour - 5*time.Second) // a sequence that is cold fetches nothing ahead
		got := firsts(t, seq, 1, 1)
		time.Sleep(4 * time.Second)
		got = append(got, firsts(t, seq, 1)...)
		time.Sleep(time.Second)
		synctest.Wait()
		if st := seq.Status(); st.Current.N+st.Next.N != 0 {
			t.Errorf("%+v and %+v are left after the hour, want none", st.Current, st.Next)
		}
		got = append(got, firsts(t, seq, 1, 1)...)
		if diff := cmp.Diff([]int64{1, 2, 3, 11, 12}, got); diff != "" {
			t.Errorf("ids (-want +got):\n%s", diff)
		}
		if st := seq.Status(); st.Dropped != 7 {
			t.Errorf("%d ids were dropped, want 7", st.Dropped)
		}
	})
}

// A warm sequence has a block of the new time at once, and what it fetched ahead goes with the rest.
func TestUntilWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		seq := newSequence(t, hourly{store}, sequence.Config{MaxStep: 10})
		for range 30 {
			firsts(t, seq, 9)
		}
		synctest.Wait()
		before := store.Row().NextID
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := firsts(t, seq, 1)[0]; got != before {
			t.Errorf("got id %d after the hour, want %d", got, before)
		}
	})
}

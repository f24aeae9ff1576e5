package sequence_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// What callers got, how long attempts took and how long callers waited is counted.
func TestStatusCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		fails := true
		store.Before = func(context.Context, sequence.Request) error {
			time.Sleep(20 * time.Millisecond)
			if fails {
				fails = false
				return errors.New("connection lost")
			}
			return nil
		}
		seq := newSequence(t, store, sequence.Config{Max: 1000})
		firsts(t, seq, 1, 1, 3)
		st := seq.Status()
		if st.Values != 5 || st.Last != 1000 || st.Given != 10 || st.Refills != 1 || st.Failures != 1 {
			t.Errorf("got %+v, want 5 ids of a first block", st)
		}
		const within25ms = 7 // the bucket of 10 to 25 ms
		if st.RefillTimes.Count() != 2 || st.RefillTimes.Counts[within25ms] != 2 || st.RefillTimes.Sum != 40*time.Millisecond {
			t.Errorf("attempts: got %+v, want two of 20 ms", st.RefillTimes)
		}
		if st.WaitTimes.Count() != 1 || st.WaitTimes.Sum < 40*time.Millisecond || st.WaitTimes.Sum > 60*time.Millisecond {
			t.Errorf("waits: got %+v, want one of both attempts and the pause", st.WaitTimes)
		}
	})
}

// A row that others change between reading and writing it is counted, and read again.
func TestConflictsAreCounted(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, sequence.StrategyCAS)
		if err := sequence.Seed(t.Context(), h.Admin, h.Database, "s", 1, 10); err != nil {
			t.Fatal(err)
		}
		other, err := h.Admin.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Rollback()
		if _, err := other.ExecContext(t.Context(), "UPDATE s SET next_id = 101 WHERE id = 0"); err != nil {
			t.Fatal(err)
		}
		var conflicts atomic.Int64
		reserved := make(chan error, 1)
		var got sequence.Reservation
		store := h.Open(t, h.Addr)
		reserve := func() {
			conflicts.Store(0)
			go func() {
				var err error
				got, err = store.Reserve(t.Context(), sequence.Request{Database: h.Database, Table: "s", Need: 1, Conflicts: &conflicts})
				reserved <- err
			}()
		}
		reserve()
		for waits, ended := 0, 0; waits == 0; { // it has read the row, and waits for the other's lock
			const query = "SELECT COUNT(*) FROM " + servertest.Processlist + " WHERE info LIKE CONCAT('UPDATE%', ?, '%')"
			if err := h.Admin.QueryRowContext(t.Context(), query, h.Database).Scan(&waits); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-reserved:
				if err == nil || !sequence.IsTemporary(err) || ended == 10 {
					t.Fatalf("the row is locked, and an attempt ended: %v", err)
				}
				ended++
				reserve() // on a busy machine the wait for the lock may end before it is seen
			default:
			}
		}
		if err := other.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := <-reserved; err != nil || got.First != 101 || conflicts.Load() != 1 {
			t.Errorf("got %+v, %v after %d conflicts; want ids from 101 after one", got, err, conflicts.Load())
		}
	})
}

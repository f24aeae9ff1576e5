package sequence_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// movingStore serves a row from a server that can change.
type movingStore struct {
	*rowStore
	server string
}

func (s *movingStore) Reserve(ctx context.Context, req sequence.Request) (sequence.Reservation, error) {
	res, err := s.rowStore.Reserve(ctx, req)
	res.Server = s.server
	return res, err
}

// After a failover the new server's row may have given to others what is left in memory here: where it is ahead of that,
// it is dropped. Where it is behind, nobody has got it.
func TestServerChanges(t *testing.T) {
	for _, tt := range []struct {
		name, server string
		nextID       int64 // at the second refill
		want         int64 // the id after the first 10 of 1 to 100
	}{
		{"the same server, others went on", "a", 501, 11},
		{"another server, others went on", "b", 501, 501},
		{"another server, others may have gone on", "b", 101, 101},
		{"another server, its row behind", "b", 3, 11},
		{"another server, its row behind and gone on", "b", 50, 101},
		{"a server that is not known", "", 501, 11},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				store := &movingStore{&rowStore{nextID: 1, cache: 100}, "a"}
				seq := newSequence(t, store, sequence.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				firsts(t, seq, 1, 8)
				store.nextID, store.server = tt.nextID, tt.server
				time.Sleep(time.Minute) // it turns warm, and fetches the next block at a tenth
				firsts(t, seq, 1)
				synctest.Wait()
				wantIDs(t, firsts(t, seq, 1), tt.want)
				if got, want := strings.Contains(log.String(), "another server serves"), tt.server == "b"; got != want {
					t.Errorf("the log tells of another server: %v, want %v:\n%s", got, want, log.String())
				}
				if got := seq.Status().Server; got != tt.server {
					t.Errorf("got server %q in the status, want %q", got, tt.server)
				}
			})
		})
	}
}

// A row that went backwards and forwards again may have given to others what is left of the first of two segments here,
// also when the second one lies far above it.
func TestRewoundBetweenSegments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &rowStore{nextID: 1, cache: 100}
		seq := newSequence(t, store, sequence.Config{})
		firsts(t, seq, 1, 8)
		store.nextID = 1001
		time.Sleep(time.Minute) // it turns warm, and fetches the next block at a tenth
		firsts(t, seq, 1)
		synctest.Wait()
		if st := seq.Status(); st.Current.First != 11 || st.Next.First != 1001 {
			t.Fatalf("got the segments %v and %v, want them to begin at 11 and 1001", st.Current, st.Next)
		}
		store.nextID = 111 // set back to 11, and others have taken 11 to 110
		store.before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if _, err := seq.Next(ctx, 1_000_000); err == nil {
			t.Fatal("a million ids came within half a second")
		}
		time.Sleep(time.Second)
		if got := firsts(t, seq, 1)[0]; got <= 1100 {
			t.Errorf("got %d, which others may have, want an id above 1100", got)
		}
	})
}

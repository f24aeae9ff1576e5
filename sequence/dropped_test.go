package sequence_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// A sequence that is discarded while an attempt is under way may have been given ids: they are remembered, so that a table
// that is made anew begins above them.
func TestDiscardDuringAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sequencetest.NewStore(1, 10)
		store.After = func(ctx context.Context, _ sequence.Reservation) error { <-ctx.Done(); return nil } // committed, and then discarded
		reg := sequencetest.Registry(store, sequence.Config{})
		seq := get(t, reg, userSeq)
		var all sync.WaitGroup
		all.Go(func() {
			if r, err := seq.Next(t.Context(), 1); err == nil {
				t.Errorf("got %v of a sequence that was discarded", r)
			}
		})
		synctest.Wait()
		reg.Discard(userSeq)
		all.Wait()
		if given := reg.Given(userSeq); given != 10 || !reg.Dropped(userSeq) {
			t.Errorf("known afterwards: ids up to %d, dropped %v; want 10, true", given, reg.Dropped(userSeq))
		}
	})
}

// Discard ends what never gave an id, and nothing else.
func TestDiscard(t *testing.T) {
	reg := sequencetest.Registry(sequencetest.NewStore(1, 10), sequence.Config{})
	unused := get(t, reg, userSeq)
	reg.Discard(userSeq)
	used := get(t, reg, userSeq)
	if used == unused || reg.Dropped(userSeq) {
		t.Errorf("one that gave no id: the same again %v, dropped %v", used == unused, reg.Dropped(userSeq))
	}
	wantIDs(t, firsts(t, used, 1), 1)
	reg.Discard(userSeq)
	if get(t, reg, userSeq) != used {
		t.Error("one that gave an id was ended")
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

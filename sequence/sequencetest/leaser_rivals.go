package sequencetest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence/worker"
)

// OpenRival opens a set, of which rivals says which others give ids that may be the same.
type OpenRival func(tb testing.TB, set string, rivals func(set string) bool) worker.Leaser

// TestRivals checks that of sets whose ids may be the same no two have worker ids at a time. It calls open for a place where
// no set has been yet.
func TestRivals(t *testing.T, open func(t *testing.T) OpenRival) {
	t.Run("OneAfterTheOther", func(t *testing.T) {
		t.Parallel()
		for _, released := range []bool{true, false} {
			testRivalsInTurn(t, open(t), released)
		}
	})
	t.Run("Together", func(t *testing.T) {
		t.Parallel()
		for range 5 {
			testRivalsTogether(t, open(t))
		}
	})
}

// openRivals opens two sets whose ids may be the same, and one that has nothing to do with them.
func openRivals(t *testing.T, open OpenRival) (a, b, c worker.Leaser) {
	t.Helper()
	of := func(set string) worker.Leaser {
		return open(t, set, func(other string) bool { return set != other && set != "c" && other != "c" })
	}
	return of("a"), of("b"), of("c")
}

// rivalClaim is a claim without quarantine. 5 seconds are as long as a slow machine may take for the next two questions.
func rivalClaim(lease time.Duration) worker.Claim {
	c := newClaim()
	c.Lease, c.Until = lease, c.Clock.Add(lease)
	return c
}

func testRivalsInTurn(t *testing.T, open OpenRival, released bool) {
	a, b, c := openRivals(t, open)
	claim := rivalClaim(5 * time.Second)
	former, err := a.Acquire(t.Context(), claim)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Acquire(t.Context(), rivalClaim(time.Minute))
	wantRefused(t, err, "a gives ids that may be the same", claim.Address)
	if _, err := c.Acquire(t.Context(), rivalClaim(time.Second)); err != nil {
		t.Errorf("a set of other ids: %v", err)
	}
	if released {
		if err := a.Release(t.Context(), former.Worker, claim); err != nil {
			t.Fatal(err)
		}
	}
	next := acquireSoon(t, b)
	if next.After.Before(former.Until) {
		t.Errorf("ids from %v on, those of the other set go up to %v", next.After, former.Until)
	}
	if _, err = a.Extend(t.Context(), former.Worker, claim); !errors.Is(err, worker.ErrLost) { // of a holder that was frozen
		t.Errorf("a lease that ended, while the other set has one: got %v, want %v", err, worker.ErrLost)
	}
	_, err = a.Acquire(t.Context(), claim)
	wantRefused(t, err, "b gives ids that may be the same")
}

func wantRefused(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !errors.Is(err, worker.ErrNoWorkerID) {
		t.Errorf("got the error %v, want %v", err, worker.ErrNoWorkerID)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("got the error %q, want it to contain %q", err, text)
		}
	}
}

// acquireSoon waits for rivals to end.
func acquireSoon(t *testing.T, l worker.Leaser) worker.Lease {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		lease, err := l.Acquire(t.Context(), rivalClaim(time.Minute))
		if err == nil {
			return lease
		}
		if !errors.Is(err, worker.ErrNoWorkerID) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// testRivalsTogether has two layouts with equal ids come at the same time: one gets a worker id at most.
func testRivalsTogether(t *testing.T, open OpenRival) {
	a, b, _ := openRivals(t, open)
	var got [2]bool
	var all sync.WaitGroup
	for i, l := range []worker.Leaser{a, b} {
		all.Go(func() {
			_, err := l.Acquire(t.Context(), rivalClaim(time.Minute))
			got[i] = err == nil
			if err != nil && !errors.Is(err, worker.ErrNoWorkerID) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got[0] && got[1] {
		t.Fatal("both have a worker id")
	}
}

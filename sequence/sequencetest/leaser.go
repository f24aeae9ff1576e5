package sequencetest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/worker"
)

// LeaserHarness is a set of worker ids to be tested, new and of the test's own.
type LeaserHarness struct {
	// Open returns a way to the set with connections of its own, which are closed at the end of the test.
	Open func(tb testing.TB) worker.Leaser
	// Lossy returns one whose answers can be lost: lose has that befall the next call. nil: there is none.
	Lossy func(tb testing.TB) (l worker.Leaser, lose func(number int))
	// Spec names the set for [HolderMain] in a process of its own; "": the set is in the memory of this one.
	Spec string
	// Clock: Look tells the time, and Until is cut by it.
	Clock bool
}

// virtual is when the tests in a bubble of package synctest begin: after the epoch of [HolderLayout].
var virtual = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// leaserTest is a test of the suite, and the worker ids 0 to most that it needs.
type leaserTest struct {
	name string
	most int64
	test func(t *testing.T, h LeaserHarness)
}

func leaserTests() []leaserTest {
	return []leaserTest{
		{"AtOnce", 15, testLeasesAtOnce},
		{"Exhausted", 1, testLeasesExhausted},
		{"Least", 3, testLeaseLeast},
		{"SameToken", 3, testLeaseSameToken},
		{"SameTokenLater", 0, testLeaseSameTokenLater},
		{"Reserved", 0, testLeaseReserved},
		{"Expiry", 0, testLeaseExpiry},
		{"ExpiredNotTaken", 0, testLeaseExpiredNotTaken},
		{"Release", 0, testLeaseRelease},
		{"FarAhead", 1, testLeaseFarAhead},
		{"Look", 7, testLeaseLook},
		{"Holders", 7, testHolders},
		{"Processes", 15, testHolderProcesses},
		{"Killed", 3, testHolderKilled},
		{"Frozen", 0, testHolderFrozen},
	}
}

// TestLeaser runs the conformance suite against a leaser. It calls open once for each of its tests, for a set of the worker
// ids 0 to most, several at a time.
//
// No test takes the machine to be quick: those of a lease that ends check that it has not ended too early, and wait for the
// end; in all others it would take minutes of standstill for a lease to end.
func TestLeaser(t *testing.T, open func(t *testing.T, most int64) LeaserHarness) {
	for _, tt := range leaserTests() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, open(t, tt.most))
		})
	}
	t.Run("Linearizable", func(t *testing.T) {
		t.Parallel()
		testLeasesLinearizable(t, open)
	})
}

// TestLeaserInBubble is [TestLeaser] in virtual time, for leasers in the memory of the process.
func TestLeaserInBubble(t *testing.T, open func(t *testing.T, most int64) LeaserHarness) {
	for _, tt := range leaserTests() {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(virtual))
				tt.test(t, open(t, tt.most))
			})
		})
	}
	t.Run("Linearizable", func(t *testing.T) { testLeasesLinearizable(t, open) })
}

// tokens makes tokens that differ.
var tokens atomic.Int64

// newClaim returns the claim of a new holder, for a lease that does not end during a test.
func newClaim() worker.Claim {
	n := strconv.FormatInt(tokens.Add(1), 10)
	now := now()
	return worker.Claim{Token: "token" + strconv.FormatInt(now.UnixNano(), 36) + "x" + n, Address: "host-" + n, Until: now.Add(time.Minute),
		Lease: 10 * time.Minute, MaxSkew: 2 * time.Second, Clock: now}
}

// now returns the time of day to the microsecond, which all leasers keep at least.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// short makes a claim's lease one that ends soon. A server may count in whole seconds.
func short(c worker.Claim) worker.Claim {
	c.Lease, c.Quarantine = time.Second, time.Second
	c.Until = now().Add(c.Lease)
	return c
}

func acquire(tb testing.TB, l worker.Leaser, c worker.Claim) worker.Lease {
	tb.Helper()
	got, err := l.Acquire(tb.Context(), c)
	if err != nil {
		tb.Fatalf("acquire for %s: %v", c.Address, err)
	}
	return got
}

func extend(tb testing.TB, l worker.Leaser, id int64, c worker.Claim) time.Time {
	tb.Helper()
	until, err := l.Extend(tb.Context(), id, c)
	if err != nil {
		tb.Fatalf("extend %d for %s: %v", id, c.Address, err)
	}
	return until
}

func wantTime(tb testing.TB, what string, got, want time.Time) {
	tb.Helper()
	if d := got.Sub(want).Abs(); d >= time.Millisecond { // some keep no more
		tb.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// testLeasesAtOnce has 16 processes acquire at once from nothing: each gets one of the 16 worker ids.
func testLeasesAtOnce(t *testing.T, h LeaserHarness) {
	leasers := make([]worker.Leaser, 16)
	for i := range leasers {
		leasers[i] = h.Open(t)
	}
	got := make([]int64, len(leasers))
	var all sync.WaitGroup
	for i, l := range leasers {
		all.Go(func() {
			lease, err := l.Acquire(t.Context(), newClaim())
			if err != nil {
				t.Error(err)
			}
			got[i] = lease.Worker
		})
	}
	all.Wait()
	slices.Sort(got)
	for i, id := range got {
		if id != int64(i) {
			t.Fatalf("got the worker ids %v, want 0 to 15", got)
		}
	}
}

func testLeasesExhausted(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	first, second := newClaim(), newClaim()
	a := acquire(t, l, first)
	acquire(t, l, second)
	other := newClaim()
	_, err := h.Open(t).Acquire(t.Context(), other)
	wantError(t, err, worker.ErrNoWorkerID, "all 2 are taken", first.Address, second.Address)
	wantError(t, err, sequence.ErrUnavailable)
	first.Quarantine = time.Hour
	if err := l.Release(t.Context(), a.Worker, first); err != nil {
		t.Fatal(err)
	}
	_, err = h.Open(t).Acquire(t.Context(), other)
	wantError(t, err, worker.ErrNoWorkerID, "1 by holders", "1 in quarantine")
}

// testLeaseLeast checks that a holder gets no worker id below the lowest that it can use, and that others can.
func testLeaseLeast(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	for range 2 {
		c := newClaim()
		c.Least = 2
		if got := acquire(t, l, c); got.Worker < 2 {
			t.Errorf("from 2 on: got worker id %d", got.Worker)
		}
	}
	c := newClaim()
	c.Least = 2
	_, err := l.Acquire(t.Context(), c)
	wantError(t, err, worker.ErrNoWorkerID, "all 2 are taken, 2 by holders")
	if got := acquire(t, l, newClaim()); got.Worker > 1 {
		t.Errorf("got worker id %d, want 0 or 1", got.Worker)
	}
}

// testLeaseSameToken checks that a call whose answer was lost can be repeated: it gives the same lease.
func testLeaseSameToken(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	c := newClaim()
	first := acquire(t, l, c)
	c.Until = c.Until.Add(time.Second)
	again := acquire(t, h.Open(t), c)
	if again.Worker != first.Worker || !again.After.Equal(first.After) {
		t.Errorf("again: got %+v, want that of %+v", again, first)
	}
	if other := acquire(t, l, newClaim()); other.Worker == first.Worker {
		t.Errorf("another got the worker id %d, too", other.Worker)
	}
	if err := l.Release(t.Context(), first.Worker, c); err != nil {
		t.Fatal(err)
	}
	if next := acquireWhenFree(t, l, newClaim()); next.Worker != first.Worker || next.After.Before(again.Until.Add(-time.Millisecond)) {
		t.Errorf("the next one got %+v, want worker id %d after %v", next, first.Worker, again.Until)
	}
}

// testLeaseSameTokenLater checks that the lease counts from the call that is answered.
func testLeaseSameTokenLater(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	c := short(newClaim())
	c.Lease, c.Quarantine = 2*time.Second, 0
	acquire(t, l, c)
	began := time.Now()
	waitUntil(t, func() bool { return time.Since(began) > time.Second })
	began = time.Now()
	acquire(t, l, c)
	acquireWhenFree(t, h.Open(t), newClaim())
	if took := time.Since(began); took < c.Lease-200*time.Millisecond {
		t.Errorf("the worker id was free after %v, want %v", took, c.Lease)
	}
}

// testLeaseReserved checks the time up to which ids may have been given: it never goes back, and the next one is told.
func testLeaseReserved(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	c := newClaim()
	if got := acquire(t, l, c); !got.After.IsZero() {
		t.Errorf("a worker id that nobody has had: got after %v, want the zero time", got.After)
	}
	most := c.Until.Add(5 * time.Second)
	for _, until := range []time.Time{most, c.Until.Add(2 * time.Second), c.Until.Add(-time.Hour)} {
		c.Until = until
		wantTime(t, "until", extend(t, l, 0, c), until)
	}
	c.Until = time.Time{}
	extend(t, l, 0, c)
	if h.Clock {
		c.Until = now().Add(24 * time.Hour)
		most = extend(t, l, 0, c)
		if limit := time.Now().Add(c.Lease + c.MaxSkew + 100*time.Millisecond); most.After(limit) {
			t.Errorf("got until %v by a clock that is a day ahead, want at most %v", most, limit)
		}
	}
	if err := l.Release(t.Context(), 0, c); err != nil {
		t.Fatal(err)
	}
	// It is as late as a next holder takes it, if the clock has gone on since: that of a machine steps back at times.
	wantTime(t, "after", acquireWhenFree(t, l, newClaim()).After, most)
}

// acquireWhenFree acquires as soon as a worker id is free. The time of the claim goes on meanwhile.
func acquireWhenFree(tb testing.TB, l worker.Leaser, c worker.Claim) worker.Lease {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	began, clock := time.Now(), c.Clock
	for {
		lease, err := l.Acquire(ctx, c)
		if err == nil {
			return lease
		}
		if !errors.Is(err, worker.ErrNoWorkerID) {
			tb.Fatal(err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
			c.Clock = clock.Add(time.Since(began))
		case <-ctx.Done():
			tb.Fatal(err)
		}
	}
}

// testLeaseExpiry checks that the worker id of a holder who has died is free after lease and quarantine, not before, and
// that he can do nothing to the next holder's lease.
func testLeaseExpiry(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	dead, next := short(newClaim()), newClaim()
	acquire(t, l, dead)
	began := time.Now()
	until := extend(t, l, 0, dead)
	got := acquireWhenFree(t, h.Open(t), next)
	took := time.Since(began)
	if least := dead.Lease + dead.Quarantine - 200*time.Millisecond; took < least {
		t.Errorf("the worker id was free after %v, want at least %v", took, least)
	}
	wantTime(t, "after", got.After, until)
	_, err := l.Extend(t.Context(), 0, dead)
	wantError(t, err, worker.ErrLost, next.Address)
	if err := l.Release(t.Context(), 0, dead); err != nil {
		t.Fatal(err)
	}
	extend(t, l, 0, next)
	_, err = l.Acquire(t.Context(), newClaim())
	wantError(t, err, worker.ErrNoWorkerID, next.Address)
}

// testLeaseExpiredNotTaken checks that a holder who was away goes on with his worker id if nobody has taken it.
func testLeaseExpiredNotTaken(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	c := short(newClaim())
	c.Quarantine = time.Hour
	acquire(t, l, c)
	waitUntil(t, func() bool { // the lease has ended: it is in quarantine
		_, err := l.Acquire(t.Context(), newClaim())
		return err != nil && containsAll(err.Error(), "in quarantine")
	})
	c.Until, c.Lease = now().Add(c.Lease), 10*time.Minute
	wantTime(t, "until", extend(t, l, 0, c), c.Until)
	_, err := l.Acquire(t.Context(), newClaim())
	wantError(t, err, worker.ErrNoWorkerID, "by "+c.Address)
}

func testLeaseRelease(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	c := newClaim()
	c.Quarantine = time.Second
	lease := acquire(t, l, c)
	began := time.Now()
	if err := l.Release(t.Context(), 0, c); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(t.Context(), 0, c); err != nil {
		t.Errorf("again: %v", err)
	}
	_, err := l.Extend(t.Context(), 0, c)
	wantError(t, err, worker.ErrLost)
	got := acquireWhenFree(t, l, newClaim())
	if took := time.Since(began); took < c.Quarantine-200*time.Millisecond {
		t.Errorf("the worker id was free after %v, want %v", took, c.Quarantine)
	}
	wantTime(t, "after", got.After, lease.Until)
}

// testLeaseFarAhead checks that a worker id with ids of a far future is left alone: its next holder would have to wait.
func testLeaseFarAhead(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	c := newClaim()
	c.MaxSkew, c.Until = 48*time.Hour, c.Until.Add(24*time.Hour)
	far := acquire(t, l, c).Worker
	if err := l.Release(t.Context(), far, c); err != nil {
		t.Fatal(err)
	}
	if got := acquire(t, l, newClaim()).Worker; got == far {
		t.Errorf("got worker id %d, want another", got)
	}
	_, err := l.Acquire(t.Context(), newClaim())
	wantError(t, err, sequence.ErrUnavailable, c.Until.UTC().Format("2006-01-02"))
	c.Clock = c.Until
	if got := acquireWhenFree(t, l, c).Worker; got != far {
		t.Errorf("a day later: got worker id %d, want %d", got, far)
	}
}

// testLeaseLook checks what one can tell a clock by; the servers of tests have this machine's.
func testLeaseLook(t *testing.T, h LeaserHarness) {
	l := h.Open(t)
	before := time.Now()
	view, err := l.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const tolerance = 100 * time.Millisecond
	if h.Clock && (view.Now.Before(before.Add(-tolerance)) || view.Now.After(time.Now().Add(tolerance))) {
		t.Errorf("got the time %v, want one from %v on", view.Now, before)
	}
	if len(view.Peers) > 0 {
		t.Errorf("got the peers %+v, want none", view.Peers)
	}
	right, wrong, gone := newClaim(), newClaim(), newClaim()
	wrong.Ahead = time.Hour
	wrong.Clock = wrong.Clock.Add(time.Hour)
	acquire(t, l, right)
	id := acquire(t, l, wrong).Worker
	goneID := acquire(t, l, gone).Worker
	if err := l.Release(t.Context(), goneID, gone); err != nil {
		t.Fatal(err)
	}
	if view, err = l.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(view.Peers) != 2 {
		t.Fatalf("got the peers %+v, want two", view.Peers)
	}
	for _, p := range view.Peers {
		want := right
		if p.Worker == id {
			want = wrong
		}
		if p.Address != want.Address || p.Clock.Before(want.Clock.Add(-tolerance)) || p.Clock.After(want.Clock.Add(time.Since(before)+10*time.Second)) {
			t.Errorf("got the peer %+v, want %s with the clock at %v", p, want.Address, want.Clock)
		}
	}
}

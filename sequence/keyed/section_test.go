package keyed

import (
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A lease counts from when it was asked for, and its holder stops a margin before its end: the answer may have taken long,
// and the server's clock may be faster.
func TestLeaseEndsEarly(t *testing.T) {
	timing := Config{}.withDefaults().timing()
	sent := time.Now()
	c := section{keys: counters{max: 10}}
	c.claimed(row{next: 100, cache: 100, fence: 1, owner: "p", left: DefaultLease}, "p", sent, timing)
	c.raised(1, 1000, true)
	end := sent.Add(DefaultLease - timing.margin)
	for at, want := range map[time.Time]state{sent: taken, end.Add(-time.Millisecond): taken, end: away, sent.Add(DefaultLease): away} {
		if _, got, _ := c.take(1, 1, at); got != want {
			t.Errorf("%v after the claim was sent: state %v, want %v", at.Sub(sent), got, want)
		}
	}
}

// No value reaches the next_id that the database has confirmed: the next holder begins there.
func TestValuesEndAtTheLimit(t *testing.T) {
	now := time.Now()
	c := section{keys: counters{max: 10}}
	c.claimed(row{next: 100, cache: 1000, fence: 1, owner: "p", left: DefaultLease}, "p", now, Config{}.withDefaults().timing())
	c.raised(1, 110, true)
	for n, want := range map[int64]state{10: taken, 11: short} {
		c.keys.clear(100)
		if r, got, _ := c.take(1, n, now); got != want {
			t.Errorf("%d values from 100, confirmed below 110: got %v, state %v, want %v", n, r, got, want)
		}
	}
}

// Another process has the section, and its row lies below what was given here: somebody has set it back, whether the lease
// had run out by then or not. It is told once.
func TestRowSetBackBelowWhatWasGiven(t *testing.T) {
	timing := Config{}.withDefaults().timing()
	for _, later := range []time.Duration{0, 2 * DefaultLease} {
		now := time.Now()
		c := section{keys: counters{max: 10}}
		c.claimed(row{next: 100, cache: 1000, fence: 1, owner: "p", left: DefaultLease}, "p", now, timing)
		c.raised(1, 2000, true)
		if _, got, _ := c.take(1, 500, now); got != taken {
			t.Fatalf("state %v, want %v", got, taken)
		}
		for _, want := range []int64{600, 0} {
			ev := c.claimed(row{next: 100, cache: 1000, fence: 1, owner: "other", left: DefaultLease}, "p", now.Add(later), timing)
			if ev.above != want {
				t.Errorf("%v later: the row is to be above %d, want %d", later, ev.above, want)
			}
		}
	}
}

// A raise of an earlier lease that reaches the server late does nothing: its sender believes in a section that has had
// another holder since.
func TestLateRaise(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		name, db := seeded(t, s, 1, 100)
		st := table{db: db, name: name, owner: "p", address: "a", lease: time.Minute, made: &layout{sections: 1, inRows: true}}
		rows, err := st.claim(t.Context(), []int{0})
		if err != nil {
			t.Fatal(err)
		}
		for fence, want := range map[int64]bool{rows[0].fence - 1: false, rows[0].fence + 1: false, rows[0].fence: true} {
			if ok, err := st.raise(t.Context(), 0, fence, 500); ok != want || err != nil {
				t.Errorf("a raise with fence %d of a lease with %d: got %v, %v, want %v", fence, rows[0].fence, ok, err, want)
			}
		}
	})
}

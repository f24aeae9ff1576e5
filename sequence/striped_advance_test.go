package sequence_test

import (
	"testing"

	"github.com/seqgate/seqgate/sequence"
)

// An explicit id below those that this process gave may lie in the stripe of another one, which is to leave it out.
func TestStripedObserve(t *testing.T) {
	s := newStriping(t, sequence.StripeLayout{Stripes: 2, Chunk: 100}, sharedServers(t)...).seeded(t, 1, 10)
	of := func(stripe int64) *sequence.Sequence {
		for {
			seq := s.sequence(t, s.open(t, sequence.StrategyIncrement), sequence.Config{})
			if firsts(t, seq, 1)[0]/100 == stripe-1 {
				return seq
			}
		}
	}
	first, second := of(1), of(2)
	second.Observe(95, 95)
	await(t, func() bool { return !s.behind(t, 95) })
	for id := int64(0); id < 100; {
		if id = firsts(t, first, 1)[0]; id == 95 {
			t.Fatal("95 was given after it had been observed")
		}
	}
}

// behind reports whether a stripe may still give ids up to last.
func (s *striping) behind(t *testing.T, last int64) bool {
	t.Helper()
	stripes, err := s.open(t, sequence.StrategyIncrement).Stripes(t.Context(), s.database, "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, stripe := range stripes {
		if stripe.Next <= last {
			return true
		}
	}
	return false
}

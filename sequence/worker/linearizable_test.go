package worker_test

import (
	"context"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
)

// Leasers that are wrong in ways that others are or could be are found out.
func TestWrongLeaserIsNotLinearizable(t *testing.T) {
	for name, wrong := range map[string]func(*sequencetest.Leaser) worker.Leaser{
		"modulo":             func(l *sequencetest.Leaser) worker.Leaser { return modulo{l} },
		"time not told":      func(l *sequencetest.Leaser) worker.Leaser { return forgetful{l} },
		"extension not kept": func(l *sequencetest.Leaser) worker.Leaser { return unfenced{l} },
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				leases := sequencetest.NewLeases("test", 2)
				h := sequencetest.LeaserHarness{Open: func(testing.TB) worker.Leaser { return wrong(leases.Leaser()) }}
				if verdict, _ := sequencetest.LeaseHistory(t, h); verdict == porcupine.Illegal {
					return
				}
			}
			t.Error("50 histories are linearizable, want one that is not")
		})
	}
}

// modulo gives worker ids out again when all are taken, as a counter modulo their number does.
type modulo struct{ *sequencetest.Leaser }

func (l modulo) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	got, err := l.Leaser.Acquire(ctx, c)
	if err != nil {
		return worker.Lease{Until: c.Until}, nil
	}
	return got, nil
}

// forgetful does not tell the next holder up to which time ids were given.
type forgetful struct{ *sequencetest.Leaser }

func (l forgetful) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	got, err := l.Leaser.Acquire(ctx, c)
	got.After = time.Time{}
	return got, err
}

// unfenced takes the lease for the caller's, and does not keep the time.
type unfenced struct{ *sequencetest.Leaser }

func (l unfenced) Extend(_ context.Context, _ int64, c worker.Claim) (time.Time, error) {
	return c.Until, nil
}

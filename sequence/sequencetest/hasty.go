package sequencetest

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/sequence/worker"
)

// Hasty is a leaser that gives up on a call, whatever the server does with it.
type Hasty struct {
	worker.Leaser
	patience atomic.Int64
}

// GiveUpAfter has the next call that changes something given up after d.
func (h *Hasty) GiveUpAfter(d time.Duration) { h.patience.Store(int64(d)) }

func (h *Hasty) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if d := h.patience.Swap(0); d != 0 {
		return context.WithTimeout(ctx, time.Duration(d))
	}
	return context.WithCancel(ctx)
}

// Acquire implements [worker.Leaser].
func (h *Hasty) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	ctx, cancel := h.limit(ctx)
	defer cancel()
	return h.Leaser.Acquire(ctx, c)
}

// Extend implements [worker.Leaser].
func (h *Hasty) Extend(ctx context.Context, id int64, c worker.Claim) (time.Time, error) {
	ctx, cancel := h.limit(ctx)
	defer cancel()
	return h.Leaser.Extend(ctx, id, c)
}

// Release implements [worker.Leaser].
func (h *Hasty) Release(ctx context.Context, id int64, c worker.Claim) error {
	ctx, cancel := h.limit(ctx)
	defer cancel()
	return h.Leaser.Release(ctx, id, c)
}

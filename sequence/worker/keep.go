package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// keep leases a worker id and extends its lease, until h is closed.
func (h *Holder) keep() {
	for failures := 0; h.ctx.Err() == nil; {
		err := h.attempt()
		h.noted(err)
		var pause time.Duration
		switch {
		case err == nil:
			failures, pause = 0, h.cfg.every()
		case errors.Is(err, ErrLost):
			failures = 0 // another one, now
		default:
			failures++
			pause = min(sequence.Backoff(failures), h.cfg.every())
			if isSerious(err) {
				pause = min(time.Second, h.cfg.every())
			}
		}
		select {
		case <-time.After(pause):
		case <-h.ctx.Done():
		}
	}
}

// attempt compares the clocks, and acquires a worker id or extends the lease. With a clock that differs it acquires none,
// and extends the lease without reserving time for ids, so that these can go on when the clock is set right.
func (h *Holder) attempt() error {
	ctx, cancel := context.WithTimeout(h.ctx, h.cfg.Lease/6)
	defer cancel()
	wrong, err := h.look(ctx)
	if err != nil {
		return err
	}
	t := h.current.Load()
	switch {
	case t == nil && wrong != nil:
		return wrong
	case t == nil:
		return h.acquire(ctx)
	case wrong != nil:
		h.halt(t)
	}
	return errors.Join(wrong, h.extend(ctx, t, wrong == nil))
}

// look compares the clocks: wrong is the verdict.
func (h *Holder) look(ctx context.Context) (wrong, err error) {
	asked := h.clock.Monotonic()
	view, err := h.leaser.Look(ctx)
	if err != nil {
		return nil, err
	}
	if t := h.current.Load(); t != nil { // what h said itself is no second opinion
		view.Peers = slices.DeleteFunc(view.Peers, func(p Peer) bool { return p.Worker == h.cfg.First+t.worker })
	}
	wall, now := h.clock.Now()
	r := reading{view: view, early: wall.Add(asked - now), took: now - asked}
	h.compared(r)
	return r.verdict(h.set, h.cfg.MaxSkew), nil
}

// claim is what h tells the Leaser now.
func (h *Holder) claim() Claim {
	wall, _ := h.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	return Claim{Token: h.token, Address: h.cfg.Address, Least: h.cfg.First + h.cfg.Least, Until: wall.Add(h.cfg.Lease), Lease: h.cfg.Lease,
		Quarantine: h.cfg.Quarantine, MaxSkew: h.cfg.MaxSkew, Clock: wall, Ahead: h.state.ahead}
}

func (h *Holder) acquire(ctx context.Context) error {
	sent := h.clock.Monotonic()
	c := h.claim()
	l, err := h.leaser.Acquire(ctx, c)
	if err != nil {
		return err
	}
	cfg := h.generator
	cfg.After, cfg.Limit = l.After, h.never()
	g, err := h.cfg.Generators.Get(h.layout, h.zone, l.Worker-h.cfg.First, cfg)
	if err != nil {
		return err
	}
	t := &tenure{worker: l.Worker - h.cfg.First, generator: g, since: c.Clock}
	if err := h.prolong(t, sent, h.limit(c, l.Until)); err != nil {
		return err
	}
	h.cfg.Logger.Info("worker id leased", "set", h.set, "worker_id", l.Worker, "ids_after", l.After, "ids_until", l.Until)
	return nil
}

func (h *Holder) extend(ctx context.Context, t *tenure, ids bool) error {
	sent := h.clock.Monotonic()
	c := h.claim()
	if !ids {
		c.Until = time.Time{}
	}
	until, err := h.leaser.Extend(ctx, h.cfg.First+t.worker, c)
	switch {
	case errors.Is(err, ErrLost):
		h.lose(t)
		return err
	case err != nil:
		return err
	case !ids:
		return h.prolong(t, sent, h.never())
	}
	return h.prolong(t, sent, h.limit(c, until))
}

// limit returns the time up to which ids may be given: what is reserved, and before the lease ends by the time of day too.
func (h *Holder) limit(c Claim, until time.Time) time.Time {
	return earlier(until, c.Clock.Add(h.cfg.Lease-h.cfg.margin()))
}

// prolong takes over what a call that was made at sent has brought: the lease and the time up to which ids may be given.
func (h *Holder) prolong(t *tenure, sent time.Duration, until time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := sent + h.cfg.Lease - h.cfg.margin() - h.clock.Monotonic()
	if left <= 0 {
		return &Error{Kind: sequence.ErrUnavailable, Set: h.set,
			Text: fmt.Sprintf("the answer for worker id %d came when the lease was over", t.worker)}
	}
	h.state.until, h.state.deadline, h.state.lapsed = until, sent+h.cfg.Lease-h.cfg.margin(), false
	t.generator.SetLimit(until)
	h.current.Store(t)
	h.end.Reset(left)
	h.news()
	return nil
}

// lapse ends the giving of ids when the lease has ended.
func (h *Holder) lapse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.current.Load()
	if t == nil || h.state.closed {
		return
	}
	if left := h.state.deadline - h.clock.Monotonic(); left > 0 { // it was extended just now
		h.end.Reset(left)
		return
	}
	t.generator.SetLimit(h.never())
	h.state.lapsed = true
	h.cfg.Logger.Error("worker id: the lease was not extended in time and is over; no ids until it is", "set", h.set,
		"worker_id", t.worker, "last_error", h.state.err)
}

// halt ends the giving of ids until the lease is extended.
func (h *Holder) halt(t *tenure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.generator.SetLimit(h.never())
}

// lose gives up a worker id that is somebody else's, for one with a new token.
func (h *Holder) lose(t *tenure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.generator.SetLimit(h.never())
	h.current.Store(nil)
	h.end.Stop()
	h.token = newToken()
	h.state.losses++
	h.news()
}

// noted keeps what came of an attempt, and says so when that is new.
func (h *Holder) noted(err error) {
	if h.ctx.Err() != nil {
		return // it is being closed
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.state.err
	h.state.err = err
	if err == nil {
		h.state.failures = 0
		h.state.renewed, _ = h.clock.Now()
		if before != nil {
			h.cfg.Logger.Info("worker id: leased, or the lease extended, after attempts that failed", "set", h.set)
		}
		return
	}
	h.state.failures++
	if before == nil || isSerious(err) && !isSerious(before) {
		h.cfg.Logger.Error("worker id: no lease from this attempt", "set", h.set, "error", err)
	}
	if before == nil || before.Error() != err.Error() {
		h.news()
	}
}

// news wakes those who wait. The caller holds mu.
func (h *Holder) news() {
	close(h.changed)
	h.changed = make(chan struct{})
}

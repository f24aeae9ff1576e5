package snowflake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// longWait is how long a waiting call leaves to chance: then those that come later have to queue behind it.
const longWait = 10 * time.Millisecond

// wait takes least to most ids as soon as the clock and the limit allow it, and the calls that wait already have theirs.
func (g *Generator) wait(ctx context.Context, least, most int64) (Run, error) {
	if !g.starving.Load() { // the time that take saw may have been late
		if run, _ := g.try(g.clock.refresh(), least, most); run.N > 0 {
			return run, nil
		}
	}
	g.waits.Add(1)
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Timeout)
	defer cancel()
	if err := g.queue(ctx); err != nil {
		return Run{}, g.refusal(err, least, began)
	}
	defer g.passTurn(began)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		g.starving.Store(time.Since(began) > longWait)
		moved := g.limitMoved()
		now := g.clock.refresh()
		run, tick := g.try(now, least, most)
		switch {
		case run.N > 0:
			return run, nil
		case tick > g.lastTick:
			return Run{}, g.exhausted()
		}
		timer.Reset(g.pause(now, tick))
		select {
		case <-ctx.Done():
			return Run{}, g.refusal(ctx.Err(), least, began)
		case <-moved:
		case <-timer.C:
		}
	}
}

// queue waits for the turn. Those that are blocked get it in the order in which they came.
func (g *Generator) queue(ctx context.Context) error {
	g.queued.Add(1)
	defer g.queued.Add(-1)
	select {
	case g.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// passTurn ends the turn of a call that came at began. If that took longWait, the queue keeps its right until it is short
// again: else one that never waits could take all the ids before the next in the queue is awake.
func (g *Generator) passTurn(began time.Time) {
	g.starving.Store(time.Since(began) > longWait && g.queued.Load() > 0)
	<-g.turn
}

// pause returns how long it takes until the clock allows a tick, but no longer than until the time of day is looked at.
func (g *Generator) pause(now, tick int64) time.Duration {
	pause := time.Duration(tick*g.unit-now) - g.cfg.MaxBorrow
	if pause <= 0 { // it is the limit
		return lookEvery
	}
	return min(pause, lookEvery)
}

func (g *Generator) exhausted() error {
	return &Error{Kind: sequence.ErrExhausted, Generator: g.name,
		Text: fmt.Sprintf("the %d time bits ended at %s; take a later epoch with worker ids that were never used, or more time bits",
			g.layout.Bits(Time), stamp(g.layout.Ends()))}
}

// refusal says why a call for at least least ids has not got them in the time it had.
func (g *Generator) refusal(cause error, least int64, began time.Time) error {
	if errors.Is(cause, context.Canceled) {
		return fmt.Errorf("wait for ids of %s: %w", g.name, cause)
	}
	e := &Error{Generator: g.name}
	now := g.clock.read()
	tick := g.tick(g.place(now, g.next.Load(), least))
	behind := time.Duration(tick*g.unit - now)
	switch limit := g.limit.Load(); {
	case behind > g.cfg.MaxBorrow+2*time.Duration(g.unit):
		e.Kind = ErrClock
		e.Text = fmt.Sprintf("the clock says %s, %v less than the ids that were given, and was allowed to be %v behind; set it right, or wait",
			stamp(g.at(now)), behind.Round(time.Millisecond), g.cfg.MaxBorrow)
	case tick > limit:
		e.Kind = ErrLimit
		e.Text = fmt.Sprintf("the lease of its worker id allows ids up to %s, and was not renewed in %v; see to where worker ids are leased from",
			stamp(g.at(limit*g.unit)), time.Since(began).Round(time.Millisecond))
	default:
		e.Kind = ErrBusy
		e.Text = fmt.Sprintf("more ids are asked for than its %d in %v, and they are %v ahead of the clock already; use more workers, or more sequence bits",
			g.size, time.Duration(g.unit), g.cfg.MaxBorrow)
	}
	return e
}

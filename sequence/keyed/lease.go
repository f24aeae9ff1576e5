package keyed

import (
	"context"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// keep claims the sections that are wanted and renews the leases that are held, all that are due with one claim, until s
// is closed. While the database is away it goes on trying.
func (s *Sequence) keep(all []section) {
	for failures := 0; ; {
		now := time.Now()
		ids, next := s.due(all, now)
		wake := s.wake
		if len(ids) > 0 {
			if s.claim(all, ids) {
				failures = 0
				continue
			}
			failures++
			next, wake = time.Now().Add(sequence.Backoff(failures)), nil // whoever waits does not make the database come back
		}
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(time.Until(next))
		}
		select {
		case <-wake:
		case <-timer:
		case <-s.stop:
			return
		}
	}
}

// due returns the sections to be claimed now; if there are none, when there will be some, zero for not at all.
func (s *Sequence) due(all []section, now time.Time) (ids []int, next time.Time) {
	for i := range all {
		yes, at := all[i].due(now, s.timing.renew/2) // early, so that leases come to be renewed together
		switch {
		case yes:
			ids = append(ids, i)
		case next.IsZero() || !at.IsZero() && at.Before(next):
			next = at
		}
	}
	return ids, next
}

// claim claims sections and tells them what came of it; false when the database gave no answer.
func (s *Sequence) claim(all []section, ids []int) bool {
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Lease)
	defer cancel()
	sent := time.Now()
	rows, err := s.store.claim(ctx, ids)
	if s.isOver(err) {
		s.end(err)
		return false
	}
	s.noted(err)
	if err != nil {
		if isPermanent(err) {
			for _, id := range ids {
				all[id].fail(err)
			}
		}
		return false
	}
	lifted := map[int]int64{}
	for _, r := range rows {
		c := &all[r.id]
		ev := c.claimed(r, s.owner, sent, s.timing)
		s.happened(r, ev)
		if ev.behind {
			s.startRaise(c)
		}
		if ev.above > 0 {
			lifted[r.id] = ev.above
		}
	}
	if len(lifted) > 0 {
		s.run(func() { s.lift(lifted) })
	}
	return true
}

// startRaise raises the row of a section in the background, unless that is under way.
func (s *Sequence) startRaise(c *section) {
	if c.startRaise() {
		s.run(func() { s.raise(c) })
	}
}

// raise raises the row until the database has answered, or the lease has ended.
func (s *Sequence) raise(c *section) {
	for failures := 1; ; failures++ {
		fence, next, ok := c.raiseTo(time.Now())
		if !ok {
			return
		}
		ok, err := s.tryRaise(c.id, fence, next)
		if s.isOver(err) {
			s.end(err)
			return
		}
		s.noted(err)
		switch {
		case err == nil:
			c.raised(fence, next, ok)
			if !ok {
				s.wakeKeeper()
			}
			return
		case isPermanent(err):
			c.fail(err)
		}
		select {
		case <-time.After(sequence.Backoff(failures)):
		case <-s.stop:
		}
	}
}

func (s *Sequence) tryRaise(id int, fence, next int64) (bool, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Lease)
	defer cancel()
	return s.store.raise(ctx, id, fence, next)
}

func (s *Sequence) wakeKeeper() {
	select {
	case s.wake <- struct{}{}:
	default: // it will wake anyway
	}
}

// isPermanent reports whether an error of the store will not go away by itself.
func isPermanent(err error) bool { return !sequence.IsTemporary(err) }

// pause waits for d; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

package sequence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// startRefill starts a refill if none is in flight. s.mu is held.
func (s *Sequence) startRefill() {
	if s.refilling || s.closed {
		return
	}
	s.refilling = true
	s.adapt(time.Now())
	s.refills.Go(s.refill)
}

// adapt sets the step of the next block by the pace since the last refill began. s.mu is held.
func (s *Sequence) adapt(now time.Time) {
	consumed := s.consumed()
	if s.isWarm(now) && s.stats.cache > 0 {
		step := max(s.step, s.stats.cache)
		lasts := lifetime(step, consumed-s.pace.consumed, now.Sub(s.pace.since))
		s.step = nextStep(step, s.stats.cache, s.cfg.MaxStep, lasts, s.cfg.MinLifetime)
	}
	s.pace = pace{now, consumed}
}

// refill reserves blocks until one has come and nobody waits for more. While the database is away it goes on trying, so
// that the ids are there as soon as the database is.
func (s *Sequence) refill() {
	for failures := 0; ; {
		req, ok := s.request()
		if !ok {
			return
		}
		res, err := s.reserve(req)
		if !s.settle(req, res, err) {
			return
		}
		if err == nil {
			failures = 0
			continue
		}
		failures++
		select {
		case <-time.After(backoff(failures)):
		case <-s.stop:
		}
	}
}

func (s *Sequence) reserve(req Request) (Reservation, error) {
	ctx, cancel := context.WithTimeout(s.ctx, attemptTimeout)
	defer cancel()
	res, err := s.store.Reserve(ctx, req)
	if err == nil && (res.First <= req.After || res.N < 1) {
		// The last line of defence: what a store, a server or something between them gets wrong must not become a
		// duplicate.
		return res, fmt.Errorf("reserved ids %d to %d although this process was given %d already", res.First, res.Last(), req.After)
	}
	return res, err
}

// request says what is needed now; false when the sequence was closed, which ends the refill.
func (s *Sequence) request() (Request, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.refilling = false
		return Request{}, false
	}
	req := Request{Database: s.name.Database, Table: s.name.Table,
		Need: 1, Step: s.step, After: s.given, Max: s.cfg.Max, Cache: s.stats.cache}
	if len(s.waiters) == 0 {
		return req, true
	}
	first := s.waiters[0]
	req.Need = first.n
	if !first.passed {
		req.Tail = s.current.Load().rest().then(s.next).N // what is in memory always ends with the latest block
	}
	if len(s.waiters) > 1 {
		req.Step = max(req.Step, min(s.wanted(), s.cfg.MaxStep))
	}
	return req, true
}

// wanted returns how many ids the waiters want together. s.mu is held.
func (s *Sequence) wanted() (n int64) {
	for _, w := range s.waiters {
		n += w.n
	}
	return n
}

// settle takes in what became of an attempt, and reports whether the refill goes on.
func (s *Sequence) settle(req Request, res Reservation, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.succeeded(req, res)
		s.arrive(res)
	case isTemporary(err):
		s.away(err)
		s.refilling = !s.closed
		return s.refilling
	default:
		s.refuse(req, err)
	}
	if len(s.waiters) > 0 {
		s.adapt(time.Now())
		return true
	}
	s.refilling = false
	if err == nil {
		s.lookAhead()
	} else {
		s.lookLater()
	}
	return false
}

// arrive puts a reserved block behind what is in memory, and serves those who wait from it before anybody else can take
// of it. s.mu is held.
func (s *Sequence) arrive(res Reservation) {
	s.given = res.Last()
	if res.Raised && s.current.Load().rest().then(s.next).First < res.Found {
		// The row went backwards and then forwards again: what is left here may have been given to others meanwhile.
		s.current.Load().seal()
		s.next = Range{}
	}
	if len(s.waiters) == 0 {
		s.next = s.next.then(res.Range)
		return
	}
	s.isWarm(time.Now())
	all := s.current.Load().seal().then(s.next).then(res.Range)
	s.next = Range{}
	waiting := s.waiters[:0]
	for _, w := range s.waiters {
		if w.n > all.N {
			w.passed = true
			waiting = append(waiting, w)
			continue
		}
		w.got, all = all.split(w.n)
		close(w.ready)
	}
	clear(s.waiters[len(waiting):])
	s.waiters = waiting
	s.publish(all)
}

// refuse fails the callers that err concerns: when the ids run out those who want no less than was asked for, else all.
// s.mu is held.
func (s *Sequence) refuse(req Request, err error) {
	s.failed(err)
	s.answered(s.stats.lastErrAt)
	s.stats.cache = 0 // whoever repairs the table may have made it anew
	if len(s.waiters) == 0 {
		s.cfg.Logger.Warn("no further ids could be fetched ahead", "error", err) // else the callers are told
	}
	least := int64(1)
	if errors.Is(err, ErrExhausted) {
		least = req.Need
	}
	s.waiters = slices.DeleteFunc(s.waiters, func(w *waiter) bool {
		if w.n < least {
			return false
		}
		w.err = err
		close(w.ready)
		return true
	})
}

package sequence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seqgate/seqgate/internal/adaptive"
)

// startRefill starts a refill if none is in flight. The first attempt is traced in ctx. s.mu is held.
func (s *Sequence) startRefill(ctx context.Context) {
	if s.refilling || s.closed {
		return
	}
	s.refilling = true
	s.adapt()
	s.background.Go(func() { s.refill(ctx) })
}

// adapt sets the step of the next block by the pace since the last refill began. s.mu is held.
func (s *Sequence) adapt() {
	now := s.now()
	if s.isWarm(now.at) && s.stats.cache > 0 {
		used, spent := s.pace.until(now)
		lasts := adaptive.Lifetime(max(s.step, s.stats.cache), used, spent)
		s.step = adaptive.NextStep(s.step, s.stats.cache, s.cfg.MaxStep, adaptive.Growth(s.waited), lasts, s.cfg.MinLifetime)
	}
	s.pace, s.waited = now, false
	s.stats.meter.note(now)
}

// refill reserves blocks until one has come and nobody waits for more. While the database is away it goes on trying, so
// that the ids are there as soon as the database is. All attempts but the first are traced on their own: whoever was the
// occasion for it may be gone by then.
func (s *Sequence) refill(ctx context.Context) {
	for failures := 0; ; {
		req, ok := s.nextRequest()
		if !ok {
			return
		}
		began := time.Now()
		res, err := s.traceRefill(ctx, req)
		s.refillTimes.Observe(time.Since(began))
		if !s.apply(req, res, err) {
			return
		}
		ctx = s.detached(ctx)
		if err == nil {
			failures = 0
			continue
		}
		failures++
		select {
		case <-time.After(Backoff(failures)):
		case <-s.stop:
		}
	}
}

func (s *Sequence) reserve(req Request) (Reservation, error) {
	ctx, cancel := context.WithTimeout(s.ctx, callTimeout(s.store))
	defer cancel()
	res, err := s.store.Reserve(ctx, req)
	if err == nil && (res.First <= req.After || res.N < 1) {
		// The last line of defence: what a store, a server or something between them gets wrong must not become a
		// duplicate.
		return res, fmt.Errorf("reserved ids %d to %d although this process was given %d already", res.First, res.Last(), req.After)
	}
	return res, err
}

// request returns a request about the row of s, for ids or a next_id above after.
func (s *Sequence) request(after int64) Request {
	return Request{Database: s.name.Database, Table: s.name.Table, Name: s.name.String(), After: after, Max: s.cfg.Max, Conflicts: &s.conflicts}
}

// nextRequest says what is needed now; false when that is nothing, which ends the refill.
func (s *Sequence) nextRequest() (req Request, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	req, ok = s.request(s.floor()), !s.closed
	req.Cache = s.stats.cache
	if s.stats.cache > 0 && s.stats.max > 0 {
		req.Max = s.stats.max
	}
	req.Order = s.ordered.Load()
	req.Again = s.lookAgain(req)
	if req.Order && ok {
		req, ok = s.askExactly(req)
	} else {
		req.Need, req.Tail, req.Step = s.needs()
	}
	s.refilling = ok
	return req, ok
}

// needs returns what the next block must hold, what counts towards that, and how large the block is to be. s.mu is held.
func (s *Sequence) needs() (need, tail, step int64) {
	if len(s.waiters) == 0 {
		return 1, 0, s.step
	}
	for _, w := range s.waiters {
		w.asked = true // in case that the sequence turns out to be ordered
	}
	first := s.waiters[0]
	if !first.passed {
		tail = s.current.Load().rest().then(s.next).N // what is in memory always ends with the latest block
	}
	step = s.step
	if len(s.waiters) > 1 {
		step = max(step, min(s.wanted(), s.cfg.MaxStep))
	}
	return first.n, tail, step
}

// wanted returns how many ids the waiters want together. s.mu is held.
func (s *Sequence) wanted() (n int64) {
	for _, w := range s.waiters {
		n += w.n
	}
	return n
}

// apply takes in what became of an attempt, and reports whether the refill goes on.
func (s *Sequence) apply(req Request, res Reservation, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.order(res)
		rewound := res.Raised || s.hasMoved(res.Server)
		s.succeeded(res)
		s.arrive(res, rewound)
	case IsTemporary(err):
		s.away(err)
		s.refilling = !s.closed
		return s.refilling
	default:
		s.refuse(req, err)
	}
	if len(s.waiters) > 0 {
		s.adapt()
		return true
	}
	s.refilling = false
	if err == nil {
		s.lookAhead(s.ctx)
	} else {
		s.lookAt(maxID)
	}
	return false
}

// arrive puts a reserved block behind what is in memory, and serves those who wait from it before anybody else can take
// of it. rewound says that the row went backwards, or may have on its way to another server. s.mu is held.
func (s *Sequence) arrive(res Reservation, rewound bool) {
	block := res.above(s.floor()) // which explicit ids may have moved since the request
	s.stats.dropped += res.N - block.N
	s.given.Store(res.Last()) // more than before: see reserve
	if first, ok := s.first(); ok && rewound && first < res.Found {
		// The row has gone forwards again since: what is left here may have been given to others meanwhile.
		s.stats.dropped += s.drain().N
	}
	if !res.Until.Equal(s.until) {
		s.stats.dropped += s.drain().N // of another time
		s.endAt(res.Until)
	}
	switch {
	case s.ordered.Load() && !s.closed: // else it is handed back
		s.stats.dropped += s.serve(block).N
	case len(s.waiters) == 0:
		s.next = s.join(s.next, block)
	default:
		s.isWarm(time.Now())
		s.publish(s.ctx, s.serve(s.join(s.drain(), block)))
	}
}

// first returns the least id in memory; false when there is none. s.mu is held.
func (s *Sequence) first() (int64, bool) {
	if rest := s.current.Load().rest(); rest.N > 0 {
		return rest.First, true
	}
	return s.next.First, s.next.N > 0
}

// serve gives ids to those who wait, in the order they came, and returns the rest. s.mu is held.
func (s *Sequence) serve(ids Range) Range {
	waiting := s.waiters[:0]
	for _, w := range s.waiters {
		if w.n > ids.N || s.ordered.Load() && !w.asked {
			w.passed = true
			waiting = append(waiting, w)
			continue
		}
		w.got, ids = ids.split(w.n)
		close(w.ready)
	}
	clear(s.waiters[len(waiting):])
	s.waiters = waiting
	return ids
}

// refuse fails the callers that err concerns: when there are not that many ids those who want no less than was asked for,
// else all.
// s.mu is held.
func (s *Sequence) refuse(req Request, err error) {
	tooMany := errors.Is(err, ErrInvalidCount) // no fault of the sequence
	if !tooMany {
		s.failed(err)
		s.answered(s.stats.lastErrAt)
		s.stats.cache = 0 // whoever repairs the table may have made it anew
	}
	if len(s.waiters) == 0 {
		s.cfg.Logger.Warn("no further ids could be fetched ahead", "error", err) // else the callers are told
	}
	if !tooMany && !errors.Is(err, ErrExhausted) {
		s.refuseFrom(1, err)
	} else if !s.retryAlone() {
		s.refuseFrom(req.Need, err)
	}
}

// refuseFrom fails the callers that want so many ids or more. s.mu is held.
func (s *Sequence) refuseFrom(least int64, err error) {
	s.waiters = slices.DeleteFunc(s.waiters, func(w *waiter) bool {
		if w.n < least {
			return false
		}
		w.err = err
		close(w.ready)
		return true
	})
}

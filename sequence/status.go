package sequence

import (
	"fmt"
	"time"
)

// stats is what a sequence knows of its own refills.
type stats struct {
	cache    int64     // the row's cache when last seen; 0 before, and after the row was found unusable
	block    int64     // size of the latest block
	opened   time.Time // when the first block came
	reserved int64     // ids reserved in all
	refills  int64     // blocks reserved
	raised   int64     // how often the row was behind and was raised
	failures int64     // attempts without a block

	lastErr   error
	lastErrAt time.Time
	awaySince time.Time // when the first of the attempts failed that have failed since; zero while all is well
	awayCause error
}

// Status describes a sequence in this process, for people and metrics.
type Status struct {
	Name     Name
	Strategy string // as configurations name it; "" when the store does not say

	Current Range // ids of the segment in use that are left
	Next    Range // the segment after it; N is 0 when there is none
	Given   int64 // the largest id that was ever reserved by this process; 0: none

	Cache    int64   // the row's cache when last seen; 0: not known
	Step     int64   // size of the latest block
	Warm     bool    // it fetches ahead and adapts its step
	Rate     float64 // ids per second since the latest refill began
	Waiting  int     // callers that wait for ids
	Refills  int64   // blocks reserved
	Raised   int64   // how often the row was found behind what was given, and raised
	Failures int64   // attempts to reserve a block that gave none

	LastError   error // the latest failure, also when all is well again; nil: there was none
	LastErrorAt time.Time
	AwaySince   time.Time // since when the database gives no blocks; zero: it does
}

// Status returns the present state of s.
func (s *Sequence) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Name: s.name, Current: s.current.Load().rest(), Next: s.next, Given: s.given,
		Cache: s.stats.cache, Step: s.stats.block, Warm: s.warm, Waiting: len(s.waiters),
		Refills: s.stats.refills, Raised: s.stats.raised, Failures: s.stats.failures,
		LastError: s.stats.lastErr, LastErrorAt: s.stats.lastErrAt, AwaySince: s.stats.awaySince,
	}
	if named, ok := s.store.(fmt.Stringer); ok {
		st.Strategy = named.String()
	}
	if spent := time.Since(s.pace.since).Seconds(); s.stats.refills > 0 && spent > 0 {
		st.Rate = float64(s.consumed()-s.pace.consumed) / spent
	}
	return st
}

// succeeded notes a reserved block. s.mu is held.
func (s *Sequence) succeeded(req Request, res Reservation) {
	now := time.Now()
	st := &s.stats
	if st.refills == 0 {
		st.opened = now
	}
	st.refills++
	st.reserved += res.N
	st.cache, st.block = res.Cache, res.N
	if res.Raised {
		st.raised++
		s.cfg.Logger.Warn("sequence row was behind the ids given out and was raised", "sequence", s.name.String(),
			"next_id", res.Found, "given", req.After, "raised_to", res.First)
	}
	s.answered(now)
}

// answered ends an outage. s.mu is held.
func (s *Sequence) answered(now time.Time) {
	if s.stats.awaySince.IsZero() {
		return
	}
	s.cfg.Logger.Info("the database of a sequence answers again", "sequence", s.name.String(), "away", now.Sub(s.stats.awaySince))
	s.stats.awaySince, s.stats.awayCause = time.Time{}, nil
}

// failed notes an attempt without a block. s.mu is held.
func (s *Sequence) failed(err error) {
	s.stats.failures++
	s.stats.lastErr, s.stats.lastErrAt = err, time.Now()
}

// away notes an attempt that failed but may succeed later. s.mu is held.
func (s *Sequence) away(err error) {
	s.failed(err)
	if s.stats.awaySince.IsZero() {
		s.stats.awaySince = s.stats.lastErrAt
		s.cfg.Logger.Warn("the database of a sequence gives no ids; trying again until it does", "sequence", s.name.String(), "error", err)
	}
	s.stats.awayCause = err
}

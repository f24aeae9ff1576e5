package keyed

import (
	"context"
	"errors"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// stats is what has happened. Sequence.mu guards it.
type stats struct {
	opened, lost, behind    int64
	forwards, forwardErrors int64
	failures                int64
	lastErr                 error
	lastErrAt, awaySince    time.Time
}

// Status describes a keyed sequence in this process, for people and metrics.
type Status struct {
	Name     sequence.Name
	Owner    string // this process in the column owner
	Sections int    // 0: the table was not read yet
	Held     int    // sections whose lease this process may use
	Keys     int    // keys counted each by itself

	Opened        int64 // sections taken over so far
	Lost          int64 // sections that another process took
	Behind        int64 // how often a row was found below what was given, and raised
	Forwards      int64 // requests that other processes were asked
	ForwardErrors int64 // those without an answer
	Failures      int64 // statements without a confirmed end

	LastError   error // the latest failure, also when all is well again; nil: there was none
	LastErrorAt time.Time
	AwaySince   time.Time // since when the database gives no answer; zero: it does
}

// Status returns the present state of s.
func (s *Sequence) Status() Status {
	s.mu.Lock()
	st := Status{Name: s.name, Owner: s.owner, Opened: s.stats.opened, Lost: s.stats.lost, Behind: s.stats.behind,
		Forwards: s.stats.forwards, ForwardErrors: s.stats.forwardErrors, Failures: s.stats.failures,
		LastError: s.stats.lastErr, LastErrorAt: s.stats.lastErrAt, AwaySince: s.stats.awaySince}
	s.mu.Unlock()
	all := s.sections.Load()
	if all == nil {
		return st
	}
	st.Sections = len(*all)
	now := time.Now()
	for i := range *all {
		held, keys := (*all)[i].count(now)
		if held {
			st.Held++
		}
		st.Keys += keys
	}
	return st
}

// count returns whether the lease may be used, and the number of keys.
func (c *section) count(now time.Time) (held bool, keys int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds(now), len(c.keys.values)
}

// happened notes what a claim has found.
func (s *Sequence) happened(r row, ev event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ev.opened {
		s.stats.opened++
	}
	if ev.lost {
		s.stats.lost++
		s.cfg.Logger.Warn("another process has taken a section of a keyed sequence", "sequence", s.name.String(),
			"section", r.id, "owner", r.owner, "address", r.address)
	}
	if ev.behind || ev.above > 0 {
		s.stats.behind++
	}
	if ev.behind {
		s.cfg.Logger.Warn("the row of a keyed sequence's section was set back and is raised", "sequence", s.name.String(),
			"section", r.id, "next_id", r.next)
	}
}

// forwarded notes an answer of another process.
func (s *Sequence) forwarded(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.forwards++
	if err != nil {
		s.stats.forwardErrors++
	}
}

// noted notes the end of an attempt at the database, and where outages begin and end.
func (s *Sequence) noted(err error) {
	if errors.Is(err, context.Canceled) {
		return // the caller's doing, not the database's
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch st := &s.stats; {
	case err != nil:
		st.failures++
		st.lastErr, st.lastErrAt = err, now
		if st.awaySince.IsZero() {
			st.awaySince = now
			s.cfg.Logger.Warn("the database of a keyed sequence does not serve it; trying again until it does", "sequence", s.name.String(), "error", err)
		}
	case !st.awaySince.IsZero():
		s.cfg.Logger.Info("the database of a keyed sequence answers again", "sequence", s.name.String(), "away", now.Sub(st.awaySince))
		st.awaySince = time.Time{}
	}
}

// outage returns since when the database is away, and why; zero when it is not.
func (s *Sequence) outage() (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats.awaySince, s.stats.lastErr
}

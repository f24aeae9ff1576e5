package sequence

import (
	"cmp"
	"fmt"
	"time"

	"github.com/seqgate/seqgate/internal/buckets"
)

// stats is what a sequence knows of its own refills.
type stats struct {
	cache    int64     // the row's cache when last seen; 0 before, and after the row was found unusable
	block    int64     // size of the latest block
	max      int64     // the last id allowed, as the latest block told; 0: not known
	opened   time.Time // when the first block came
	reserved int64     // ids reserved in all
	dropped  int64     // those of them that nobody will get
	waits    int64     // callers that found no ids in memory
	refills  int64     // blocks reserved
	server   string    // the one that reserved the latest block
	skipped  int64     // ids left out because of failovers
	raised   int64     // how often the row was behind and was raised
	failures int64     // attempts without a block, or to raise the row in vain
	meter    meter

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
	Last    int64 // the last id that there may be: as Config.Max or the table's comment says, 2^63-1 otherwise
	Values  int64 // ids that callers got

	Observed int64 // the largest explicit id that this process was told of; 0: none
	Ordered  bool  // each id comes from the row: nothing is in memory

	Cache    int64         // the row's cache when last seen; 0: not known
	Step     int64         // size of the latest block
	Warm     bool          // it fetches ahead and adapts its step
	Rate     float64       // ids per second during the latest refills, over a second or more
	Runway   time.Duration // how long the ids in memory last at that rate, MaxRunway at most; 0 when there are none
	Waiting  int           // callers that wait for ids
	Waits    int64         // callers that found no ids in memory and had to wait
	Refills  int64         // blocks reserved
	Dropped  int64         // ids reserved that were left out: passed by explicit ids, an edit of the row or the end of their time, or wanted by callers that left
	Server   string        // the server that reserved the latest block; "" when it is not known
	Skipped  int64         // ids that this process left out because another server had served the row: see Failover
	Raised   int64         // how often the row was found behind what was given, and raised
	Failures int64         // attempts to reserve a block or to raise the row that failed

	// Conflicts is how often others changed the row between reading and writing it: see [CAS].
	Conflicts int64
	// RefillTimes are those of the attempts to reserve a block, WaitTimes those of the callers that had to wait.
	RefillTimes, WaitTimes Histogram

	LastError   error // the latest failure, also when all is well again; nil: there was none
	LastErrorAt time.Time
	AwaySince   time.Time // since when the database gives no blocks; zero: it does
}

// Histogram is how long something took, by buckets.
type Histogram = buckets.Snapshot

// Status returns the present state of s.
func (s *Sequence) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, rest := s.now(), s.current.Load().rest()
	st := Status{
		Name: s.name, Last: cmp.Or(s.stats.max, s.cfg.Max), Current: rest, Next: s.next, Given: s.given.Load(), Observed: s.advance.seen, Ordered: s.ordered.Load(),
		Cache: s.stats.cache, Step: s.stats.block, Warm: s.warm,
		Rate: s.stats.meter.rate(now), Runway: s.stats.meter.runway(rest.N+s.next.N, now),
		Values: now.consumed, Conflicts: s.conflicts.Load(), RefillTimes: s.refillTimes.Snapshot(), WaitTimes: s.waitTimes.Snapshot(),
		Waiting: len(s.waiters), Waits: s.stats.waits, Refills: s.stats.refills, Dropped: s.stats.dropped,
		Server: s.stats.server, Skipped: s.stats.skipped, Raised: s.stats.raised, Failures: s.stats.failures,
		LastError: s.stats.lastErr, LastErrorAt: s.stats.lastErrAt, AwaySince: s.stats.awaySince,
	}
	if named, ok := s.store.(fmt.Stringer); ok {
		st.Strategy = named.String()
	}
	return st
}

// succeeded notes a reserved block. s.mu is held.
func (s *Sequence) succeeded(res Reservation) {
	now := time.Now()
	st := &s.stats
	if st.refills == 0 {
		st.opened = now
	}
	st.refills++
	st.reserved += res.N
	st.cache, st.block, st.max = res.Cache, res.N, res.Max
	s.alone = false
	s.servedBy(res)
	if given := s.given.Load(); res.Raised && res.Found <= given { // else it was behind an explicit id only
		st.raised++
		s.cfg.Logger.Warn("sequence row was behind the ids given out and was raised", "sequence", s.name.String(),
			"next_id", res.Found, "given", given, "raised_to", res.First)
	}
	s.answered(now)
}

// hasMoved reports whether another server than before gave a block. s.mu is held.
func (s *Sequence) hasMoved(server string) bool {
	return server != "" && s.stats.server != "" && server != s.stats.server
}

// servedBy notes which server gave a block. s.mu is held.
func (s *Sequence) servedBy(res Reservation) {
	st := &s.stats
	switch {
	case s.hasMoved(res.Server):
		s.cfg.Logger.Warn("another server serves a sequence than before", "sequence", s.name.String(),
			"server", res.Server, "before", st.server, "ids_skipped", res.Skipped)
	case res.Skipped > 0: // this process cannot tell which
		s.cfg.Logger.Warn("a sequence was served by another server last, or by none that is recorded", "sequence", s.name.String(),
			"server", res.Server, "ids_skipped", res.Skipped)
	}
	st.server = res.Server
	st.skipped += res.Skipped
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

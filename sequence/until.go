package sequence

import "time"

// Ids may be of a time, as those that begin with the date. A store says until when ([Reservation], Until), and what is left
// of them in memory is dropped then. It is a matter of what the ids tell, not of their being unique, so callers on the way
// at that moment may get ids of either side.

// endAt has what is in memory dropped at that time, in place of the one set before; zero: never. s.mu is held.
func (s *Sequence) endAt(until time.Time) {
	if s.ending != nil {
		s.ending.Stop()
		s.ending = nil
	}
	s.until = until
	if !until.IsZero() && !s.closed {
		s.ending = time.AfterFunc(time.Until(until), s.end)
	}
}

// end drops what is in memory if its time has come: the clock may have been set back, or another block have come, since
// the timer was set.
func (s *Sequence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.until.IsZero() || s.closed:
		return
	case time.Now().Before(s.until):
		s.endAt(s.until)
		return
	}
	s.endAt(time.Time{})
	s.stats.dropped += s.drain().N
	s.publish(s.ctx, Range{})
}

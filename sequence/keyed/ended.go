package keyed

import (
	"errors"

	"github.com/seqgate/seqgate/sequence"
)

// end ends s for a reason: callers that wait and later ones get it. No lease is released, because the rows are other ones
// now, or there are none.
func (s *Sequence) end(why error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed, s.ended = true, why
	s.mu.Unlock()
	if loaded := s.sections.Load(); loaded != nil {
		s.cfg.Logger.Warn("a keyed sequence was made anew: it is counted by its new sections from now on", "sequence", s.name.String(), "error", why)
		for i := range *loaded {
			(*loaded)[i].close()
		}
	}
	close(s.stop)
	s.abort()
	if s.cfg.Ended != nil {
		s.cfg.Ended(s)
	}
}

// isOver reports whether an error says that there is nothing that s could count with.
func (s *Sequence) isOver(err error) bool {
	unknown := s.sections.Load() == nil && !s.cfg.Declared && (errors.Is(err, sequence.ErrNoTable) || errors.Is(err, sequence.ErrNotSequence))
	return unknown || errors.Is(err, ErrRemade)
}

// closedError is what callers are told of a closed sequence.
func (s *Sequence) closedError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whyClosed()
}

// whyClosed is closedError. s.mu is held.
func (s *Sequence) whyClosed() error {
	if s.ended != nil {
		return s.ended
	}
	return problem(s.name, sequence.ErrClosed, nil, "gives no more values: seqgate is shutting down; connect again")
}

package sequence

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// close stops s and hands its unused ids back.
func (s *Sequence) close(ctx context.Context) error {
	if !s.shut(closedError(s.name)) {
		return nil
	}
	// A refill whose statement is on its way is waited for: its block goes back with the rest. So is a raise.
	ended := make(chan struct{})
	go func() {
		s.background.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		s.abort()
		<-ended
	}
	defer s.abort()
	return errors.Join(s.flush(ctx), s.handBack(ctx))
}

// abandon ends s without giving anything back.
func (s *Sequence) abandon() {
	s.shut(&Error{Kind: ErrNoTable, Sequence: s.name.String(), Text: "was dropped"})
	s.mu.Lock()
	s.next = Range{}
	s.mu.Unlock()
	s.abort() // what is under way concerns a table that is gone
	s.background.Wait()
}

// shut keeps s from handing out ids and from starting refills; false when that was done before. why is what callers of
// Next are told from now on.
func (s *Sequence) shut(why error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.closed, s.ended = true, why
	close(s.stop)
	s.endAt(time.Time{})
	s.next = s.drain()
	s.current.Store(newSegment(Range{}))
	for _, w := range s.waiters {
		w.err = why
		close(w.ready)
	}
	s.waiters = nil
	return true
}

// handBack gives the ids at the end of what was reserved back to the row.
func (s *Sequence) handBack(ctx context.Context) error {
	s.mu.Lock()
	unused := s.next
	s.next = Range{}
	s.mu.Unlock()
	store, ok := s.store.(Releaser)
	if !ok || unused.N == 0 || unused.Last() == maxID { // next_id cannot say that maxID is free again: see usedUp
		return nil
	}
	given, err := store.Release(ctx, s.request(0), unused)
	if err != nil {
		return fmt.Errorf("hand ids %d to %d back to sequence %s: %w", unused.First, unused.Last(), s.name, err)
	}
	s.cfg.Logger.Info("unused ids of sequence", "sequence", s.name.String(),
		"first", unused.First, "last", unused.Last(), "handed_back", given)
	return nil
}

func closedError(name Name) error {
	return &Error{Kind: ErrClosed, Sequence: name.String(), Text: "hands out no more ids: seqgate is shutting down; connect again"}
}

package sequence

import (
	"context"
	"fmt"
	"time"
)

// raisePause is how long to wait between two raises of a row, whatever is observed meanwhile: ten a second at most.
const raisePause = 100 * time.Millisecond

// maxRaisePauses bounds the pause between raises that fail, which grows by a raisePause each time. One of several stores
// may be away for hours, and nobody waits for it.
const maxRaisePauses = 100

// advance is what a sequence knows of the explicit ids that were written into the columns it fills.
type advance struct {
	seen    int64 // the largest one; 0: none
	beyond  int64 // the largest one that was beyond what this process had reserved: the row may not be above it
	raised  int64 // the one up to which the row was raised, or refused to be
	raising bool  // there is a raise in flight
	foreign bool  // the row was above the latest one already: another process had reserved it
	failing bool  // the latest raise has failed
}

// Observe tells that explicit ids from first to last were written into a column that s fills. From then on this process
// gives only larger ids, and has the row raised above last, as AUTO_INCREMENT moves its counter (MySQL manual,
// "AUTO_INCREMENT Handling in InnoDB"). An id under 1 does nothing, one from Config.Max on uses the sequence up.
//
// When the row turns out to have been above such an id before, another process had reserved it, and a client took it from
// there. As long as that is so, ids beyond what this process has reserved leave the ids in its memory alone.
//
// Observe does not wait for the database: the row is raised in the background, at most 10 times a second, and at the
// latest by [Registry.Close] or with the next block. It costs nanoseconds for ids that s has passed already, unless the ids
// come from the stripes of several servers. Blocks that other processes hold in memory are not affected.
//
// Where not every id is one that the store gives ([Selective]), last does nothing if it is none, but for first, if it is one.
func (s *Sequence) Observe(first, last int64) {
	if s.Passed(last) {
		return
	}
	if !s.gives(last) {
		if !s.gives(first) {
			return
		}
		last = first
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.advance.foreign || !s.Above(first) {
		s.stats.dropped += s.current.Load().skip(last)
		s.setNext(s.next.above(last))
	}
	s.advance.seen = max(s.advance.seen, last)
	if s.spread || s.Above(last) {
		s.advance.beyond = max(s.advance.beyond, last)
		s.startRaise()
	}
}

// Passed reports whether [Sequence.Observe] does nothing for an id, as s gives larger ones only. It costs nanoseconds.
func (s *Sequence) Passed(id int64) bool {
	return id < 1 || !s.spread && (s.current.Load().isPast(id) || s.ordered.Load() && !s.Above(id))
}

// gives reports whether the store may have given that id, or may give it soon.
func (s *Sequence) gives(id int64) bool {
	store, ok := s.store.(Selective)
	return !ok || store.Gives(id, s.given.Load())
}

// Above reports whether id is larger than every id that was ever reserved by this process: a later block may hold it. It
// costs a nanosecond or two. Of a striped sequence a later block of another process may hold smaller ones too.
func (s *Sequence) Above(id int64) bool { return id > s.given.Load() }

// floor returns the id above which further blocks must lie. s.mu is held.
func (s *Sequence) floor() int64 { return max(s.given.Load(), s.advance.seen) }

// unraised returns the explicit id that the row may not be above yet; false when there is none. A block that was reserved
// since says nothing: a striped sequence has more rows than the one that gave it. s.mu is held.
func (s *Sequence) unraised() (int64, bool) {
	return s.advance.beyond, s.advance.beyond > s.advance.raised
}

// startRaise has the row raised if there is need and no raise is in flight. Without a [Raiser] the next block does it.
// s.mu is held.
func (s *Sequence) startRaise() {
	_, needed := s.unraised()
	store, ok := s.store.(Raiser)
	if !ok || !needed || s.advance.raising || s.closed {
		return
	}
	s.advance.raising = true
	s.background.Go(func() { s.raise(store) })
}

// raise raises the row until it is above every explicit id.
func (s *Sequence) raise(store Raiser) {
	for failures := 0; ; {
		id, ok := s.nextRaise()
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, callTimeout(s.store))
		raised, err := store.Raise(ctx, s.request(id))
		cancel()
		failures = min(failures+1, maxRaisePauses)
		if s.applyRaise(id, raised, err) {
			failures = 1
		}
		select {
		case <-time.After(time.Duration(failures) * raisePause):
		case <-s.stop:
		}
	}
}

// nextRaise returns the id above which the row is to be raised; false when that, or the sequence, has ended.
func (s *Sequence) nextRaise() (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.unraised()
	s.advance.raising = ok && !s.closed
	return id, s.advance.raising
}

// applyRaise takes in what became of an attempt, and reports whether id is done with.
func (s *Sequence) applyRaise(id int64, raised bool, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		if s.Above(id) { // else it was a block of this process that raised the row
			s.advance.foreign = !raised
		}
	case IsTemporary(err):
		s.failed(err)
		if !s.advance.failing {
			s.cfg.Logger.Warn("a sequence row could not be raised above an explicit id yet; trying again until it is",
				"sequence", s.name.String(), "id", id, "error", err)
		}
		s.advance.failing = true
		return false
	default: // the next block, if there ever is one, lies above id all the same
		s.failed(err)
		s.cfg.Logger.Warn("a sequence row could not be raised above an explicit id", "sequence", s.name.String(), "id", id, "error", err)
	}
	s.advance.raised, s.advance.failing = id, false
	return true
}

// flush raises the row above the explicit ids that it is not above yet, after s was shut.
func (s *Sequence) flush(ctx context.Context) error {
	s.mu.Lock()
	id, needed := s.unraised()
	s.mu.Unlock()
	store, ok := s.store.(Raiser)
	if !ok || !needed {
		return nil
	}
	if _, err := store.Raise(ctx, s.request(id)); err != nil {
		return fmt.Errorf("raise sequence %s above the explicit id %d: %w", s.name, id, err)
	}
	return nil
}

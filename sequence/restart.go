package sequence

// Holds reports whether id is among those in memory that nobody has been given.
func (s *Sequence) Holds(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, ok := s.first()
	last := s.next
	if last.N == 0 {
		last = s.current.Load().rest()
	}
	return ok && id >= first && id <= last.Last()
}

// Memory returns the range of the ids in memory that nobody has been given; false when there are none. Others may lie
// between them.
func (s *Sequence) Memory() (Range, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, ok := s.first()
	last := s.next
	if last.N == 0 {
		last = s.current.Load().rest()
	}
	if !ok || last.N == 0 { // others may have taken the rest meanwhile
		return Range{}, false
	}
	return Range{first, last.Last() - first + 1}, true
}

// SkipTo has s give no more ids below next, as ALTER SEQUENCE ... RESTART WITH does. It never goes backwards. The row is
// the caller's affair; when it is behind, the next block raises it.
func (s *Sequence) SkipTo(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropBelow(next)
}

// dropBelow gives up the ids in memory below next, and asks for none of them again. The caller holds s.mu.
func (s *Sequence) dropBelow(next int64) {
	s.stats.dropped += s.current.Load().skip(next - 1)
	s.setNext(s.next.above(next - 1))
	s.advance.seen = max(s.advance.seen, next-1)
}

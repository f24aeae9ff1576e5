package sequence

import "sync/atomic"

// segment is a block of reserved ids that is being handed out. Its ids were committed before it became visible.
//
// used only grows, so the ids below it are gone for good; a segment that was sealed gives none. All takes from a segment
// therefore come before its successor is published, which is sealed first: ids never go backwards.
//
// used has a cache line of its own: every take writes it, and would take the other fields from the other processors too.
type segment struct {
	first, size int64
	mark        atomic.Int64 // the take that reaches this many ids has more to do: see setMark
	_           [cacheLine]byte
	used        atomic.Int64 // ids gone; over size after takes that came too late
	_           [cacheLine]byte
}

// cacheLine is the size of what processors take from each other, in bytes. Two lines are fetched at once by many.
const cacheLine = 128

// maxSize is the most ids of a segment; what a block has more is left out. Takes that come too late cannot overflow used.
const maxSize = 1 << 62

func newSegment(r Range) *segment {
	s := &segment{first: r.First, size: min(r.N, maxSize)}
	s.mark.Store(s.end())
	return s
}

// end is the mark of a segment whose successor is seen to: the first take that gets nothing.
func (s *segment) end() int64 { return s.size + 1 }

// setMark has the take that reaches n ids look for the next segment. The mark is never past end: takes below it do not
// look at size.
func (s *segment) setMark(n int64) { s.mark.Store(min(n, s.end())) }

// take takes n ids if there are as many. It loses none when there are not, which counts for n > 1 only: see Next.
func (s *segment) take(n int64) (Range, bool) {
	for {
		used := s.used.Load()
		if s.size-used < n {
			return Range{}, false
		}
		if s.used.CompareAndSwap(used, used+n) {
			return Range{s.first + used, n}, true
		}
	}
}

// skip takes the ids up to id for nobody, and returns how many of them were left.
func (s *segment) skip(id int64) int64 {
	if id < s.first {
		return 0
	}
	to := min(id-s.first, s.size-1) + 1
	for {
		used := s.used.Load()
		if used >= to {
			return 0
		}
		if s.used.CompareAndSwap(used, to) {
			return to - used
		}
	}
}

// isPast reports whether all ids that are left, and those of all later segments, are larger than id.
func (s *segment) isPast(id int64) bool {
	return id < s.first || id-s.first < min(s.used.Load(), s.size)
}

// rest returns the ids that nobody has taken yet. Others may take some at the same time.
func (s *segment) rest() Range { return s.from(s.used.Load()) }

// seal takes all that is left.
func (s *segment) seal() Range { return s.from(s.used.Swap(s.size)) }

func (s *segment) from(used int64) Range {
	if used >= s.size {
		return Range{}
	}
	return Range{s.first + used, s.size - used}
}

// isMarked reports whether the mark is reached.
func (s *segment) isMarked() bool { return s.used.Load() >= s.mark.Load() }

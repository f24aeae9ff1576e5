package sequence

import (
	"math"
	"sync/atomic"
)

// segment is a block of reserved ids that is being handed out. Its ids were committed before it became visible.
//
// used only grows, so the ids below it are taken for good; a segment that was sealed gives none. All takes from a segment
// therefore come before its successor is published, which is sealed first: ids never go backwards.
//
// used has a cache line of its own: every take writes it, and would take the other fields from the other processors too.
type segment struct {
	first, size int64
	mark        atomic.Int64 // the take that reaches this many ids has the next segment seen to
	_           [cacheLine]byte
	used        atomic.Int64 // ids taken; over size after takes that came too late
	_           [cacheLine]byte
}

// cacheLine is the size of what processors take from each other, in bytes. Two lines are fetched at once by many.
const cacheLine = 128

// noMark is the mark of a segment whose successor is seen to.
const noMark = math.MaxInt64

func newSegment(r Range) *segment {
	s := &segment{first: r.First, size: r.N}
	s.mark.Store(noMark)
	return s
}

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

// passed reports whether the mark is reached.
func (s *segment) passed() bool { return s.used.Load() >= s.mark.Load() }

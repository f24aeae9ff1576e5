package sequence

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRangeThen(t *testing.T) {
	for _, tt := range []struct {
		name          string
		r, next, want Range
	}{
		{"adjoining", Range{1, 3}, Range{4, 3}, Range{1, 6}},
		{"gap", Range{1, 3}, Range{5, 3}, Range{5, 3}},
		{"nothing before", Range{}, Range{1, 3}, Range{1, 3}},
		{"nothing after", Range{1, 3}, Range{}, Range{1, 3}},
		{"up to the last id", Range{top - 5, 5}, Range{top, 1}, Range{top - 5, 6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.r.then(tt.next); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSegment(t *testing.T) {
	s := newSegment(Range{top - 9, 10})
	steps := []struct {
		n    int64
		want Range
		ok   bool
	}{
		{3, Range{top - 9, 3}, true},
		{8, Range{}, false}, // and loses nothing
		{1, Range{top - 6, 1}, true},
		{5, Range{top - 5, 5}, true},
		{2, Range{}, false},
	}
	for _, step := range steps {
		if got, ok := s.take(step.n); got != step.want || ok != step.ok {
			t.Fatalf("take %d: got %v, %v, want %v, %v", step.n, got, ok, step.want, step.ok)
		}
	}
	if diff := cmp.Diff([]Range{{top, 1}, {top, 1}, {}, {}}, []Range{s.rest(), s.seal(), s.rest(), s.seal()}); diff != "" {
		t.Errorf("rest, seal, rest, seal (-want +got):\n%s", diff)
	}
	if r, ok := s.take(1); ok {
		t.Errorf("got %v of a sealed segment", r)
	}
}

func TestRangeAbove(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    Range
		id   int64
		want Range
	}{
		{"below", Range{5, 3}, 4, Range{5, 3}},
		{"the first", Range{5, 3}, 5, Range{6, 2}},
		{"inside", Range{5, 3}, 6, Range{7, 1}},
		{"the last", Range{5, 3}, 7, Range{}},
		{"above", Range{5, 3}, 8, Range{}},
		{"empty", Range{}, 8, Range{}},
		{"up to the last id", Range{top - 2, 3}, top - 1, Range{top, 1}},
		{"the last id", Range{top - 2, 3}, top, Range{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.r.above(tt.id); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSegmentSkip(t *testing.T) {
	for _, tt := range []struct {
		name    string
		r       Range
		used    int64
		id      int64
		skipped int64
		rest    Range
		past    bool // before
	}{
		{"below", Range{100, 10}, 3, 50, 0, Range{103, 7}, true},
		{"used", Range{100, 10}, 3, 102, 0, Range{103, 7}, true},
		{"the next one", Range{100, 10}, 3, 103, 1, Range{104, 6}, false},
		{"inside", Range{100, 10}, 3, 106, 4, Range{107, 3}, false},
		{"the last one", Range{100, 10}, 3, 109, 7, Range{}, false},
		{"above", Range{100, 10}, 3, top, 7, Range{}, false},
		{"the last one of a used segment", Range{100, 10}, 10, 109, 0, Range{}, true},
		{"above a used segment", Range{100, 10}, 10, 110, 0, Range{}, false},
		{"above one that was taken from too often", Range{100, 10}, 15, 112, 0, Range{}, false},
		{"no ids", Range{}, 0, 1, 0, Range{}, false},
		{"up to the last id", Range{top - 1, 2}, 0, top, 2, Range{}, false},
		{"more ids than a segment counts", Range{1, top}, 0, top, maxSize, Range{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSegment(tt.r)
			s.used.Store(tt.used)
			if got := s.isPast(tt.id); got != tt.past {
				t.Errorf("past %d: got %v, want %v", tt.id, got, tt.past)
			}
			if got := s.skip(tt.id); got != tt.skipped {
				t.Errorf("got %d skipped, want %d", got, tt.skipped)
			}
			if got := s.rest(); got != tt.rest {
				t.Errorf("got the rest %v, want %v", got, tt.rest)
			}
			if inside := tt.id-s.first < s.size; inside && !s.isPast(tt.id) {
				t.Errorf("not past %d after it was skipped", tt.id)
			}
		})
	}
}

// Takes below the mark do not look at the size: it must never lie past it.
func TestSegmentMark(t *testing.T) {
	for n, want := range map[int64]int64{1: 1, 10: 10, 11: 11, 12: 11, top: 11} {
		s := newSegment(Range{1, 10})
		s.setMark(n)
		if got := s.mark.Load(); got != want {
			t.Errorf("mark at %d of 10: got %d, want %d", n, got, want)
		}
	}
	for _, size := range []int64{0, 1, maxSize, top} {
		s := newSegment(Range{1, size})
		s.seal()
		if used := s.used.Add(1); used < s.mark.Load() {
			t.Errorf("a take from a sealed segment of %d ids reached %d, under the mark %d", size, used, s.mark.Load())
		}
	}
}

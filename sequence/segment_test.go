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

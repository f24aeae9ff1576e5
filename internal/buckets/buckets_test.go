package buckets

import (
	"sync"
	"testing"
	"time"
)

// A quantile lies within the bucket of the value that it stands for.
func TestQuantile(t *testing.T) {
	var h Histogram
	if got := h.Snapshot().Quantile(0.99); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	h.Observe(time.Hour) // before
	then := h.Snapshot()
	for range 98 {
		h.Observe(200 * time.Microsecond)
	}
	h.Observe(40 * time.Millisecond)
	h.Observe(40 * time.Millisecond)
	s := h.Snapshot().Since(then)
	if s.Count() != 100 || s.Sum != 98*200*time.Microsecond+80*time.Millisecond {
		t.Errorf("since then: %d, %v", s.Count(), s.Sum)
	}
	for q, want := range map[float64][2]time.Duration{0.5: {100 * time.Microsecond, 250 * time.Microsecond}, 0.98: {100 * time.Microsecond, 250 * time.Microsecond},
		0.99: {25 * time.Millisecond, 50 * time.Millisecond}, 1: {25 * time.Millisecond, 50 * time.Millisecond}} {
		if got := s.Quantile(q); got <= want[0] || got > want[1] {
			t.Errorf("%v: %v, want within %v", q, got, want)
		}
	}
	if got := then.Quantile(0.99); got != 30*time.Second {
		t.Errorf("past the last bound: %v", got)
	}
}

func TestObserve(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{-time.Second, 0, 100 * time.Microsecond, 100*time.Microsecond + 1, time.Second, 30 * time.Second, time.Hour} {
		h.Observe(d)
	}
	s := h.Snapshot()
	for _, test := range []struct {
		bucket int
		want   int64
	}{{0, 3}, {1, 1}, {12, 1}, {16, 1}, {17, 1}, {5, 0}} {
		if got := s.Counts[test.bucket]; got != test.want {
			t.Errorf("bucket %d: got %d, want %d", test.bucket, got, test.want)
		}
	}
	if s.Count() != 7 || s.Sum != time.Hour+30*time.Second+200*time.Microsecond+1 {
		t.Errorf("got %d durations of %v together", s.Count(), s.Sum)
	}
	if n := testing.AllocsPerRun(100, func() { h.Observe(time.Second) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestObserveAtTheSameTime(t *testing.T) {
	var h Histogram
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				h.Observe(time.Millisecond)
			}
		})
	}
	all.Wait()
	s := h.Snapshot()
	s.Add(h.Snapshot())
	if s.Count() != 16000 || s.Sum != 16*time.Second {
		t.Errorf("got %d of %v together, want 16000 of 16s", s.Count(), s.Sum)
	}
}

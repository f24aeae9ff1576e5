package soak

import (
	"testing"
	"time"
)

// The calm begins after the last stall, but not for ever.
func TestAwaitCalm(t *testing.T) {
	for _, tt := range []struct {
		stalls int // steps of a second, before those of 100 ms
		want   Span
	}{
		{0, Span{Begin: 0, End: 300 * time.Millisecond}},
		{2, Span{Begin: 2 * time.Second, End: 2300 * time.Millisecond}},
		{50, Span{Begin: 9 * time.Second, End: 10 * time.Second}},
	} {
		now, stalls := time.Duration(0), -1 // the first call says when it begins
		since := func() time.Duration {
			switch stalls++; {
			case stalls == 0:
			case stalls <= tt.stalls:
				now += time.Second
			default:
				now += 100 * time.Millisecond
			}
			return now
		}
		if got := AwaitCalm(t, since, 300*time.Millisecond); got != tt.want {
			t.Errorf("%d stalls: got %+v, want %+v", tt.stalls, got, tt.want)
		}
	}
}

package sequence

import (
	"math"
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64, consumed int64) pace {
		return pace{begin.Add(time.Duration(seconds * float64(time.Second))), consumed}
	}
	for _, tt := range []struct {
		name   string
		noted  []pace
		now    pace
		rate   float64
		runway time.Duration // of 1000 ids
	}{
		{"never used", nil, at(5, 0), 0, MaxRunway},
		{"no time went", []pace{at(0, 0)}, at(0, 7), 0, 0},
		{"one refill", []pace{at(0, 0)}, at(5, 50), 10, 100 * time.Second},
		{"idle since", []pace{at(0, 0)}, at(5, 0), 0, MaxRunway},
		{"slower than can be said", []pace{at(0, 0)}, at(1e7, 1), 1e-7, MaxRunway},
		{"the time before the latest refill counts", []pace{at(0, 0), at(2, 20), at(4, 40)}, at(4, 41), 10.5, 95238095238},
		{"the time before that does not", []pace{at(0, 0), at(2, 1000), at(4, 1020), at(6, 1040)}, at(7, 1050), 10, 100 * time.Second},
		{"many refills in a second are one", []pace{at(0, 0), at(0.1, 100), at(0.2, 200), at(0.3, 300)}, at(0.4, 400), 1000, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m meter
			for _, p := range tt.noted {
				m.note(p)
			}
			if got := m.rate(tt.now); math.Abs(got-tt.rate) > 1e-9 {
				t.Errorf("got %v ids/s, want %v", got, tt.rate)
			}
			if got := m.runway(1000, tt.now); got.Round(time.Microsecond) != tt.runway.Round(time.Microsecond) {
				t.Errorf("got a runway of %v, want %v", got, tt.runway)
			}
			if got := m.runway(0, tt.now); got != 0 {
				t.Errorf("got a runway of %v without ids, want 0", got)
			}
		})
	}
}

package adaptive

import (
	"math"
	"testing"
	"time"
)

func TestNextStep(t *testing.T) {
	const least = 15 * time.Minute
	for _, tt := range []struct {
		name              string
		step, cache, most int64
		lifetime          time.Duration
		want              int64
	}{
		{"short-lived doubles", 1000, 1000, 1_000_000, least - 1, 2000},
		{"at once doubles", 1000, 1000, 1_000_000, 0, 2000},
		{"first one", 0, 1000, 1_000_000, 0, 2000},
		{"long enough stays", 4000, 1000, 1_000_000, least, 4000},
		{"up to twice stays", 4000, 1000, 1_000_000, 2 * least, 4000},
		{"over twice halves", 4000, 1000, 1_000_000, 2*least + 2, 2000},
		{"for ever halves", 4000, 1000, 1_000_000, math.MaxInt64, 2000},
		{"halves to the cache at least", 1000, 1000, 1_000_000, math.MaxInt64, 1000},
		{"doubles to the most", 600_000, 1000, 1_000_000, 0, 1_000_000},
		{"the most is cut to whole caches", 900_000, 300, 1_000_000, 0, 999_900},
		{"halves to whole caches", 2100, 700, 1_000_000, math.MaxInt64, 700},
		{"a cache over the most", 5_000_000, 5_000_000, 1_000_000, 0, 5_000_000},
		{"cache was raised", 2000, 5000, 1_000_000, least, 5000},
		{"cache was lowered", 2000, 7, 1_000_000, least, 1995},
		{"no overflow at the top", math.MaxInt64, 1, math.MaxInt64, 0, math.MaxInt64},
		{"no overflow below the top", math.MaxInt64/2 + 1, 1, math.MaxInt64, 0, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := NextStep(tt.step, tt.cache, tt.most, growth, tt.lifetime, least)
			if got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// When callers had to wait for a block, the step grows faster, within the same limits.
func TestNextStepInBurst(t *testing.T) {
	const least = 15 * time.Minute
	for _, tt := range []struct {
		name              string
		step, cache, most int64
		lifetime          time.Duration
		want              int64
	}{
		{"16 times", 1000, 1000, 1_000_000, 0, 16_000},
		{"to the most", 62_501, 1, 1_000_000, 0, 1_000_000},
		{"not when a block lasts", 1000, 1000, 1_000_000, least, 1000},
		{"no overflow", math.MaxInt64/16 + 1, 1, math.MaxInt64, 0, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := NextStep(tt.step, tt.cache, tt.most, growthBurst, tt.lifetime, least)
			if got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestLifetime(t *testing.T) {
	for _, tt := range []struct {
		name    string
		n, used int64
		spent   time.Duration
		want    time.Duration
	}{
		{"half of it went", 1000, 500, time.Minute, 2 * time.Minute},
		{"nothing went", 1000, 0, time.Minute, math.MaxInt64},
		{"no time went", 1000, 10, 0, 0},
		{"neither", 1000, 0, 0, math.MaxInt64},
		{"longer than can be said", math.MaxInt64, 1, time.Hour, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Lifetime(tt.n, tt.used, tt.spent); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzNextStep(f *testing.F) {
	f.Add(int64(1000), int64(1000), int64(1_000_000), int64(0), true)
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), false)
	f.Fuzz(func(t *testing.T, step, cache, most, lasts int64, waited bool) {
		if step < 0 || cache < 1 || most < 1 || lasts < 0 {
			t.Skip("not reachable")
		}
		got := NextStep(step, cache, most, Growth(waited), time.Duration(lasts), 15*time.Minute)
		if got < cache || got > max(most, cache) || got%cache != 0 {
			t.Errorf("got %d, want a multiple of %d up to %d", got, cache, max(most, cache))
		}
	})
}

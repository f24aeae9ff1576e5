package steady

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// made returns an hour of windows of a noisy process that does not grow.
func made(seed uint64) []Sample {
	rng := rand.New(rand.NewPCG(seed, 0))
	samples := make([]Sample, 360)
	for i := range samples {
		s := &samples[i]
		s.At = time.Duration(i+1) * 10 * time.Second
		s.Heap = 8<<20 + rng.Int64N(2<<20)
		s.RSS = 60<<20 + rng.Int64N(20<<20)
		s.Goroutines, s.Descriptors = 90+rng.IntN(12), 70+rng.IntN(9)
		s.Operations = Latency{Count: 6000, P999: time.Duration(20+rng.IntN(20)) * time.Millisecond}
		s.Control = Latency{Count: 600, P999: time.Duration(10+rng.IntN(10)) * time.Millisecond}
		if rng.IntN(10) == 0 { // the machine had other things to do
			s.Operations.P999, s.RSS, s.Descriptors = time.Second, s.RSS+50<<20, s.Descriptors+20
		}
		if i < 20 { // it begins small
			s.Heap, s.RSS = s.Heap*int64(i)/20, s.RSS*int64(i)/20
		}
	}
	return samples
}

// What leaks is found in an hour, and nothing else is.
func TestVerdict(t *testing.T) {
	for name, leak := range map[string]struct {
		what string // of the findings that fail
		grow func(s *Sample, i int)
	}{
		"nothing":                   {"", func(*Sample, int) {}},
		"heap":                      {"heap", func(s *Sample, i int) { s.Heap += int64(i) * 20_000 }}, // 3 bytes an operation
		"resident memory":           {"resident", func(s *Sample, i int) { s.RSS += int64(i) * 100_000 }},
		"a goroutine in 6 minutes":  {"goroutines", func(s *Sample, i int) { s.Goroutines += i / 36 }},
		"a descriptor in 6 minutes": {"descriptors", func(s *Sample, i int) { s.Descriptors += i / 36 }},
		"latency":                   {"percentile", func(s *Sample, i int) { s.Operations.P999 += time.Duration(i) * 400 * time.Microsecond }},
		"latency of the machine": {"", func(s *Sample, i int) {
			s.Operations.P999 += time.Duration(i) * 400 * time.Microsecond
			s.Control.P999 += time.Duration(i) * 200 * time.Microsecond
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				samples := made(seed)
				for i := range samples {
					leak.grow(&samples[i], i)
				}
				findings := Judge(samples)
				if len(findings) != 5 {
					t.Fatalf("%d findings", len(findings))
				}
				for _, f := range findings {
					if want := leak.what != "" && strings.Contains(f.What, leak.what); f.Failed != want {
						t.Errorf("seed %d: %+v, want failed %v", seed, f, want)
					}
				}
			}
		})
	}
}

// Short runs are not judged by a percentile that they do not have.
func TestVerdictOfFewOperations(t *testing.T) {
	samples := made(1)
	for i := range samples {
		samples[i].Operations = Latency{Count: 50, P999: time.Duration(i) * time.Second}
	}
	if n := len(Judge(samples)); n != 4 {
		t.Errorf("%d findings, want 4", n)
	}
}

func TestLatency(t *testing.T) {
	var took []time.Duration
	for i := range 1001 {
		took = append(took, time.Duration(1000-i))
	}
	if got, want := NewLatency(took), (Latency{1001, 500, 990, 999, 1000}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := NewLatency(nil); got != (Latency{}) {
		t.Errorf("of nothing: %v", got)
	}
}

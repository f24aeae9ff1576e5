package soak

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
		s.At, s.Lasted = time.Duration(i+1)*10*time.Second, 10*time.Second
		s.Heap = 8<<20 + rng.Int64N(2<<20)
		s.RSS = 60<<20 + rng.Int64N(20<<20)
		s.Goroutines, s.Descriptors = 90+rng.Int64N(12), 70+rng.Int64N(9)
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
func TestGrown(t *testing.T) {
	for name, leak := range map[string]struct {
		what string // of the findings that fail
		grow func(s *Sample, i int)
	}{
		"nothing":                   {"", func(*Sample, int) {}},
		"heap":                      {"heap", func(s *Sample, i int) { s.Heap += int64(i) * 20_000 }}, // 3 bytes an operation
		"resident memory":           {"resident", func(s *Sample, i int) { s.RSS += int64(i) * 100_000 }},
		"a goroutine in 6 minutes":  {"goroutines", func(s *Sample, i int) { s.Goroutines += int64(i / 36) }},
		"a descriptor in 6 minutes": {"descriptors", func(s *Sample, i int) { s.Descriptors += int64(i / 36) }},
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
				findings := Grown(samples)
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
func TestGrownOfFewOperations(t *testing.T) {
	samples := made(1)
	for i := range samples {
		samples[i].Operations = Latency{Count: 50, P999: time.Duration(i) * time.Second}
	}
	if n := len(Grown(samples)); n != 4 {
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

func TestReport(t *testing.T) {
	samples := made(1)
	for i := range samples {
		samples[i].Goroutines += int64(i)
	}
	var b strings.Builder
	if err := WriteReport(&b, "An hour", samples, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	for want, times := range map[string]int{"An hour.\n": 1, "| goroutines | ": 2, "**grows** |\n": 1, "| steady |\n": 4, "| 1h0m0s | 600 | ": 1, " | 600 | ": 13} {
		if n := strings.Count(b.String(), want); n != times {
			t.Errorf("%q is there %d times, want %d, in\n%s", want, n, times, &b)
		}
	}
}

func TestBlocks(t *testing.T) {
	var b Blocks
	b.Add(100, 10)
	b.Add(1, 1)
	b.Add(5, 95)
	if n, err := b.Twice(); err != nil || n != 106 || b.Max() != 109 {
		t.Errorf("%v, %d ids, largest %d", err, n, b.Max())
	}
	for id, want := range map[int64]bool{0: false, 1: true, 2: false, 5: true, 99: true, 100: true, 109: true, 110: false} {
		if b.Has(id) != want {
			t.Errorf("has %d: %v", id, !want)
		}
	}
	b.Add(109, 1)
	if _, err := b.Twice(); err == nil {
		t.Error("does not see that 109 came twice")
	}
	var zero Blocks
	zero.Add(0, 1)
	if _, err := zero.Twice(); err == nil {
		t.Error("takes the id 0")
	}
}

// Package steady judges a seqgate process that is under an even load for a long time: whether it grows, and whether its
// answers become slower. Its test puts the load on a real one.
package steady

import (
	"cmp"
	"slices"
	"time"
)

// Sample is what one window of a run was like; the figures of the process are those of the window's end.
type Sample struct {
	At          time.Duration // end of the window, from the beginning of the load
	RSS, Heap   int64         // bytes: resident, and of the objects that the latest garbage collection found in use
	Goroutines  int
	Descriptors int

	Operations Latency // through seqgate
	Connects   Latency // likewise: connect, two statements, quit
	Control    Latency // INSERTs to the server itself, past seqgate
}

// Latency tells how long what ended in a window took, from when it was due and not from when it was sent: a stall counts for
// everything that it held up.
type Latency struct {
	Count               int
	P50, P99, P999, Max time.Duration
}

// NewLatency sorts took, and returns its quantiles.
func NewLatency(took []time.Duration) Latency {
	if len(took) == 0 {
		return Latency{}
	}
	slices.Sort(took)
	at := func(perMille int) time.Duration { return took[(len(took)-1)*perMille/1000] }
	return Latency{len(took), at(500), at(990), at(999), took[len(took)-1]}
}

// Finding is what came of one quantity. All numbers have its unit.
type Finding struct {
	What        string
	First, Last float64 // medians of the first and the last third of the windows, without the first tenth
	Growth      float64 // along the Theil–Sen line from the first of these windows to the last
	Allowed     float64 // the largest Growth, or Last, that passes
	Failed      bool
}

// What growth is no leak: the noise of quantities whose medians still. A leak of one byte an operation is 2 MiB in an hour
// of 600 operations a second.
const (
	heapAllowance  = 2 << 20 // and a tenth of the heap
	rssAllowance   = 16 << 20
	countAllowance = 6 // goroutines and descriptors: connections that come and go, as a window ends

	// shortCountAllowance is that of a run with few windows, whose medians a few of these connections move: as many as come
	// in a second.
	shortCountAllowance = 20
)

// latencyFactor is how many times as long the 99.9th percentile may be at the end. The machine's other work alone moves it: in the
// hour of docs/internals/soak.md, medians of 5 minutes went from 70 to 230 ms and back to 13 with it, those of the thirds from 93 to 68.
// What slows down with all that was ever done grows more: its last third takes five times as long as its first.
const latencyFactor = 2

// enough is how many operations a window must have for its 99.9th percentile to say more than its worst one, and
// enoughWindows how many windows for their medians to say more than a bad second of the machine.
const (
	enough        = 2000
	enoughWindows = 30
)

// Judge says what grew in a run of evenly spaced windows, at least 10. A quantity grows when the Theil–Sen line through its
// windows, whose slope is the median of those between any two of them, rises by more than an allowance: up to 29 % of the
// windows may be outliers. The first tenth does not count: caches and pools fill in it.
//
// The 99.9th percentile of the operations fails when its median in the last third is more than latencyFactor times that of
// the first third, and more still as the control became slower too. Runs whose windows have too few operations for
// that, as short ones, are not judged by it.
func Judge(samples []Sample) []Finding {
	samples = samples[len(samples)/10:]
	grows := func(what string, allowed, share float64, of func(Sample) float64) Finding {
		f := newFinding(what, samples, of)
		f.Allowed = allowed + share*f.First
		f.Failed = f.Growth > f.Allowed
		return f
	}
	counts := float64(countAllowance)
	if len(samples) < enoughWindows {
		counts = shortCountAllowance
	}
	findings := []Finding{
		grows("heap in use, bytes", heapAllowance, 0.1, func(s Sample) float64 { return float64(s.Heap) }),
		grows("resident memory, bytes", rssAllowance, 0.1, func(s Sample) float64 { return float64(s.RSS) }),
		grows("goroutines", counts, 0, func(s Sample) float64 { return float64(s.Goroutines) }),
		grows("descriptors", counts, 0, func(s Sample) float64 { return float64(s.Descriptors) }),
	}
	few := func(s Sample) bool { return s.Operations.Count < enough }
	if len(samples) < enoughWindows || slices.ContainsFunc(samples, few) {
		return findings
	}
	control := newFinding("", samples, func(s Sample) float64 { return seconds(s.Control.P999) })
	slower := newFinding("99.9th percentile, seconds", samples, func(s Sample) float64 { return seconds(s.Operations.P999) })
	slower.Allowed = latencyFactor * slower.First
	if control.First > 0 {
		slower.Allowed *= max(1, control.Last/control.First)
	}
	slower.Failed = slower.Last > slower.Allowed
	return append(findings, slower)
}

func seconds(d time.Duration) float64 { return d.Seconds() }

// newFinding measures a quantity; it judges nothing.
func newFinding(what string, samples []Sample, of func(Sample) float64) Finding {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	third := len(values) / 3
	return Finding{
		What:   what,
		First:  median(slices.Clone(values[:third])),
		Last:   median(slices.Clone(values[len(values)-third:])),
		Growth: theilSen(values) * float64(len(values)-1),
	}
}

// theilSen returns the median slope between any two of at least two values, per step.
func theilSen(values []float64) float64 {
	var slopes []float64
	for i, v := range values {
		for j := i + 1; j < len(values); j++ {
			slopes = append(slopes, (values[j]-v)/float64(j-i))
		}
	}
	return median(slopes)
}

// median returns the middle one of values, which it sorts.
func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

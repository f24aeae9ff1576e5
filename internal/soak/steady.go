package soak

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sample is what one window of a run under an even load was like; the figures of the process are those of the window's end.
type Sample struct {
	At, Lasted  time.Duration // the end of the window, from the beginning of the load, and how long it was
	RSS, Heap   int64         // bytes: resident, and of the objects that the latest garbage collection found in use
	Goroutines  int64
	Descriptors int64

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

// Grown says what grew in a run of evenly spaced windows, at least 10. A quantity grows when the Theil–Sen line through its
// windows, whose slope is the median of those between any two of them, rises by more than an allowance: up to 29 % of the
// windows may be outliers. The first tenth does not count: caches and pools fill in it.
//
// The 99.9th percentile of the operations fails when its median in the last third is more than latencyFactor times that of
// the first third, and more still as the control became slower too. Runs whose windows have too few operations for
// that, as short ones, are not judged by it.
func Grown(samples []Sample) []Finding {
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

// newFinding measures a quantity; Failed is for the caller to say.
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

// columns are those of a report: medians of the windows of a time, but "worst", which is the longest of all.
var columns = []struct {
	name, form string
	of         func(Sample) float64
}{
	{"operations/s", "%.0f", func(s Sample) float64 { return float64(s.Operations.Count) / s.Lasted.Seconds() }},
	{"p50, ms", "%.1f", func(s Sample) float64 { return 1000 * seconds(s.Operations.P50) }},
	{"p99", "%.1f", func(s Sample) float64 { return 1000 * seconds(s.Operations.P99) }},
	{"p99.9", "%.1f", func(s Sample) float64 { return 1000 * seconds(s.Operations.P999) }},
	{"worst", "%.0f", func(s Sample) float64 { return 1000 * seconds(s.Operations.Max) }},
	{"p99.9 past seqgate", "%.1f", func(s Sample) float64 { return 1000 * seconds(s.Control.P999) }},
	{"connects/s", "%.1f", func(s Sample) float64 { return float64(s.Connects.Count) / s.Lasted.Seconds() }},
	{"p99, ms", "%.1f", func(s Sample) float64 { return 1000 * seconds(s.Connects.P99) }},
	{"RSS, MiB", "%.1f", func(s Sample) float64 { return float64(s.RSS) / (1 << 20) }},
	{"heap, MiB", "%.1f", func(s Sample) float64 { return float64(s.Heap) / (1 << 20) }},
	{"goroutines", "%.0f", func(s Sample) float64 { return float64(s.Goroutines) }},
	{"descriptors", "%.0f", func(s Sample) float64 { return float64(s.Descriptors) }},
}

// WriteReport writes what Grown says of samples, and a table with a line for each time of every, as Markdown.
func WriteReport(w io.Writer, title string, samples []Sample, every time.Duration) error {
	var b strings.Builder
	number := func(f float64) string {
		if f > -100 && f < 100 {
			return fmt.Sprintf("%.3f", f)
		}
		return fmt.Sprintf("%.0f", f)
	}
	fmt.Fprintf(&b, "%s.\n\n| | first third | last third | growth | allowed | |\n|---|---:|---:|---:|---:|---|\n", title)
	for _, f := range Grown(samples) {
		verdict := "steady"
		if f.Failed {
			verdict = "**grows**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", f.What, number(f.First), number(f.Last), number(f.Growth), number(f.Allowed), verdict)
	}
	b.WriteString("\n| until")
	for _, c := range columns {
		b.WriteString(" | " + c.name)
	}
	b.WriteString(" |\n|---:" + strings.Repeat("|---:", len(columns)) + "|\n")
	for begin, end := 0, 1; end <= len(samples); end++ {
		if end < len(samples) && samples[end].At/every == samples[begin].At/every {
			continue
		}
		fmt.Fprintf(&b, "| %v", samples[end-1].At.Round(time.Second))
		for _, c := range columns {
			var values []float64
			for _, s := range samples[begin:end] {
				values = append(values, c.of(s))
			}
			value := median(values) // which sorts them
			if c.name == "worst" {
				value = values[len(values)-1]
			}
			fmt.Fprintf(&b, " | "+c.form, value)
		}
		b.WriteString(" |\n")
		begin = end
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Blocks collects the ids that clients of one sequence or generator were given, where they are too many for a [History]. It may be
// used by several goroutines.
type Blocks struct {
	mu     sync.Mutex
	all    []block
	sorted bool
	max    int64
}

type block struct{ first, n int64 }

// Add notes that n ids, from first on, were given.
func (b *Blocks) Add(first, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.sorted, b.max = append(b.all, block{first, n}), false, max(b.max, first+n-1)
}

// Max returns the largest id that was given; 0 when none was.
func (b *Blocks) Max() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.max
}

// Twice returns how many ids were given, and an error that names one that was given twice, or that is none.
func (b *Blocks) Twice() (n int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sort()
	last := int64(0)
	for _, x := range b.all {
		if x.first <= last {
			return n, fmt.Errorf("id %d was given twice, or is none", x.first)
		}
		n, last = n+x.n, x.first+x.n-1
	}
	return n, nil
}

// Has reports whether id was given.
func (b *Blocks) Has(id int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sort()
	i, found := slices.BinarySearchFunc(b.all, id, func(x block, id int64) int { return cmp.Compare(x.first, id) })
	return found || i > 0 && id < b.all[i-1].first+b.all[i-1].n
}

// sort orders the blocks by their first ids. b.mu is held.
func (b *Blocks) sort() {
	if !b.sorted {
		slices.SortFunc(b.all, func(x, y block) int { return cmp.Compare(x.first, y.first) })
		b.sorted = true
	}
}

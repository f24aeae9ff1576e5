package steady

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Report is a run as Markdown tells it.
type Report struct {
	Title   string // what ran, on what
	Every   time.Duration
	Samples []Sample
	IDs     int64 // that were given, each once
}

// WriteTo writes the verdict and a table with a line for each time of Every: medians of its windows, but "worst", which is the
// longest of all.
func (r Report) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. %d ids were given, each once.\n\n", r.Title, r.IDs)
	b.WriteString("| | first third | last third | growth | allowed | |\n|---|---:|---:|---:|---:|---|\n")
	for _, f := range Judge(r.Samples) {
		verdict := "steady"
		if f.Failed {
			verdict = "**grows**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", f.What, number(f.First), number(f.Last), number(f.Growth), number(f.Allowed), verdict)
	}
	b.WriteString("\n| until | operations/s | p50, ms | p99 | p99.9 | worst | p99.9 past seqgate | connects/s | p99, ms | RSS, MiB | heap, MiB | goroutines | descriptors |\n" +
		"|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, line := range r.lines() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// lines are those of the table.
func (r Report) lines() (lines [][]string) {
	var part []Sample
	since := time.Duration(0)
	for i, s := range r.Samples {
		part = append(part, s)
		if s.At-since < r.Every-r.Every/50 && i < len(r.Samples)-1 {
			continue
		}
		lines = append(lines, line(part, s.At-since))
		part, since = nil, s.At
	}
	return lines
}

// line sums up the windows of a time that lasted so long.
func line(part []Sample, lasted time.Duration) []string {
	worst, operations, connects := time.Duration(0), 0, 0
	for _, s := range part {
		worst = max(worst, s.Operations.Max)
		operations, connects = operations+s.Operations.Count, connects+s.Connects.Count
	}
	middle := func(of func(Sample) float64) float64 {
		values := make([]float64, len(part))
		for i, s := range part {
			values[i] = of(s)
		}
		return median(values)
	}
	ms := func(of func(Sample) time.Duration) string {
		return fmt.Sprintf("%.1f", 1000*middle(func(s Sample) float64 { return of(s).Seconds() }))
	}
	whole := func(of func(Sample) int) string {
		return fmt.Sprintf("%.0f", middle(func(s Sample) float64 { return float64(of(s)) }))
	}
	mib := func(of func(Sample) int64) string {
		return fmt.Sprintf("%.1f", middle(func(s Sample) float64 { return float64(of(s)) })/(1<<20))
	}
	return []string{
		part[len(part)-1].At.Round(time.Second).String(),
		fmt.Sprintf("%.0f", float64(operations)/lasted.Seconds()),
		ms(func(s Sample) time.Duration { return s.Operations.P50 }),
		ms(func(s Sample) time.Duration { return s.Operations.P99 }),
		ms(func(s Sample) time.Duration { return s.Operations.P999 }),
		fmt.Sprintf("%.0f", 1000*worst.Seconds()),
		ms(func(s Sample) time.Duration { return s.Control.P999 }),
		fmt.Sprintf("%.1f", float64(connects)/lasted.Seconds()),
		ms(func(s Sample) time.Duration { return s.Connects.P99 }),
		mib(func(s Sample) int64 { return s.RSS }),
		mib(func(s Sample) int64 { return s.Heap }),
		whole(func(s Sample) int { return s.Goroutines }),
		whole(func(s Sample) int { return s.Descriptors }),
	}
}

// number writes large numbers whole, with commas, and small ones with three places.
func number(f float64) string {
	if f > -100 && f < 100 {
		return fmt.Sprintf("%.3f", f)
	}
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seqgate/seqgate/bench/internal/report"
)

// cell is a statement at one X, by target.
type cell map[string]*Point

func (p *Part) cell(statement string, x int) cell {
	c := cell{}
	for i := range p.Points {
		if at := &p.Points[i]; at.Statement == statement && at.X == x {
			c[at.Target] = at
		}
	}
	return c
}

// distinct returns what of gives of the points, each once, in their order; "" is left out.
func distinct[T comparable](points []Point, of func(*Point) (T, bool)) (all []T) {
	for i := range points {
		if v, ok := of(&points[i]); ok && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

func (p *Part) statements() []string {
	return distinct(p.Points, func(at *Point) (string, bool) { return at.Statement, true })
}

func (p *Part) targets() []string {
	return distinct(p.Points, func(at *Point) (string, bool) { return at.Target, true })
}

func (p *Part) targetsOf(statement string) []string {
	return distinct(p.Points, func(at *Point) (string, bool) { return at.Target, at.Statement == statement })
}

func (p *Part) xs(statement string) []int {
	return distinct(p.Points, func(at *Point) (int, bool) { return at.X, at.Statement == statement })
}

func (p *Part) facts(statement string) []string {
	names := map[string]bool{}
	for _, at := range p.Points {
		if at.Statement == statement {
			for name := range at.Facts {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Rate is the median of the samples' rates, in what Per counts.
func (p *Point) Rate() float64 {
	return p.median(func(s Sample) float64 { return s.Rate() * float64(p.Per) })
}

func (p *Point) median(of func(Sample) float64) float64 {
	values := make([]float64, len(p.Samples))
	for i, s := range p.Samples {
		values[i] = of(s)
	}
	return report.Median(values)
}

func (c cell) rate(target string) string {
	if c[target] == nil {
		return ""
	}
	return fmt.Sprintf("%.0f", c[target].Rate())
}

// ratio is the median of the rounds' own ratios; "" unless both targets have all rounds.
func (c cell) ratio(target, base string) string {
	ratios := c.ratios(target, base)
	if ratios == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", report.Median(ratios))
}

// ratios are the rounds' own; nil unless both targets have all rounds.
func (c cell) ratios(target, base string) []float64 {
	a, b := c[target], c[base]
	if a == nil || b == nil || len(a.Samples) != len(b.Samples) {
		return nil
	}
	ratios := make([]float64, len(a.Samples))
	for i := range ratios {
		ratios[i] = a.Samples[i].Rate() * float64(a.Per) / b.Samples[i].Rate() / float64(b.Per)
	}
	return ratios
}

// spread is how far the rounds' ratios to the first target lie apart: the width of their middle half as a share of their
// median, in the median cell and in the widest. Both are 0 where there is nothing to compare.
func (p *Part) spread() (median, widest float64) {
	var widths []float64
	for _, statement := range p.statements() {
		targets := p.targetsOf(statement)
		for _, x := range p.xs(statement) {
			cell := p.cell(statement, x)
			for _, t := range targets[1:] {
				if ratios := slices.Sorted(slices.Values(cell.ratios(t, targets[0]))); len(ratios) > 0 {
					n := len(ratios)
					widths = append(widths, (ratios[3*n/4]-ratios[n/4])/report.Median(ratios))
				}
			}
		}
	}
	if len(widths) == 0 {
		return 0, 0
	}
	return report.Median(widths), slices.Max(widths)
}

func (c cell) fact(target, name string) string {
	if c[target] == nil {
		return ""
	}
	v, ok := c[target].Facts[name]
	if !ok {
		return ""
	}
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// join puts what of gives of the targets into one cell; "-" stands for one that was not measured.
func (c cell) join(targets []string, of func(*Point) string) string {
	values := make([]string, len(targets))
	for i, t := range targets {
		if values[i] = "-"; c[t] != nil {
			values[i] = of(c[t])
		}
	}
	return strings.Join(values, "/")
}

func (cell) p50(p *Point) string {
	return fmt.Sprintf("%.0f", p.median(func(s Sample) float64 { return microseconds(s.P50) }))
}

func (cell) p99(p *Point) string {
	return fmt.Sprintf("%.0f", p.median(func(s Sample) float64 { return microseconds(s.P99) }))
}

// cpu is over all rounds together: CPU times come in steps of 10 ms. A target without a hop has none.
func (cell) cpu(p *Point) string {
	var cpu time.Duration
	var queries int
	for _, s := range p.Samples {
		cpu += s.CPU
		queries += s.Queries
	}
	if cpu == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", microseconds(cpu)/float64(queries))
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

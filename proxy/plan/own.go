package plan

import (
	"slices"

	"github.com/seqgate/seqgate/parser"
)

// EachOwn calls yield with the own ids of a statement's rows that lie from first to
// last, in any order.
type EachOwn func(first, last int64, yield func(id int64))

// OwnOf returns the own ids of rows that were judged.
func OwnOf(slots []parser.Slot) EachOwn {
	return func(first, last int64, yield func(int64)) {
		for _, slot := range slots {
			if slot.State == parser.Explicit && slot.HasValue && slot.Value >= first && slot.Value <= last {
				yield(slot.Value)
			}
		}
	}
}

// OwnReach is how many ids a statement may leave out, and one more for each of its rows,
// so that its new ids lie above its own, as in a native column, or among them. Whoever
// may not write to the table can make the sequence lose as many by one statement.
const OwnReach = 10_000

// OwnReach returns how many ids the statement may leave out.
func (p *Fill) OwnReach() int64 { return max(p.Reach, OwnReach+int64(p.Rows)) }

// ClearOf returns the first id, from one on, of n that follow each other and none of
// which is the statement's own: above all of those, if they are near and one of them
// stands before an open row. Which ones a query gives is not known: see TakesAmong.
func (p *Fill) ClearOf(first, n int64) int64 {
	most := p.Binding.Max // a larger id fails, or is stored as this one
	lowest, highest := min(p.Lowest, most), min(p.Highest, most)
	switch {
	case highest < first:
		return first
	case (p.Ahead || p.FromQuery) && highest-first < p.OwnReach() && highest <= most-n:
		return highest + 1
	case p.Own == nil || lowest-first >= n:
		return first
	}
	last := most
	if first <= most-n-p.OwnReach() {
		last = first + n + p.OwnReach()
	}
	var near []int64
	p.Own(first, last, func(id int64) { near = append(near, id) })
	if p.Highest > most {
		near = append(near, most)
	}
	slices.Sort(near)
	start := first
	for _, id := range near {
		if id-start >= n {
			break
		}
		start = max(start, id+1)
	}
	return start
}

// TakesAmong reports whether a query may give ids that are in the block.
func (p *Fill) TakesAmong() bool {
	return p.MovesAhead() && p.Open > 0 && p.Lowest < p.First+p.Span() && p.Highest >= p.First
}

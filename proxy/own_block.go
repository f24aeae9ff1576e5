package proxy

import (
	"fmt"
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
)

// Some rows of a statement bring ids of their own, and the others get new ones. The
// block of those holds none of the former. It is chosen from what the sequence gives
// next: whether the server takes the statement at all is not known yet, so that the
// sequence moves by no more than the statement's rows and ownReach.

// ownReach is how many ids a statement may leave out, and one more for each of its rows,
// so that its new ids lie above its own, as in a native column, or among them. Whoever
// may not write to the table can make the sequence lose as many by one statement.
const ownReach = 10_000

// ownMoves bounds how often a block is looked for where the sequence's blocks do not
// follow each other.
const ownMoves = 100

// eachOwn calls yield with the own ids of a statement's rows that lie from first to
// last, in any order.
type eachOwn func(first, last int64, yield func(id int64))

// takeBlock takes one block for all open rows.
func (f *idTaker) takeBlock(p *fillPlan) (err error) {
	p.first, err = f.next(p.binding, p.span())
	if err != nil || !p.movesAhead() || p.highest < p.first {
		return err
	}
	return f.takeClear(p, p.span())
}

// takeClear moves a block of n ids to where it holds none of the statement's own.
func (f *idTaker) takeClear(p *fillPlan, n int64) error {
	have := sequence.Range{First: p.first, N: n}
	for range ownMoves {
		start := p.clearOf(have.First, n)
		missing := start + n - (have.First + have.N)
		if missing <= 0 {
			p.first = start
			return nil
		}
		if start-have.First > p.ownReach() {
			break
		}
		first, err := f.next(p.binding, missing)
		if err != nil {
			return err
		}
		if first == have.First+have.N {
			have.N += missing
		} else {
			have = sequence.Range{First: first, N: missing}
		}
	}
	return catalog.Unsupported(fmt.Sprintf("rows without an id beside rows that bring along so many of the next %d", n+p.ownReach()), p.binding.Table,
		"write the rows with ids of their own in a statement before")
}

// ownReach gives how many ids the statement may leave out.
func (p *fillPlan) ownReach() int64 { return max(p.reach, ownReach+int64(p.rows)) }

// clearOf gives the first id, from one on, of n that follow each other and none of
// which is the statement's own: above all of those, if they are near and one of them
// stands before an open row. Which ones a query gives is not known: see takesAmong.
func (p *fillPlan) clearOf(first, n int64) int64 {
	most := p.binding.Max // a larger id fails, or is stored as this one
	lowest, highest := min(p.lowest, most), min(p.highest, most)
	switch {
	case highest < first:
		return first
	case (p.ahead || p.fromQuery) && highest-first < p.ownReach() && highest <= most-n:
		return highest + 1
	case p.own == nil || lowest-first >= n:
		return first
	}
	last := most
	if first <= most-n-p.ownReach() {
		last = first + n + p.ownReach()
	}
	var near []int64
	p.own(first, last, func(id int64) { near = append(near, id) })
	if p.highest > most {
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

// takesAmong reports whether a query may give ids that are in the block.
func (p *fillPlan) takesAmong() bool {
	return p.movesAhead() && p.open > 0 && p.lowest < p.first+p.span() && p.highest >= p.first
}

// ownOf gives the own ids of rows that were judged.
func ownOf(slots []parser.Slot) eachOwn {
	return func(first, last int64, yield func(int64)) {
		for _, slot := range slots {
			if slot.State == parser.Explicit && slot.HasValue && slot.Value >= first && slot.Value <= last {
				yield(slot.Value)
			}
		}
	}
}

// maxOwnRanges bounds the memory for the own ids of a file, in ranges of 16 bytes.
const maxOwnRanges = 1 << 16

// ownRanges are own ids of the rows of a file so far, those that follow each other as
// one range.
type ownRanges struct {
	ranges []idBlock
	over   bool // there were more than are remembered
}

func (o *ownRanges) add(id int64) {
	if n := len(o.ranges); n > 0 {
		last := &o.ranges[n-1]
		switch d := id - last.first; {
		case d >= 0 && d < last.count:
			return
		case d == last.count:
			last.count++
			return
		}
	}
	if len(o.ranges) == maxOwnRanges {
		o.over = true
		return
	}
	o.ranges = append(o.ranges, idBlock{id, 1})
}

// each is an eachOwn.
func (o *ownRanges) each(first, last int64, yield func(int64)) {
	for _, r := range o.ranges {
		end := r.first + (r.count - 1)
		for id := max(first, r.first); id <= min(last, end); id++ {
			yield(id)
			if id == end {
				break // the next one may be none
			}
		}
	}
}

package proxy

import (
	"fmt"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/sequence"
)

// Some rows of a statement bring ids of their own, and the others get new ones. The
// block of those holds none of the former. It is chosen from what the sequence gives
// next: whether the server takes the statement at all is not known yet, so that the
// sequence moves by no more than the statement's rows and plan.OwnReach.

// ownMoves bounds how often a block is looked for where the sequence's blocks do not
// follow each other.
const ownMoves = 100

// takeBlock takes one block for all open rows.
func (f *idTaker) takeBlock(p *plan.Fill) (err error) {
	p.First, err = f.next(p.Binding, p.Span())
	if err != nil || !p.MovesAhead() || p.Highest < p.First {
		return err
	}
	return f.takeClear(p, p.Span())
}

// takeClear moves a block of n ids to where it holds none of the statement's own.
func (f *idTaker) takeClear(p *plan.Fill, n int64) error {
	have := sequence.Range{First: p.First, N: n}
	for range ownMoves {
		start := p.ClearOf(have.First, n)
		missing := start + n - (have.First + have.N)
		if missing <= 0 {
			p.First = start
			return nil
		}
		if start-have.First > p.OwnReach() {
			break
		}
		first, err := f.next(p.Binding, missing)
		if err != nil {
			return err
		}
		if first == have.First+have.N {
			have.N += missing
		} else {
			have = sequence.Range{First: first, N: missing}
		}
	}
	return catalog.Unsupported(fmt.Sprintf("rows without an id beside rows that bring along so many of the next %d", n+p.OwnReach()), p.Binding.Table,
		"write the rows with ids of their own in a statement before")
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

// each is a plan.EachOwn.
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

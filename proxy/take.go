package proxy

import (
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
	"github.com/seqgate/seqgate/sequence"
)

// takeOpen takes ids for the open rows of the statement in s.planner.Stmt.
func (f *idTaker) takeOpen(p *plan.Fill) error {
	if p.MovesAhead() {
		p.Own = plan.OwnOf(f.planner.Slots)
	}
	return f.takeIDs(p, f.planner.IsOpen, nil)
}

// takeIDs takes an id for each open row. params are those of an execution.
func (f *idTaker) takeIDs(p *plan.Fill, open func(row int) bool, params []wire.Param) (err error) {
	if p.Open == 0 {
		return nil
	}
	f.owner.noteFilled()
	if err = f.takeEach(p, open, params); err == nil {
		f.noteIDs(p.Open)
	}
	return err
}

// takeEach is takeIDs where at least one row is open.
func (f *idTaker) takeEach(p *plan.Fill, open func(row int) bool, params []wire.Param) (err error) {
	if p.Binding.Form != 0 {
		return f.takeTexts(p)
	}
	if f.State.IDs.Forced != 0 || p.Forced != 0 {
		return f.takeForced(p)
	}
	if err := f.spread(p); err != nil {
		return err
	}
	switch {
	case p.Binding.Numbers != nil && !p.FromQuery:
		return f.takeNumbers(p)
	case p.Binding.Key.Name == "":
		return f.takeBlock(p)
	}
	keys, err := f.openKeys(p.Binding, p.Keys, open, params)
	if err != nil {
		return err
	}
	if p.IDs, err = f.nextEach(p.Binding, keys); err == nil {
		p.First = p.IDs[0]
	}
	return err
}

// next takes a block of n ids, all of which the column can hold.
func (f *idTaker) next(b *catalog.Binding, n int64) (int64, error) {
	ids, err := f.nextRange(b, n)
	if err != nil {
		return 0, err
	}
	if ids.First > b.Max-n+1 {
		return 0, columnFull(b, ids.Last())
	}
	return ids.First, nil
}

func (f *idTaker) nextRange(b *catalog.Binding, n int64) (sequence.Range, error) {
	if b.Numbers != nil {
		return b.Numbers.Next(f.spanContext(), n)
	}
	seq, err := f.srv.cfg.Sequences.Get(b.Sequence)
	if err != nil {
		return sequence.Range{}, err
	}
	ids, err := seq.Next(f.spanContext(), n)
	f.srv.discard(b.Sequence, err)
	return ids, err
}

package proxy

import (
	"github.com/seqgate/seqgate/parser"
)

// run sends the statement to its shards, and answers the client.
func (in *shardedInsert) run() error {
	if len(in.targets) == 1 {
		return in.runOne(in.targets[0])
	}
	return in.runSeveral()
}

// runOne runs the statement on one shard, which answers the client as it does for a
// table that is not sharded.
func (in *shardedInsert) runOne(shard int) error {
	r := in.r
	leg, err := r.leg(in.keyspace.Shards[shard])
	if err != nil {
		return err
	}
	r.last = leg
	return r.on(leg, func() error {
		defer leg.after(in.effect)
		return in.answerFrom(leg)
	})
}

// answerFrom sends the whole statement to a leg and passes its answer on.
func (in *shardedInsert) answerFrom(leg *executor) error {
	if err := in.prepare(leg); err != nil {
		return err
	}
	leg.out.composed = true
	leg.scratch = in.appendText(append(leg.packetBuffer(), in.attributes...), nil)
	if err := leg.sendPacket(leg.scratch); err != nil {
		return err
	}
	switch in.kind {
	case planFill:
		return leg.settleFill(&in.fill, in.target(leg))
	case planReport:
		return leg.settleExplicit(&in.fill, in.target(leg))
	}
	return leg.relayResult()
}

// prepare brings a leg's LAST_INSERT_ID() to where the statement needs it.
func (in *shardedInsert) prepare(leg *executor) error {
	leg.left = nil
	if !leg.state.lastIDKnown {
		if err := leg.ask(); err != nil {
			return err
		}
	}
	return leg.before(in.effect)
}

func (in *shardedInsert) target(leg *executor) target {
	return target{leg.keyspace.Database, in.stmt.Table}
}

// appendText appends the statement as a shard gets it: with the rows of a part, or all.
func (in *shardedInsert) appendText(dst []byte, p *insertPart) []byte {
	edits := parser.RowEdits{Database: in.keyspace.Shards[in.targets[0]].Database}
	fill := &in.fill
	if p != nil {
		fill, edits.Database = &p.fill, in.keyspace.Shards[p.shard].Database
		if in.shards != nil {
			edits.Rows = func(row int) bool { return in.shards[row] == p.shard }
		}
	}
	if in.kind == planFill {
		edits.FillOptions, edits.Column = in.r.s.fillOptions(fill), in.binding.Column
		if fill.open > 0 {
			edits.Value = in.fillValues(fill)
		}
	}
	return in.stmt.AppendRows(dst, in.sql, edits)
}

// fillValues gives the ids of a part's rows, one by one.
func (in *shardedInsert) fillValues(fill *fillPlan) func(dst []byte, row int) ([]byte, bool) {
	n := 0
	return func(dst []byte, row int) ([]byte, bool) {
		if !in.r.s.isOpen(row) {
			return dst, false
		}
		dst = fill.appendOpen(dst, n)
		n++
		return dst, true
	}
}

// runSeveral runs the statement on several shards, on all or on none.
func (in *shardedInsert) runSeveral() error {
	r := in.r
	r.forgetLast()
	parts, err := in.parts()
	if err != nil {
		return err
	}
	legs := in.legs(parts)
	r.several = legs
	for i := range legs {
		if err := in.prepare(legs[i]); err != nil {
			return err
		}
	}
	err = r.atomic(in.severally(parts))
	for i := range parts {
		p := &parts[i]
		if err != nil {
			p.leg.skipTaken(&in.fill, in.target(p.leg), err)
		}
		p.leg.tellExplicit(&p.fill, in.target(p.leg), p.leg.ownOutcome(&p.fill, p.ok, err))
	}
	if err != nil {
		for _, leg := range legs {
			leg.state.restore = true // LAST_INSERT_ID(id) may have been evaluated before it failed
		}
		return err
	}
	ok := in.merge(parts)
	r.ran(int64(ok.AffectedRows), 0)
	ok.Status = r.status()
	return r.answer(ok)
}

// wantLastID says what LAST_INSERT_ID() has to give on all legs.
func (r *router) wantLastID(id uint64) {
	for _, leg := range r.legs.all {
		if !leg.state.lastIDKnown || leg.state.lastID != id {
			leg.state.lastID, leg.state.lastIDKnown, leg.state.restore = id, true, true
		}
	}
}

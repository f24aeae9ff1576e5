package proxy

import (
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/wire"
)

// insertPart is what one shard gets of a statement.
type insertPart struct {
	leg   *executor
	shard int
	last  int      // its last row
	fill  fillPlan // of its rows
	ok    wire.OK
}

func (in *shardedInsert) legs(parts []insertPart) []*executor {
	legs := make([]*executor, len(parts))
	for i := range parts {
		legs[i] = parts[i].leg
	}
	return legs
}

// parts opens the legs of all shards that get a part.
func (in *shardedInsert) parts() ([]insertPart, error) {
	legs := make([]*executor, len(in.targets))
	for i, shard := range in.targets {
		leg, err := in.r.leg(in.keyspace.Shards[shard])
		if err != nil {
			return nil, err
		}
		legs[i] = leg
	}
	return in.divide(legs), nil
}

// divide divides the statement among the legs of its targets.
func (in *shardedInsert) divide(legs []*executor) []insertPart {
	parts := make([]insertPart, len(in.targets))
	index := make([]*insertPart, len(in.keyspace.Shards))
	for i, shard := range in.targets {
		parts[i] = insertPart{leg: legs[i], shard: shard, fill: in.fill}
		parts[i].fill.rows = in.stmt.Rows
		index[shard] = &parts[i]
	}
	if in.shards == nil { // each gets them all
		return parts
	}
	for i := range parts {
		fill := &parts[i].fill
		fill.rows, fill.open, fill.ids, fill.texts, fill.explicit, fill.hasExplicit = 0, 0, nil, nil, 0, false
		fill.lowest, fill.highest, fill.ahead = 0, 0, false
	}
	for row, n := 0, 0; row < len(in.shards); row++ {
		part := index[in.shards[row]]
		open := in.kind == planFill && in.r.s.isOpen(row)
		if part.take(row, open, in.r.s.slots); open {
			part.fill.takeFrom(&in.fill, n)
			n++
		}
	}
	for i := range parts {
		if fill := &parts[i].fill; len(fill.ids) > 0 {
			fill.first = fill.ids[0]
		}
	}
	return parts
}

// take counts a row, whose id is open or not.
func (p *insertPart) take(row int, open bool, slots []parser.Slot) {
	p.last = row
	p.fill.rows++
	if open {
		p.fill.open++
	}
	if len(slots) > 0 {
		p.fill.noteExplicit(slots[row])
	}
}

// severally is the statement on the legs of its parts.
func (in *shardedInsert) severally(parts []insertPart) severally {
	legs := in.legs(parts)
	return severally{
		legs:    legs,
		inOrder: in.reference(),
		send:    func(i int) error { return in.send(&parts[i]) },
		receive: func(i int) (err error) {
			parts[i].ok, err = parts[i].leg.readOK()
			return err
		},
		done: func() error {
			if !slices.ContainsFunc(parts, func(p insertPart) bool { return p.ok.Warnings > 0 }) {
				return nil
			}
			return in.r.keepWarnings(legs)
		},
	}
}

func (in *shardedInsert) send(p *insertPart) error {
	p.leg.scratch = in.appendText(append(p.leg.packetBuffer(), in.attributes...), p)
	return p.leg.sendPacket(p.leg.scratch)
}

package proxy

import (
	"slices"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/wire"
)

// insertPart is what one shard gets of a statement.
type insertPart struct {
	conn  *executor
	shard int
	last  int       // its last row
	fill  plan.Fill // of its rows
	ok    wire.OK
}

func (in *shardedInsert) conns(parts []insertPart) []*executor {
	conns := make([]*executor, len(parts))
	for i := range parts {
		conns[i] = parts[i].conn
	}
	return conns
}

// parts opens the connections of all shards that get a part.
func (in *shardedInsert) parts() ([]insertPart, error) {
	conns := make([]*executor, len(in.Targets))
	for i, shard := range in.Targets {
		conn, err := in.r.conn(in.Keyspace.Shards[shard])
		if err != nil {
			return nil, err
		}
		conns[i] = conn
	}
	return in.divide(conns), nil
}

// divide divides the statement among the connections of its targets.
func (in *shardedInsert) divide(conns []*executor) []insertPart {
	parts := make([]insertPart, len(in.Targets))
	index := make([]*insertPart, len(in.Keyspace.Shards))
	for i, shard := range in.Targets {
		parts[i] = insertPart{conn: conns[i], shard: shard, fill: in.Fill}
		parts[i].fill.Rows = in.Planner.Stmt.Rows
		index[shard] = &parts[i]
	}
	if in.Shards == nil { // each gets them all
		return parts
	}
	for i := range parts {
		fill := &parts[i].fill
		fill.Rows, fill.Open, fill.IDs, fill.Texts, fill.Explicit, fill.HasExplicit = 0, 0, nil, nil, 0, false
		fill.Lowest, fill.Highest, fill.Ahead = 0, 0, false
	}
	for row, n := 0, 0; row < len(in.Shards); row++ {
		part := index[in.Shards[row]]
		open := in.Kind == plan.Filled && in.Planner.IsOpen(row)
		if part.take(row, open, in.Planner.Slots); open {
			part.fill.TakeFrom(&in.Fill, n)
			n++
		}
	}
	for i := range parts {
		if fill := &parts[i].fill; len(fill.IDs) > 0 {
			fill.First = fill.IDs[0]
		}
	}
	return parts
}

// take counts a row, whose id is open or not.
func (p *insertPart) take(row int, open bool, slots []parser.Slot) {
	p.last = row
	p.fill.Rows++
	if open {
		p.fill.Open++
	}
	if len(slots) > 0 {
		p.fill.NoteExplicit(slots[row])
	}
}

// onEachOf is the statement on the connections of its parts.
func (in *shardedInsert) onEachOf(parts []insertPart) onEachOf {
	conns := in.conns(parts)
	return onEachOf{
		conns:   conns,
		inOrder: in.SameRows(),
		send:    func(i int) error { return in.send(&parts[i]) },
		receive: func(i int) (err error) {
			parts[i].ok, err = parts[i].conn.readOK()
			return err
		},
		done: func() error {
			if !slices.ContainsFunc(parts, func(p insertPart) bool { return p.ok.Warnings > 0 }) {
				return nil
			}
			return in.r.keepWarnings(conns)
		},
	}
}

func (in *shardedInsert) send(p *insertPart) error {
	p.conn.scratch = in.appendText(append(p.conn.packetBuffer(), in.attributes...), p)
	return p.conn.SendPacket(p.conn.scratch)
}

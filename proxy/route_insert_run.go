package proxy

import (
	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
)

// run takes the ids, sends the statement to its shards, and answers the client.
func (in *shardedInsert) run(attributes []byte) error {
	in.attributes = attributes
	if err := in.takeIDs(); err != nil {
		return err
	}
	if err := in.PlaceByIDs(); err != nil {
		return err
	}
	if len(in.Targets) == 1 {
		return in.runOne(in.Targets[0])
	}
	return in.runSeveral()
}

// runOne runs the statement on one shard, which answers the client as it does for a
// table that is not sharded.
func (in *shardedInsert) runOne(shard int) error {
	r := in.r
	conn, err := r.conn(in.Keyspace.Shards[shard])
	if err != nil {
		return err
	}
	r.last = conn
	return r.on(conn, func() error {
		defer conn.after(in.Effect)
		return in.answerFrom(conn)
	})
}

// answerFrom sends the whole statement to a connection and passes its answer on.
func (in *shardedInsert) answerFrom(conn *executor) error {
	if err := in.prepare(conn); err != nil {
		return err
	}
	conn.out.composed = true
	conn.scratch = in.appendText(append(conn.packetBuffer(), in.attributes...), nil)
	if err := conn.SendPacket(conn.scratch); err != nil {
		return err
	}
	switch in.Kind {
	case plan.Filled:
		return conn.answerFilled(&in.Fill, in.target(conn))
	case plan.Report:
		return conn.answerExplicit(&in.Fill, in.target(conn))
	}
	return conn.relayResult()
}

// prepare brings a connection's LAST_INSERT_ID() to where the statement needs it.
func (in *shardedInsert) prepare(conn *executor) error {
	conn.left = nil
	if !conn.State.LastIDKnown {
		if err := conn.Ask(); err != nil {
			return err
		}
	}
	return conn.before(in.Effect)
}

func (in *shardedInsert) target(conn *executor) catalog.TableName {
	return catalog.TableName{Schema: conn.keyspace.Database, Table: in.Planner.Stmt.Table}
}

// appendText appends the statement as a shard gets it: with the rows of a part, or all.
func (in *shardedInsert) appendText(dst []byte, p *insertPart) []byte {
	edits := parser.RowEdits{Database: in.Keyspace.Shards[in.Targets[0]].Database}
	fill := &in.Fill
	if p != nil {
		fill, edits.Database = &p.fill, in.Keyspace.Shards[p.shard].Database
		if in.Shards != nil {
			edits.Rows = func(row int) bool { return in.Shards[row] == p.shard }
		}
	}
	if in.Kind == plan.Filled {
		edits.FillOptions, edits.Column = fill.Options(), in.Binding.Column
		if fill.Open > 0 {
			edits.Value = in.fillValues(fill)
		}
	}
	return in.Planner.Stmt.AppendRows(dst, in.SQL, edits)
}

// fillValues returns the ids of a part's rows, one by one.
func (in *shardedInsert) fillValues(fill *plan.Fill) func(dst []byte, row int) ([]byte, bool) {
	n := 0
	return func(dst []byte, row int) ([]byte, bool) {
		if !in.Planner.IsOpen(row) {
			return dst, false
		}
		dst = fill.AppendOpen(dst, n)
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
	conns := in.conns(parts)
	r.several = conns
	for i := range conns {
		if err := in.prepare(conns[i]); err != nil {
			return err
		}
	}
	err = r.atomic(in.onEachOf(parts))
	for i := range parts {
		p := &parts[i]
		if err != nil {
			p.conn.skipTaken(&in.Fill, in.target(p.conn), err)
		}
		p.conn.tellExplicit(&p.fill, in.target(p.conn), p.conn.ownOutcome(&p.fill, p.ok, err))
	}
	if err != nil {
		for _, conn := range conns {
			conn.State.Restore = true // LAST_INSERT_ID(id) may have been evaluated before it failed
		}
		return err
	}
	ok := in.merge(parts)
	r.ran(int64(ok.AffectedRows), 0)
	ok.Status = r.status()
	return r.answer(ok)
}

// takeIDs takes the ids that the rows leave out.
func (in *shardedInsert) takeIDs() error {
	if in.Kind != plan.Filled {
		return nil
	}
	if in.Fill.Open > 1 {
		var err error
		if in.Fill.Step, err = in.r.increment(in.Keyspace.Shards); err != nil {
			return err
		}
	}
	return in.r.s.takeOpen(&in.Fill)
}

package proxy

import (
	"errors"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/merge"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/proxy/wire"
)

// runTables runs such a statement.
func (r *textRouter) runTables(p *plan.Routed, attributes []byte) error {
	k := r.planKeyspace(p.Route)
	switch p.Route.Kind {
	case route.Local:
		get := r.conn
		if !r.tx.open && !r.autocommit() { // nor does a server begin a transaction for it
			get = r.connectedConn
		}
		return r.runAny(get, r.Shards()[0], p.Route, attributes, p.SQL)
	case route.Any:
		return r.runAny(r.conn, k.EachShard()[0], p.Route, attributes, p.SQL)
	case route.Unsharded:
		if plan.CommitsFirst(parser.Sniff(p.SQL), p.SQL) {
			if err := r.commit(); err != nil { // its server commits by itself
				return err
			}
			conn, err := r.connectedConn(k)
			if err != nil {
				return err
			}
			return r.runOn(conn, p.Route, attributes, p.SQL)
		}
		return r.runOne(k, p.Route, attributes, p.SQL)
	}
	if len(p.Shards) == 1 {
		return r.runOne(k.Shards[p.Shards[0]], p.Route, attributes, p.SQL)
	}
	shards := make([]*catalog.Keyspace, len(p.Shards))
	for i, index := range p.Shards {
		shards[i] = k.Shards[index]
	}
	r.forgetLast()
	switch {
	case p.Route.Select:
		return r.selectSeveral(shards, p.Planner, p.Route, attributes, p.SQL, p.Mode)
	case p.Route.Kind == route.Everywhere && !p.Route.SameRows:
		return r.defineEverywhere(shards, p.Route, attributes, p.SQL)
	}
	return r.writeSeveral(shards, p.Route, attributes, p.SQL)
}

// planKeyspace returns the keyspace whose servers answer.
func (r *textRouter) planKeyspace(p *route.Plan) *catalog.Keyspace {
	if p.Keyspace != "" {
		return r.Keyspaces[p.Keyspace]
	}
	return r.Keyspace
}

// runOne runs a statement on one shard, which answers the client.
func (r *textRouter) runOne(k *catalog.Keyspace, p *route.Plan, attributes, sql []byte) error {
	conn, err := r.conn(k)
	if err != nil {
		return err
	}
	return r.runOn(conn, p, attributes, sql)
}

// runAny is runOne for what any other shard would answer as well, on a connection that get gives.
func (r *textRouter) runAny(get func(*catalog.Keyspace) (*executor, error), k *catalog.Keyspace, p *route.Plan, attributes, sql []byte) error {
	conn, err := r.anyShard(k, get)
	if err != nil {
		return err
	}
	return r.runOn(conn, p, attributes, sql)
}

// runOn runs a statement on one connection, which answers the client.
func (r *textRouter) runOn(conn *executor, p *route.Plan, attributes, sql []byte) error {
	if p.HasEdits() {
		sql = p.AppendSQL(nil, sql, false, r.DatabaseAt(conn.keyspace))
	}
	return r.passTo(conn, attributes, sql)
}

// selectSeveral answers a SELECT from several shards.
func (r *textRouter) selectSeveral(shards []*catalog.Keyspace, planner *route.Planner, p *route.Plan, attributes, sql []byte, m parser.Mode) error {
	conns, err := r.connsOf(shards)
	if err != nil {
		return err
	}
	e := r.s.effectOf(parser.Sniff(sql), sql)
	for _, conn := range conns {
		if err := conn.before(e); err != nil {
			return err
		}
	}
	return r.underSelectLimit(conns, p.Scatter, func(most uint64) error {
		for {
			offset, count, err := p.Scatter.Limit.Resolve(nil)
			if err != nil {
				return err
			}
			q := scattered{router: &r.shardedConn, conns: conns, how: p.Scatter, offset: offset, count: min(count, most), send: func(i int, conn *executor) error {
				return conn.sendPart(attributes, p.AppendSQL(nil, sql, true, r.DatabaseAt(shards[i])))
			}}
			err = q.answer()
			var number *merge.NumberError
			if !errors.As(err, &number) {
				for _, conn := range conns {
					conn.after(e)
				}
				return err
			}
			if p, err = planner.PlanByNumbers(sql, r.KeyspaceName(), m, number.Keys); err != nil {
				return err
			}
		}
	})
}

// writeSeveral runs an UPDATE or DELETE on several shards, on all of them or on none.
func (r *textRouter) writeSeveral(shards []*catalog.Keyspace, p *route.Plan, attributes, sql []byte) error {
	conns, err := r.connsOf(shards)
	if err != nil {
		return err
	}
	if err := r.checkUpdates(shards, p, sql); err != nil {
		return err
	}
	e := r.s.effectOf(parser.Sniff(sql), sql)
	for _, conn := range conns {
		if err := conn.before(e); err != nil {
			return err
		}
	}
	answers := make([]wire.OK, len(conns))
	err = r.atomic(onEachOf{
		conns:   conns,
		inOrder: p.SameRows,
		send: func(i int) error {
			return conns[i].sendPart(attributes, p.AppendSQL(nil, sql, false, r.DatabaseAt(conns[i].keyspace)))
		},
		receive: func(i int) (err error) {
			answers[i], err = conns[i].readOK()
			return err
		},
		done: func() error {
			if wire.MergeOK(answers).Warnings == 0 {
				return nil
			}
			return r.keepWarnings(conns)
		},
	})
	for _, conn := range conns {
		conn.after(e)
	}
	if err != nil {
		return err
	}
	ok := answers[0]
	if !p.SameRows {
		ok = wire.MergeOK(answers)
	}
	ok.Status = r.status()
	return r.answer(ok)
}

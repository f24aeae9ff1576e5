package proxy

import (
	"errors"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/merge"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/proxy/wire"
)

// planTables plans a statement for the shards that its tables and values say.
func (r *textRouter) planTables(p *routedStatement) (err error) {
	p.kind, p.read = routedTables, true
	r.s.srv.catalog.ExpirePlans()
	p.planner = r.s.srv.loaded().Planner
	if p.route, err = p.planner.PlanIn(&r.room, p.sql, r.keyspaceName(), p.mode); err != nil {
		return err
	}
	p.read = false
	switch p.route.Kind {
	case route.Insert:
		return r.planInsert(p)
	case route.Local, route.Any, route.Unsharded:
		return nil
	}
	p.shards, err = p.route.Shards(r.indexes[:0], nil)
	if err == nil {
		r.indexes = p.shards
	}
	return err
}

// runTables runs such a statement.
func (r *textRouter) runTables(p *routedStatement, attributes []byte) error {
	k := r.planKeyspace(p.route)
	switch p.route.Kind {
	case route.Local:
		get := r.conn
		if !r.tx.open && !r.autocommit() { // nor does a server begin a transaction for it
			get = r.connectedConn
		}
		return r.runAny(get, r.shards()[0], p.route, attributes, p.sql)
	case route.Any:
		return r.runAny(r.conn, k.EachShard()[0], p.route, attributes, p.sql)
	case route.Unsharded:
		if commitsFirst(parser.Sniff(p.sql), p.sql) {
			if err := r.commit(); err != nil { // its server commits by itself
				return err
			}
			conn, err := r.connectedConn(k)
			if err != nil {
				return err
			}
			return r.runOn(conn, p.route, attributes, p.sql)
		}
		return r.runOne(k, p.route, attributes, p.sql)
	}
	if len(p.shards) == 1 {
		return r.runOne(k.Shards[p.shards[0]], p.route, attributes, p.sql)
	}
	shards := make([]*catalog.Keyspace, len(p.shards))
	for i, index := range p.shards {
		shards[i] = k.Shards[index]
	}
	r.forgetLast()
	switch {
	case p.route.Select:
		return r.selectSeveral(shards, p.planner, p.route, attributes, p.sql, p.mode)
	case p.route.Kind == route.Everywhere && !p.route.SameRows:
		return r.defineEverywhere(shards, p.route, attributes, p.sql)
	}
	return r.writeSeveral(shards, p.route, attributes, p.sql)
}

// planKeyspace gives the keyspace whose servers answer.
func (r *textRouter) planKeyspace(p *route.Plan) *catalog.Keyspace {
	if p.Keyspace != "" {
		return r.s.srv.cfg.Keyspaces[p.Keyspace]
	}
	return r.keyspace
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
		sql = p.AppendSQL(nil, sql, false, r.databaseAt(conn.keyspace))
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
				return conn.sendPart(attributes, p.AppendSQL(nil, sql, true, r.databaseAt(shards[i])))
			}}
			err = q.answer()
			var number *merge.NumberError
			if !errors.As(err, &number) {
				for _, conn := range conns {
					conn.after(e)
				}
				return err
			}
			if p, err = planner.PlanByNumbers(sql, r.keyspaceName(), m, number.Keys); err != nil {
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
			return conns[i].sendPart(attributes, p.AppendSQL(nil, sql, false, r.databaseAt(conns[i].keyspace)))
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

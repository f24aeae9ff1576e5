package proxy

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
)

// shardedInsert is an INSERT or REPLACE into a table of a sharded keyspace, on its way.
type shardedInsert struct {
	plan.ShardedInsert
	r          *textRouter
	attributes []byte // what stands before the text of a COM_QUERY
}

// planInsert plans an INSERT or REPLACE.
func (r *textRouter) planInsert(p *routedStatement) error {
	p.read, p.inserts = true, true
	stmt := &r.s.planner.Stmt
	if err := stmt.ParseTarget(p.sql, p.mode); err != nil {
		return err
	}
	k, err := r.ownerOf(stmt.Schema, stmt.Table)
	switch {
	case err != nil:
		return err
	case k == nil:
		p.kind = routedHome
		return nil
	case k.Shards != nil:
		return r.planInsertSharded(p, k)
	}
	return r.planInsertUnsharded(p, k)
}

// ownerOf gives the keyspace of a table, nil for one of the servers' own.
func (r *textRouter) ownerOf(schema, table string) (*catalog.Keyspace, error) {
	loaded := r.s.srv.loaded()
	name, err := loaded.Planner.Owner(parser.Table{Schema: schema, Name: table}, r.keyspaceName())
	if err == nil {
		return r.s.srv.cfg.Keyspaces[name], nil
	}
	if schema == "" {
		schema = r.keyspaceName()
	}
	if declared, ok := loaded.VSchema.Keyspace(schema); ok {
		if _, ok := declared.Vindex(table); ok {
			err = plan.ErrVindexModified(table)
		}
	}
	return nil, err
}

// planInsertSharded plans an INSERT or REPLACE into a table of a sharded keyspace, whose
// target stands in the session's statement.
func (r *textRouter) planInsertSharded(p *routedStatement, k *catalog.Keyspace) error {
	in := r.newShardedInsert(k, p.sql, p.mode)
	if err := in.find(); err != nil {
		return err
	}
	if mayQuery(p.sql) && in.Planner.Stmt.ParseQuery(p.sql, p.mode) == nil {
		p.kind = routedQuery
		return in.CheckQueryColumns()
	}
	p.kind, p.insert = routedInsert, in
	return in.plan()
}

func (r *textRouter) newShardedInsert(k *catalog.Keyspace, sql []byte, m parser.Mode) *shardedInsert {
	return &shardedInsert{r: r, ShardedInsert: plan.ShardedInsert{Planner: &r.s.planner, Keyspace: k, SQL: sql, Mode: m}}
}

// find looks the table up, in the vschema and on a shard.
func (in *shardedInsert) find() error {
	declared, ok := in.r.s.srv.VSchema().Keyspace(in.Keyspace.Name)
	if !ok {
		return fmt.Errorf("keyspace %s is not in the vschema", in.Keyspace.Name)
	}
	if err := in.Find(declared); err != nil {
		return err
	}
	return in.describe()
}

// describe has the table described by the first shard, or by another one while that is away.
func (in *shardedInsert) describe() (err error) {
	const tries = 3 // which may each take catalog.Timeout
	s := in.r.s.executor
	for _, shard := range in.Keyspace.Shards[:min(tries, len(in.Keyspace.Shards))] {
		var e *catalog.Entry
		var away *catalog.DescribeError
		if e, err = s.srv.catalog.Find(s.ctx, shard, shard.Database, in.Table.Name, true); err == nil {
			return in.Describe(e)
		} else if !errors.As(err, &away) {
			return err
		}
	}
	return err
}

// plan has the rows planned, and what that lacks fetched.
func (in *shardedInsert) plan() error {
	for {
		err := in.Plan()
		if err == nil { // as nearly always: nothing is allocated
			in.Fill.FoundRows = in.r.s.Has(mysql.CLIENT_FOUND_ROWS)
			return nil
		}
		var missing *plan.Missing
		if !errors.As(err, &missing) {
			return err
		}
		if err := in.fetch(missing); err != nil {
			return err
		}
	}
}

func (in *shardedInsert) fetch(m *plan.Missing) error {
	switch m.Fact {
	case plan.NeedsTableAnew:
		in.r.s.srv.catalog.Forget()
		in.Anew = true
		return in.describe()
	case plan.NeedsComputed:
		home, err := in.r.anyConn()
		if err == nil {
			err = home.SendText(m.Query)
		}
		if err == nil {
			in.Computed, err = home.ReadRow()
		}
		if err == nil && in.Computed == nil {
			err = backend.ErrMalformedAnswer
		}
		return err
	}
	return fmt.Errorf("the plan of a sharded INSERT needs a fact %d that nobody fetches", m.Fact)
}

// sourcesOf gives the shards, or the server, that answer a query.
func (r *textRouter) sourcesOf(p *route.Plan) ([]*catalog.Keyspace, error) {
	switch p.Kind {
	case route.Local:
		return r.shards()[:1], nil
	case route.Unsharded:
		return []*catalog.Keyspace{r.s.srv.cfg.Keyspaces[p.Keyspace]}, nil
	}
	indexes, err := p.Shards(nil, nil)
	if err != nil {
		return nil, err
	}
	k := r.s.srv.cfg.Keyspaces[p.Keyspace]
	shards := make([]*catalog.Keyspace, len(indexes))
	for i, index := range indexes {
		shards[i] = k.Shards[index]
	}
	return shards, nil
}

// wantLastID says what LAST_INSERT_ID() has to give on all connections.
func (r *textRouter) wantLastID(id uint64) {
	for _, conn := range r.conns.all {
		if !conn.State.LastIDKnown || conn.State.LastID != id {
			conn.State.LastID, conn.State.LastIDKnown, conn.State.Restore = id, true, true
		}
	}
}

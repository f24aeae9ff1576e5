package proxy

import (
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/plan"
	"github.com/seqgate/seqgate/proxy/route"
)

// shardedInsert is an INSERT or REPLACE into a table of a sharded keyspace, on its way.
type shardedInsert struct {
	*plan.ShardedInsert
	r          *textRouter
	attributes []byte // what stands before the text of a COM_QUERY
}

// sourcesOf returns the shards, or the server, that answer a query.
func (r *textRouter) sourcesOf(p *route.Plan) ([]*catalog.Keyspace, error) {
	switch p.Kind {
	case route.Local:
		return r.Shards()[:1], nil
	case route.Unsharded:
		return []*catalog.Keyspace{r.Keyspaces[p.Keyspace]}, nil
	}
	indexes, err := p.Shards(nil, nil)
	if err != nil {
		return nil, err
	}
	k := r.Keyspaces[p.Keyspace]
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

package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/threads"
)

// clusters knows which keyspaces lie on clusters, where a connection of seqgate's own may lead to another node than a
// client's: behind a balancer, or by a name of several addresses. What the client's session has not committed, or its node
// not passed on yet, is not there.
type clusters struct{ known sync.Map } // *Keyspace: clusterAnswer

type clusterAnswer struct {
	is bool
	at time.Time
}

// clusterFresh is how long an answer holds: a server seldom joins a cluster while it runs.
const clusterFresh = time.Minute

// has reports whether the keyspace's server is a node of a cluster, or cannot be asked.
func (c *clusters) has(ctx context.Context, k *catalog.Keyspace) bool {
	if known, ok := c.known.Load(k); ok && time.Since(known.(clusterAnswer).at) < clusterFresh {
		return known.(clusterAnswer).is
	}
	conn, err := k.DB.Conn(ctx)
	if err != nil {
		return true
	}
	defer conn.Close() // gives it back; that of a broken one fails
	is, err := threads.IsCluster(ctx, conn)
	if err != nil {
		return true
	}
	c.known.Store(k, clusterAnswer{is, time.Now()})
	return is
}

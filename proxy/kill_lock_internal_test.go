package proxy

import (
	"net"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A KILL of a session in front of shards may come while the grace of its client ends, and while it is cut off: each takes
// the locks of the session's connections and of their list.
func TestKillBesideEndOfGrace(t *testing.T) {
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close() })
	t.Cleanup(func() { _ = far.Close() })
	s := newSession(&clientConn{srv: new(Server)}, &serverConn{serverState: serverState{keyspace: &catalog.Keyspace{Name: "customer", Shard: "-80"},
		Session: backend.Session{Wire: wire.NewConn(near)}}})
	s.ThreadID.Store(1)
	s.router = newRouter(s, s.keyspace, "")
	var both sync.WaitGroup
	for _, do := range []func(){func() { s.router.threads() }, s.endGrace} {
		both.Go(func() {
			for range 20_000 {
				do()
			}
		})
	}
	both.Wait()
}

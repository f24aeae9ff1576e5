package proxy

import (
	"net"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/wire"
)

// A KILL of a session in front of shards may come while the grace of its client ends, and while it is cut off: each takes
// the locks of the session's connections and of their list.
func TestKillBesideEndOfGrace(t *testing.T) {
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close() })
	t.Cleanup(func() { _ = far.Close() })
	s := newSession(new(clientConn), &serverConn{serverState: serverState{serverSocket: serverSocket{keyspace: &catalog.Keyspace{Name: "customer", Shard: "-80"}, back: wire.NewConn(near)}}})
	s.threadID.Store(1)
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

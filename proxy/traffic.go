package proxy

import (
	"cmp"
	"slices"

	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/proxy/meter"
	"github.com/seqgate/seqgate/sequence"
)

// newBackends makes the counters of each server.
func newBackends(keyspaces map[string]*catalog.Keyspace) map[*catalog.Keyspace]*meter.Backend {
	all := make(map[*catalog.Keyspace]*meter.Backend)
	for _, k := range keyspaces {
		for _, shard := range k.EachShard() {
			all[shard] = meter.NewBackend()
		}
	}
	return all
}

// Traffic returns what the clients' sessions have done so far, and how they and the servers' connections stand.
func (s *Server) Traffic() meter.Snapshot {
	t := s.meter.Snapshot()
	t.Started, t.Ready, t.Limit = s.started, s.Ready(), s.settings().MaxConnections
	t.Sessions, t.LoggingIn, t.Pinned = s.countSessions()
	for k, b := range s.backends {
		counted := b.Snapshot()
		counted.Keyspace, counted.Shard = k.Name, cmp.Or(k.Shard, "-")
		if p := s.pools[k]; p != nil {
			counted.Idle = p.Idle()
		}
		t.Backends = append(t.Backends, counted)
	}
	slices.SortFunc(t.Backends, func(a, b meter.BackendSnapshot) int {
		return cmp.Or(cmp.Compare(a.Keyspace, b.Keyspace), cmp.Compare(a.Shard, b.Shard))
	})
	return t
}

// countSessions counts the clients.
func (s *Server) countSessions() (sessions, loggingIn, pinned int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		switch {
		case session == nil:
			loggingIn++
		case s.isPinned(session):
			sessions, pinned = sessions+1, pinned+1
		default:
			sessions++
		}
	}
	return sessions, loggingIn, pinned
}

// ColumnMax returns, of sequences, the largest id that the columns hold which they fill: of the tables whose description
// is known at present, as those in use.
func (s *Server) ColumnMax() map[sequence.Name]int64 { return s.catalog.ColumnMax() }

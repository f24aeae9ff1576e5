package proxy

import (
	"cmp"
	"context"
	"errors"
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
		if paused := s.pauses.of(k); paused != nil {
			counted.Paused, counted.Waiting = paused.since, paused.waiting.Load()
		}
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

// ColumnMax returns, of sequences, the largest id that the columns hold which they fill: of the tables whose description
// is known at present, as those in use.
func (s *Server) ColumnMax() map[sequence.Name]int64 { return s.catalog.ColumnMax() }

// Sessions returns the sessions of all clients by their ids, of as many as most, and how many there are. It asks the
// servers what they do. With an error, the list is without what could not be asked.
func (s *Server) Sessions(ctx context.Context, most int) (all []SessionStatus, total int, err error) {
	rows := s.sessionRows(func(*session) bool { return true })
	total, rows = len(rows), rows[:min(most, len(rows))]
	bySeen := make(map[seenBy]activities)
	for _, row := range rows {
		by := row.seenBy()
		if _, asked := bySeen[by]; !asked {
			found, askErr := s.doing(ctx, row, rows)
			bySeen[by], err = found, errors.Join(err, askErr)
		}
		now := bySeen[by].of(row.thread)
		all = append(all, SessionStatus{
			ID: row.id, User: row.user, Host: row.host, Keyspace: row.keyspace.Name,
			Database: now.Database, Command: now.Command, Time: now.Time, State: now.State, Pinned: row.pinned,
		})
	}
	return all, total, err
}

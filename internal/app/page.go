package app

import (
	"context"
	"sync"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/seqgate/seqgate/sequence"
)

// keepHistory keeps the last hour for the status page until stop is called; nothing without an admin address.
func keepHistory(ctx context.Context, cfg config.Admin, server *proxy.Server, sequences *sequence.Registry) (_ *admin.History, stop func()) {
	if cfg.Listen == "" {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it goes on while sessions drain
	h := admin.NewHistory(server.Traffic, sequences.Snapshot)
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	return h, func() {
		cancel()
		running.Wait()
	}
}

// sessionStatuses returns what the status page tells of clients.
func sessionStatuses(server *proxy.Server) func(context.Context, int) ([]admin.Session, int, error) {
	return func(ctx context.Context, most int) (all []admin.Session, total int, err error) {
		sessions, total, err := server.Sessions(ctx, most)
		for _, s := range sessions {
			all = append(all, admin.Session(s))
		}
		return all, total, err
	}
}

// adminServers returns where the shards are.
func adminServers(cfg *config.Config) (all []admin.Server) {
	for _, k := range cfg.Keyspaces {
		for _, s := range k.Shards {
			all = append(all, admin.Server{Keyspace: k.Name, Shard: s.Name, Addr: s.DSN.Addr, Database: s.DSN.DBName})
		}
	}
	return all
}

package app

import (
	"context"
	"errors"
	"sync"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/proxy/health"
)

// healthServers returns the servers that serve asks whether they answer: each shard's, by seqgate's own account. Each has a
// connection for that: a server is not down because all those that ask for tables wait for a lock.
func healthServers(cfg *config.Config) (all []health.Server, err error) {
	for _, k := range cfg.Keyspaces {
		for i := range k.Shards {
			shard := &k.Shards[i]
			db, err := openPool(shard.DSN)
			if err != nil {
				return nil, errors.Join(err, closeServers(all))
			}
			db.SetMaxOpenConns(1)
			all = append(all, health.Server{Keyspace: k.Name, Shard: shard.Name, Addr: shard.DSN.Addr, DB: db})
		}
	}
	return all, nil
}

// closeServers ends their connections.
func closeServers(all []health.Server) error {
	var errs []error
	for _, s := range all {
		errs = append(errs, s.DB.Close())
	}
	return errors.Join(errs...)
}

// watchServers asks the servers until stop is called, also while seqgate drains.
func watchServers(ctx context.Context, servers *health.Checker) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { servers.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

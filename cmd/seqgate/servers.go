package main

import (
	"context"
	"sync"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/health"
)

// healthServers gives the servers that serve asks whether they answer: each shard's, by seqgate's own account.
func healthServers(cfg *Config, keyspaces map[string]*proxy.Keyspace) (all []health.Server) {
	for _, k := range cfg.Keyspaces {
		for i, shard := range keyspaces[k.Name].EachShard() {
			all = append(all, health.Server{Keyspace: k.Name, Shard: k.Shards[i].Name, Addr: k.Shards[i].DSN.Addr, DB: shard.DB})
		}
	}
	return all
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

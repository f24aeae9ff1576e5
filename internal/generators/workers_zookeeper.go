//go:build zookeeper

package generators

import (
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/sequence/worker/zookeeper"
)

func init() { LeaserKinds["zookeeper"] = openZooKeeper }

// openZooKeeper is the [openLeaser] of ZooKeeper.
func openZooKeeper(cfg config.WorkerStore) (func(generate.WorkerIDs) (worker.Leaser, error), func() error, error) {
	secure, err := workerTLS(cfg)
	if err != nil {
		return nil, nil, err
	}
	client, err := zookeeper.Connect(zookeeper.Config{Servers: cfg.Servers, Root: cfg.Path, User: cfg.User, Password: cfg.Password, TLS: secure})
	if err != nil {
		return nil, nil, err
	}
	leasers := func(ids generate.WorkerIDs) (worker.Leaser, error) {
		return zookeeper.New(client, ids.Set, ids.Last, ids.Rivals), nil
	}
	return leasers, func() error { client.Close(); return nil }, nil
}

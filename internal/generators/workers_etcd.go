//go:build etcd

package generators

import (
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/sequence/worker/etcd"
)

func init() { LeaserKinds["etcd"] = openEtcd }

// openEtcd is the [openLeaser] of etcd.
func openEtcd(cfg config.WorkerStore) (func(generate.WorkerIDs) (worker.Leaser, error), func() error, error) {
	secure, err := workerTLS(cfg)
	if err != nil {
		return nil, nil, err
	}
	client, err := etcd.Connect(etcd.Config{Endpoints: cfg.Servers, Prefix: cfg.Path, Username: cfg.User, Password: cfg.Password, TLS: secure})
	if err != nil {
		return nil, nil, err
	}
	leasers := func(ids generate.WorkerIDs) (worker.Leaser, error) {
		return client.Leaser(ids.Set, ids.Last, ids.Rivals), nil
	}
	return leasers, client.Close, nil
}

package ops

import (
	"context"

	"github.com/seqgate/seqgate/sequence/worker"
)

// makeWorkers makes the table of worker ids if it is used and missing. It reports whether it is used.
func (s Seeder) makeWorkers(ctx context.Context) (used bool, err error) {
	k, used := s.Cluster.cfg.LeasesWorkers()
	if !used {
		return false, nil
	}
	at, err := s.Cluster.server(k.Name)
	if err != nil {
		return true, err
	}
	if _, exists := at.table(worker.TableName); exists {
		return true, s.note("%s.%s: nothing to do, the table is there", k.Name, worker.TableName)
	}
	_, err = s.execute(ctx, at, worker.CreateTableSQL(at.database))
	return true, err
}

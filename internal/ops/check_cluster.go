package ops

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/seqgate/seqgate/internal/config"
)

// checkClusters says what does not go with clusters of several writers, on every server that was reached.
func (c *checker) checkClusters(ctx context.Context) {
	for _, s := range c.servers {
		cluster, err := s.readCluster(ctx)
		if err != nil {
			c.failed(s, err)
			continue
		}
		for _, fault := range clusterFaults(c.cfg, s, cluster) {
			if fault.Fails {
				c.fail(s, "%s", fault.Text)
			} else {
				c.warn(s, "%s", fault.Text)
			}
		}
	}
}

// clusterState is what a server says of a cluster that it belongs to.
type clusterState struct {
	Galera    bool
	Increment string // auto_increment_increment, of new sessions
}

func (s *Server) readCluster(ctx context.Context) (clusterState, error) {
	var name, value string
	cluster := clusterState{}
	err := s.conn.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'").Scan(&name, &value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) { // MySQL has no such variable
		return cluster, err
	}
	cluster.Galera = strings.EqualFold(value, "ON")
	err = s.conn.QueryRowContext(ctx, "SELECT @@GLOBAL.auto_increment_increment").Scan(&cluster.Increment)
	return cluster, err
}

// clusterFault is what a configuration has that does not go with a cluster.
type clusterFault struct {
	Fails bool // statements do
	Text  string
}

func clusterFaults(cfg *config.Config, s *Server, cluster clusterState) (faults []clusterFault) {
	if cluster.Increment != "1" {
		faults = append(faults, clusterFault{Text: fmt.Sprintf("auto_increment_increment is %s, which Galera and Group Replication set for writers of their own ids: "+
			"rows that are inserted past seqgate get ids that far apart, and clients that reckon with it expect that of all; set it to 1 where all rows come through seqgate "+
			"(wsrep_auto_increment_control = OFF, group_replication_auto_increment_increment = 1)", cluster.Increment)})
	}
	if !cluster.Galera {
		return faults
	}
	if cfg.Transactions == config.TransactionsXA && s.Shard != "" {
		faults = append(faults, clusterFault{true, "transactions: xa cannot work here: Galera (wsrep_on) refuses XA with error 1235; set transactions: in_order"})
	}
	if skipsIn(cfg, s.Keyspace) {
		faults = append(faults, clusterFault{Text: "failover_skip makes no sense here: Galera (wsrep_on) loses no commit, " +
			"and each of its nodes counts as another server, so that ids are skipped whenever connections lead to another one; leave it out"})
	}
	if k, ok := cfg.LeasesWorkers(); ok && k.Name == s.Keyspace && !cfg.WorkerIDs.AnyServer {
		faults = append(faults, clusterFault{Text: "worker ids are leased here, from one of Galera's nodes (wsrep_on) at a time: where connections lead to several, set worker_ids.any_server: true"})
	}
	return faults
}

// skipsIn reports whether a sequence of a keyspace has a failover_skip.
func skipsIn(cfg *config.Config, keyspace string) bool {
	if cfg.Sequences.FailoverSkip > 0 {
		return true
	}
	for name, own := range cfg.Sequences.Overrides {
		if of, _, _ := strings.Cut(name, "."); of == keyspace && own.FailoverSkip > 0 {
			return true
		}
	}
	return false
}

package proxy

import "time"

// TreatAsCluster has s take a keyspace's server for a node of a cluster for a while.
func (s *Server) TreatAsCluster(keyspace string) {
	s.clusters.known.Store(s.cfg.Keyspaces[keyspace], clusterAnswer{true, time.Now().Add(time.Hour)})
}

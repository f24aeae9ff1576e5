package proxy

import (
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// databaseFor gives the server's name of what a client calls a database: a
// keyspace's name stands for its database, any other is the server's own.
func (s *Server) databaseFor(k *catalog.Keyspace, name string) (string, error) {
	if name == k.Name || name == k.String() {
		return k.Database, nil
	}
	other := s.cfg.Keyspaces[name]
	if other == nil {
		if other, _ = s.targeted(name); other == nil {
			return name, nil
		}
	}
	if other.Backend.Addr != k.Backend.Addr || other.Shards != nil {
		return "", elsewhere(k.Name, name)
	}
	return other.Database, nil
}

// elsewhere refuses a change to a keyspace that is on another server.
func elsewhere(from, to string) error {
	return mysql.NewError(mysql.ER_NOT_SUPPORTED_YET, fmt.Sprintf(
		"seqgate does not yet support changing from keyspace '%s' to '%s', which is on another server, within a session; connect again with '%s' as the database",
		from, to, to))
}

// keyspaceFor gives the keyspace and the server's database for the database
// that a client named at connect.
func (s *Server) keyspaceFor(name string) (*catalog.Keyspace, string) {
	if k := s.cfg.Keyspaces[name]; k != nil {
		return k, k.Database
	}
	if k, ok := s.targeted(name); ok {
		return k, k.Database
	}
	k := s.cfg.Keyspaces[s.cfg.Default]
	if name == "" {
		return k, k.Database
	}
	return k, name
}

// targeted gives the shard that a client names as keyspace:shard or keyspace/shard
// (Vitess's names for it): it is alone with that one, as if there were no seqgate.
func (s *Server) targeted(name string) (*catalog.Keyspace, bool) {
	i := strings.LastIndexAny(name, ":/")
	if i < 0 {
		return nil, false
	}
	k := s.cfg.Keyspaces[name[:i]]
	if k == nil {
		return nil, false
	}
	for _, shard := range k.Shards {
		if shard.Shard == name[i+1:] {
			return shard, true
		}
	}
	return nil, false
}

// sharded reports whether any keyspace is.
func (s *Server) sharded() bool {
	for _, k := range s.cfg.Keyspaces {
		if k.Shards != nil {
			return true
		}
	}
	return false
}

// placeFor is keyspaceFor, and gives the current keyspace of a client that is to be
// routed: each one in front of sharded keyspaces that does not name one shard. Where
// the default keyspace is sharded, other names are refused: its shards have other
// databases for themselves only.
func (s *Server) placeFor(name string) (at, whole *catalog.Keyspace, database string, err error) {
	at, database = s.keyspaceFor(name)
	if _, alone := s.targeted(name); alone || !s.sharded() {
		return at, nil, database, nil
	}
	if at.Shards != nil && database != at.Database {
		return nil, nil, "", mysql.NewDefaultError(mysql.ER_BAD_DB_ERROR, name)
	}
	return at.EachShard()[0], at, database, nil
}

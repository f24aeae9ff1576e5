package proxy

import (
	"errors"

	"github.com/seqgate/seqgate/proxy/backend"
)

// logged gives the attributes by which the log names a keyspace and its server. A sharded keyspace as a whole has several
// servers, and nil none.
func (k *Keyspace) logged() []any {
	switch {
	case k == nil:
		return nil
	case k.Shards != nil || k.Backend == nil:
		return []any{"keyspace", k.String()}
	}
	return []any{"keyspace", k.String(), "server", k.Backend.Addr}
}

// keyspaceOf gives the keyspace whose server failed a login, nil when none did.
func (s *Server) keyspaceOf(err error) *Keyspace {
	var connect *backend.ConnectError
	var lost *backendError
	switch {
	case errors.As(err, &connect):
		for _, k := range s.cfg.Keyspaces {
			for _, shard := range k.EachShard() {
				if shard.Backend.Addr == connect.Addr {
					return shard
				}
			}
		}
	case errors.As(err, &lost):
		return s.cfg.Keyspaces[s.cfg.Default] // that logs clients in
	}
	return nil
}

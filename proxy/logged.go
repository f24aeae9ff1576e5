package proxy

import (
	"errors"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// keyspaceOf gives the keyspace whose server failed a login, nil when none did.
func (s *Server) keyspaceOf(err error) *catalog.Keyspace {
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

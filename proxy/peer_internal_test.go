package proxy

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// A proof is of a password: where the account has none, anybody can make it up.
func TestPeerOfNoPassword(t *testing.T) {
	for password, want := range map[string]bool{"secret": true, "": false} {
		proof := PeerProof(password)
		attribute := append(mysql.PutLengthEncodedString([]byte(PeerAttribute)), mysql.PutLengthEncodedString([]byte(proof))...)
		k := &catalog.Keyspace{Backend: &backend.Backend{Password: password}}
		if says, proven := peerOf(attribute, k); !says || proven != want {
			t.Errorf("password %q: says %v, proven %v, want true, %v", password, says, proven, want)
		}
	}
}

package proxy

import (
	"errors"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// What the client is told of a commit that failed on a shard has no addresses in it.
func TestPartlyCommittedTellsNoAddress(t *testing.T) {
	on := func(shard string) *executor {
		return newExecutor(new(clientConn), &serverConn{serverState: serverState{keyspace: &catalog.Keyspace{Name: "customer", Shard: shard}}})
	}
	lost := &backend.LostError{Err: errors.New("read tcp 10.0.0.1:40000->10.0.0.2:3306: connection reset by peer")}
	text := partlyCommitted([]*executor{on("-80")}, on("80-"), lost).Error()
	if strings.Contains(text, "10.0.0") || !strings.Contains(text, "committed on customer:-80, and failed on customer:80-") {
		t.Error(text)
	}
}

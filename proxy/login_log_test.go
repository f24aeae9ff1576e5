package proxy_test

import (
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A login that fails since the server is away is logged with the keyspace and the server.
func TestFailedLoginNamesServer(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const away = "127.0.0.1:1"
		for _, passThrough := range []bool{false, true} {
			g := newGate(t, s, gateOptions{passThrough: passThrough, via: away})
			if c, err := client.Connect(g.addr, gateUser, gatePassword, g.database); err == nil {
				_ = c.Close()
				t.Error("a client was let in without a server")
			}
			want := fmt.Sprintf(`level=WARN msg="login ended" keyspace=main server=%s client=`, away)
			await(t, want, func() bool { return g.logged(want) })
		}
	})
}

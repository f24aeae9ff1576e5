package app

import (
	"log/slog"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/health"
)

// A server is not down because all connections that ask it for tables are waiting.
func TestBusyServerIsUp(t *testing.T) {
	t.Parallel()
	s := servertest.First(t)
	cfg, err := Loader(func(name string) string { return map[string]string{"SEQGATE_LISTEN": "127.0.0.1:0"}[name] }).UpstreamServer(s.DSN(s.NewDatabase(t)))
	if err != nil {
		t.Fatal(err)
	}
	keyspaces, err := OpenKeyspaces(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { CloseKeyspaces(keyspaces, slog.New(slog.DiscardHandler)) })
	for _, k := range keyspaces {
		for range poolSize {
			c, err := k.DB.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}
	asked, err := healthServers(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closeServers(asked) })
	servers := health.New(asked, slog.New(slog.DiscardHandler))
	t.Cleanup(watchServers(t.Context(), servers))
	for deadline := time.Now().Add(time.Minute); servers.Statuses()[0].State != health.Up; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is %+v", servers.Statuses()[0])
		}
	}
}

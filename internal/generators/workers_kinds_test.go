//go:build etcd && zookeeper

package generators

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence/worker"
)

// leaserServers start a server of each kind that there is.
var leaserServers = map[string]func(tb testing.TB, certs ...servertest.Certificates) (addr string){
	"etcd": servertest.StartEtcd, "zookeeper": servertest.StartZooKeeper,
}

// TestLeaserKinds leases worker ids over TLS from each kind, and none from a server that is not trusted.
func TestLeaserKinds(t *testing.T) {
	for name, start := range leaserServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			certs := servertest.NewCertificates(t)
			store := config.WorkerStore{Servers: []string{start(t, certs)}, Path: "/of/test", CA: certs.CA, Cert: certs.Cert, Key: certs.Key}
			for _, want := range []struct {
				set string
				id  int64
			}{{"a", 0}, {"b", 0}, {"a", 1}} {
				got, err := leaseOne(t, name, store, want.set)
				if got != want.id || err != nil {
					t.Errorf("set %s: got worker id %d, error %v, want %d", want.set, got, err, want.id)
				}
			}
			store.CA = "" // the system trusts no server of tests
			if got, err := leaseOne(t, name, store, "a"); err == nil || !strings.Contains(err.Error(), "unknown authority") {
				t.Errorf("from a server that is not trusted: got worker id %d, error %v", got, err)
			}
		})
	}
}

func leaseOne(t *testing.T, kind string, store config.WorkerStore, set string) (int64, error) {
	t.Helper()
	leasers, end, err := LeaserKinds[kind](store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	l, err := leasers(generate.WorkerIDs{Set: set, Last: 7})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := l.Acquire(ctx, worker.Claim{Token: now.String(), Until: now.Add(time.Minute), Lease: time.Hour, MaxSkew: time.Second, Clock: now})
	return got.Worker, err
}

func TestLeaserKindsRefuse(t *testing.T) {
	certs := servertest.NewCertificates(t)
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		store config.WorkerStore
		want  string
	}{
		{"no server", config.WorkerStore{}, "one"},
		{"no key", config.WorkerStore{Servers: []string{"a:1"}, Cert: certs.Cert}, "cert and key belong together"},
		{"no certificate", config.WorkerStore{Servers: []string{"a:1"}, Key: certs.Key}, "cert and key belong together"},
		{"another key", config.WorkerStore{Servers: []string{"a:1"}, Cert: certs.CA, Key: certs.Key}, certs.CA},
		{"no file", config.WorkerStore{Servers: []string{"a:1"}, CA: empty + "2"}, empty + "2"},
		{"nothing in it", config.WorkerStore{Servers: []string{"a:1"}, CA: empty}, "no certificate in it"},
	} {
		for name := range leaserServers {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				_, end, err := LeaserKinds[name](tt.store)
				if err == nil {
					_ = end() // it should not have been opened
				}
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got the error %v, want %q", err, tt.want)
				}
			})
		}
	}
}

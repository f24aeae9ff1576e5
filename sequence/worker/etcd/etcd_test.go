package etcd_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/sequence/worker/etcd"
)

func TestMain(m *testing.M) {
	sequencetest.HolderMain(func(spec string) (worker.Leaser, error) {
		parts := strings.Fields(spec)
		most, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			return nil, err
		}
		client, err := etcd.Connect(etcd.Config{Endpoints: parts[:1]})
		if err != nil {
			return nil, err
		}
		return client.Leaser(parts[1], most, nil), nil
	})
	goleak.VerifyTestMain(m)
}

// connect returns a client that is closed at the end of the test.
func connect(tb testing.TB, cfg etcd.Config) *etcd.Client {
	tb.Helper()
	client, err := etcd.Connect(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := client.Close(); err != nil {
			tb.Error(err)
		}
	})
	return client
}

func TestEtcd(t *testing.T) {
	addr := servertest.StartEtcd(t)
	var sets atomic.Int64
	sequencetest.TestLeaser(t, func(t *testing.T, most int64) sequencetest.LeaserHarness {
		set := fmt.Sprintf("set/%d", sets.Add(1))
		open := func(tb testing.TB) worker.Leaser {
			return connect(tb, etcd.Config{Endpoints: []string{addr}}).Leaser(set, most, nil)
		}
		return sequencetest.LeaserHarness{Open: open, Spec: fmt.Sprintf("%s %s %d", addr, set, most),
			Lossy: func(tb testing.TB) (worker.Leaser, func(int)) {
				l := &sequencetest.Hasty{Leaser: open(tb)}
				return l, func(n int) { l.GiveUpAfter(time.Duration(n % int(3*time.Millisecond))) }
			}}
	})
}

// A layout may have millions of worker ids, of which nearly all were never used.
func TestAcquireOfMany(t *testing.T) {
	l := connect(t, etcd.Config{Endpoints: []string{servertest.StartEtcd(t)}}).Leaser("many", 1<<22-1, nil)
	acquire := func(token string) worker.Lease {
		t.Helper()
		now := time.Now()
		lease, err := l.Acquire(t.Context(), worker.Claim{Token: token, Until: now.Add(time.Second), Clock: now, Lease: time.Second, MaxSkew: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	for _, token := range []string{"a", "b"} {
		lease := acquire(token)
		if err := l.Release(t.Context(), lease.Worker, worker.Claim{Token: token}); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	acquire("c")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

func TestRivals(t *testing.T) {
	addr := servertest.StartEtcd(t)
	var prefixes atomic.Int64
	sequencetest.TestRivals(t, func(*testing.T) sequencetest.OpenRival {
		prefix := fmt.Sprintf("/rivals/%d/", prefixes.Add(1))
		return func(tb testing.TB, set string, rivals func(string) bool) worker.Leaser {
			return connect(tb, etcd.Config{Endpoints: []string{addr}, Prefix: prefix}).Leaser(set, 7, rivals)
		}
	})
}

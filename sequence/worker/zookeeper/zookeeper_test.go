package zookeeper_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
	"github.com/seqgate/seqgate/sequence/worker/zookeeper"
)

func TestMain(m *testing.M) {
	sequencetest.HolderMain(func(spec string) (worker.Leaser, error) {
		parts := strings.Fields(spec)
		most, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil {
			return nil, err
		}
		client, err := zookeeper.Connect(zookeeper.Config{Servers: parts[:1]})
		if err != nil {
			return nil, err
		}
		return zookeeper.New(client, parts[1], most, nil), nil
	})
	goleak.VerifyTestMain(m)
}

// connect returns a client that is closed at the end of the test.
func connect(tb testing.TB, cfg zookeeper.Config) *zookeeper.Client {
	tb.Helper()
	client, err := zookeeper.Connect(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.Close)
	return client
}

func TestZooKeeper(t *testing.T) {
	addr := servertest.StartZooKeeper(t)
	var sets atomic.Int64
	sequencetest.TestLeaser(t, func(t *testing.T, most int64) sequencetest.LeaserHarness {
		set := fmt.Sprintf("set/%d", sets.Add(1))
		open := func(tb testing.TB) worker.Leaser {
			return zookeeper.New(connect(tb, zookeeper.Config{Servers: []string{addr}}), set, most, nil)
		}
		return sequencetest.LeaserHarness{Open: open, Clock: true, Spec: fmt.Sprintf("%s %s %d", addr, set, most),
			Lossy: func(tb testing.TB) (worker.Leaser, func(int)) {
				l := &sequencetest.Hasty{Leaser: open(tb)}
				return l, func(n int) { l.GiveUpAfter(time.Duration(n % int(3*time.Millisecond))) }
			}}
	})
}

func TestRivals(t *testing.T) {
	addr := servertest.StartZooKeeper(t)
	var roots atomic.Int64
	sequencetest.TestRivals(t, func(*testing.T) sequencetest.OpenRival {
		root := fmt.Sprintf("/rivals/%d", roots.Add(1))
		return func(tb testing.TB, set string, rivals func(string) bool) worker.Leaser {
			return zookeeper.New(connect(tb, zookeeper.Config{Servers: []string{addr}, Root: root}), set, 7, rivals)
		}
	})
}

package leasesoak

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// With CI=true the default of -lease.for is ciTime.
const (
	defaultTime = 5 * time.Second
	ciTime      = time.Minute
	roundTime   = 30 * time.Second // at most, as all ids of a round are kept
)

var (
	duration = flag.Duration("lease.for", 0, "how long to have faults, half of it on each server; 0: 5s, or 1m with CI=true")
	seed     = flag.Uint64("lease.seed", 0, "what the first round begins from, the next with 1 more; 0 takes any")
)

func TestMain(m *testing.M) {
	childMain()
	_ = mysql.SetLogger(&mysql.NopLogger{}) // never fails; connections that break are no news here
	servertest.Main(m)
}

// Whatever happens to processes, their clocks, the network and the server: no id comes twice.
func TestLeases(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	total, first := *duration, *seed
	if total == 0 {
		if total = defaultTime; os.Getenv("CI") == "true" {
			total = ciTime
		}
	}
	if first == 0 {
		first = rand.Uint64N(1e9) + 1
	}
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		seed := first
		for left := total / 2; left > 0; left -= roundTime {
			if ok := t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { round(t, s, seed, min(left, roundTime)) }); !ok {
				return
			}
			seed++
		}
	})
}

// round has a new cluster shaken for some time, or until it breaks a promise, and judges what it did.
func round(t *testing.T, s *servertest.Server, seed uint64, d time.Duration) {
	c := newCluster(t, s, seed)
	t.Cleanup(func() { c.report(t) })
	watching, end := context.WithCancel(t.Context())
	unbroken, broken := context.WithCancel(t.Context())
	defer broken()
	pool, polls := s.Open(t, c.database), 0
	var watch sync.WaitGroup
	defer watch.Wait()
	defer end()
	watch.Go(func() { polls = c.watch(watching, pool, broken) })

	c.begin(t)
	began := c.awaitAll(unbroken, t)
	c.shake(unbroken, t, d)
	back := c.awaitAll(unbroken, t)
	c.stop(t)
	end()
	watch.Wait()
	t.Logf("%s; %d looks at the table, %d faults; ids after %v, and %v after the last fault", c.judge.Summary(), polls, len(c.faults),
		began.Round(time.Millisecond), back.Round(time.Millisecond))
}

// report tells which promises were broken, and what was done to the processes when there is something wrong.
func (c *cluster) report(t *testing.T) {
	some, all := c.judge.Breaches()
	for _, text := range some[:min(len(some), mostKept)] {
		t.Error(text)
	}
	if all > 0 {
		t.Errorf("%d promises were broken", all)
	}
	if !t.Failed() {
		return
	}
	for _, fault := range c.faults {
		t.Log(fault)
	}
}

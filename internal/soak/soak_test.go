package soak

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/testgate"
)

var (
	duration = flag.Duration("soak.for", time.Minute, "how long to soak, half of it on each server")
	seed     = flag.Uint64("soak.seed", 0, "what the first round begins from, the next with 1 more; 0 takes any")
)

// A round has faultTime with faults, then everything must be back within recoveryTimeout, and calmTime without an error.
const (
	faultTime       = 14 * time.Second
	recoveryTimeout = 30 * time.Second
	calmTime        = 2 * time.Second
	roundTime       = faultTime + calmTime + 6*time.Second // about, with the rest
	clients         = 24
)

func TestMain(m *testing.M) {
	_ = mysql.SetLogger(&mysql.NopLogger{}) // never fails; connections that break are no news here
	servertest.Main(m)
}

// Whatever happens to seqgates and servers, clients are given each id once, and what they were told is true.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	binary := testgate.Build(t)
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1e9) + 1
	}
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		rounds := max(1, int(*duration/2/roundTime))
		for i := range uint64(rounds) {
			if ok := t.Run(fmt.Sprintf("seed=%d", first+i), func(t *testing.T) { round(t, s, binary, first+i) }); !ok {
				return
			}
		}
	})
}

// round soaks a new cluster on s and judges what was seen.
func round(t *testing.T, s *servertest.Server, binary string, seed uint64) {
	c := newCluster(t, s, binary)
	h := &History{Sequences: map[string]Sequence{}}
	f := &faults{cluster: c}
	t.Cleanup(func() { f.logIfFailed(t) })
	stop := startLoad(t, c, seed)

	shaking, cancel := context.WithTimeout(t.Context(), faultTime)
	defer cancel()
	f.run(shaking, t, seed)
	shaken := c.since()
	probe := newClient(clients+1, c, seed)
	probe.awaitAll(t)
	h.Calm = AwaitCalm(t, c.since, calmTime, c.direct)
	f.setBack(t, seed, probe)
	h.Calls, h.Faults = append(stop(), probe.calls...), f.done

	for _, g := range c.gates {
		if err := g.process().Stop(); err != nil {
			t.Error(err)
		}
		for _, p := range g.all {
			if len(p.Bugs()) > 0 {
				t.Errorf("process %s logged:\n%s", p.Name, p.Log())
			}
		}
	}
	for _, table := range tables {
		h.Rows = append(h.Rows, c.rows(t, table.name)...)
		h.Sequences[table.name] = Sequence{Begin: 1, End: c.nextID(t, table.name), Ordered: table.ordered}
	}
	report(t, h)
	t.Logf("%s; all back %v after the last fault", h.Summary(), ms(h.Calm.Begin-shaken))
}

// startLoad starts the clients; stop ends them and returns their calls.
func startLoad(t *testing.T, c *cluster, seed uint64) (stop func() []Call) {
	var running sync.WaitGroup
	all := make([]*client, clients)
	ending := make(chan struct{})
	for i := range all {
		all[i] = newClient(i+1, c, seed)
		running.Go(func() { all[i].run(ending) })
	}
	end := sync.OnceFunc(func() { close(ending); running.Wait() })
	t.Cleanup(end)
	return func() (calls []Call) {
		end()
		for _, c := range all {
			calls = append(calls, c.calls...)
		}
		return calls
	}
}

// awaitAll inserts through every gate into every table, and fails the test when that does not succeed in time.
func (c *client) awaitAll(t *testing.T) {
	t.Helper()
	begun := time.Now()
	for _, g := range c.cluster.gates {
		for _, table := range tables {
			for !c.insertOnce(g, table.name) {
				if time.Since(begun) > recoveryTimeout {
					t.Fatalf("%v after the last fault process %s does not fill %s: %s",
						recoveryTimeout, g.process().Name, table.name, c.calls[len(c.calls)-1])
				}
			}
		}
	}
}

// awaitID inserts through a gate until it has an id from n on, so that the gate's process was given such.
func (c *client) awaitID(t *testing.T, g *gate, table string, n int64) {
	t.Helper()
	for begun := time.Now(); !c.insertOnce(g, table) || c.calls[len(c.calls)-1].First < n; {
		if time.Since(begun) > recoveryTimeout {
			t.Fatalf("process %s gives %s no id from %d on in %v: %s", g.process().Name, table, n, recoveryTimeout, c.calls[len(c.calls)-1])
		}
	}
}

func (c *client) insertOnce(g *gate, table string) bool {
	s, ok := c.open(g)
	defer s.close()
	return ok && s.insertPrepared(table, 1) && s.calls[len(s.calls)-1].Outcome == Done
}

// mostReported is how many violations are printed: one wrong id can make thousands.
const mostReported = 10

func report(t *testing.T, h *History) {
	t.Helper()
	vs := h.Check()
	if len(vs) == 0 {
		return
	}
	for _, v := range vs[:min(len(vs), mostReported)] {
		t.Error(v)
	}
	t.Errorf("%d violations", len(vs))
}

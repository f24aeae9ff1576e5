package leasesoak

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
)

// processes run at a time, in lanes of as many.
const (
	processes = 16
	perLane   = 2
)

// cluster is a server with an empty database, and processes that lease worker ids there.
type cluster struct {
	server   *servertest.Server
	database string
	seed     uint64
	judge    *Checker
	lanes    []*lane
	began    time.Time

	mu     sync.Mutex
	faults []string
}

// place is where one process after another runs.
type place struct {
	number   int
	dsn      string
	database string
	judge    *Checker
	now      atomic.Pointer[process] // the latest one
	all      []*process
}

// newCluster starts all processes, which then do nothing yet.
func newCluster(t *testing.T, s *servertest.Server, seed uint64) *cluster {
	t.Helper()
	c := &cluster{server: s, database: s.NewDatabase(t), seed: seed, judge: NewChecker(layout()), began: time.Now()}
	for range processes / perLane {
		c.addLane(t)
	}
	return c
}

func (c *cluster) addLane(t *testing.T) {
	t.Helper()
	l := &lane{network: sequencetest.NewProxy(t, c.server.Addr), server: c.server.Addr}
	c.lanes = append(c.lanes, l)
	dsn, err := mysql.ParseDSN(c.server.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	dsn.Addr = l.network.Addr()
	for range perLane {
		p := &place{number: len(c.lanes)*perLane - perLane + len(l.places) + 1, dsn: dsn.FormatDSN(), database: c.database, judge: c.judge}
		l.places = append(l.places, p)
		if err := p.startWith(childConfig{Seed: c.seed, Wait: true}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.process().kill() })
	}
}

func (p *place) process() *process { return p.now.Load() }

// start starts the next process.
func (p *place) start(seed uint64, ahead time.Duration) error {
	return p.startWith(childConfig{Seed: seed, Ahead: ahead})
}

func (p *place) startWith(cfg childConfig) error {
	cfg.DSN, cfg.Database = p.dsn, p.database
	cfg.Quarantine = []time.Duration{-1, lease / 5, lease}[p.number%3]
	next, err := startProcess(fmt.Sprintf("%d.%d", p.number, len(p.all)+1), cfg, p.judge)
	if err != nil {
		return fmt.Errorf("start process %d: %w", p.number, err)
	}
	p.all = append(p.all, next)
	p.now.Store(next)
	return nil
}

// setClock sets how far the process's clock is ahead.
func (p *place) setClock(ahead time.Duration) error {
	return p.process().say("ahead " + ahead.String())
}

func (c *cluster) places() (all []*place) {
	for _, l := range c.lanes {
		all = append(all, l.places...)
	}
	return all
}

// begin has all processes begin at once.
func (c *cluster) begin(t *testing.T) {
	t.Helper()
	for _, p := range c.places() {
		if err := p.process().say("go"); err != nil {
			t.Fatal(err)
		}
	}
}

// recoveryTimeout is how long after the last fault all processes must give ids again. By the rules it is the rest of a
// lease, a quarantine and the time that was reserved, some 4 s; what is more is for a busy machine.
const recoveryTimeout = 30 * time.Second

// awaitAll returns when each process has given ids since the call, and how long that took. It fails the test at the end of
// ctx.
func (c *cluster) awaitAll(ctx context.Context, t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	before := map[*process]int64{}
	for _, p := range c.places() {
		before[p.process()] = p.process().given.Load()
	}
	for p, n := range before {
		for p.given.Load() == n {
			select {
			case <-p.ended:
				t.Fatalf("process %s: %s", p.name, p.problem())
			case <-ctx.Done():
				t.FailNow() // the promise that was broken will be told
			case <-time.After(time.Millisecond):
			}
			if time.Since(begun) > recoveryTimeout {
				t.Fatalf("process %s has given no ids for %v without a fault, at last because of: %s", p.name, recoveryTimeout, p.lastFailure())
			}
		}
	}
	return time.Since(begun)
}

// stop ends all processes, and tells what was wrong with any.
func (c *cluster) stop(t *testing.T) {
	t.Helper()
	for _, p := range c.places() {
		if err := p.process().stop(); err != nil {
			t.Error(err)
		}
		for _, life := range p.all {
			if err := life.verdict(); err != nil {
				t.Error(err)
			}
		}
	}
}

// pollEvery is how often the table is held against what processes have told.
const pollEvery = 20 * time.Millisecond

// watch holds the table against what processes have told until ctx ends, and calls broken when a promise is.
func (c *cluster) watch(ctx context.Context, pool *sql.DB, broken func()) (polls int) {
	ticks := time.NewTicker(pollEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return polls
		case <-ticks.C:
		}
		expected := c.judge.Expect()
		if kept, err := c.reserved(ctx, pool); err == nil { // the server is away at times
			c.judge.Kept(expected, kept)
			polls++
		}
		if _, n := c.judge.Breaches(); n > 0 {
			broken()
			return polls
		}
	}
}

func (c *cluster) reserved(ctx context.Context, pool *sql.DB) (map[int64]time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	rows, err := pool.QueryContext(ctx, "SELECT worker_id, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', reserved_until) FROM "+worker.TableName)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	kept := map[int64]time.Time{}
	for rows.Next() {
		var id, micros int64
		if err := rows.Scan(&id, &micros); err != nil {
			return nil, err
		}
		kept[id] = time.UnixMicro(micros)
	}
	return kept, rows.Err()
}

// note collects a fault.
func (c *cluster) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, fmt.Sprintf("%v: %s", time.Since(c.began).Round(time.Millisecond), what))
}

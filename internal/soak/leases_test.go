package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// Leases and clocks of the processes. What a clock may differ by is as much as a lease, so that there is nearly always a
// time for which two holders of a worker id could give the same ids.
const (
	lease     = time.Second
	maxSkew   = time.Second
	maxBorrow = 500 * time.Millisecond
	idTimeout = 200 * time.Millisecond
	pace      = 20 * time.Millisecond // at which a process gives ids
)

// There are lanes of processes that share a network to the server and have their faults one after the other, all lanes at a time.
// There is one worker id more than processes, so that nearly all have had many holders, and at times none is free.
const (
	lanes      = 8
	perLane    = 2
	lastWorker = lanes * perLane
)

// layout has 5 bits of worker ids, and ticks so long that most of their ids are given.
func layout() snowflake.Layout {
	return snowflake.Layout{Name: "soak", Epoch: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), Unit: 10 * time.Millisecond,
		Fields: [4]snowflake.Field{{Name: snowflake.Time, Bits: 39}, {Name: snowflake.Worker, Bits: 5}, {Name: snowflake.Sequence, Bits: 9}}}
}

// Whatever happens to processes, their clocks, the network and the server: no id of a leased worker id comes twice.
func TestLeases(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		servers := open(t, s)
		rounds(t, 0, func(t *testing.T, seed uint64) { leaseRound(t, servers, seed) })
	})
}

// leaseCluster is a server with an empty database, and processes that lease worker ids there: its gates.
type leaseCluster struct {
	*cluster
	judge *LeaseChecker
	told  []*leaseEvents
}

// leaseRound has a new cluster shaken, and judges what it did.
func leaseRound(t *testing.T, servers []*server, seed uint64) {
	t.Logf("repeat it with -soak.seed=%d", seed)
	c := &leaseCluster{cluster: newCluster(t, profile{statements: true, recovery: busyRecovery}, servers, ""), judge: NewLeaseChecker(layout())}
	faults := [][]kind{append(serverFaults, serverFaults[len(serverFaults)-1], kind{"spare", nothing, rest}, kind{"spare", nothing, rest})}
	for range lanes {
		faults = append(faults, c.addLane(t, seed))
	}
	watching, end := context.WithCancel(t.Context())
	polls := 0
	var watch sync.WaitGroup
	watch.Go(func() { polls = c.watch(watching) })
	t.Cleanup(func() { end(); watch.Wait() })

	for _, g := range c.gates { // all at once: there is no table yet
		if err := g.setClock(0); err != nil {
			t.Fatal(err)
		}
	}
	began := c.awaitIDs(t)
	c.shake(t, seed, faults...)
	back := c.awaitIDs(t)
	c.stop(t)
	end()
	watch.Wait()
	for _, told := range c.told {
		if told.bad != nil {
			t.Error(told.bad)
		}
	}
	some, all := c.judge.Breaches()
	for _, text := range some[:min(len(some), mostReported)] {
		t.Error(text)
	}
	t.Logf("%s; %d looks at the table, %d faults; %d promises were broken; ids after %v, and %v after the last fault",
		c.judge.Summary(), polls, len(c.faults), all, ms(began), ms(back))
}

// rest is a while without a fault.
func rest(context.Context, *testing.T, *cluster, *rand.Rand) (Fault, error) {
	time.Sleep(2 * lease)
	return Fault{What: "the server"}, nil
}

// addLane starts the processes of a lane, which then wait for their clocks, and returns its faults.
func (c *leaseCluster) addLane(t *testing.T, seed uint64) []kind {
	t.Helper()
	network := sequencetest.NewProxy(t, c.main().Addr)
	d := c.main()
	var lane []*gate
	for range perLane {
		g := &gate{number: len(c.gates) + 1, clock: filepath.Join(t.TempDir(), "clock"), statements: network}
		cfg := childConfig{DSN: c.dsn(t, g, d), Database: d.name, Clock: g.clock, Seed: seed,
			Quarantine: []time.Duration{-1, lease / 5, lease}[g.number%3]}
		g.command = func(ctx context.Context, _ ...string) *exec.Cmd {
			cfg.Seed++
			told := &leaseEvents{judge: c.judge, process: fmt.Sprintf("%d.%d", g.number, len(g.all)+1)}
			c.mu.Lock()
			c.told = append(c.told, told)
			c.mu.Unlock()
			cmd := exec.CommandContext(ctx, os.Args[0])
			text, _ := json.Marshal(cfg) // which a childConfig always can be
			cmd.Env, cmd.Stdout = append(cmd.Environ(), childVariable+"="+string(text)), told
			return cmd
		}
		if err := g.start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.process().Kill() })
		c.gates, lane = append(c.gates, g), append(lane, g)
	}
	return []kind{
		onGate("kill -9", nothing, killGate, lane...), onGate("kill -9, and start with another clock", nothing, killAndJump, lane...),
		onGate("stop and start", nothing, restartGate, lane...), onGate("freeze", nothing, freezeGate, lane...),
		onGate("freeze and set the clock of", nothing, freezeAndJump, lane...), onGate("set the clock of", nothing, jumpGate, lane...),
		onGate("cut the network of", nothing, cutNetwork, lane...),
		onGate("cut statements of", nothing, cutStatements(3, "UPDATE", "INSERT", "SELECT worker_id"), lane...),
	}
}

// killAndJump is a machine that is started again with a clock that NTP sets right a while later.
func killAndJump(ctx context.Context, c *cluster, g *gate, rng *rand.Rand) (int, error) {
	g.process().Kill()
	err := errors.Join(g.setClock(step(rng)), g.start())
	time.Sleep(upTo(rng, mostJump))
	return 0, errors.Join(err, g.setClock(0))
}

// freezeAndJump is a virtual machine that is suspended, and goes on with a clock that is behind or ahead.
func freezeAndJump(ctx context.Context, c *cluster, g *gate, rng *rand.Rand) (int, error) {
	err := errors.Join(g.process().Signal(syscall.SIGSTOP), g.setClock(step(rng)))
	time.Sleep(upTo(rng, mostFreeze))
	err = errors.Join(err, g.process().Signal(syscall.SIGCONT))
	time.Sleep(upTo(rng, mostJump))
	return 0, errors.Join(err, g.setClock(0))
}

// cutNetwork has nobody answer for a while.
func cutNetwork(_ context.Context, c *cluster, g *gate, rng *rand.Rand) (int, error) {
	g.statements.Switch("127.0.0.1:1")
	g.statements.CutAll()
	time.Sleep(upTo(rng, 3*lease/2))
	g.statements.Switch(c.main().Addr)
	return 0, nil
}

// awaitIDs returns when each process has given ids since the call, and how long that took.
func (c *leaseCluster) awaitIDs(t *testing.T) time.Duration {
	t.Helper()
	begun := time.Now()
	before := make([]int64, len(c.gates))
	for i, g := range c.gates {
		before[i], _ = c.judge.Given(g.process().Name)
	}
	for i, g := range c.gates {
		p := g.process()
		for n, failure := before[i], ""; n == before[i]; n, failure = c.judge.Given(p.Name) {
			select {
			case <-p.Ended:
				t.Fatalf("process %s has ended: %s", p.Name, p.Log())
			case <-time.After(time.Millisecond):
			}
			if time.Since(begun) > c.recovery {
				t.Fatalf("process %s has given no ids for %v without a fault, at last because of: %s", p.Name, c.recovery, failure)
			}
		}
	}
	return time.Since(begun)
}

// watch holds the table against what processes have told until ctx ends.
func (c *leaseCluster) watch(ctx context.Context) (polls int) {
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		expected := c.judge.Expect()
		if kept, err := c.reserved(ctx); err == nil { // the server is away at times
			c.judge.Kept(expected, kept)
			polls++
		}
	}
	return polls
}

func (c *leaseCluster) reserved(ctx context.Context) (map[int64]time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	rows, err := c.main().admin.QueryContext(ctx, "SELECT worker_id, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', reserved_until) FROM "+
		c.main().name+"."+worker.TableName)
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

// leaseEvents is the standard output of a process, whose events go to the judge. The last one of a process that was killed may be
// cut.
type leaseEvents struct {
	judge   *LeaseChecker
	process string
	begun   []byte // of a line
	bad     error  // what cannot be
}

// Write implements [io.Writer].
func (w *leaseEvents) Write(b []byte) (int, error) {
	w.begun = append(w.begun, b...)
	for {
		line, rest, whole := bytes.Cut(w.begun, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		var e LeaseEvent
		if err := json.Unmarshal(line, &e); err != nil {
			w.bad = errors.Join(w.bad, fmt.Errorf("process %s tells %q: %w", w.process, line, err))
		} else {
			w.judge.Add(w.process, e)
		}
		w.begun = rest
	}
}

// childVariable has this test binary be a process that holds a worker id; its value is a childConfig.
const childVariable = "SEQGATE_SOAK_LEASE"

// childConfig says what a process does.
type childConfig struct {
	DSN, Database string
	Clock         string // the file that says how far its clock is ahead; it waits for that
	Seed          uint64
	Quarantine    time.Duration
}

// leaseMain is the process's main function: it returns at once in one that is not a child.
func leaseMain() {
	text, ok := os.LookupEnv(childVariable)
	if !ok {
		return
	}
	var cfg childConfig
	err := json.Unmarshal([]byte(text), &cfg)
	if err == nil {
		err = cfg.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run gives ids until SIGTERM.
func (cfg childConfig) run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Fprintln(os.Stderr, "msg=ready addr=none")
	for ctx.Err() == nil {
		if _, err := os.Stat(cfg.Clock); err == nil {
			break
		}
		time.Sleep(pace)
	}
	pool, err := sequence.OpenPool(cfg.DSN)
	if err != nil {
		return err
	}
	tell := &teller{out: json.NewEncoder(os.Stdout)}
	table := worker.NewTable(pool, cfg.Database, "soak", lastWorker, worker.TableConfig{})
	h, err := worker.Open(&toldLeaser{Leaser: table, tell: tell}, "soak", layout(), 0, worker.Config{Lease: lease, Quarantine: cfg.Quarantine,
		MaxSkew: maxSkew, Generator: snowflake.Config{Clock: &fileClock{time.Now(), cfg.Clock}, MaxBorrow: maxBorrow, Timeout: idTimeout}})
	if err != nil {
		return err
	}
	g := giver{holder: h, tell: tell, rng: rand.New(rand.NewPCG(cfg.Seed, 0)), lasts: map[int64]int64{}}
	for ticks := time.NewTicker(pace); ctx.Err() == nil; <-ticks.C {
		if err := g.turn(); err != nil {
			return err
		}
	}
	closing, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := h.Close(closing); err != nil { // the network may be cut: then the lease ends by itself
		return tell.tell(LeaseEvent{Kind: Fail, Text: err.Error()})
	}
	return nil
}

// fileClock is the clock of a machine of the process's own, as far ahead as a file says.
type fileClock struct {
	start time.Time
	file  string
}

func (c *fileClock) Monotonic() time.Duration { return time.Since(c.start) }

func (c *fileClock) Now() (time.Time, time.Duration) {
	text, err := os.ReadFile(c.file)
	if err != nil {
		panic(err)
	}
	ahead, err := time.ParseDuration(string(text))
	if err != nil {
		panic(err)
	}
	now := time.Now()
	return now.Round(0).Add(ahead), now.Sub(c.start)
}

// teller writes events to standard output, each at once.
type teller struct {
	mu  sync.Mutex
	out *json.Encoder
}

func (t *teller) tell(e LeaseEvent) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Encode(e)
}

// toldLeaser is a Leaser that tells what it does.
type toldLeaser struct {
	worker.Leaser
	tell *teller
}

func leaseEvent(kind string, id int64, c worker.Claim, sent time.Time) LeaseEvent {
	return LeaseEvent{Kind: kind, Token: c.Token, Worker: id, Sent: sent, Done: time.Now(), Lease: c.Lease, Quarantine: c.Quarantine}
}

// Acquire implements [worker.Leaser].
func (l *toldLeaser) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	sent := time.Now()
	got, err := l.Leaser.Acquire(ctx, c)
	if err != nil {
		return got, err
	}
	e := leaseEvent(Take, got.Worker, c, sent)
	e.After, e.Until = got.After, got.Until
	return got, l.tell.tell(e)
}

// Extend implements [worker.Leaser].
func (l *toldLeaser) Extend(ctx context.Context, id int64, c worker.Claim) (time.Time, error) {
	sent := time.Now()
	until, err := l.Leaser.Extend(ctx, id, c)
	if err != nil {
		return until, err
	}
	e := leaseEvent(Hold, id, c, sent)
	e.Until = until
	return until, l.tell.tell(e)
}

// Release implements [worker.Leaser].
func (l *toldLeaser) Release(ctx context.Context, id int64, c worker.Claim) error {
	if err := l.tell.tell(leaseEvent(Drop, id, c, time.Now())); err != nil {
		return err
	}
	return l.Leaser.Release(ctx, id, c)
}

// giver takes ids from a holder, and tells them.
type giver struct {
	holder *worker.Holder
	tell   *teller
	rng    *rand.Rand
	lasts  map[int64]int64 // ids, by worker id
	failed string          // the last error
}

// turn takes some runs of ids, at times so many that ids of the future have to be borrowed. An error that no fault explains ends
// the process; another is told, unless it was just before.
func (g *giver) turn() error {
	const some, most, seldom = 2, 60, 100
	n := some
	if g.rng.IntN(seldom) == 0 {
		n = most
	}
	given, failed := LeaseEvent{Kind: Give}, ""
	for range n {
		run, err := g.holder.Next(context.Background(), 1+g.rng.Int64N(layout().Max(snowflake.Sequence)+1))
		if err != nil && !errors.Is(err, sequence.ErrUnavailable) {
			return fmt.Errorf("no ids, and not for now only: %w", err)
		}
		if err != nil {
			failed = err.Error()
			break
		}
		if err := g.increases(run); err != nil {
			return err
		}
		given.Runs = append(given.Runs, [2]int64{run.First, run.N})
	}
	var err error
	if len(given.Runs) > 0 {
		err = g.tell.tell(given)
	}
	if failed != "" && failed != g.failed {
		err = errors.Join(err, g.tell.tell(LeaseEvent{Kind: Fail, Text: failed}))
	}
	g.failed = failed
	return err
}

// increases returns an error when the ids of a worker id do not increase.
func (g *giver) increases(run snowflake.Run) error {
	d, err := layout().Decode(run.First)
	if err != nil {
		return err
	}
	if last := g.lasts[d.Worker]; run.First <= last {
		return fmt.Errorf("id %d of worker id %d after %d", run.First, d.Worker, last)
	}
	g.lasts[d.Worker] = run.ID(run.N - 1)
	return nil
}

package leasesoak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// childVariable has this test binary be a process that holds a worker id; its value is a childConfig.
const childVariable = "SEQGATE_LEASESOAK"

// childConfig says what a process does.
type childConfig struct {
	DSN        string
	Database   string
	Seed       uint64
	Quarantine time.Duration
	Ahead      time.Duration // of its clock, at first
	Wait       bool          // for a line "go" before it begins
}

// Leases and clocks of the processes. What a clock may differ by is as much as a lease, so that there is nearly always a
// time for which two holders of a worker id could give the same ids.
const (
	lease     = time.Second
	maxSkew   = time.Second
	maxBorrow = 500 * time.Millisecond
	idTimeout = 200 * time.Millisecond
)

// lastWorker is the largest worker id in use. There is one more than processes, so that nearly all have had many holders,
// and at times none is free.
const lastWorker = processes

// layout has 5 bits of worker ids, and ticks so long that most of their ids are given.
func layout() snowflake.Layout {
	return snowflake.Layout{Name: "soak", Epoch: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), Unit: 10 * time.Millisecond,
		Fields: [4]snowflake.Field{{Name: snowflake.Time, Bits: 39}, {Name: snowflake.Worker, Bits: 5}, {Name: snowflake.Sequence, Bits: 9}}}
}

// childMain is the process's main function: it returns at once in one that is not a child.
func childMain() {
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

// run gives ids until the end of standard input.
func (cfg childConfig) run() error {
	clock := &hostClock{start: time.Now()}
	clock.ahead.Store(int64(cfg.Ahead))
	ended := make(chan struct{})
	begin := make(chan struct{})
	go func() {
		defer close(ended)
		obey(clock, begin)
	}()
	if cfg.Wait {
		select {
		case <-begin:
		case <-ended:
			return nil
		}
	}
	pool, err := sequence.OpenPool(cfg.DSN)
	if err != nil {
		return err
	}
	tell := &teller{}
	table := worker.NewTable(pool, cfg.Database, "soak", lastWorker, worker.TableConfig{})
	h, err := worker.Open(&told{Leaser: table, tell: tell}, "soak", layout(), 0, worker.Config{Lease: lease, Quarantine: cfg.Quarantine,
		MaxSkew: maxSkew, Generator: snowflake.Config{Clock: clock, MaxBorrow: maxBorrow, Timeout: idTimeout}})
	if err != nil {
		return err
	}
	g := giver{holder: h, tell: tell, rng: rand.New(rand.NewPCG(cfg.Seed, 0))}
	if err := g.run(ended); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := h.Close(ctx); err != nil { // the network may be cut: then the lease ends by itself
		return tell.tell(Event{Kind: Fail, Text: err.Error()})
	}
	return nil
}

// obey reads what the parent wants: "go", or "ahead" and by how much the clock is to be.
func obey(clock *hostClock, begin chan<- struct{}) {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "go" {
			close(begin)
			continue
		}
		text, _ := strings.CutPrefix(lines.Text(), "ahead ")
		ahead, err := time.ParseDuration(text)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		clock.ahead.Store(int64(ahead))
	}
}

// hostClock is the clock of a machine of the process's own.
type hostClock struct {
	start time.Time
	ahead atomic.Int64
}

func (c *hostClock) Monotonic() time.Duration { return time.Since(c.start) }

func (c *hostClock) Now() (time.Time, time.Duration) {
	now := time.Now()
	return now.Round(0).Add(time.Duration(c.ahead.Load())), now.Sub(c.start)
}

// teller writes events to standard output, each at once.
type teller struct {
	mu  sync.Mutex
	err error
}

func (t *teller) tell(e Event) error {
	line, err := e.Line()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		_, t.err = os.Stdout.Write(line)
	}
	return t.err
}

// told is a Leaser that tells what it does.
type told struct {
	worker.Leaser
	tell *teller
}

func event(kind string, id int64, c worker.Claim, sent time.Time) Event {
	return Event{Kind: kind, Token: c.Token, Worker: id, Sent: sent, Lease: c.Lease, Quarantine: c.Quarantine}
}

// Acquire implements [worker.Leaser].
func (l *told) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	sent := time.Now()
	got, err := l.Leaser.Acquire(ctx, c)
	if err != nil {
		return got, err
	}
	e := event(Take, got.Worker, c, sent)
	e.Done, e.After, e.Until = time.Now(), got.After, got.Until
	return got, l.tell.tell(e)
}

// Extend implements [worker.Leaser].
func (l *told) Extend(ctx context.Context, id int64, c worker.Claim) (time.Time, error) {
	sent := time.Now()
	until, err := l.Leaser.Extend(ctx, id, c)
	if err != nil {
		return until, err
	}
	e := event(Hold, id, c, sent)
	e.Done, e.Until = time.Now(), until
	return until, l.tell.tell(e)
}

// Release implements [worker.Leaser].
func (l *told) Release(ctx context.Context, id int64, c worker.Claim) error {
	if err := l.tell.tell(event(Drop, id, c, time.Now())); err != nil {
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

// pace is how often ids are taken.
const pace = 10 * time.Millisecond

func (g *giver) run(ended <-chan struct{}) error {
	g.lasts = map[int64]int64{}
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	for {
		select {
		case <-ended:
			return nil
		case <-ticks.C:
			if err := g.turn(); err != nil {
				return err
			}
		}
	}
}

// turn takes some runs of ids, at times so many that ids of the future have to be borrowed.
func (g *giver) turn() error {
	const some, most, seldom = 2, 60, 100
	n := some
	if g.rng.IntN(seldom) == 0 {
		n = most
	}
	given := Event{Kind: Give}
	var failure error
	for range n {
		run, err := g.holder.Next(context.Background(), 1+g.rng.Int64N(layout().Max(snowflake.Sequence)+1))
		if err != nil {
			failure = err
			break
		}
		if err := g.increases(run); err != nil {
			return err
		}
		given.Runs = append(given.Runs, [2]int64{run.First, run.N})
	}
	if len(given.Runs) > 0 {
		if err := g.tell.tell(given); err != nil {
			return err
		}
	}
	return g.failing(failure)
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

// failing tells an error, unless it was told just before. One that no fault explains ends the process.
func (g *giver) failing(err error) error {
	if err == nil {
		g.failed = ""
		return nil
	}
	if !errors.Is(err, sequence.ErrUnavailable) {
		return fmt.Errorf("no ids, and not for now only: %w", err)
	}
	if text := err.Error(); text != g.failed {
		g.failed = text
		return g.tell.tell(Event{Kind: Fail, Text: text})
	}
	return nil
}

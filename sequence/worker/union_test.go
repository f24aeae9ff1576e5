package worker_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// Of [TestUnionOfIDs] and [TestStaticJumps]; 1000 rounds take some 10 s, and with -race minutes.
var (
	unionSeed = flag.Uint64("worker.seed", 1, "what the first round begins from, the next with 1 more; 0 takes any")
	rounds    = flag.Int("worker.rounds", 5, "rounds")
)

// eachSeed runs f in a bubble of package synctest for each round.
func eachSeed(t *testing.T, f func(t *testing.T, seed uint64)) {
	t.Helper()
	first := *unionSeed
	if first == 0 {
		first = rand.Uint64N(1e9) + 1
	}
	for i := range uint64(*rounds) {
		t.Run(fmt.Sprintf("seed=%d", first+i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, first+i) })
		})
	}
}

// Processes start, die and are frozen, their clocks jump and their calls get lost, at random: no id comes twice, no call
// takes longer than it may, and ids go on when all is right again.
func TestUnionOfIDs(t *testing.T) {
	t.Parallel()
	eachSeed(t, func(t *testing.T, seed uint64) {
		ids := union{leases: newLeases(2), last: map[int64]int64{}}
		done := make(chan int)
		const processes, lives = 5, 8
		for i := range processes {
			p := &life{host: newHost(), ids: &ids, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
			go func() {
				for range lives {
					p.live(t)
				}
				done <- p.given
			}()
		}
		given := 0
		for range processes {
			given += <-done
		}
		ids.comesBack(t, newHost())
		ids.NoDuplicates(t)
		if given < 100 {
			t.Errorf("%d ids were given, want more to tell anything", given)
		}
	})
}

// union is all ids of all processes.
type union struct {
	sequencetest.IDs
	leases *sequencetest.Leases

	mu   sync.Mutex
	last map[int64]int64 // id of each worker
}

// unionTimeout and unionBorrow are Timeout and MaxBorrow of the generators.
const (
	unionTimeout = time.Second
	unionBorrow  = snowflake.DefaultMaxBorrow
)

// add checks more than that no id comes twice, which those that do break the rules would rarely do in so short a time: the
// time of an id was reserved and is not too far ahead, and the ids of a worker increase from one holder to the next.
func (u *union) add(tb testing.TB, h *host, run snowflake.Run) {
	d := decode(tb, run.First)
	if until := u.leases.Reserved(d.Worker); d.Time.After(until) {
		tb.Errorf("id %d of worker %d is of %v, after %v, which is reserved", run.First, d.Worker, d.Time, until)
	}
	if clock := h.latest(); d.Time.After(clock.Add(unionBorrow)) {
		tb.Errorf("id %d of worker %d is of %v, more than %v after the clock's %v", run.First, d.Worker, d.Time, unionBorrow, clock)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if last := u.last[d.Worker]; run.First <= last {
		tb.Errorf("worker %d gave %d after %d", d.Worker, run.First, last)
	}
	u.last[d.Worker] = run.ID(run.N - 1)
	if err := u.Take(func() (sequence.Range, error) { return sequence.Range{First: run.First, N: run.N}, nil }); err != nil {
		tb.Error(err)
	}
}

// comesBack has a last process give an id, as soon as the leases of those before it and their quarantines have ended, and
// what was reserved for them is past.
func (u *union) comesBack(t *testing.T, h *host) {
	t.Helper()
	began := time.Now()
	holder := open(t, u.leases.Leaser(), h)
	for {
		run, err := holder.Next(t.Context(), 1)
		if err == nil {
			u.add(t, h, run)
			return
		}
		if waited := time.Since(began); waited > 3*lease {
			t.Fatalf("no id after %v: %v", waited, err)
		}
	}
}

// ask takes n ids by a deadline. It checks how long that takes, and that the clock is not read all the time.
func ask(t *testing.T, rng *rand.Rand, holder *worker.Holder, h *host, n int64) (snowflake.Run, error) {
	deadline := time.Duration(1 + rng.Int64N(int64(3*unionTimeout)))
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	began, before := time.Now(), h.reads.Load()
	run, err := holder.Next(ctx, n)
	took := time.Since(began)
	// With the generator, and with the next one or without any when the worker id was lost meanwhile.
	if most := min(deadline, 2*unionTimeout); took > most {
		t.Errorf("got %+v, %v after %v, want it after %v at most", run, err, took, most)
	}
	if err != nil && !errors.Is(err, sequence.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if reads := h.reads.Load() - before; reads > 200+int64(200*took/time.Second) {
		t.Errorf("the clock was read %d times in a call of %v", reads, took)
	}
	return run, err
}

// life is a process that is started again and again on a host.
type life struct {
	host  *host
	ids   *union
	rng   *rand.Rand
	given int
}

// live starts the process, has it give ids in spite of all, and stops or kills it.
func (p *life) live(t *testing.T) {
	l := p.ids.leases.Leaser()
	l.Hook(p.fail(), p.fail())
	h, err := worker.Open(l, "test", sequencetest.HolderLayout(), 0, worker.Config{Address: "host", Lease: lease, Quarantine: time.Second,
		Generator: snowflake.Config{Clock: p.host, Timeout: unionTimeout}})
	if err != nil {
		t.Error(err)
		return
	}
	total := time.Duration(0)
	for range p.rng.IntN(60) {
		total += p.jump()
		run, err := ask(t, p.rng, h, p.host, 1+p.rng.Int64N(4096))
		if err == nil {
			p.given++
			p.ids.add(t, p.host, run)
		}
		time.Sleep(time.Duration(p.rng.Int64N(int64(2 * time.Second))))
	}
	if p.rng.IntN(2) == 0 { // killed
		l.Hook(away, nil)
	}
	_ = h.Close(t.Context()) // fails for one that is killed, or when the call is lost
	p.host.set(-total)       // somebody sees to the clock
}

// jump sets the clock now and then, and returns by how much.
func (p *life) jump() time.Duration {
	scale := []time.Duration{time.Millisecond, time.Second, time.Hour}[p.rng.IntN(3)]
	if p.rng.IntN(10) > 0 {
		return 0
	}
	by := time.Duration(p.rng.Int64N(int64(10*scale))) - 5*scale
	p.host.set(by)
	return by
}

// fail returns a hook that fails now and then, or takes its time.
func (p *life) fail() func(context.Context, string) error {
	rng := rand.New(rand.NewPCG(p.rng.Uint64(), 0))
	return func(ctx context.Context, _ string) error {
		switch rng.IntN(8) {
		case 0:
			return errAway
		case 1:
			select {
			case <-time.After(time.Duration(rng.Int64N(int64(3 * lease)))):
			case <-ctx.Done():
				return ctx.Err()
			}
		case 2:
			time.Sleep(time.Duration(rng.Int64N(int64(lease)))) // whatever the deadline
		}
		return nil
	}
}

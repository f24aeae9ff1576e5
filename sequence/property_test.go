package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// Whatever the interleaving of takes, switches, refills, lost answers, rivals, edits of the row and explicit ids: no id
// twice, ids in the order of the calls and above the explicit ones, every block contiguous and of the size asked for.
func TestNeverTwiceNeverBackwards(t *testing.T) {
	for seed := range uint64(12) {
		ordered := seed%3 == 2
		t.Run(fmt.Sprintf("seed=%d/ordered=%v", seed, ordered), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 0))
			store := sequencetest.NewStore(1, 1+rng.Int64N(20))
			chaos := &chaos{store: store, rng: rng, steady: seed%2 == 0}
			store.Before, store.After = chaos.before, chaos.after
			reg := orderedRegistry(store, ordered, sequence.Config{MaxStep: 50 + rng.Int64N(500), Timeout: time.Minute})
			run := &propertyRun{seq: get(t, reg, userSeq)}

			var all sync.WaitGroup
			for i := range uint64(8) {
				mine := rand.New(rand.NewPCG(seed, 1+i))
				all.Go(func() { run.takeMany(t, mine) })
			}
			all.Go(func() { run.observeMany(rand.New(rand.NewPCG(seed, 9))) })
			all.Wait()
			if err := reg.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if !chaos.setBack { // else the row may stand behind the ids that only this process knows of
				err := run.take(func() (sequence.Range, error) {
					r, err := sequencetest.NewStore(store.Row().NextID, 1).Reserve(t.Context(), sequence.Request{Need: 1})
					return r.Range, err
				})
				if err != nil {
					t.Errorf("the next process: %v", err)
				}
			}
			run.ids.NoDuplicates(t)
			run.ids.Increasing(t)
		})
	}
}

// propertyRun is a sequence, what it gave, and the largest explicit id that it knows of.
type propertyRun struct {
	seq *sequence.Sequence
	ids sequencetest.IDs

	observations atomic.Int64
	observed     sync.Map // how many there were, by explicit id
}

// take collects what next gives, in which no id may be that was observed before.
func (p *propertyRun) take(next func() (sequence.Range, error)) error {
	return p.ids.Take(func() (sequence.Range, error) {
		before := p.observations.Load()
		r, err := next()
		for id := r.First; err == nil && id <= r.Last(); id++ {
			if n, ok := p.observed.Load(id); ok && n.(int64) <= before {
				err = fmt.Errorf("got %v with the explicit id %d", r, id)
			}
		}
		return r, err
	})
}

func (p *propertyRun) takeMany(t *testing.T, rng *rand.Rand) {
	for range 1500 {
		n := int64(1)
		if rng.IntN(4) == 0 {
			n = 1 + rng.Int64N(60)
		}
		err := p.take(func() (sequence.Range, error) {
			r, err := p.seq.Next(t.Context(), n)
			if err == nil && r.N != n {
				err = fmt.Errorf("got %d ids, want %d", r.N, n)
			}
			return r, err
		})
		if err != nil {
			t.Error(err)
			return
		}
		if rng.IntN(8) == 0 {
			runtime.Gosched()
		}
	}
}

// observeMany tells the sequence of explicit ids around those that it has.
func (p *propertyRun) observeMany(rng *rand.Rand) {
	for range 1500 {
		id := p.seq.Status().Given - 400 + rng.Int64N(500)
		p.seq.Observe(id, id)
		p.observed.LoadOrStore(id, p.observations.Load()+1)
		p.observations.Add(1)
		if rng.IntN(4) == 0 {
			time.Sleep(time.Duration(rng.IntN(100)) * time.Microsecond)
		}
	}
}

// chaos disturbs a store.
type chaos struct {
	store *sequencetest.Store

	steady bool // the row is never set back

	mu      sync.Mutex
	rng     *rand.Rand
	setBack bool
}

func (c *chaos) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(n)
}

func (c *chaos) before(context.Context, sequence.Request) error {
	row := c.store.Row()
	switch c.roll(30) {
	case 0:
		return sequencetest.ErrLost
	case 1: // a rival takes some
		row.NextID += row.Cache * int64(1+c.roll(5))
		c.store.SetRow(row)
	case 2: // an operator sets the row back
		if c.steady {
			break
		}
		c.mu.Lock()
		c.setBack = true
		c.mu.Unlock()
		row.NextID = max(1, row.NextID-int64(c.roll(100)))
		c.store.SetRow(row)
	case 3:
		row.Cache = int64(1 + c.roll(40))
		c.store.SetRow(row)
	case 4:
		time.Sleep(time.Duration(c.roll(500)) * time.Microsecond) // a slow database
	}
	return nil
}

func (c *chaos) after(context.Context, sequence.Reservation) error {
	if c.roll(30) == 0 {
		return errors.New("connection lost in COMMIT")
	}
	return nil
}

// Callers take ids while the process closes and hands its tail back: the next process gets none of theirs.
func TestCloseUnderLoad(t *testing.T) {
	store := sequencetest.NewStore(1, 100)
	var ids sequencetest.IDs
	for range 100 {
		reg := sequencetest.Registry(store, sequence.Config{MaxStep: 1000})
		seq := get(t, reg, userSeq)
		var all sync.WaitGroup
		started := make(chan struct{}, 4)
		for n := range int64(4) {
			all.Go(func() {
				for i := 0; ; i++ {
					err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1+n/3) })
					if errors.Is(err, sequence.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					if i == 0 {
						started <- struct{}{}
					}
				}
			})
		}
		<-started
		if err := reg.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		all.Wait()
	}
	ids.NoDuplicates(t)
	ids.Increasing(t)
	wantRow(t, store, ids.Count()+1)
}

// Blocks that come at the very moment at which their callers give up are neither lost nor given twice.
func TestBlockAtTheDeadline(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			store := sequencetest.NewStore(1, 64)
			store.Before = func(context.Context, sequence.Request) error { time.Sleep(time.Second); return nil }
			seq := newSequence(t, store, sequence.Config{Timeout: time.Second})
			var ids sequencetest.IDs
			var all sync.WaitGroup
			var late atomic.Int64
			for range 64 {
				all.Go(func() {
					err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1) })
					if errors.Is(err, sequence.ErrUnavailable) {
						late.Add(1)
					} else if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			ids.NoDuplicates(t)
			time.Sleep(time.Minute)
			if got := ids.Count() + seq.Status().Current.N + seq.Status().Next.N; got%64 != 0 {
				t.Errorf("got %d ids given and left, want whole blocks of 64; %d callers were late", got, late.Load())
			}
		})
	}
}

package keyed

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// recorder collects the operations of a history.
type recorder struct {
	clock atomic.Int64
	mu    sync.Mutex
	all   []porcupine.Operation
}

// never is when an operation has ended of which nobody knows whether it was run: it may be run at any time.
const never = int64(1) << 62

func (r *recorder) add(client int, called, returned int64, input, output any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, porcupine.Operation{ClientId: client, Input: input, Call: called, Output: output, Return: returned})
}

// What a client does with the row of a section, and what it is told.
type (
	attempt struct { // to take the lease, or to extend it: the answer says nothing
		owner string
	}
	look struct{} // at the row: a row
	lift struct { // of next_id: a bool
		owner       string
		fence, next int64
	}
	leave struct { // the lease
		owner       string
		fence, next int64
	}
)

// lease is a register with fencing. That a lease has ended is the clock's doing, and may be so for every attempt.
var lease = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{row{next: 1}} },
	Step: func(state, input, output any) []any {
		r := state.(row)
		switch in := input.(type) {
		case attempt:
			if r.owner == in.owner {
				return []any{r}
			}
			taken := r
			taken.owner = in.owner
			taken.fence++
			return []any{r, taken}
		case look:
			if r == output {
				return []any{r}
			}
			return nil
		case lift:
			lifted := r
			lifted.next = in.next
			return outcome(r, lifted, r.owner == in.owner && r.fence == in.fence && r.next < in.next, output)
		case leave:
			left := r
			left.owner, left.next = "", in.next
			return outcome(r, left, r.owner == in.owner && r.fence == in.fence, nil)
		}
		return nil
	},
	Equal: func(a, b any) bool { return a == b },
}).ToModel()

// outcome returns the states after a conditional write; output is a bool, or nil when its answer is not known.
func outcome(before, after row, holds bool, output any) []any {
	switch {
	case output != nil && output != holds:
		return nil
	case holds:
		return []any{after}
	}
	return []any{before}
}

// The statements on a section's row are linearizable, answers that get lost included: nobody raises it but the holder of
// the present lease, and every change of hands moves the fence.
func TestLeaseIsLinearizable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		wantLinearizable(t, lease, func(rec *recorder) {
			name, _ := seeded(t, s, 1, 10)
			var all sync.WaitGroup
			for client, owner := range []string{"p", "q", "r"} {
				proxy := sequencetest.NewProxy(t, s.Addr)
				st := table{openPool(t, s, proxy.Addr()), name, owner, owner + ":1", 5 * time.Millisecond, &layout{sections: 1, inRows: true}}
				all.Go(func() { rec.use(t, client, st, proxy) })
			}
			all.Wait()
		})
	})
}

// wantLinearizable has act record a history; another one when porcupine takes too long, as it does for some.
func wantLinearizable(t *testing.T, model porcupine.Model, act func(rec *recorder)) {
	t.Helper()
	got := porcupine.Unknown
	for tries := 0; tries < 3 && got == porcupine.Unknown; tries++ {
		var rec recorder
		act(&rec)
		got = porcupine.CheckOperationsTimeout(model, rec.all, 30*time.Second)
		t.Logf("%d operations: %s", len(rec.all), got)
	}
	if got != porcupine.Ok {
		t.Errorf("got %s, want %s", got, porcupine.Ok)
	}
}

// use makes random calls; now and then one is cut, and it raises with the fence of a lease that has ended too.
func (rec *recorder) use(t *testing.T, client int, st table, proxy *sequencetest.Proxy) {
	var last row
	for range 60 {
		if rand.IntN(12) == 0 {
			proxy.CutNext(sequencetest.Cut(rand.IntN(2)), "UPDATE")
		}
		called := rec.clock.Add(1)
		switch rand.IntN(8) {
		case 0:
			in := leave{st.owner, last.fence, last.next}
			err := st.release(t.Context(), []release{{0, in.fence, in.next}})
			rec.add(client, called, rec.returned(err), in, nil)
		case 1, 2, 3:
			in := lift{st.owner, last.fence - rand.Int64N(2), last.next + rand.Int64N(10)} // at times of a lease before
			ok, err := st.raise(t.Context(), 0, in.fence, in.next)
			var output any = ok
			if err != nil {
				output = nil
			}
			rec.add(client, called, rec.returned(err), in, output)
			if ok {
				last.next = in.next
			}
		default:
			found, err := st.claim(t.Context(), []int{0})
			returned := rec.returned(err)
			rec.add(client, called, returned, attempt{st.owner}, nil)
			if err != nil {
				break
			}
			seen := row{next: found[0].next, fence: found[0].fence, owner: found[0].owner}
			rec.add(client, called, returned, look{}, seen)
			if seen.owner == st.owner {
				last = seen
			}
		}
		time.Sleep(rand.N(3 * time.Millisecond)) // leases end
	}
}

// returned returns when a call ended: one that failed may have been run, or be run later.
func (rec *recorder) returned(err error) int64 {
	if err != nil {
		return never
	}
	return rec.clock.Add(1)
}

// increasing is a key: each call gets a larger value than those before.
var increasing = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, _, output any) (bool, any) {
		r := output.(sequence.Range)
		return r.First > state.(int64), r.Last()
	},
}

// The calls for one key through several processes are linearizable, while these are killed and cut off.
func TestNextIsLinearizable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		wantLinearizable(t, increasing, func(rec *recorder) {
			name, _ := seeded(t, s, 1, 5)
			m := &members{t: t, s: s, name: name, by: map[string]*Sequence{}}
			var all sync.WaitGroup
			for client := range 3 {
				proxy := sequencetest.NewProxy(t, s.Addr)
				all.Go(func() {
					for range 3 {
						p := m.start(proxy)
						for i := range 40 {
							if i%10 == 5 {
								proxy.CutNext(sequencetest.Cut(rand.IntN(2)), "UPDATE", "SELECT")
							}
							called := rec.clock.Add(1)
							r, err := p.Next(t.Context(), []byte("user-1"), 1+rand.Int64N(3))
							if err == nil { // else values may be lost, which nobody sees
								rec.add(client, called, rec.clock.Add(1), nil, r)
							} else if !errors.Is(err, sequence.ErrUnavailable) {
								t.Error(err)
							}
						}
						crash(p)
					}
				})
			}
			all.Wait()
		})
	})
}

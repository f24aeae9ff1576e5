package sequencetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seqgate/seqgate/sequence/worker"
)

// What holders do to a set of worker ids whose leases do not end meanwhile, and that has no quarantine, is linearizable: as
// if each call had happened at one moment between its beginning and its end. Porcupine looks for such an order.

// leaseIDs is the number of worker ids in a history.
const leaseIDs = 3

// leaseState is the set as all leasers must keep it.
type leaseState [leaseIDs]struct {
	holder          string
	after, reserved int64 // milliseconds from the base of the history
}

type leaseCall struct {
	act    string // "acquire", "extend" or "release"
	holder string
	worker int64
	until  int64
}

// leaseAnswer is what came of a call. One that is lost may have happened or not, or may happen yet.
type leaseAnswer struct {
	lost, refused bool // refused: none free, or not the holder's
	worker, after int64
}

var leaseModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{leaseState{}} },
	Step: func(state, input, output any) []any {
		s, call, answer := state.(leaseState), input.(leaseCall), output.(leaseAnswer)
		var next []any
		steps := call.on(s)
		if answer.lost {
			next = append(next, s)
			if call.act == "acquire" {
				steps = append(steps, call.take(s)...)
			}
		}
		for _, to := range steps {
			if answer.lost || to.answer == answer {
				next = append(next, to.state)
			}
		}
		return next
	},
}).ToModel()

type leaseStep struct {
	state  leaseState
	answer leaseAnswer
}

// on returns what a call can do to s.
func (c leaseCall) on(s leaseState) []leaseStep {
	if c.act == "acquire" {
		return c.acquire(s)
	}
	if s[c.worker].holder != c.holder {
		return []leaseStep{{s, leaseAnswer{refused: c.act == "extend"}}}
	}
	if c.act == "release" {
		s[c.worker].holder = ""
		return []leaseStep{{s, leaseAnswer{}}}
	}
	// A Leaser may write first and look then. When a release of the same holder, whose answer was lost, gets between the two,
	// the holder is told that the lease is lost, and more is reserved than anybody uses.
	s[c.worker].reserved = max(s[c.worker].reserved, c.until)
	released := s
	released[c.worker].holder = ""
	return []leaseStep{{s, leaseAnswer{}}, {released, leaseAnswer{refused: true}}}
}

func (c leaseCall) acquire(s leaseState) (steps []leaseStep) {
	for id := range s {
		if s[id].holder == c.holder { // it is told that it has it, and more may be reserved than before
			more := s
			more[id].reserved = max(s[id].reserved, c.until)
			answer := leaseAnswer{worker: int64(id), after: s[id].after}
			steps = append(steps, leaseStep{s, answer}, leaseStep{more, answer})
		}
	}
	if steps == nil {
		// To be told that none is free is no matter of one moment: a server's time for a statement is that of its beginning, so
		// what was released while it ran is not free yet for it, and what was taken meanwhile not any more. It does nothing.
		steps = append(c.take(s), leaseStep{s, leaseAnswer{refused: true}})
	}
	return steps
}

// take returns what comes of making a free worker id the holder's. A call that is lost may do so after another one of the
// same holder has: he has two then, of which one is of no use to anybody until its lease ends.
func (c leaseCall) take(s leaseState) (steps []leaseStep) {
	for id := range s {
		if s[id].holder == "" {
			to := s
			to[id].holder, to[id].after, to[id].reserved = c.holder, s[id].reserved, max(s[id].reserved, c.until)
			steps = append(steps, leaseStep{to, leaseAnswer{worker: int64(id), after: s[id].reserved}})
		}
	}
	return steps
}

// leaseHistory collects what holders do.
type leaseHistory struct {
	base  time.Time
	clock atomic.Int64

	mu  sync.Mutex
	ops []porcupine.Operation
}

func (r *leaseHistory) String() string {
	var s strings.Builder
	for _, op := range r.ops {
		fmt.Fprintf(&s, "%d at %d to %d: %+v: %+v\n", op.ClientId, op.Call, op.Return, op.Input, op.Output)
	}
	return s.String()
}

// millis is the number that stands for a time in the history.
func (r *leaseHistory) millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Sub(r.base).Round(time.Millisecond).Milliseconds()
}

// leaseClient is one holder after another.
type leaseClient struct {
	number  int
	history *leaseHistory
	leaser  worker.Leaser
	lose    func(number int)
	rng     *rand.Rand

	now  leaseHolder
	last leaseHolder // the one before it, which at times does not know yet
}

// leaseHolder is a holder: a token, and the worker id that it takes for its own; -1: none.
type leaseHolder struct {
	claim  worker.Claim
	worker int64
}

// do makes one call.
func (c *leaseClient) do(ctx context.Context) error {
	if c.lose != nil && c.rng.IntN(6) == 0 {
		c.lose(c.rng.Int())
	}
	holder := &c.now
	if c.last.worker >= 0 && c.rng.IntN(5) == 0 {
		holder = &c.last
	}
	call := c.choose(holder)
	began := c.history.clock.Add(1)
	answer, err := c.call(ctx, call, holder)
	ended := c.history.clock.Add(1)
	if answer.lost {
		ended = math.MaxInt64
	}
	c.history.mu.Lock()
	c.history.ops = append(c.history.ops, porcupine.Operation{ClientId: c.number, Input: call, Output: answer, Call: began, Return: ended})
	c.history.mu.Unlock()
	if holder == &c.now && (call.act == "release" || answer.refused || answer.lost && c.rng.IntN(2) == 0) {
		c.last, c.now = c.now, leaseHolder{newClaim(), -1}
	}
	return err
}

// choose makes up a call of a holder.
func (c *leaseClient) choose(h *leaseHolder) leaseCall {
	call := leaseCall{act: "acquire", holder: h.claim.Token, until: 1 + c.rng.Int64N(60_000)}
	if h.worker >= 0 {
		call.act, call.worker = "extend", h.worker
		if c.rng.IntN(2) == 0 {
			call.act = "release"
		}
	}
	h.claim.Until = c.history.base.Add(time.Duration(call.until) * time.Millisecond)
	return call
}

// call returns an error that is none of those that may be.
func (c *leaseClient) call(ctx context.Context, call leaseCall, h *leaseHolder) (a leaseAnswer, err error) {
	switch call.act {
	case "acquire":
		var got worker.Lease
		got, err = c.leaser.Acquire(ctx, h.claim)
		if err == nil {
			h.worker = got.Worker
			a = leaseAnswer{worker: got.Worker, after: c.history.millis(got.After)}
		}
	case "extend":
		_, err = c.leaser.Extend(ctx, call.worker, h.claim)
	default:
		err = c.leaser.Release(ctx, call.worker, h.claim)
	}
	switch {
	case errors.Is(err, worker.ErrNoWorkerID) || errors.Is(err, worker.ErrLost):
		a.refused, err = true, nil
	case err != nil && c.lose != nil:
		a.lost, err = true, nil
	}
	return a, err
}

// LeaseHistory has holders work on a new set of the worker ids 0 to 2, at random and with answers lost, and reports whether
// what came of it is linearizable; text is all of it.
func LeaseHistory(tb testing.TB, h LeaserHarness) (verdict porcupine.CheckResult, text string) {
	tb.Helper()
	history := &leaseHistory{base: now().Truncate(time.Millisecond)}
	seed := rand.Uint64N(1e9)
	var working sync.WaitGroup
	for i := range 4 {
		c := &leaseClient{number: i, history: history, rng: rand.New(rand.NewPCG(seed, uint64(i))),
			now: leaseHolder{newClaim(), -1}, last: leaseHolder{worker: -1}}
		if h.Lossy != nil {
			c.leaser, c.lose = h.Lossy(tb)
		} else {
			c.leaser = h.Open(tb)
		}
		working.Go(func() {
			for range 15 {
				if err := c.do(tb.Context()); err != nil {
					tb.Error(err)
				}
			}
		})
	}
	working.Wait()
	return porcupine.CheckOperationsTimeout(leaseModel, history.ops, 30*time.Second), history.String()
}

// leaseHistories is how many histories are judged.
const leaseHistories = 10

func testLeasesLinearizable(t *testing.T, open func(t *testing.T, most int64) LeaserHarness) {
	lost, unknown := 0, 0
	for range leaseHistories {
		verdict, text := LeaseHistory(t, open(t, leaseIDs-1))
		switch verdict {
		case porcupine.Illegal:
			t.Fatalf("not linearizable:\n%s", text)
		case porcupine.Unknown:
			unknown++
		}
		lost += strings.Count(text, "{lost:true")
	}
	t.Logf("%d histories, %d calls lost, %d histories not judged", leaseHistories, lost, unknown)
	if unknown > leaseHistories/4 {
		t.Errorf("%d histories could not be judged, want %d at most", unknown, leaseHistories/4)
	}
}

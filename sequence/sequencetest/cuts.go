package sequencetest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// shortestLimit is the shortest time after which an attempt ends without an answer, as it may on a busy machine: that of
// connecting.
const shortestLimit = 2 * time.Second

// testLostStatement cuts the connection at each statement that can reserve, before and after the server runs it.
func testLostStatement(t *testing.T, h Harness) {
	for name, when := range map[string]Cut{"Unsent": CutUnsent, "Unanswered": CutUnanswered} {
		for _, statement := range []string{"UPDATE", "COMMIT", "SELECT"} {
			t.Run(statement+name, func(t *testing.T) {
				table := "s_" + strings.ToLower(statement+name)
				h.create(t, table, 1, 10)
				proxy := NewProxy(t, h.Addr)
				seq := h.sequence(t, h.registry(t, proxy.Addr(), sequence.Config{Timeout: 30 * time.Second}), table)
				rival := h.sequence(t, h.registry(t, h.Addr, sequence.Config{Timeout: 30 * time.Second}), table)
				var ids IDs
				began := time.Now()
				take := func(seq *sequence.Sequence) {
					t.Helper()
					if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 10) }); err != nil {
						t.Error(err)
					}
				}
				take(seq)
				for range 3 {
					proxy.CutNext(when, statement)
					take(seq)
					take(rival)
				}
				ids.NoDuplicates(t)
				// A store uses two of the three statements at most.
				took := time.Since(began)
				switch got, cuts := seq.Status().Failures, int64(proxy.Cuts()); {
				case got > cuts && took > shortestLimit:
					t.Logf("got %d failures at %d cuts in %v, as on a busy machine", got, cuts, took)
				case got != cuts:
					t.Errorf("got %d failures at %d cuts", got, cuts)
				}
				if statement == "UPDATE" && proxy.Cuts() != 3 {
					t.Errorf("got %d cuts, want 3", proxy.Cuts())
				}
			})
		}
	}
}

// testLostUnderLoad cuts connections at random moments while two processes use the sequence.
func testLostUnderLoad(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	proxy := NewProxy(t, h.Addr)
	var ids IDs
	load := startLoad()
	for range 2 {
		seq := h.sequence(t, h.registry(t, proxy.Addr(), sequence.Config{MaxStep: 10, Timeout: 30 * time.Second}), "s")
		load.add(t, 4, seq, &ids)
	}
	for range 20 {
		for _, when := range []Cut{CutUnsent, CutUnanswered} {
			proxy.CutNext(when, "UPDATE", "COMMIT")
			await(t, func() bool { return !proxy.isArmed() })
		}
		proxy.CutAll()
	}
	load.stop()
	ids.NoDuplicates(t)
}

// load is callers that take ids one by one until they are stopped.
type load struct {
	done    chan struct{}
	callers sync.WaitGroup
}

func startLoad() *load { return &load{done: make(chan struct{})} }

// add starts n callers. Each fails the test at an error.
func (l *load) add(t *testing.T, n int, seq *sequence.Sequence, ids *IDs) {
	for range n {
		l.callers.Go(func() {
			for {
				select {
				case <-l.done:
					return
				default:
				}
				if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1) }); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
}

func (l *load) stop() {
	close(l.done)
	l.callers.Wait()
}

// await waits until ready says so, or the test is out of time.
func await(t *testing.T, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ready(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited in vain for 30s")
		}
	}
}

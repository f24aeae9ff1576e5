package sequence_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// Leaf answers a share of such calls with an error, "Both two segments are not ready", up to 0.23 % of them: callers that
// meet a sequence for the first time, all at once, in the first half second. Here nobody gets one, and few have to wait.
const firstTime = 500 * time.Millisecond

// eachColdBurst runs f for every cell of the table in which Leaf was measured.
func eachColdBurst(t *testing.T, f func(t *testing.T, cache int64, callers int, delay time.Duration)) {
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		for _, cache := range []int64{10, 100, 1000, 2000, 10_000} {
			for _, callers := range []int{8, 64} {
				t.Run(fmt.Sprintf("delay=%v/cache=%d/callers=%d", delay, cache, callers), func(t *testing.T) {
					f(t, cache, callers, delay)
				})
			}
		}
	}
}

// burst has callers take ids for firstTime, each with a pause between two of them, and returns how many they got.
func burst(t *testing.T, seq *sequence.Sequence, callers int, pause time.Duration) (ids int64) {
	var all sync.WaitGroup
	var got atomic.Int64
	end := time.Now().Add(firstTime)
	for range callers {
		all.Go(func() {
			mine := int64(0)
			for ; time.Now().Before(end); mine++ {
				if _, err := seq.Next(t.Context(), 1); err != nil {
					t.Error(err)
				}
				if pause > 0 {
					time.Sleep(pause)
				}
			}
			got.Add(mine)
		})
	}
	all.Wait()
	return got.Load()
}

// Each caller waits for the first block, and while the step grows from the cache to what a round trip uses up.
func TestColdBurst(t *testing.T) {
	eachColdBurst(t, func(t *testing.T, cache int64, callers int, delay time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			store := sequencetest.NewStore(1, cache)
			store.Before = func(context.Context, sequence.Request) error { time.Sleep(delay + time.Millisecond/2); return nil }
			seq := newSequence(t, store, sequence.Config{})
			ids := burst(t, seq, callers, time.Millisecond)
			st := seq.Status()
			if most := int64(callers) * 4; st.Waits > most || st.Failures > 0 {
				t.Errorf("got %d waits, %d failures for %d ids, want %d waits at most and no failures", st.Waits, st.Failures, ids, most)
			}
		})
	})
}

// The same on a real server as fast as callers can call, with the server as it is and with 20 ms more for each answer.
func TestColdBurstOnServer(t *testing.T) {
	s := servertest.First(t)
	h := harness(t, s, sequence.StrategyForUpdate)
	eachColdBurst(t, func(t *testing.T, cache int64, callers int, delay time.Duration) {
		table := fmt.Sprintf("s_%d_%d_%d", cache, callers, delay.Milliseconds())
		if err := sequence.Seed(t.Context(), h.Admin, h.Database, table, 1, cache); err != nil {
			t.Fatal(err)
		}
		addr := s.Addr
		if delay > 0 {
			addr = delayed(t, addr, delay)
		}
		reg := sequencetest.Registry(h.Open(t, addr), sequence.Config{})
		defer reg.Close(t.Context())
		seq := get(t, reg, sequence.Name{Database: h.Database, Table: table})
		ids := burst(t, seq, callers, 0)
		st := seq.Status()
		t.Logf("%d ids, %d waits (%.4f %%), %d refills, step %d", ids, st.Waits, 100*float64(st.Waits)/float64(ids), st.Refills, st.Step)
		if most := int64(callers) * 16; st.Waits > most {
			t.Errorf("got %d waits for %d ids, want %d at most", st.Waits, ids, most)
		}
	})
}

// delayed returns the address of a relay to addr in which each answer is later by delay. It ends with the test.
func delayed(t *testing.T, addr string, delay time.Duration) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close() // the loop below ends
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", addr)
			if err != nil {
				t.Errorf("reach the server: %v", err)
				_ = client.Close()
				return
			}
			all.Go(func() {
				_, _ = io.Copy(server, client) // until the client ends
				_ = server.Close()
			})
			all.Go(func() {
				relayLate(client, server, delay)
				_ = client.Close()
			})
		}
	})
	return l.Addr().String()
}

// relayLate copies what comes from the server until one of them ends. Client and server take turns, so that a pause before
// each piece delays answers and does not cut the throughput.
func relayLate(client, server net.Conn, delay time.Duration) {
	buf := make([]byte, 16<<10)
	for {
		n, err := server.Read(buf)
		if err != nil {
			return
		}
		time.Sleep(delay)
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

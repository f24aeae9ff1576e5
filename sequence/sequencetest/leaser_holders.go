package sequencetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// HolderLayout is the layout of the holders in tests.
func HolderLayout() snowflake.Layout {
	l, _ := snowflake.Preset("leaf")
	return l
}

// patience is how long tests wait for what comes at once unless the machine is very busy.
const patience = 3 * time.Minute

// Leases of holders in tests. Who has a worker id next waits for the end of the time that was reserved, even after a release.
const (
	shortLease  = 2 * time.Second // a busy machine can lose it, which the test must not mind
	steadyLease = 6 * time.Second // lost if nothing comes through for as long, while a test waits for its end
	longLease   = 2 * time.Minute // ends in no test
)

func holderConfig(lease time.Duration) worker.Config {
	return worker.Config{Lease: lease, Quarantine: time.Second, Generator: snowflake.Config{Timeout: 300 * time.Millisecond}}
}

// openWhenFree returns a holder as soon as there is a worker id for it. It is closed at the end of the test.
func openWhenFree(tb testing.TB, l worker.Leaser) *worker.Holder {
	h, err := worker.Open(l, "test", HolderLayout(), 0, holderConfig(shortLease))
	if err != nil {
		tb.Error(err)
		return nil
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = h.Close(ctx) // releases only if the leaser still answers
	})
	for err := h.Ready(tb.Context()); err != nil; err = h.Ready(tb.Context()) {
		if !errors.Is(err, worker.ErrNoWorkerID) {
			tb.Error(err)
			return h
		}
		<-time.After(20 * time.Millisecond)
	}
	return h
}

// take collects n ids of a holder.
func take(tb testing.TB, h *worker.Holder, n int, ids ...*IDs) {
	for range n {
		for {
			run, err := h.Next(tb.Context(), 1)
			if err != nil && tb.Context().Err() == nil {
				continue // the machine is busy
			}
			for _, to := range ids {
				if err := to.Take(func() (sequence.Range, error) { return sequence.Range{First: run.First, N: 1}, err }); err != nil {
					tb.Error(err)
				}
			}
			break
		}
	}
}

// testHolders has 8 processes with 8 worker ids open a holder, take ids and close it, again and again: what one has released
// is in quarantine, so that they wait for each other.
func testHolders(t *testing.T, h LeaserHarness) {
	var together IDs
	var all sync.WaitGroup
	for range 8 {
		l := h.Open(t)
		all.Go(func() {
			for range 2 {
				holder := openWhenFree(t, l)
				if holder == nil {
					return
				}
				var own IDs
				take(t, holder, 200, &together, &own)
				own.Increasing(t)
				if err := holder.Close(t.Context()); err != nil {
					t.Error(err)
				}
				_, err := holder.Next(t.Context(), 1)
				wantError(t, err, sequence.ErrClosed)
			}
		})
	}
	all.Wait()
	together.NoDuplicates(t)
}

func containsAll(s string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}

// waitUntil waits for a condition.
func waitUntil(tb testing.TB, condition func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	for !condition() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			tb.Fatal("waited for too long")
		}
	}
}

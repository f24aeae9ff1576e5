package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/worker"
)

// openRivals opens sets of a table of the test's own.
func openRivals(t *testing.T, s *servertest.Server) sequencetest.OpenRival {
	database := s.NewDatabase(t)
	pool := openPool(t, s, s.Addr)
	return func(_ testing.TB, set string, rivals func(string) bool) worker.Leaser {
		return worker.NewTable(pool, database, set, 63, worker.TableConfig{Rivals: rivals})
	}
}

func TestRivals(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		sequencetest.TestRivals(t, func(t *testing.T) sequencetest.OpenRival { return openRivals(t, s) })
	})
}

// seqgate check asks without a lease.
func TestRivalsSeen(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		open := openRivals(t, s)
		table := func(set string) *worker.Table {
			return open(t, set, func(other string) bool { return other != set && other != "c" }).(*worker.Table)
		}
		a, b := table("a"), table("b")
		if err := a.Rivals(t.Context()); err != nil {
			t.Errorf("without a table: %v", err)
		}
		now := time.Now()
		if _, err := a.Acquire(t.Context(), worker.Claim{Token: "t", Address: "here", Until: now.Add(time.Minute), Lease: time.Minute, MaxSkew: time.Second, Clock: now}); err != nil {
			t.Fatal(err)
		}
		wantError(t, b.Rivals(t.Context()), worker.ErrNoWorkerID, "a gives ids", "by here")
		if err := errors.Join(a.Rivals(t.Context()), open(t, "c", func(string) bool { return false }).(*worker.Table).Rivals(t.Context())); err != nil {
			t.Errorf("sets without others: %v", err)
		}
	})
}

package worker_test

import (
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/worker"
)

// rivals opens two sets whose ids may be the same, and one that has nothing to do with them.
func rivals(t *testing.T, s *servertest.Server) (a, b, c *worker.Table) {
	t.Helper()
	database := s.NewDatabase(t)
	pool := openPool(t, s, s.Addr)
	open := func(set string) *worker.Table {
		return worker.NewTable(pool, database, set, 63, worker.TableConfig{Rivals: func(other string) bool { return set != other && set != "c" && other != "c" }})
	}
	return open("a"), open("b"), open("c")
}

func rivalClaim(lease time.Duration) worker.Claim {
	now := time.Now()
	return worker.Claim{Token: rand.Text(), Address: "here", Until: now.Add(lease), Lease: lease, MaxSkew: time.Second, Clock: now}
}

// acquireSoon waits for rivals to end.
func acquireSoon(t *testing.T, table *worker.Table) worker.Lease {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		l, err := table.Acquire(t.Context(), rivalClaim(time.Minute))
		if err == nil {
			return l
		}
		if !errors.Is(err, worker.ErrNoWorkerID) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// Layouts that give equal ids have worker ids one after the other: the later one begins above the ids of the former.
func TestRivals(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, released := range []bool{true, false} {
			a, b, c := rivals(t, s)
			if err := a.Rivals(t.Context()); err != nil {
				t.Errorf("without a table: %v", err)
			}
			claim := rivalClaim(5 * time.Second) // as long as a slow machine may take for the next two questions
			former, err := a.Acquire(t.Context(), claim)
			if err != nil {
				t.Fatal(err)
			}
			_, err = b.Acquire(t.Context(), rivalClaim(time.Minute))
			wantError(t, err, worker.ErrNoWorkerID, "a gives ids that may be the same", "by here")
			wantError(t, b.Rivals(t.Context()), worker.ErrNoWorkerID, "a gives ids")
			if err := errors.Join(a.Rivals(t.Context()), c.Rivals(t.Context())); err != nil {
				t.Errorf("sets without others: %v", err)
			}
			if _, err := c.Acquire(t.Context(), rivalClaim(time.Second)); err != nil {
				t.Errorf("a set of other ids: %v", err)
			}
			if released {
				if err := a.Release(t.Context(), former.Worker, claim); err != nil {
					t.Fatal(err)
				}
			}
			next := acquireSoon(t, b)
			if next.After.Before(former.Until) {
				t.Errorf("ids from %v on, those of the other set go up to %v", next.After, former.Until)
			}
			_, err = a.Extend(t.Context(), former.Worker, claim) // of a holder that was frozen
			wantError(t, err, worker.ErrLost)
			_, err = a.Acquire(t.Context(), claim)
			wantError(t, err, worker.ErrNoWorkerID, "b gives ids that may be the same")
		}
	})
}

// Of two layouts with equal ids that come at the same time, one gets worker ids at most.
func TestRivalsTogether(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for range 5 {
			a, b, _ := rivals(t, s)
			var got [2][]worker.Lease
			var claims [2]worker.Claim
			var all sync.WaitGroup
			for i, table := range []*worker.Table{a, b} {
				claims[i] = rivalClaim(time.Minute)
				all.Go(func() {
					l, err := table.Acquire(t.Context(), claims[i])
					if err == nil {
						got[i] = append(got[i], l)
					} else if !errors.Is(err, worker.ErrNoWorkerID) {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if len(got[0]) > 0 && len(got[1]) > 0 {
				t.Fatalf("both have worker ids: %v", got)
			}
		}
	})
}

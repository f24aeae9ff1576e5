package sequencetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// testContention has 8 stores with pools of their own reserve from one row.
func testContention(t *testing.T, h Harness) { contend(t, h, h.create(t, "s", 1, 10)) }

// testNoRowLocks does it with an engine that has neither row locks nor transactions.
func testNoRowLocks(t *testing.T, h Harness) {
	req := h.create(t, "s", 1, 10)
	h.exec(t, "ALTER TABLE s ENGINE = MyISAM")
	contend(t, h, req)
}

func contend(t *testing.T, h Harness, req sequence.Request) {
	var ids IDs
	var failures atomic.Int64
	var all sync.WaitGroup
	for i := range int64(8) {
		store := h.Open(t, h.Addr)
		all.Go(func() {
			req := req
			if i == 0 {
				req.Cache = 10 // one of them knows the row, and must not shut the others out
			}
			for n := range int64(40) {
				req.Need = 1 + (n+i)%25
				for !reserveAmongOthers(t, store, &req, &ids) {
					failures.Add(1)
				}
			}
		})
	}
	all.Wait()
	ids.NoDuplicates(t)
	ids.Increasing(t)
	if failures.Load() > 0 {
		t.Logf("%d reservations lost against the others", failures.Load())
		return
	}
	if got := ids.Unused(); got != 0 {
		t.Errorf("got %d ids reserved for nobody, want 0", got)
	}
	h.wantRow(t, "s", Row{1 + ids.Count(), 10})
}

// reserveAmongOthers reports false when the others kept the store from the row, which happens on a machine that is busy.
func reserveAmongOthers(t *testing.T, store sequence.Store, req *sequence.Request, ids *IDs) bool {
	err := ids.Take(func() (sequence.Range, error) {
		res, err := store.Reserve(t.Context(), *req)
		if err == nil {
			req.After, req.Cache = res.Last(), res.Cache
		}
		return res.Range, err
	})
	var own *sequence.Error
	if errors.As(err, &own) {
		t.Error(err)
		return true
	}
	return err == nil || t.Context().Err() != nil
}

// testProcesses has 8 registries with pools of their own, as 8 processes of seqgate have, give ids to 4 callers each.
func testProcesses(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	var together IDs
	var all sync.WaitGroup
	own := make([]IDs, 8)
	for i := range own {
		reg := h.registry(t, h.Addr, sequence.Config{MaxStep: 100, Timeout: time.Minute})
		seq := h.sequence(t, reg, "s")
		for caller := range int64(4) {
			all.Go(func() {
				for n := range int64(300) {
					n := 1 + (n*caller)%7
					err := together.Take(func() (r sequence.Range, err error) {
						err = own[i].Take(func() (sequence.Range, error) {
							r, err = seq.Next(t.Context(), n)
							return r, err
						})
						return r, err
					})
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	together.NoDuplicates(t)
	for i := range own {
		own[i].Increasing(t)
	}
}

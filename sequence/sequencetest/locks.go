package sequencetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// testKilled kills the connection of a reservation that waits for the row's lock.
func testKilled(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{Timeout: 20 * time.Second}), "s")
	unlock := h.lockRow(t, "s")
	got := make(chan error, 1)
	go func() {
		_, err := seq.Next(t.Context(), 1)
		got <- err
	}()
	await(t, func() bool { return h.kill(t, "%`"+h.Database+"`.`s`%") > 0 })
	unlock()
	if err := <-got; err != nil {
		t.Errorf("got %v, want the ids of another attempt", err)
	}
	if st := seq.Status(); st.Failures == 0 {
		t.Errorf("got no failure, want the killed one")
	}
}

// lockRow takes the row's lock, as a client that freezes in its transaction holds it, and returns what lets it go.
func (h Harness) lockRow(t *testing.T, table string) (unlock func()) {
	t.Helper()
	tx, err := h.Admin.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := tx.QueryRowContext(t.Context(), "SELECT id FROM "+table+" WHERE id = 0 FOR UPDATE").Scan(&id); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// testFrozenHolder checks that a lock on the row costs an error in time, and nothing when it is gone.
func testFrozenHolder(t *testing.T, h Harness) {
	req := h.create(t, "s", 1, 10)
	store := h.Open(t, h.Addr)
	unlock := h.lockRow(t, "s")
	req.Need = 1
	for tries := 1; ; tries++ {
		begin := time.Now()
		res, err := store.Reserve(t.Context(), req)
		if got := time.Since(begin); got > 10*time.Second {
			t.Errorf("waited %v for the lock, want about 2s", got)
		}
		if errors.Is(err, context.DeadlineExceeded) && tries < 6 {
			continue // InnoDB looks once a second for waits that are over, and a busy machine adds to that
		}
		if err == nil || !strings.Contains(err.Error(), "1205") {
			t.Errorf("got %v, %v of a locked row, want error 1205", res, err)
		}
		break
	}

	seq := h.sequence(t, h.registry(t, h.Addr, sequence.Config{Timeout: 30 * time.Second}), "s")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := seq.Next(ctx, 1)
	wantError(t, err, sequence.ErrUnavailable, "sequence main.s ")
	unlock()
	if _, err := seq.Next(t.Context(), 1); err != nil {
		t.Errorf("after the lock is gone: %v", err)
	}
}

// testLockedTable checks the same for a lock on the table, which is not InnoDB's.
func testLockedTable(t *testing.T, h Harness) {
	req := h.create(t, "s", 1, 10)
	store := h.Open(t, h.Addr)
	conn, err := h.Admin.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "LOCK TABLES s WRITE"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	req.Need, req.Cache = 1, 10
	if res, err := store.Reserve(t.Context(), req); err == nil {
		t.Errorf("got %v of a locked table", res)
	}
	if got := time.Since(begin); got > 10*time.Second {
		t.Errorf("waited %v for the lock, want about 2s", got)
	}
	if _, err := conn.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Fatal(err)
	}
	reserve(t, store, req)
}

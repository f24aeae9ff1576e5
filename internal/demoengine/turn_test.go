//go:build !slim

package demoengine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Second, errLockWait)
		defer cancel()
		lock := newTurn()
		if err := lock.take(ctx); err != nil {
			t.Fatalf("take a free lock: %v", err)
		}
		start := time.Now()
		if err := lock.take(ctx); !errors.Is(err, errLockWait) {
			t.Errorf("take a held lock: got %v, want %v", err, errLockWait)
		}
		if got, want := time.Since(start), 50*time.Second; got != want {
			t.Errorf("waited %v, want %v", got, want)
		}
		lock.pass()
		if err := lock.take(ctx); err != nil {
			t.Errorf("take a free lock after the deadline: %v", err)
		}
	})
}

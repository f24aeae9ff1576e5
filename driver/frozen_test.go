package driver_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/seqgate/seqgate/driver"
	"github.com/seqgate/seqgate/internal/servertest"
)

// descriptors counts this process's open files.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("the descriptors of the process are not listed here: %v", err)
	}
	return len(all)
}

// Of statements that were given up while the server hangs, nothing stays in the process: neither of those to a server that
// is known, nor of those after it was forgotten.
func TestFrozenServer(t *testing.T) {
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s)
		for name, use := range map[string]bool{"known": true, "unknown": false} {
			db := p.open(t, driver.Config{})
			db.SetMaxOpenConns(2)
			if use {
				insert(t, db, "INSERT INTO t (v) VALUES ('a')")
			}
			files, routines := descriptors(t), runtime.NumGoroutine()
			s.Freeze(t)
			for range 40 {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				if _, err := db.ExecContext(ctx, "UPDATE t SET v = 'b'"); err == nil {
					t.Error("a frozen server answered")
				}
				cancel()
			}
			// One that asks an unknown server for its greeting goes on, and what comes may be under way.
			const some = 12
			deadline := time.Now().Add(30 * time.Second)
			for descriptors(t) > files+some || runtime.NumGoroutine() > routines+some {
				if time.Now().After(deadline) {
					t.Errorf("%s: %d descriptors of %d before, %d goroutines of %d", name, descriptors(t), files, runtime.NumGoroutine(), routines)
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			s.Thaw(t)
			insert(t, db, "INSERT INTO t (v) VALUES ('c')")
		}
	})
}

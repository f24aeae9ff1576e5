package worker_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// openStatic returns a holder of worker id 7.
func openStatic(tb testing.TB, path string, h *host) *worker.Holder {
	tb.Helper()
	holder, err := worker.Open(worker.NewStatic(7, path), "test", sequencetest.HolderLayout(), 0,
		worker.Config{Lease: worker.StaticLease, Generator: snowflake.Config{Clock: h}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = holder.Close(tb.Context()) }) // has nothing to tell
	return holder
}

// A static worker id is kept with the time of its ids: whenever the process starts again, and however its clock was set, the
// ids go on above those that were given.
func TestStaticRestarts(t *testing.T) {
	for _, tt := range []struct {
		name string
		by   time.Duration // the clock is set by while the process is away
		wait time.Duration // for the first id, at most
	}{
		{"same time", 0, worker.StaticLease},
		{"later", time.Hour, 0},
		{"a little back", -time.Second, worker.StaticLease + time.Second},
		{"back by more than is borrowed", -1900 * time.Millisecond, worker.StaticLease + 1900*time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "worker")
			synctest.Test(t, func(t *testing.T) {
				var ids checker
				host := newHost()
				for range 5 {
					h := openStatic(t, path, host)
					began := time.Now()
					for range 100 {
						if got := decode(t, ids.next(t, h)).Worker; got != 7 {
							t.Fatalf("got an id of worker %d, want 7", got)
						}
						if waited := time.Since(began); ids.Count()%100 == 1 && waited > tt.wait+snowflake.DefaultMaxBorrow {
							t.Errorf("waited %v for the first id, want at most %v", waited, tt.wait)
						}
						time.Sleep(50 * time.Millisecond)
					}
					if err := h.Close(t.Context()); err != nil {
						t.Error(err)
					}
					host.set(tt.by)
				}
				ids.NoDuplicates(t)
			})
		})
	}
}

// With a clock that is far behind what the file says a static worker id is refused, until the clock is right.
func TestStaticClockBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "worker")
	synctest.Test(t, func(t *testing.T) {
		var ids checker
		host := newHost()
		h := openStatic(t, path, host)
		ids.next(t, h)
		_ = h.Close(t.Context())
		host.set(-time.Hour)
		h = openStatic(t, path, host)
		wantError(t, h.Ready(t.Context()), worker.ErrClock, "1h0m", path)
		host.set(time.Hour)
		ids.next(t, h)
	})
}

func TestStaticTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "worker")
	claim := worker.Claim{Token: "a", Until: time.Now(), Clock: time.Now()}
	first := worker.NewStatic(7, path)
	if _, err := first.Acquire(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	other := claim
	other.Token = "b"
	_, err := worker.NewStatic(7, path).Acquire(t.Context(), other)
	wantError(t, err, worker.ErrNoWorkerID, "another process", path)
	_, err = first.Acquire(t.Context(), other)
	wantError(t, err, worker.ErrNoWorkerID, "this process")
	_, err = first.Extend(t.Context(), 7, other)
	wantError(t, err, worker.ErrLost)
	if err := first.Release(t.Context(), 7, claim); err != nil {
		t.Fatal(err)
	}
	got, err := worker.NewStatic(7, path).Acquire(t.Context(), other)
	if err != nil || !got.After.Equal(claim.Until) {
		t.Errorf("after the release: got %+v, %v, want after %v", got, err, claim.Until)
	}
}

func TestStaticBadFile(t *testing.T) {
	for name, text := range map[string]string{"is damaged": `{"worker_id": 7, "reserv`, "worker id 8": `{"worker_id": 8}`} {
		path := filepath.Join(t.TempDir(), "worker")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := worker.NewStatic(7, path).Acquire(t.Context(), worker.Claim{Token: "a"})
		wantError(t, err, worker.ErrBroken, name, path)
	}
	_, err := worker.NewStatic(7, filepath.Join(t.TempDir(), "no", "worker")).Acquire(t.Context(), worker.Claim{Token: "a"})
	wantError(t, err, worker.ErrBroken, "folder")
}

// Without a file the first id is ahead of what a predecessor can have given.
func TestStaticWithoutFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ids checker
		host := newHost()
		for range 5 {
			h := openStatic(t, "", host)
			for range 100 {
				ids.next(t, h)
			}
			_ = h.Close(t.Context())
		}
		ids.NoDuplicates(t)
	})
}

// Of two processes whose ids may be the same, and that come for the first time and together, one at most gives ids.
func TestStaticRivalsTogether(t *testing.T) {
	dir := t.TempDir()
	claim := worker.Claim{Token: "a", Until: time.Now(), Clock: time.Now()}
	a, b := worker.NewStatic(7, filepath.Join(dir, "a.json")), worker.NewStatic(7, filepath.Join(dir, "b.json"))
	b.Rivals = func(file string) bool { return file == "a.json" }
	var second error
	var once sync.Once
	a.Rivals = func(file string) bool { // while a has listed the folder, and not written its file yet
		once.Do(func() { _, second = b.Acquire(t.Context(), claim) })
		return file == "b.json"
	}
	if _, err := a.Acquire(t.Context(), claim); err == nil && second == nil {
		t.Error("both got their worker ids")
	}
}

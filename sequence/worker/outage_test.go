package worker_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

// outageLease is that of [TestHolderWithoutServer]: over after 1.8 seconds.
const outageLease = 2 * time.Second

// A holder goes on while its server is frozen or gone, as long as its lease; and by itself when the server is back.
func TestHolderWithoutServer(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		l := &timed{Leaser: worker.NewTable(openPool(t, s, s.Addr), s.NewDatabase(t), "test", 7, worker.TableConfig{})}
		h, err := worker.Open(l, "test", sequencetest.HolderLayout(), 0, worker.Config{Lease: outageLease,
			Generator: snowflake.Config{Timeout: 100 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if t.Failed() { // the server may be frozen yet
				cancel()
			}
			if err := h.Close(ctx); err != nil {
				t.Error(err)
			}
		})
		if err := h.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		var ids checker
		for _, outage := range []struct {
			name       string
			begin, end func(testing.TB)
		}{{"frozen", s.Freeze, s.Thaw}, {"killed", s.Kill, s.Start}} {
			giveAgain(t, h, &ids)
			outage.begin(t)
			l.giveUntilOver(t, outage.name, h, &ids)
			outage.end(t)
		}
		giveAgain(t, h, &ids)
		ids.NoDuplicates(t)
	})
}

// giveAgain waits for an id.
func giveAgain(t *testing.T, h *worker.Holder, ids *checker) {
	t.Helper()
	began := time.Now()
	for err := ids.try(t, h); err != nil; err = ids.try(t, h) {
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("no ids %v after the server came back: %v", time.Since(began), err)
		}
	}
}

// timed is a Leaser that knows when the lease was extended last. On a busy machine that can be well before the server goes
// away, and it is the lease that counts, not the outage.
type timed struct {
	worker.Leaser

	mu     sync.Mutex
	looked time.Time // the end of the last Look, after which the holder begins to count
	least  time.Time // the holder's count of the lease that was acquired or extended last begins from here
	most   time.Time // to here

	reserved time.Time // the latest that ids may be of
}

func (l *timed) Look(ctx context.Context) (worker.View, error) {
	view, err := l.Leaser.Look(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looked = time.Now()
	return view, err
}

func (l *timed) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	began := time.Now()
	got, err := l.Leaser.Acquire(ctx, c)
	l.extended(began, got.Until, err)
	return got, err
}

func (l *timed) Extend(ctx context.Context, id int64, c worker.Claim) (time.Time, error) {
	began := time.Now()
	until, err := l.Leaser.Extend(ctx, id, c)
	l.extended(began, until, err)
	return until, err
}

func (l *timed) extended(began, until time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.least, l.most = l.looked, began
		if until.After(l.reserved) {
			l.reserved = until
		}
	}
}

// over returns between what times the holder has to stop, and up to what time its ids may be.
func (l *timed) over() (least, most, reserved time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const stops = outageLease - outageLease/10
	return l.least.Add(stops), l.most.Add(stops), l.reserved
}

// giveUntilOver takes ids until there are none, which is when the lease is over: no call that begins later gives one.
func (l *timed) giveUntilOver(t *testing.T, name string, h *worker.Holder, ids *checker) {
	t.Helper()
	const tolerance = 50 * time.Millisecond // of the time of day, which the generator follows
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for {
		<-pace.C
		before, _, _ := l.over()
		began := time.Now()
		err := ids.try(t, h)
		least, most, reserved := l.over()
		if err == nil {
			if of := decode(t, ids.last).Time; of.After(reserved) {
				t.Fatalf("%s: got an id of %v, after %v, which is reserved", name, of, reserved)
			}
			if late := began.Sub(most); late > tolerance {
				t.Fatalf("%s: got an id %v after the lease was over", name, late)
			}
			continue
		}
		wantError(t, err, snowflake.ErrLimit, "lease")
		if !least.Equal(before) {
			continue // the lease was over, and was extended behind that
		}
		if early := time.Until(least); early > tolerance {
			t.Errorf("%s: ids ended %v before the lease was over: %v", name, early, err)
		}
		return
	}
}

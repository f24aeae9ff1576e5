package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

var errAway = errors.New("connection refused")

func away(context.Context, string) error { return errAway }

func TestHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(3), newHost()
		leases.Put(0, "other", time.Hour, 0, host.now())
		h := ready(t, leases.Leaser(), host)
		var ids checker
		for range 100 {
			id := ids.next(t, h)
			if got := decode(t, id).Worker; got != 1 {
				t.Fatalf("id %d is of worker %d, want 1", id, got)
			}
			if until := leases.Reserved(1); decode(t, id).Time.After(until) {
				t.Fatalf("id %d is of a time after %v, which is reserved", id, until)
			}
			time.Sleep(time.Second)
		}
		s := h.Status()
		if !s.Held || s.Worker != 1 || s.Lapsed || s.Err != nil || s.Failures != 0 || !s.Compared || s.Ahead != 0 || s.Peers != 1 ||
			s.Left <= lease/2 || s.Left > lease || s.Reserved.Sub(host.now()) <= lease/2 || s.Generator.Name == "" {
			t.Errorf("got the status %+v", s)
		}
		many := make([]int64, 10_000)
		if err := h.Fill(t.Context(), many); err != nil {
			t.Error(err)
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_, err := h.Next(t.Context(), 1)
		wantError(t, err, sequence.ErrClosed)
		wantError(t, h.Ready(t.Context()), sequence.ErrClosed)
		if h.Status().Held {
			t.Error("a closed holder has a worker id")
		}
		if err := h.Close(t.Context()); err != nil {
			t.Errorf("again: %v", err)
		}
	})
}

// While the database is away, ids go on until the reserved time, and then by themselves when it is back.
func TestHolderAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(3), newHost()
		l := leases.Leaser()
		h := ready(t, l, host)
		var ids checker
		ids.next(t, h)
		l.Hook(away, nil)
		began := time.Now()
		var err error
		for err == nil {
			time.Sleep(100 * time.Millisecond)
			err = ids.try(t, h)
		}
		gone := time.Since(began)
		if least, most := lease*7/10, lease+snowflake.DefaultTimeout; gone < least || gone > most {
			t.Errorf("ids ended %v after the database went away, want from %v to %v", gone, least, most)
		}
		wantError(t, err, snowflake.ErrLimit, errAway.Error(), "lease")
		if s := h.Status(); !s.Held || !s.Lapsed || s.Left != 0 || !errors.Is(s.Err, errAway) || s.Failures == 0 {
			t.Errorf("got the status %+v", s)
		}
		if last := decode(t, ids.last).Time; last.After(leases.Reserved(0)) {
			t.Errorf("the last id is of %v, want at most %v", last, leases.Reserved(0))
		}
		l.Hook(nil, nil)
		ids.next(t, h)
		if s := h.Status(); s.Lapsed || s.Err != nil || s.Failures != 0 || s.Losses != 0 {
			t.Errorf("got the status %+v", s)
		}
	})
}

// A holder stops by its monotonic clock: one whose time of day was set back does not go on for longer.
func TestHolderAloneWithClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(0), newHost()
		l := leases.Leaser()
		h := ready(t, l, host)
		l.Hook(away, nil)
		began := time.Now()
		var ids checker
		ids.next(t, h)
		host.set(-900 * time.Millisecond)
		last := time.Duration(0)
		for ids.try(t, h) == nil {
			last = time.Since(began)
			time.Sleep(10 * time.Millisecond)
		}
		if least, most := 8*time.Second, 9*time.Second; last < least || last > most {
			t.Errorf("the last id was given after %v, want from %v to %v", last, least, most)
		}
	})
}

// Answers that are lost cost nothing as long as one of several comes through.
func TestHolderLostAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(0), newHost()
		l := leases.Leaser()
		calls := 0
		l.Hook(nil, func(_ context.Context, act string) error {
			if calls++; act != "look" && calls%4 != 0 {
				return errAway
			}
			return nil
		})
		h := open(t, l, host)
		var ids checker
		for range 600 {
			ids.next(t, h)
			time.Sleep(100 * time.Millisecond)
		}
		ids.NoDuplicates(t)
	})
}

// A holder whose worker id has gone to another gives no more of its ids, and takes another worker id.
func TestHolderLosesWorkerID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(3), newHost()
		h := ready(t, leases.Leaser(), host)
		var ids checker
		ids.next(t, h)
		leases.Put(0, "thief", time.Hour, 0, host.now().Add(time.Minute))
		time.Sleep(lease)
		if got := decode(t, ids.next(t, h)).Worker; got != 1 {
			t.Errorf("got an id of worker %d, want 1", got)
		}
		if s := h.Status(); s.Worker != 1 || s.Losses != 1 || s.Err != nil {
			t.Errorf("got the status %+v", s)
		}
	})
}

// A call under way when the worker id is lost gives ids of the next one only: it holds the generator of the first still.
func TestHolderLosesWorkerIDDuringFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(3), newHost()
		layout, ok := snowflake.Preset("sonyflake") // 25,600 ids a second
		if !ok {
			t.Fatal("there is no preset sonyflake")
		}
		h, err := worker.Open(leases.Leaser(), "test", layout, 0, worker.Config{Address: "host", Lease: lease,
			Generator: snowflake.Config{Clock: host, Timeout: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close(context.Background()) }) // what comes of it is for the tests of Close
		if err := h.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		leases.Put(0, "thief", time.Hour, 0, host.now().Add(time.Minute))
		ids := make([]int64, 5*25_600) // the lease is extended after 2 seconds, and would be over after 9
		if err := h.Fill(t.Context(), ids); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if d, err := layout.Decode(id); err != nil || d.Worker != 1 {
				t.Fatalf("got an id of worker %d (%v), want 1", d.Worker, err)
			}
		}
	})
}

// A holder that is the second of a worker id in time begins above all that the first may have given.
func TestHolderBeginsAbove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(0), newHost()
		reserved := host.now().Add(3 * time.Second)
		leases.Put(0, "dead", -time.Second, 0, reserved)
		h := ready(t, leases.Leaser(), host)
		var ids checker
		if got := decode(t, ids.next(t, h)).Time; !got.After(reserved) {
			t.Errorf("the first id is of %v, want after %v", got, reserved)
		}
	})
}

// stingy reserves up to one time only.
type stingy struct {
	worker.Leaser
	until time.Time
}

func (s stingy) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	l, err := s.Leaser.Acquire(ctx, c)
	l.Until = s.until
	return l, err
}

func (s stingy) Extend(ctx context.Context, id int64, c worker.Claim) (time.Time, error) {
	_, err := s.Leaser.Extend(ctx, id, c)
	return s.until, err
}

// No id has a later time than the one that was confirmed, also while the lease runs.
func TestHolderKeepsToWhatIsReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newHost()
		until := host.now().Add(3 * time.Second)
		h := ready(t, stingy{newLeases(0).Leaser(), until}, host)
		var ids checker
		for range 100 {
			if err := ids.try(t, h); err != nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if last := decode(t, ids.last).Time; last.After(until) || last.Before(until.Add(-time.Second)) {
			t.Errorf("the last id is of %v, want one of the second before %v", last, until)
		}
	})
}

// An answer that comes when the lease is over does not count.
func TestHolderLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(0), newHost()
		l := leases.Leaser()
		h := ready(t, l, host)
		var ids checker
		ids.next(t, h)
		l.Hook(nil, func(_ context.Context, act string) error {
			if act == "extend" {
				time.Sleep(lease) // whatever the deadline
			}
			return nil
		})
		time.Sleep(2 * lease)
		wantError(t, ids.try(t, h), snowflake.ErrLimit, "came when the lease was over")
		l.Hook(nil, nil)
		time.Sleep(2 * lease)
		ids.next(t, h)
	})
}

func TestHolderNoWorkerID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(0), newHost()
		leases.Put(0, "other:3307", time.Minute, 0, host.now())
		h := open(t, leases.Leaser(), host)
		wantError(t, h.Ready(t.Context()), worker.ErrNoWorkerID, "0 by other:3307")
		_, err := h.Next(t.Context(), 1)
		wantError(t, err, worker.ErrNoWorkerID, "0 by other:3307")
		wantError(t, err, sequence.ErrUnavailable)
		if s := h.Status(); s.Held || !errors.Is(s.Err, worker.ErrNoWorkerID) {
			t.Errorf("got the status %+v", s)
		}
		time.Sleep(time.Minute) // the other is gone
		var ids checker
		ids.next(t, h)
	})
}

func TestHolderWithoutLeaser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(0), newHost()
		l := leases.Leaser()
		l.Hook(away, nil)
		h := open(t, l, host)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantError(t, h.Ready(ctx), context.DeadlineExceeded, errAway.Error())
		_, err := h.Next(t.Context(), 1)
		wantError(t, err, sequence.ErrUnavailable, errAway.Error())
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		_, err = h.Next(ctx, 1)
		wantError(t, err, context.Canceled)
		l.Hook(nil, nil)
		var ids checker
		ids.next(t, h)
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Close returns what keeps it from giving the worker id back.
func TestHolderCloseAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeases(0).Leaser()
		h := ready(t, l, newHost())
		l.Hook(away, nil)
		wantError(t, h.Close(t.Context()), errAway, "release worker id 0")
	})
}

func TestOpenRefuses(t *testing.T) {
	past, _ := snowflake.Preset("uid_generator_2016")
	if _, err := worker.Open(sequencetest.NewLeases("test", 0).Leaser(), "test", past, 0, worker.Config{}); !errors.Is(err, sequence.ErrExhausted) {
		t.Errorf("a layout that has ended: got %v", err)
	}
	if _, err := worker.Open(sequencetest.NewLeases("test", 0).Leaser(), "test", sequencetest.HolderLayout(), 1, worker.Config{}); !errors.Is(err, snowflake.ErrLayout) {
		t.Errorf("a zone that the layout does not have: got %v", err)
	}
}

// An error that names holders names some, and counts the rest.
func TestNoneFree(t *testing.T) {
	var taken []worker.Taken
	for i := range int64(20) {
		taken = append(taken, worker.Taken{Worker: i, Address: "h", Until: today})
	}
	got := worker.NoneFree("test", 20, taken).Error()
	for _, want := range []string{"all 20 are taken", "0 by h until 2026-01-01", "and 12 more"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want it to contain %q", got, want)
		}
	}
}

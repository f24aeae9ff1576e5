package worker_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence/worker"
)

// A clock that is set while the holder runs: a little does not matter, and more ends the ids until it is set right. In no
// case an id comes twice or out of order.
func TestClockSet(t *testing.T) {
	for _, by := range []time.Duration{3 * time.Millisecond, 10 * time.Millisecond, 900 * time.Millisecond, 1900 * time.Millisecond,
		3 * time.Second, time.Hour, 24 * time.Hour} {
		for _, by := range []time.Duration{by, -by} {
			t.Run(fmt.Sprint(by), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { clockSet(t, by) })
			})
		}
	}
}

func clockSet(t *testing.T, by time.Duration) {
	leases, host := newLeases(0), newHost()
	h := ready(t, leases.Leaser(), host)
	var ids checker
	ids.next(t, h)
	host.set(by)
	wrong := by.Abs() > worker.DefaultMaxSkew
	began := time.Now()
	refused := 0
	for time.Since(began) < time.Minute {
		if err := ids.try(t, h); err != nil {
			refused++
			if time.Since(began) > 15*time.Second {
				wantError(t, err, worker.ErrClock, "NTP")
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s := h.Status(); wrong != (refused > 0) || wrong != (s.Err != nil) || s.Ahead != by {
		t.Errorf("%d calls refused, status %+v", refused, s)
	}
	if limit := newHost().now().Add(lease + worker.DefaultMaxSkew); leases.Reserved(0).After(limit) {
		t.Errorf("reserved until %v, want at most %v", leases.Reserved(0), limit)
	}
	host.set(-by)
	time.Sleep(3 * time.Second)
	ids.next(t, h)
	ids.NoDuplicates(t)
	if s := h.Status(); s.Err != nil {
		t.Errorf("after the clock was set right: %+v", s)
	}
}

// A wrong clock ends the ids also when the lease cannot be extended then.
func TestClockSetAndNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(0), newHost()
		l := leases.Leaser()
		h := ready(t, l, host)
		var ids checker
		ids.next(t, h)
		l.Hook(func(_ context.Context, act string) error {
			if act == "extend" {
				return errAway
			}
			return nil
		}, nil)
		leases.Skew(time.Until(host.now().Add(time.Minute))) // it is the other clock that was set; h cannot know
		time.Sleep(2100 * time.Millisecond)
		wantError(t, ids.try(t, h), worker.ErrClock, errAway.Error())
	})
}

// A process that starts with a clock that is wrong gives no ids, and takes no worker id away from others.
func TestClockWrongAtStart(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, -3 * time.Second, 3 * time.Second, time.Hour} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases, host := newLeases(0), newHost()
				first := ready(t, leases.Leaser(), host)
				var ids checker
				ids.next(t, first)
				_ = first.Close(t.Context())
				host.set(by)
				h := open(t, leases.Leaser(), host)
				wantError(t, h.Ready(t.Context()), worker.ErrClock, "NTP", "that of the server")
				wantError(t, ids.try(t, h), worker.ErrClock)
				if s := h.Status(); s.Held {
					t.Errorf("got the status %+v", s)
				}
				host.set(-by)
				time.Sleep(2 * lease) // the quarantine
				ids.next(t, h)
			})
		})
	}
}

// Where the Leaser's clock cannot tell, those of the other holders do: most of at least two, or one if there is no other.
func TestClockAmongPeers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		ahead []time.Duration // of the others
		mute  bool
		wrong bool
	}{
		{"all agree", []time.Duration{0, time.Second}, false, false},
		{"most differ", []time.Duration{time.Minute, time.Minute, 0}, false, true},
		{"half differ", []time.Duration{time.Minute, 0}, false, false},
		{"one differs", []time.Duration{time.Minute}, false, false},
		{"one differs, no clock", []time.Duration{time.Minute}, true, true},
		{"one behind, no clock", []time.Duration{-time.Minute}, true, true},
		{"nobody, no clock", nil, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases, host := newLeases(7), newHost()
				for i, ahead := range tt.ahead {
					leases.Put(int64(i), "other", time.Hour, ahead, host.now())
				}
				l := leases.Leaser()
				if tt.mute {
					l.Mute()
				}
				h := open(t, l, host)
				err := h.Ready(t.Context())
				if tt.wrong {
					wantError(t, err, worker.ErrClock, "other holders")
				} else if err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A service without a clock has only the other holders' to tell by: one is enough, and what a holder has told of its own
// clock does not count.
func TestClockOfOneOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, host := newLeases(1), newHost()
		mute := func() worker.Leaser {
			l := leases.Leaser()
			l.Mute()
			return l
		}
		ready(t, mute(), newHost())
		h := ready(t, mute(), host)
		var ids checker
		ids.next(t, h)
		host.set(time.Hour)
		time.Sleep(5 * time.Second)
		for range 60 {
			wantError(t, ids.try(t, h), worker.ErrClock, "those of 1 of 1 other holders")
			time.Sleep(time.Second)
		}
		host.set(-time.Hour)
		time.Sleep(3 * time.Second)
		ids.next(t, h)
		ids.NoDuplicates(t)
	})
}

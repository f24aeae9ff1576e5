package sequencetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seqgate/seqgate/sequence/worker"
)

// Leases is a set of worker ids in memory, with a clock of its own. [Leases.Leaser] is a process's way to it.
type Leases struct {
	set  string
	most int64

	mu   sync.Mutex
	rows map[int64]*leaseRow
	skew time.Duration
}

type leaseRow struct {
	token, address  string
	expires, free   time.Time
	after, reserved time.Time
	ahead           time.Duration
}

// NewLeases returns the worker ids 0 to most.
func NewLeases(set string, most int64) *Leases {
	return &Leases{set: set, most: most, rows: map[int64]*leaseRow{}}
}

// Skew sets the clock of the set to d ahead of the process's.
func (s *Leases) Skew(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew = d
}

// Reserved returns the time up to which ids of a worker id may have been given.
func (s *Leases) Reserved(worker int64) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rows[worker]; r != nil {
		return r.reserved
	}
	return time.Time{}
}

// Put has a worker id held by somebody, as if he had leased it.
func (s *Leases) Put(worker int64, address string, lease, ahead time.Duration, reserved time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	expires := s.now().Add(lease)
	s.rows[worker] = &leaseRow{token: "put", address: address, expires: expires, free: expires, reserved: reserved, ahead: ahead}
}

// Leaser returns a way to the set, with hooks of its own.
func (s *Leases) Leaser() *Leaser { return &Leaser{leases: s} }

func (s *Leases) now() time.Time { return time.Now().Round(0).Add(s.skew) }

// Leaser is a [worker.Leaser] in memory: linearizable, and with no errors but those that its hooks make.
type Leaser struct {
	leases *Leases

	mu     sync.Mutex
	before func(ctx context.Context, act string) error
	after  func(ctx context.Context, act string) error
	mute   bool
}

var _ worker.Leaser = (*Leaser)(nil)

// Hook sets what is called before each call reaches the set, and after it has taken effect; act is "look", "acquire",
// "extend" or "release". Both may wait and fail: then the call did not happen, or its answer is lost. nil: nothing.
func (l *Leaser) Hook(before, after func(ctx context.Context, act string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.after = before, after
}

// Mute has Look tell no time, as a service without a clock.
func (l *Leaser) Mute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mute = true
}

func (l *Leaser) do(ctx context.Context, act string, f func(s *Leases) error) error {
	l.mu.Lock()
	before, after := l.before, l.after
	l.mu.Unlock()
	if before != nil {
		if err := before(ctx, act); err != nil {
			return err
		}
	}
	l.leases.mu.Lock()
	err := f(l.leases)
	l.leases.mu.Unlock()
	if after != nil {
		err = errors.Join(err, after(ctx, act))
	}
	return err
}

// Look implements [worker.Leaser].
func (l *Leaser) Look(ctx context.Context) (v worker.View, err error) {
	l.mu.Lock()
	mute := l.mute
	l.mu.Unlock()
	err = l.do(ctx, "look", func(s *Leases) error {
		now := s.now()
		if !mute {
			v.Now = now
		}
		for id, r := range s.rows {
			if r.token != "" && r.expires.After(now) {
				v.Peers = append(v.Peers, worker.Peer{Worker: id, Address: r.address, Clock: now.Add(r.ahead)})
			}
		}
		return nil
	})
	return v, err
}

// Acquire implements [worker.Leaser].
func (l *Leaser) Acquire(ctx context.Context, c worker.Claim) (got worker.Lease, err error) {
	err = l.do(ctx, "acquire", func(s *Leases) error {
		now := s.now()
		free := int64(-1)
		var taken []worker.Taken
		for id := s.most; id >= c.Least; id-- {
			r := s.rows[id]
			switch {
			case r == nil || !r.free.After(now) && c.Usable(r.reserved):
				free = id
			case r.token == c.Token && r.expires.After(now):
				s.extend(r, c, now)
				got = worker.Lease{Worker: id, After: r.after, Until: s.cut(c, now)}
				return nil
			case r.token != "" && r.expires.After(now):
				taken = append(taken, worker.Taken{Worker: id, Address: r.address, Until: r.expires, Free: r.free})
			default:
				free := r.free
				if r.reserved.After(free) {
					free = r.reserved
				}
				taken = append(taken, worker.Taken{Worker: id, Free: free})
			}
		}
		if free < 0 {
			return worker.NoneFree(s.set, s.most+1-c.Least, taken)
		}
		if s.rows[free] == nil {
			s.rows[free] = &leaseRow{}
		}
		r := s.rows[free]
		r.token, r.after = c.Token, r.reserved
		s.extend(r, c, now)
		got = worker.Lease{Worker: free, After: r.after, Until: s.cut(c, now)}
		return nil
	})
	return got, err
}

func (s *Leases) cut(c worker.Claim, now time.Time) time.Time {
	if most := now.Add(c.Lease + c.MaxSkew); c.Until.After(most) {
		return most
	}
	return c.Until
}

func (s *Leases) extend(r *leaseRow, c worker.Claim, now time.Time) {
	r.address, r.ahead = c.Address, c.Clock.Sub(now)
	r.expires, r.free = now.Add(c.Lease), now.Add(c.Lease+c.Quarantine)
	if until := s.cut(c, now); until.After(r.reserved) {
		r.reserved = until
	}
}

// Extend implements [worker.Leaser].
func (l *Leaser) Extend(ctx context.Context, id int64, c worker.Claim) (until time.Time, err error) {
	err = l.do(ctx, "extend", func(s *Leases) error {
		r := s.rows[id]
		if r == nil || r.token != c.Token {
			address := ""
			if r != nil {
				address = r.address
			}
			return worker.Lost(s.set, id, address)
		}
		s.extend(r, c, s.now())
		until = s.cut(c, s.now())
		return nil
	})
	return until, err
}

// Release implements [worker.Leaser].
func (l *Leaser) Release(ctx context.Context, id int64, c worker.Claim) error {
	return l.do(ctx, "release", func(s *Leases) error {
		if r := s.rows[id]; r != nil && r.token == c.Token {
			r.token, r.expires, r.free = "", s.now(), s.now().Add(c.Quarantine)
		}
		return nil
	})
}

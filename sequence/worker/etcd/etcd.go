// Package etcd keeps leased worker ids in etcd, for [worker.Holder].
//
// Nothing but a seqgate that was built with the tag etcd imports it, so that its libraries are nobody's who does not use it.
// Where the sequences have a database, [worker.Table] needs no further service.
package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seqgate/seqgate/sequence/worker"
)

// DefaultPrefix begins all keys.
const DefaultPrefix = "/seqgate/workers/"

// Leaser keeps the worker ids of one set. Each that was ever used has a key that stays, with the time up to which ids may
// have been given; and one with a lease of etcd's, of as long as lease and quarantine together, while it is not free. Both
// are changed in one transaction, and only as they were read, so that of several who want a worker id just one gets it.
//
// etcd tells no time. So a clock is compared with those of other holders only, of which one is enough: they say their time
// with each extension. A clock that is behind is found out at once; one that is ahead, when it is so by more than a lease
// and a quarantine.
type Leaser struct {
	client *clientv3.Client
	root   string // of all sets
	prefix string // of the set
	set    string
	most   int64
	rivals func(set string) bool
}

var _ worker.Leaser = (*Leaser)(nil)

// New returns the worker ids 0 to most of a set. prefix is [DefaultPrefix] if it is "". rivals is as in
// [worker.TableConfig]. The caller closes client, after [worker.Holder.Close]; leases stay.
func New(client *clientv3.Client, prefix, set string, most int64, rivals func(set string) bool) *Leaser {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	return &Leaser{client: client, root: prefix, prefix: prefix + url.PathEscape(set) + "/", set: set, most: most, rivals: rivals}
}

// Look implements [worker.Leaser].
func (l *Leaser) Look(ctx context.Context) (v worker.View, err error) {
	slots, err := l.read(ctx, l.prefix, clientv3.WithPrefix())
	if err != nil {
		return v, l.failure("look at the clocks", err)
	}
	for id, s := range slots {
		if s.liveRev != 0 && s.live.Holder != "" {
			v.Peers = append(v.Peers, worker.Peer{Worker: id, Address: s.live.Address, Clock: s.live.Clock, Slack: s.live.Lease + s.live.Quarantine})
		}
	}
	return v, nil
}

// Acquire implements [worker.Leaser]. At first it tries the lowest free one, after each conflict one of twice as many.
func (l *Leaser) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	if _, err := l.alone(ctx, c); err != nil {
		return worker.Lease{}, l.failure("acquire one", err)
	}
	for window := 1; ; window = min(2*window, mostTried) {
		slots, err := l.read(ctx, l.prefix, clientv3.WithPrefix())
		if err != nil {
			return worker.Lease{}, l.failure("acquire one", err)
		}
		s, err := l.choose(ctx, slots, c, window)
		if err != nil {
			return worker.Lease{}, err
		}
		if s.live.Holder != c.Token {
			s.last.After = s.last.ReservedUntil
		}
		won, err := l.hold(ctx, s, c)
		if err != nil {
			return worker.Lease{}, l.failure("acquire one", err)
		}
		if won {
			after, err := l.alone(ctx, c)
			if err != nil {
				c.Quarantine = 0 // nothing was given
				return worker.Lease{}, errors.Join(l.failure("acquire one", err), l.Release(ctx, s.worker, c))
			}
			if s.last.After.After(after) {
				after = s.last.After
			}
			return worker.Lease{Worker: s.worker, After: after, Until: c.Until}, nil
		}
	}
}

// mostTried is how many worker ids one is chosen from after many conflicts.
const mostTried = 1024

// choose returns the slot of the token, or else one of the lowest that are free.
func (l *Leaser) choose(ctx context.Context, slots map[int64]slot, c worker.Claim, window int) (slot, error) {
	for _, s := range slots {
		if s.liveRev != 0 && s.live.Holder == c.Token {
			return s, nil
		}
	}
	var free []slot
	var taken []slot
	var ahead time.Time                                           // reserved by somebody whose clock was far ahead
	for id := c.Least; id <= l.most && len(free) < window; id++ { // there may be millions that were never used
		s, ok := slots[id]
		switch {
		case !ok:
			free = append(free, slot{worker: id})
		case s.liveRev != 0:
			taken = append(taken, s)
		case !c.Usable(s.last.ReservedUntil):
			ahead = s.last.ReservedUntil
		default:
			free = append(free, s)
		}
	}
	switch {
	case len(free) > 0:
		return free[rand.IntN(len(free))], nil
	case !ahead.IsZero():
		return slot{}, &worker.Error{Kind: worker.ErrClock, Set: l.set, Text: fmt.Sprintf(
			"the worker ids that are free have had ids up to %v; set this host's clock right, or wait", ahead)}
	}
	return slot{}, l.noneFree(ctx, c, taken)
}

func (l *Leaser) noneFree(ctx context.Context, c worker.Claim, taken []slot) error {
	const asked = 32 // how many are asked for how long they last
	var all []worker.Taken
	for i, s := range taken {
		left := s.live.Lease + s.live.Quarantine
		if i < asked {
			answer, err := l.client.TimeToLive(ctx, s.liveness)
			if err != nil {
				return l.failure("ask who has them", err)
			}
			left = time.Duration(answer.TTL+1) * time.Second // TTL is rounded down
		}
		one := worker.Taken{Worker: s.worker, Address: s.live.Address, Free: time.Now().Add(left)}
		if s.live.Holder != "" && left > s.live.Quarantine {
			one.Until = time.Now().Add(left - s.live.Quarantine)
		}
		all = append(all, one)
	}
	return worker.NoneFree(l.set, l.most+1-c.Least, all)
}

// Extend implements [worker.Leaser].
func (l *Leaser) Extend(ctx context.Context, id int64, c worker.Claim) (time.Time, error) {
	for {
		s, err := l.readOne(ctx, id)
		if err != nil {
			return time.Time{}, l.failure("extend a lease", err)
		}
		if s.last.Holder != c.Token || s.liveRev != 0 && s.live.Holder != c.Token {
			return time.Time{}, worker.Lost(l.set, id, s.live.Address)
		}
		won, err := l.hold(ctx, s, c)
		if err != nil {
			return time.Time{}, l.failure("extend a lease", err)
		}
		if won {
			return c.Until, nil
		}
	}
}

// Release implements [worker.Leaser].
func (l *Leaser) Release(ctx context.Context, id int64, c worker.Claim) error {
	for {
		s, err := l.readOne(ctx, id)
		if err != nil {
			return l.failure("release a lease", err)
		}
		if s.last.Holder != c.Token {
			return nil
		}
		won, err := l.free(ctx, s, c)
		if err != nil {
			return l.failure("release a lease", err)
		}
		if won {
			return nil
		}
	}
}

// free begins the quarantine of a slot.
func (l *Leaser) free(ctx context.Context, s slot, c worker.Claim) (won bool, err error) {
	s.last.Holder = ""
	last, err := json.Marshal(s.last)
	if err != nil {
		return false, err
	}
	changes := []clientv3.Op{clientv3.OpPut(l.key(keyLast, s.worker), string(last)), clientv3.OpDelete(l.key(keyLive, s.worker))}
	if c.Quarantine > 0 {
		lease, err := l.grant(ctx, c.Quarantine)
		if err != nil {
			return false, err
		}
		live, err := json.Marshal(living{Address: c.Address, Quarantine: c.Quarantine})
		if err != nil {
			return false, err
		}
		changes[1] = clientv3.OpPut(l.key(keyLive, s.worker), string(live), clientv3.WithLease(lease))
	}
	return l.swap(ctx, s, changes...)
}

func (l *Leaser) failure(act string, err error) error {
	var own *worker.Error
	if errors.As(err, &own) {
		return err
	}
	return fmt.Errorf("%s of the worker ids of %s in etcd: %w", act, l.set, err)
}

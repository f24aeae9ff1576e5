package etcd

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seqgate/seqgate/sequence/worker"
)

// alone checks that no worker id of a set with the same ids is in use, and returns up to when such ids may have been given.
// Holders whose leases have ended lose them, so that they cannot extend them after this. It is called before and after a
// lease is written: of two that come together at least one sees the other.
func (l *Leaser) alone(ctx context.Context, c worker.Claim) (after time.Time, err error) {
	if l.rivals == nil {
		return after, nil
	}
	sets, err := l.sets(ctx)
	if err != nil {
		return after, err
	}
	for _, set := range sets {
		last, err := l.retire(ctx, set, c.Clock)
		if err != nil {
			return after, err
		}
		if last.After(after) {
			after = last
		}
	}
	return after, nil
}

// sets returns the sets with the same ids. It skips from each set to the next: one may have many keys.
func (l *Leaser) sets(ctx context.Context) (sets []string, err error) {
	for from, end := l.root, clientv3.GetPrefixRangeEnd(l.root); ; {
		answer, err := l.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		if err != nil || len(answer.Kvs) == 0 {
			return sets, err
		}
		key := string(answer.Kvs[0].Key)
		name, _, isSet := strings.Cut(strings.TrimPrefix(key, l.root), "/")
		if !isSet { // somebody else's key; a set may have its name
			from = key + "\x00"
			continue
		}
		if set, err := url.PathUnescape(name); err == nil && set != l.set && l.rivals(set) {
			sets = append(sets, set)
		}
		from = l.root + name + "0" // the first after all that begin with a slash here
	}
}

// retire takes the worker ids of a set from holders whose leases have ended, and returns up to when its ids may have been
// given. etcd tells no time: the claim's own clock says whether that is over.
func (l *Leaser) retire(ctx context.Context, set string, now time.Time) (last time.Time, err error) {
	other := New(l.client, l.root, set, l.most, nil)
	slots, err := other.read(ctx, other.prefix, clientv3.WithPrefix())
	if err != nil {
		return last, err
	}
	for _, s := range slots {
		if s.liveRev != 0 || s.last.ReservedUntil.After(now) {
			return last, worker.InRivalUse(l.set, set, s.last.ReservedUntil, s.live.Address)
		}
		if s.last.ReservedUntil.After(last) {
			last = s.last.ReservedUntil
		}
		if s.last.Holder == "" {
			continue
		}
		s.last.Holder = ""
		data, err := json.Marshal(s.last)
		if err != nil {
			return last, err
		}
		won, err := other.swap(ctx, s, clientv3.OpPut(other.key(keyLast, s.worker), string(data)))
		if err != nil {
			return last, err
		}
		if !won { // it was extended just now, or somebody else was faster
			return last, worker.InRivalUse(l.set, set, s.last.ReservedUntil, s.live.Address)
		}
	}
	return last, nil
}

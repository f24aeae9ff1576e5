package zookeeper

import (
	"context"
	"net/url"
	"time"

	"github.com/seqgate/seqgate/sequence/worker"
)

// alone checks that no worker id of a set with the same ids is in use, and returns up to when such ids may have been given.
// Holders whose leases have ended lose them, so that they cannot extend them after this. It is called before and after a
// lease is written: of two that come together at least one sees the other. ZooKeeper may answer with what was a moment ago,
// but not with less than was there at the same connection's last write: that of the time, which begins it.
func (l *Leaser) alone(ctx context.Context) (after time.Time, err error) {
	if l.rivals == nil {
		return after, nil
	}
	now, err := l.now()
	if err != nil {
		return after, err
	}
	names, _, err := l.conn.Children(l.client.cfg.Root)
	if err != nil {
		return after, err
	}
	for _, name := range names {
		set, err := url.PathUnescape(name)
		if err != nil || set == l.set || !l.rivals(set) {
			continue
		}
		last, err := l.retire(ctx, set, now)
		if err != nil {
			return after, err
		}
		if last.After(after) {
			after = last
		}
	}
	return after, nil
}

// retire takes the worker ids of a set from holders whose leases have ended, and returns up to when its ids may have been
// given.
func (l *Leaser) retire(ctx context.Context, set string, now time.Time) (last time.Time, err error) {
	other := New(l.client, set, l.most, nil)
	nodes, err := other.readAll(ctx)
	if err != nil {
		return last, err
	}
	for _, n := range nodes {
		live := n.live(now)
		if live || n.ReservedUntil.After(now) {
			address := ""
			if live {
				address = n.Address
			}
			return last, worker.InRivalUse(l.set, set, n.ReservedUntil, address)
		}
		if n.ReservedUntil.After(last) {
			last = n.ReservedUntil
		}
		if n.Holder == "" {
			continue
		}
		n.Holder = ""
		won, err := other.write(n)
		if err != nil {
			return last, err
		}
		if !won { // it was extended just now, or somebody else was faster
			return last, worker.InRivalUse(l.set, set, n.ReservedUntil, n.Address)
		}
	}
	return last, nil
}

// Package zookeeper keeps leased worker ids in ZooKeeper, for [worker.Holder].
//
// Nothing but a seqgate that was built with the tag zookeeper imports it, so that its library is nobody's who does not use
// it. Where the sequences have a database, [worker.Table] needs no further service.
package zookeeper

import (
	"context"
	"errors"
	"net/url"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/seqgate/seqgate/sequence/worker"
)

// Leaser keeps the worker ids of one set: one node for each that was ever used, with what there is to know in JSON. Nodes
// are changed only as the version that was read, so that of several who want one just one gets it. No node is ephemeral: a
// session that is lost ends no lease. The time is that at which ZooKeeper says that a node was written, the leader's.
type Leaser struct {
	client *Client
	conn   *zk.Conn
	root   string // of the set
	set    string
	most   int64
	acl    []zk.ACL
	rivals func(set string) bool
}

var _ worker.Leaser = (*Leaser)(nil)

// record is the data of a node.
type record struct {
	Holder        string    `json:"holder"` // "": nobody
	Address       string    `json:"address"`
	Expires       time.Time `json:"expires"`   // the lease, by ZooKeeper's time
	FreeFrom      time.Time `json:"free_from"` // when the quarantine has ended, too
	After         time.Time `json:"after"`     // see [worker.Lease]
	ReservedUntil time.Time `json:"reserved_until"`
	AheadMicros   int64     `json:"clock_ahead_us"`
}

// node is a record as it was read.
type node struct {
	record
	worker  int64
	version int32
}

func (n node) live(now time.Time) bool { return n.Holder != "" && n.Expires.After(now) }

// New returns the worker ids 0 to most of a set. rivals is as in [worker.TableConfig]. The caller closes client, after
// [worker.Holder.Close].
func New(client *Client, set string, most int64, rivals func(set string) bool) *Leaser {
	return &Leaser{client: client, conn: client.conn, root: path.Join(client.cfg.Root, url.PathEscape(set)), set: set, most: most,
		acl: client.cfg.ACL, rivals: rivals}
}

// Look implements [worker.Leaser].
func (l *Leaser) Look(ctx context.Context) (worker.View, error) {
	return call(ctx, l, "look at the clocks", func() (worker.View, error) {
		now, err := l.now()
		if err != nil {
			return worker.View{}, err
		}
		nodes, err := l.readAll(ctx)
		if err != nil {
			return worker.View{}, err
		}
		v := worker.View{Now: now}
		for _, n := range nodes {
			if n.live(now) {
				v.Peers = append(v.Peers, worker.Peer{Worker: n.worker, Address: n.Address, Clock: now.Add(time.Duration(n.AheadMicros) * time.Microsecond)})
			}
		}
		return v, nil
	})
}

// Acquire implements [worker.Leaser]. It takes the lowest free one, and reads again when another was faster.
func (l *Leaser) Acquire(ctx context.Context, c worker.Claim) (worker.Lease, error) {
	return call(ctx, l, "acquire one", func() (worker.Lease, error) {
		for {
			now, err := l.now()
			if err != nil {
				return worker.Lease{}, err
			}
			if _, err := l.alone(ctx); err != nil {
				return worker.Lease{}, err
			}
			nodes, err := l.readAll(ctx)
			if err != nil {
				return worker.Lease{}, err
			}
			n, err := l.choose(nodes, c, now)
			if err != nil {
				return worker.Lease{}, err
			}
			if n.Holder != c.Token {
				n.Holder, n.After = c.Token, n.ReservedUntil
			}
			until := n.extend(c, now)
			won, err := l.write(n)
			if err != nil {
				return worker.Lease{}, err
			}
			if !won {
				continue
			}
			after, err := l.alone(ctx)
			if err != nil {
				c.Quarantine = 0 // nothing was given
				return worker.Lease{}, errors.Join(err, l.release(ctx, n.worker, c))
			}
			if n.After.After(after) {
				after = n.After
			}
			return worker.Lease{Worker: n.worker, After: after, Until: until}, nil
		}
	})
}

// choose returns the node of the claim's token, or else the lowest one that it can take.
func (l *Leaser) choose(nodes map[int64]node, c worker.Claim, now time.Time) (node, error) {
	for _, n := range nodes {
		if n.Holder == c.Token && n.live(now) {
			return n, nil
		}
	}
	var taken []worker.Taken
	for id := c.Least; id <= l.most; id++ {
		n, ok := nodes[id]
		switch {
		case !ok:
			return node{worker: id, version: unmade}, nil
		case !n.FreeFrom.After(now) && c.Usable(n.ReservedUntil):
			return n, nil
		case n.live(now):
			taken = append(taken, worker.Taken{Worker: id, Address: n.Address, Until: n.Expires, Free: n.FreeFrom})
		default:
			free := n.FreeFrom
			if n.ReservedUntil.After(free) {
				free = n.ReservedUntil
			}
			taken = append(taken, worker.Taken{Worker: id, Free: free})
		}
	}
	return node{}, worker.NoneFree(l.set, l.most+1-c.Least, taken)
}

// extend makes the lease c's from now on, and returns the time up to which ids may be given.
func (r *record) extend(c worker.Claim, now time.Time) (until time.Time) {
	r.Address, r.AheadMicros = c.Address, c.Ahead.Microseconds()
	r.Expires = now.Add(c.Lease)
	r.FreeFrom = r.Expires.Add(c.Quarantine)
	until = c.Until
	if most := now.Add(c.Lease + c.MaxSkew); until.After(most) {
		until = most
	}
	if until.After(r.ReservedUntil) {
		r.ReservedUntil = until
	}
	return until
}

// Extend implements [worker.Leaser].
func (l *Leaser) Extend(ctx context.Context, id int64, c worker.Claim) (time.Time, error) {
	return call(ctx, l, "extend a lease", func() (until time.Time, err error) {
		err = l.change(ctx, id, func(n *node, now time.Time) error {
			if n.Holder != c.Token {
				return worker.Lost(l.set, id, n.Address)
			}
			until = n.extend(c, now)
			return nil
		})
		return until, err
	})
}

// errNothing has change do nothing.
var errNothing = errors.New("nothing to do")

// Release implements [worker.Leaser].
func (l *Leaser) Release(ctx context.Context, id int64, c worker.Claim) error {
	_, err := call(ctx, l, "release a lease", func() (bool, error) { return true, l.release(ctx, id, c) })
	return err
}

func (l *Leaser) release(ctx context.Context, id int64, c worker.Claim) error {
	err := l.change(ctx, id, func(n *node, now time.Time) error {
		if n.Holder != c.Token {
			return errNothing
		}
		n.Holder, n.Expires, n.FreeFrom = "", now, now.Add(c.Quarantine)
		return nil
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

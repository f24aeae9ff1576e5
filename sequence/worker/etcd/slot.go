package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/seqgate/seqgate/sequence/worker"
)

// lasting is the value of the key that stays.
type lasting struct {
	Holder        string    `json:"holder"` // the last one
	After         time.Time `json:"after"`  // see [worker.Lease]
	ReservedUntil time.Time `json:"reserved_until"`
}

// living is the value of the key with a lease.
type living struct {
	Holder     string        `json:"holder"` // "": released, and in quarantine
	Address    string        `json:"address"`
	Clock      time.Time     `json:"clock"`
	Lease      time.Duration `json:"lease_ns"`
	Quarantine time.Duration `json:"quarantine_ns"`
}

// slot is a worker id as it was read. A revision of 0 is that of a key that is not there.
type slot struct {
	worker   int64
	last     lasting
	lastRev  int64
	live     living
	liveRev  int64
	liveness clientv3.LeaseID // of etcd, of the living key
}

func (l *Leaser) key(kind string, id int64) string {
	return l.prefix + kind + "/" + strconv.FormatInt(id, 10)
}

const keyLast, keyLive = "ids", "live"

// hold makes the slot the claim's if it is as it was read.
func (l *Leaser) hold(ctx context.Context, s slot, c worker.Claim) (won bool, err error) {
	lease, err := l.lease(ctx, s, c)
	if err != nil {
		return false, err
	}
	s.last.Holder = c.Token
	if c.Until.After(s.last.ReservedUntil) {
		s.last.ReservedUntil = c.Until
	}
	live, err := json.Marshal(living{Holder: c.Token, Address: c.Address, Clock: c.Clock, Lease: c.Lease, Quarantine: c.Quarantine})
	if err != nil {
		return false, err
	}
	last, err := json.Marshal(s.last)
	if err != nil {
		return false, err
	}
	return l.swap(ctx, s, clientv3.OpPut(l.key(keyLive, s.worker), string(live), clientv3.WithLease(lease)),
		clientv3.OpPut(l.key(keyLast, s.worker), string(last)))
}

// lease returns a lease of etcd's that begins now: a new one, or that of the slot if it is of the same length.
func (l *Leaser) lease(ctx context.Context, s slot, c worker.Claim) (clientv3.LeaseID, error) {
	if s.liveRev != 0 && s.live.Holder == c.Token && s.live.Lease == c.Lease && s.live.Quarantine == c.Quarantine {
		if _, err := l.client.KeepAliveOnce(ctx, s.liveness); err == nil {
			return s.liveness, nil
		} // it ended just now, or etcd is away: a new one shows
	}
	return l.grant(ctx, c.Lease+c.Quarantine)
}

func (l *Leaser) grant(ctx context.Context, d time.Duration) (clientv3.LeaseID, error) {
	answer, err := l.client.Grant(ctx, int64((d+time.Second-1)/time.Second))
	if err != nil {
		return 0, err
	}
	return answer.ID, nil
}

// swap changes the keys of a slot if they are as they were read.
func (l *Leaser) swap(ctx context.Context, s slot, changes ...clientv3.Op) (won bool, err error) {
	answer, err := l.client.Txn(ctx).If(
		clientv3.Compare(clientv3.ModRevision(l.key(keyLive, s.worker)), "=", s.liveRev),
		clientv3.Compare(clientv3.ModRevision(l.key(keyLast, s.worker)), "=", s.lastRev),
	).Then(changes...).Commit()
	if err != nil {
		return false, err
	}
	return answer.Succeeded, nil
}

// readOne reads both keys of a worker id at one revision.
func (l *Leaser) readOne(ctx context.Context, id int64) (slot, error) {
	answer, err := l.client.Txn(ctx).Then(clientv3.OpGet(l.key(keyLast, id)), clientv3.OpGet(l.key(keyLive, id))).Commit()
	if err != nil {
		return slot{}, err
	}
	slots := map[int64]slot{}
	for _, r := range answer.Responses {
		if err := l.add(slots, r.GetResponseRange().Kvs); err != nil {
			return slot{}, err
		}
	}
	s := slots[id]
	s.worker = id
	return s, nil
}

func (l *Leaser) read(ctx context.Context, key string, opts ...clientv3.OpOption) (map[int64]slot, error) {
	answer, err := l.client.Get(ctx, key, opts...)
	if err != nil {
		return nil, err
	}
	slots := map[int64]slot{}
	return slots, l.add(slots, answer.Kvs)
}

func (l *Leaser) add(slots map[int64]slot, kvs []*mvccpb.KeyValue) error {
	for _, kv := range kvs {
		kind, number, _ := strings.Cut(strings.TrimPrefix(string(kv.Key), l.prefix), "/")
		id, err := strconv.ParseInt(number, 10, 64)
		s := slots[id]
		s.worker = id
		switch {
		case err != nil:
		case kind == keyLast:
			s.lastRev, err = kv.ModRevision, json.Unmarshal(kv.Value, &s.last)
		default:
			s.liveRev, s.liveness, err = kv.ModRevision, clientv3.LeaseID(kv.Lease), json.Unmarshal(kv.Value, &s.live)
		}
		if err != nil {
			return &worker.Error{Kind: worker.ErrBroken, Set: l.set, Cause: err,
				Text: fmt.Sprintf("key %s is not what seqgate wrote; stop all holders of the set, and delete it", kv.Key)}
		}
		slots[id] = s
	}
	return nil
}

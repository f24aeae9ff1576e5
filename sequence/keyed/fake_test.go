package keyed

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

var errCut = errors.New("connection cut")

// rows is a table in memory, with a clock of its own.
type rows struct {
	mu   sync.Mutex
	all  []fakeRow
	skew time.Duration // of the database's clock
}

type fakeRow struct {
	row
	expires time.Time
}

func newRows(sections int, cache int64) *rows {
	r := &rows{all: make([]fakeRow, sections)}
	for id := range r.all {
		r.all[id].row = row{id: id, next: 1, least: 1, cache: cache}
	}
	return r
}

func (r *rows) get(id int) row {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[id].row
}

func (r *rows) edit(id int, f func(*row)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.all[id].row)
}

// fakeStore is one process's way to the rows. Its hooks run without a lock; they may wait, and fail.
type fakeStore struct {
	rows           *rows
	owner, address string
	lease          time.Duration

	mu     sync.Mutex
	before func(ctx context.Context, op string) error // the statement does not reach the rows
	after  func(ctx context.Context, op string) error // its answer is lost
	calls  map[string]int
}

func (f *fakeStore) set(before, after func(ctx context.Context, op string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *fakeStore) count(op string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

func (f *fakeStore) run(ctx context.Context, op string, do func(now time.Time)) error {
	f.mu.Lock()
	before, after := f.before, f.after
	f.calls[op]++
	f.mu.Unlock()
	if before != nil {
		if err := before(ctx, op); err != nil {
			return err
		}
	}
	f.rows.mu.Lock()
	do(time.Now().Add(f.rows.skew))
	f.rows.mu.Unlock()
	if after != nil {
		return after(ctx, op)
	}
	return nil
}

func (f *fakeStore) load(ctx context.Context) (n int, err error) {
	err = f.run(ctx, "load", func(time.Time) { n = len(f.rows.all) })
	return n, err
}

func (f *fakeStore) lift(ctx context.Context, next map[int]int64) error {
	return f.run(ctx, "lift", func(time.Time) {
		for id, value := range next {
			r := &f.rows.all[id]
			r.next, r.least = max(r.next, value), max(r.least, value)
		}
	})
}

func (f *fakeStore) claim(ctx context.Context, ids []int) (found []row, err error) {
	err = f.run(ctx, "claim", func(now time.Time) {
		for _, id := range ids {
			r := &f.rows.all[id]
			if r.owner == f.owner || r.expires.Before(now) {
				if r.owner != f.owner {
					r.fence++
				}
				r.owner, r.address, r.expires = f.owner, f.address, now.Add(f.lease)
			}
			seen := r.row
			seen.left = r.expires.Sub(now)
			found = append(found, seen)
		}
	})
	return found, err
}

func (f *fakeStore) raise(ctx context.Context, id int, fence, next int64) (ok bool, err error) {
	err = f.run(ctx, "raise", func(time.Time) {
		r := &f.rows.all[id]
		if ok = r.owner == f.owner && r.fence == fence && r.next < next; ok {
			r.next = next
		}
	})
	return ok, err
}

func (f *fakeStore) release(ctx context.Context, all []release) error {
	return f.run(ctx, "release", func(time.Time) {
		for _, l := range all {
			if r := &f.rows.all[l.id]; r.owner == f.owner && r.fence == l.fence {
				r.next, r.owner, r.address, r.expires = max(r.least, l.next), "", "", time.Time{}
			}
		}
	})
}

// process is a keyed sequence over rows.
type process struct {
	*Sequence
	store *fakeStore
}

// cluster is some processes that reach each other by their names.
type cluster struct {
	rows *rows
	mu   sync.Mutex
	all  map[string]*Sequence
}

func newCluster(sections int, cache int64) *cluster {
	return &cluster{rows: newRows(sections, cache), all: map[string]*Sequence{}}
}

func (c *cluster) start(name string, cfg Config) process {
	cfg = cfg.withDefaults()
	store := &fakeStore{rows: c.rows, owner: name, address: cfg.Address, lease: cfg.Lease, calls: map[string]int{}}
	s := open(store, name, sequence.Name{Database: "db", Table: "msg_seq"}, cfg)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[cfg.Address] = s
	return process{s, store}
}

// forward asks another process of the cluster in memory.
func (c *cluster) forward(ctx context.Context, address string, _ sequence.Name, wants []Want) ([]sequence.Range, error) {
	c.mu.Lock()
	s := c.all[address]
	c.mu.Unlock()
	if s == nil {
		return nil, errCut
	}
	return s.Local(ctx, wants)
}

func (p process) next(t *testing.T, key string) int64 {
	t.Helper()
	r, err := p.Next(t.Context(), []byte(key), 1)
	if err != nil {
		t.Fatalf("Next(%q): %v", key, err)
	}
	return r.First
}

func (p process) wantNext(t *testing.T, key string, want int64) {
	t.Helper()
	if got := p.next(t, key); got != want {
		t.Errorf("Next(%q): got %d, want %d", key, got, want)
	}
}

// crash ends the process without a word to the database.
func (p process) crash() {
	p.store.set(failing, nil)
	_ = p.Close(context.Background()) // cannot release
}

func failing(context.Context, string) error { return errCut }

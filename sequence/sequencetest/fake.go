// Package sequencetest has what tests of sequences need: an in-memory [Store] with fault hooks, a TCP [Proxy] that cuts
// connections at chosen statements, a collector of [IDs] that finds duplicates, and [TestStore], the conformance suite
// that every store on a real server passes.
package sequencetest

import (
	"context"
	"errors"
	"math"
	"sync"

	"github.com/seqgate/seqgate/sequence"
)

// Row is what a sequence's row holds.
type Row struct{ NextID, Cache int64 }

// Store is a sequence's row in memory: linearizable, and with no errors but those that its hooks make. The zero value has
// no row yet. Set the hooks before the first use.
type Store struct {
	// Before is called ahead of each reservation, without a lock: it may wait, change the row or fail. When it fails the
	// reservation did not happen.
	Before func(ctx context.Context, req sequence.Request) error
	// After is called when a reservation is committed, without a lock. When it fails the answer is lost.
	After func(ctx context.Context, res sequence.Reservation) error

	mu       sync.Mutex
	row      *Row
	requests []sequence.Request
}

var (
	_ sequence.Store    = (*Store)(nil)
	_ sequence.Releaser = (*Store)(nil)
	_ sequence.Raiser   = (*Store)(nil)
)

// NewStore returns a store with a row.
func NewStore(nextID, cache int64) *Store { return &Store{row: &Row{nextID, cache}} }

// Row returns the row, which must be there.
func (s *Store) Row() Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.row
}

// SetRow writes the row, as an operator would.
func (s *Store) SetRow(r Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = &r
}

// Requests returns the requests that reached the row, in order.
func (s *Store) Requests() []sequence.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]sequence.Request(nil), s.requests...)
}

// Reserve implements [sequence.Store]. It returns ErrNoRow and ErrExhausted as a real store does.
func (s *Store) Reserve(ctx context.Context, req sequence.Request) (sequence.Reservation, error) {
	if s.Before != nil {
		if err := s.Before(ctx, req); err != nil {
			return sequence.Reservation{}, err
		}
	}
	res, err := s.reserve(req)
	if err == nil && s.After != nil {
		err = s.After(ctx, res)
	}
	if err != nil {
		return sequence.Reservation{}, err
	}
	return res, nil
}

func (s *Store) reserve(req sequence.Request) (sequence.Reservation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if s.row == nil {
		return sequence.Reservation{}, problem(req, sequence.ErrNoRow)
	}
	found := s.row.NextID
	first, need := max(found, req.After+1, 1), req.Need
	if found == req.After+1 && req.After > 0 && !req.Exact {
		need = max(1, need-req.Tail)
	}
	last := req.Max
	if last == 0 {
		last = math.MaxInt64
	}
	if first > last || last-first < need-1 {
		return sequence.Reservation{}, problem(req, sequence.ErrExhausted)
	}
	size := need
	if !req.Exact {
		size = max(need, req.Step) + s.row.Cache - 1
		size = min(size-size%s.row.Cache, last-first+1)
	}
	s.row.NextID = first + size // the fake does not know how to say that 2^63-1 is taken
	return sequence.Reservation{Range: sequence.Range{First: first, N: size}, Cache: s.row.Cache,
		Found: found, Raised: req.After > 0 && found <= req.After}, nil
}

func problem(req sequence.Request, kind error) error {
	return &sequence.Error{Kind: kind, Sequence: req.Database + "." + req.Table, Text: kind.Error()}
}

// Release implements [sequence.Releaser].
func (s *Store) Release(_ context.Context, _ sequence.Request, unused sequence.Range) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row == nil || s.row.NextID != unused.Last()+1 {
		return false, nil
	}
	s.row.NextID = unused.First
	return true, nil
}

// Raise implements [sequence.Raiser].
func (s *Store) Raise(_ context.Context, req sequence.Request) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row == nil {
		return false, problem(req, sequence.ErrNoRow)
	}
	raised := s.row.NextID <= req.After
	s.row.NextID = max(s.row.NextID, req.After+1)
	return raised, nil
}

// ErrLost is what a hook may return for a connection that was lost.
var ErrLost = errors.New("connection lost")

// Registry returns a registry whose every sequence uses store.
func Registry(store sequence.Store, cfg sequence.Config) *sequence.Registry {
	return sequence.NewRegistry(sequence.Same(store), cfg)
}

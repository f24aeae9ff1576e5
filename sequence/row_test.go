package sequence_test

import (
	"context"
	"sync"

	"github.com/seqgate/seqgate/sequence"
)

// rowStore is a row in memory that follows the stores' own rule to the end of the ids, and takes exact requests and
// raises. Before is called ahead of each operation, without a lock; when it fails nothing happens.
type rowStore struct {
	before func(ctx context.Context, req sequence.Request) error

	mu            sync.Mutex
	nextID, cache int64
	reserves      int
	raises        []int64
}

var (
	_ sequence.Store    = (*rowStore)(nil)
	_ sequence.Releaser = (*rowStore)(nil)
	_ sequence.Raiser   = (*rowStore)(nil)
)

func (s *rowStore) enter(ctx context.Context, req sequence.Request) error {
	if s.before == nil {
		return nil
	}
	return s.before(ctx, req)
}

func (s *rowStore) Reserve(ctx context.Context, req sequence.Request) (sequence.Reservation, error) {
	if err := s.enter(ctx, req); err != nil {
		return sequence.Reservation{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	res, nextID, cache, err := sequence.Plan(req, s.nextID, s.cache)
	if err == nil {
		s.nextID, s.cache = nextID, cache
		s.reserves++
	}
	return res, err
}

func (s *rowStore) Release(_ context.Context, _ sequence.Request, unused sequence.Range) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok := s.nextID == unused.Last()+1
	if ok {
		s.nextID = unused.First
	}
	return ok, nil
}

func (s *rowStore) Raise(ctx context.Context, req sequence.Request) (bool, error) {
	if err := s.enter(ctx, req); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raises = append(s.raises, req.After)
	raised := s.nextID <= req.After
	switch {
	case req.After == 1<<63-1:
		s.nextID, s.cache = req.After, 0
	case raised:
		s.nextID = req.After + 1
	}
	return raised, nil
}

// row returns next_id and the ids above which the row was raised.
func (s *rowStore) row() (nextID int64, raises []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nextID, append([]int64(nil), s.raises...)
}

package sequence

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"
)

// markTime bounds what a refill may wait for its mark: ids are wanted.
const markTime = time.Second

// Marking returns store with a note that its one sequence is used, which it leaves in [UsedTable] with the first block of
// row 0: so whoever would make the sequence anew after a DROP TABLE knows that processes may hold ids of it. Where that
// cannot be written, for want of a right, the sequence works without. db is a pool from [NewPool].
func Marking(store RowStore, db *sql.DB) RowStore { return &marking{RowStore: store, db: db} }

type marking struct {
	RowStore
	db   *sql.DB
	done atomic.Bool // it is marked, or cannot be
}

// Reserve implements [Store]. The mark is left before anybody has an id of the block.
func (s *marking) Reserve(ctx context.Context, q Request) (Reservation, error) {
	res, err := s.RowStore.Reserve(ctx, q)
	if err == nil && q.Row == 0 && !s.done.Load() {
		s.done.Store(s.mark(ctx, q))
	}
	return res, err
}

// mark reports false when the next block is to bring another attempt.
func (s *marking) mark(ctx context.Context, q Request) (done bool) {
	err := attemptOn(ctx, s.db, q, func(ctx context.Context, t table) error {
		ctx, cancel := context.WithTimeout(ctx, markTime)
		defer cancel()
		_, err := t.announce(ctx)
		return err
	})
	return err == nil || !IsTemporary(err)
}

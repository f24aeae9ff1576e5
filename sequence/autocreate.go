package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
)

// AutoCreate returns store with the ability to make its one sequence where that is missing. When the table or its row 0
// is not there, it asks seed for the first id above every id in use, 1 or more, and the cache, 1 or more, makes both in db,
// and tries again, once. Any number of processes may do so at the same time. db is a pool from [NewPool] whose user may
// create tables.
//
// It makes nothing that was ever used: of a table that vanishes under running processes, ids are in memory and in no table
// yet, so that seed cannot know them, and a row made by it would give them to others. So that a process knows which had not
// used the sequence itself, each writes its name to a table ([UsedTable]) before it takes the first ids. The error stands
// until somebody makes the table by hand. An [Error] of seed keeps it from making the sequence.
//
// Nor does it make rows other than 0, which are parts of a sequence that somebody laid out.
func AutoCreate(store RowStore, db *sql.DB, seed func(ctx context.Context) (next, cache int64, err error)) RowStore {
	return &autoCreate{RowStore: store, db: db, seed: seed}
}

type autoCreate struct {
	RowStore
	db     *sql.DB
	seed   func(ctx context.Context) (next, cache int64, err error)
	served atomic.Bool // it has given ids
}

// Reserve implements [Store]. When it cannot make what is missing, the error matches ErrNoTable or ErrNoRow still, and
// says why.
func (s *autoCreate) Reserve(ctx context.Context, q Request) (Reservation, error) {
	res, err := s.reserve(ctx, q)
	if missing := s.missing(q, err); missing != nil {
		if err := s.create(ctx, q); err != nil && !errors.Is(err, errUsed) {
			return Reservation{}, missing.notCreated(err)
		}
		// Also when it was used: another process may have made it meanwhile, as this one would have.
		res, err = s.reserve(ctx, q)
		if missing := s.missing(q, err); missing != nil {
			return Reservation{}, missing.notCreated(errUsed)
		}
	}
	if err == nil {
		s.served.Store(true)
	}
	return res, err
}

// reserve tells other processes that the sequence is used, and reserves. Where the row came only after it was looked for,
// it is told before the first ids of it are given.
func (s *autoCreate) reserve(ctx context.Context, q Request) (Reservation, error) {
	if s.served.Load() || q.Row != 0 {
		return s.RowStore.Reserve(ctx, q)
	}
	found, err := s.announce(ctx, q)
	if err != nil {
		return Reservation{}, err
	}
	res, err := s.RowStore.Reserve(ctx, q)
	if err == nil && !found {
		_, err = s.announce(ctx, q)
	}
	if err != nil {
		return Reservation{}, err
	}
	return res, nil
}

func (s *autoCreate) announce(ctx context.Context, q Request) (found bool, err error) {
	err = attemptOn(ctx, s.db, q, func(ctx context.Context, t table) error {
		found, err = t.announce(ctx)
		return err
	})
	return found, err
}

// missing returns err as what says that a sequence is missing which may be created, else nil.
func (s *autoCreate) missing(q Request, err error) *Error {
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrNoTable && e.Kind != ErrNoRow || q.Row != 0 || s.served.Load() {
		return nil
	}
	return e
}

// create makes the sequence. The error is errUsed when it was used before.
func (s *autoCreate) create(ctx context.Context, q Request) error {
	used, err := WasUsed(ctx, s.db, q.Database, q.Table)
	switch {
	case err != nil:
		return err
	case used:
		return errUsed
	}
	next, cache, err := s.seed(ctx)
	if err != nil {
		return fmt.Errorf("find the first free id for sequence %s: %w", q.name(), err)
	}
	return seedUnused(ctx, s.db, q, next, cache)
}

// notCreated returns e with the reason why it stands, or the reason alone when another attempt may do better.
func (e *Error) notCreated(reason error) error {
	if reason != errUsed && IsTemporary(reason) {
		return reason
	}
	return &Error{Kind: e.Kind, Sequence: e.Sequence, Cause: reason, Text: fmt.Sprintf("%s (auto_create could not: %v)", e.Text, reason)}
}

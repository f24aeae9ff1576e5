package sequence

import (
	"context"
	"fmt"
)

// SetNext has s go on at next, if that lies ahead: the ids before it are given by nobody who reserves them from now on, and
// by this process no more. The row is raised before SetNext returns; what other processes hold in memory they go on giving.
// It reports false, and changes nothing, when next is under 1 or ids from it on were given or reserved before. Where this
// process holds no ids in memory, that is also so when the row is at next already.
//
// The errors are those of [Sequence.Next]. A sequence in stripes has no single row that could be raised: it returns
// [ErrNotSequence].
func (s *Sequence) SetNext(ctx context.Context, next int64) (moved bool, err error) {
	store, ok := s.store.(Raiser)
	if !ok || s.spread {
		return false, &Error{Kind: ErrNotSequence, Sequence: s.name.String(), Text: "lies in stripes, which cannot be set; use seqgate seq"}
	}
	ahead := s.Above(next - 1)
	held, done, err := s.skipTo(next)
	if done || err != nil {
		return held, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout(s.store))
	defer cancel()
	raised, err := store.Raise(ctx, s.request(next-1))
	if err != nil {
		return false, fmt.Errorf("set sequence %s: %w", s.name, err)
	}
	byRefill := ahead && !s.Above(next-1) // one that was under way raised the row
	return raised || held || byRefill, nil
}

// skipTo gives up the ids in memory before next. held says that there were some, done that there is nothing left to do:
// next lies behind them, or the row is past it.
func (s *Sequence) skipTo(next int64) (held, done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, false, closedError(s.name)
	}
	first, held := s.first()
	if next < 1 || held && next < first {
		return false, true, nil
	}
	s.dropBelow(next)
	return held, held && !s.Above(next-1), nil
}

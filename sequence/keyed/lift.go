package keyed

import (
	"context"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// Nobody can take a section before its lease is over, by a row that says so. Where somebody has, the row is another one: the
// table was made anew with as many sections, or restored. What this process gave until it saw that may lie above what the
// new row says, and the new holder would give it again, today or as soon as it comes there.

// lift raises the rows of such sections above what this process gave, so that their new holders give none of it from their
// next renewal on. It goes on until the database has answered.
func (s *Sequence) lift(next map[int]int64) {
	s.cfg.Logger.Warn("the table of a keyed sequence was made anew, or its rows set back, while this process counted by it: its sections are raised "+
		"above what it gave; until the others renew their leases, values may have been given twice", "sequence", s.name.String(), "sections", len(next))
	for failures := 1; ; failures++ {
		err := s.tryLift(next)
		s.noted(err)
		if err == nil || isPermanent(err) || s.isOver(err) {
			return
		}
		select {
		case <-time.After(sequence.Backoff(failures)):
		case <-s.stop:
			return
		}
	}
}

func (s *Sequence) tryLift(next map[int]int64) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Lease)
	defer cancel()
	return s.store.lift(ctx, next)
}

func (t table) lift(ctx context.Context, next map[int]int64) error {
	return Raise(ctx, t.db, t.name.Database, t.name.Table, next)
}

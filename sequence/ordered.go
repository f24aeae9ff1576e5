package sequence

import (
	"context"
	"fmt"
	"time"
)

// An ordered sequence (Settings.Ordered) keeps no ids: each attempt to reserve takes just what those want who waited when
// it was sent, and whoever comes later waits for the next attempt. An id that was asked for after another one had been
// received, in any process, was therefore committed after it, and is larger. What a caller that left meanwhile wanted is
// dropped: giving it to one who came after the attempt was sent would break the order.

// askExactly says what the next attempt of an ordered sequence takes: the sum of what is wanted, up to MaxN; false when
// nobody waits. After the row could not give such a sum the first waiter is asked for alone, so that those who fit singly
// get theirs. s.mu is held.
func (s *Sequence) askExactly(req Request) (Request, bool) {
	req.Need, req.Exact = 0, true
	full := false
	for i, w := range s.waiters {
		w.asked = true
		full = full || i > 0 && (s.alone || req.Need+w.n > MaxN)
		if !full {
			req.Need += w.n
		}
	}
	return req, len(s.waiters) > 0
}

// retryAlone reports whether an ordered sequence that has too few ids for all who wait is to try with one of them.
// s.mu is held.
func (s *Sequence) retryAlone() bool {
	if !s.ordered.Load() || s.alone {
		return false
	}
	s.alone = true
	return true
}

// commentAge is how long a process goes by what it knows of a table's comment.
const commentAge = time.Minute

// lookAgain reports whether an attempt is to look at the table's comment once more: another process may have made the
// sequence ordered. s.mu is held.
func (s *Sequence) lookAgain(req Request) bool {
	if req.Cache == 0 {
		s.looked = time.Now() // it is looked at anyway
		return false
	}
	if time.Since(s.looked) < commentAge {
		return false
	}
	s.looked = time.Now()
	return true
}

// order has s obey what the table's comment says, for good: what is in memory is dropped. s.mu is held.
func (s *Sequence) order(res Reservation) {
	if res.Unmarked != nil && !s.unmarked {
		s.unmarked = true
		s.cfg.Logger.Warn("a sequence is ordered by this process alone: its table does not say so to the others",
			"sequence", s.name.String(), "error", res.Unmarked)
	}
	if !res.Ordered || s.ordered.Load() {
		return
	}
	s.ordered.Store(true)
	s.warm = false
	s.stats.dropped += s.drain().N
	s.current.Store(newSegment(Range{}))
	s.cfg.Logger.Info("a sequence is ordered, as its table says", "sequence", s.name.String())
}

// lookAgain looks at the comment of a table that is known to be a sequence, for what may have changed. What cannot be read
// stays as it was.
func (t *table) lookAgain(ctx context.Context) {
	if !t.Again {
		return
	}
	var text string
	err := t.conn.QueryRowContext(ctx, "SELECT table_comment FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
		t.Database, t.Table).Scan(&text)
	if o, ok := ParseComment(text); err == nil && ok {
		t.order(ctx, text, o)
	}
}

// order takes in whether the sequence is ordered, as its comment says, or has it say so if this process is configured so.
func (t *table) order(ctx context.Context, text string, o Options) {
	if t.Order && !o.Ordered {
		o.Ordered = true
		query := "ALTER TABLE " + t.sqlName() + " COMMENT " + quotedText(o.In(text))
		if _, err := t.conn.ExecContext(ctx, query); err != nil {
			t.unmarked = fmt.Errorf("a user who may should run: %s: %w", query, err)
			return
		}
	}
	if o.Ordered {
		t.ordered, t.Exact = true, true
	}
}

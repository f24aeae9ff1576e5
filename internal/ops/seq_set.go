package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/sequence"
)

// RowChange changes a sequence's row to what an operator wants, and may lower it.
type RowChange struct {
	Seeder
	Force bool
}

func (r RowChange) Set(ctx context.Context, name string, want WantedRow) error {
	keyed := func(b binding) error {
		if want.Cache > 0 || want.Force {
			return Usagef("it counts by key: give NEXT_ID alone, without --cache and --force")
		}
		return r.setKeyed(ctx, b, want.Next)
	}
	return r.change(ctx, name, keyed, func(b binding) (_ WantedRow, err error) {
		if want.Next > 0 && !want.Force {
			want.Free, err = r.Cluster.free(ctx, b)
		}
		return want, err
	})
}

func (r RowChange) Reset(ctx context.Context, name string) error {
	keyed := func(b binding) error { return r.seedKeyed(ctx, seed{binding: b, next: 1}) }
	return r.change(ctx, name, keyed, func(b binding) (WantedRow, error) {
		if len(b.fills) == 0 {
			return WantedRow{}, Usagef("it fills no table, so that nothing says which ids are in use: set its next_id with seqgate seq set")
		}
		free, err := r.Cluster.free(ctx, b)
		return WantedRow{Next: free.Next, Free: free, Force: r.Force}, err
	})
}

// change brings one sequence's row to what want says; keyed does it for a sequence that counts by key.
func (r RowChange) change(ctx context.Context, arg string, keyed func(binding) error, want func(binding) (WantedRow, error)) error {
	c := r.Cluster
	name := c.Table(arg)
	b, err := c.binding(name)
	if err != nil {
		return inSequence(name, err)
	}
	if c.isKeyed(name) {
		return inSequence(name, keyed(b))
	}
	if err := c.oneRow(name); err != nil {
		return inSequence(name, err)
	}
	s, err := c.server(name.Keyspace)
	if err != nil {
		return err
	}
	t, ok := s.table(name.Table)
	if !ok {
		return c.NoTable(name)
	}
	if faults := sequenceFaults(t, s.quoted(name.Table)); len(faults) > 0 {
		return inSequence(name, fmt.Errorf("the table %s", faults[0]))
	}
	row, err := want(b)
	if err != nil {
		return inSequence(name, err)
	}
	row.last = maxValue(t)
	lowered := false
	err = r.Edit(ctx, s, name, func(now *SeqRow) (SeqRow, error) {
		to, err := row.Decide(now)
		lowered = now != nil && to.next.Int64 < now.next.Int64
		return to, err
	})
	if err != nil {
		return inSequence(name, err)
	}
	if lowered {
		return r.note(MemoryNote + ": ids repeat if one ran while next_id was lowered")
	}
	return r.note(MemoryNote)
}

const MemoryNote = "running seqgates go on with the ids that they hold in memory, and read the row at their next refill"

// WantedRow is what an operator wants a sequence's row to be.
type WantedRow struct {
	Next, Cache int64 // 0: as it is
	Free        FreeIDs
	last        int64 // by the sequence's MAXVALUE; 0: none
	Force       bool  // whatever the row and free say
}

// Decide is a decision. An operator's next_id may repeat ids only by force.
func (w WantedRow) Decide(now *SeqRow) (SeqRow, error) {
	if now == nil {
		return SeqRow{}, errors.New("there is no row with id = 0: run seqgate init")
	}
	to := *now
	to.cache = newSeqRow(0, now.usableCache(sequence.DefaultCache)).cache
	if w.Cache > 0 {
		to.cache.Int64 = w.Cache
	}
	if w.Next > 0 {
		to.next = newSeqRow(w.Next, 0).next
	}
	switch {
	case !to.next.Valid:
		return to, errors.New("next_id is NULL: give NEXT_ID too")
	case w.Force:
		return to, nil
	case now.usedUp():
		return to, errUsedUp
	case w.Next > 0:
		return to, w.refusal(now)
	}
	return to, nil
}

// refusal says why next_id is not set without force.
func (w WantedRow) refusal(now *SeqRow) error {
	switch {
	case w.Next < now.next.Int64:
		return fmt.Errorf("next_id is %d: lowered to %d, ids would be given again that running seqgates hold in memory or have given to clients; "+
			"stop every seqgate and Vitess that uses the sequence, see that no row has such an id, and repeat it with --force", now.next.Int64, w.Next)
	case w.Next < w.Free.Next:
		return fmt.Errorf("ids up to %d are in use: from %d on they would be given again; give at least %d, or --force", w.Free.Next-1, w.Next, w.Free.Next)
	case w.Next > w.Free.Last:
		return fmt.Errorf("the ids of the column that it fills end at %d: from %d on every INSERT would fail; give a smaller NEXT_ID, or --force", w.Free.Last, w.Next)
	case w.last > 0 && w.Next > w.last:
		return fmt.Errorf("its MAXVALUE is %d: from %d on it would give no ids; give a smaller NEXT_ID, or --force", w.last, w.Next)
	}
	return nil
}

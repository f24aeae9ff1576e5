package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/sequence"
)

// rowChange changes a sequence's row to what an operator wants, and may lower it.
type rowChange struct {
	seeder
	force bool
}

func (r rowChange) set(ctx context.Context, name string, want wantedRow) error {
	keyed := func(b binding) error {
		if want.cache > 0 || want.force {
			return usagef("it counts by key: give NEXT_ID alone, without --cache and --force")
		}
		return r.setKeyed(ctx, b, want.next)
	}
	return r.change(ctx, name, keyed, func(b binding) (_ wantedRow, err error) {
		if want.next > 0 && !want.force {
			want.free, err = r.cluster.free(ctx, b)
		}
		return want, err
	})
}

func (r rowChange) reset(ctx context.Context, name string) error {
	keyed := func(b binding) error { return r.seedKeyed(ctx, seed{binding: b, next: 1}) }
	return r.change(ctx, name, keyed, func(b binding) (wantedRow, error) {
		if len(b.fills) == 0 {
			return wantedRow{}, usagef("it fills no table, so that nothing says which ids are in use: set its next_id with seqgate seq set")
		}
		free, err := r.cluster.free(ctx, b)
		return wantedRow{next: free.next, free: free, force: r.force}, err
	})
}

// change brings one sequence's row to what want says; keyed does it for a sequence that counts by key.
func (r rowChange) change(ctx context.Context, arg string, keyed func(binding) error, want func(binding) (wantedRow, error)) error {
	c := r.cluster
	name := c.table(arg)
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
	s, err := c.server(name.keyspace)
	if err != nil {
		return err
	}
	t, ok := s.table(name.table)
	if !ok {
		return c.noTable(name)
	}
	if faults := sequenceFaults(t, s.quoted(name.table)); len(faults) > 0 {
		return inSequence(name, fmt.Errorf("the table %s", faults[0]))
	}
	row, err := want(b)
	if err != nil {
		return inSequence(name, err)
	}
	row.last = maxValue(t)
	lowered := false
	err = r.edit(ctx, s, name, func(now *seqRow) (seqRow, error) {
		to, err := row.decide(now)
		lowered = now != nil && to.next.Int64 < now.next.Int64
		return to, err
	})
	if err != nil {
		return inSequence(name, err)
	}
	if lowered {
		return r.note(memoryNote + ": ids repeat if one ran while next_id was lowered")
	}
	return r.note(memoryNote)
}

const memoryNote = "running seqgates go on with the ids that they hold in memory, and read the row at their next refill"

// wantedRow is what an operator wants a sequence's row to be.
type wantedRow struct {
	next, cache int64 // 0: as it is
	free        freeIDs
	last        int64 // by the sequence's MAXVALUE; 0: none
	force       bool  // whatever the row and free say
}

// decide is a decision. An operator's next_id may repeat ids only by force.
func (w wantedRow) decide(now *seqRow) (seqRow, error) {
	if now == nil {
		return seqRow{}, errors.New("there is no row with id = 0: run seqgate init")
	}
	to := *now
	to.cache = newSeqRow(0, now.usableCache(sequence.DefaultCache)).cache
	if w.cache > 0 {
		to.cache.Int64 = w.cache
	}
	if w.next > 0 {
		to.next = newSeqRow(w.next, 0).next
	}
	switch {
	case !to.next.Valid:
		return to, errors.New("next_id is NULL: give NEXT_ID too")
	case w.force:
		return to, nil
	case now.usedUp():
		return to, errUsedUp
	case w.next > 0:
		return to, w.refusal(now)
	}
	return to, nil
}

// refusal says why next_id is not set without force.
func (w wantedRow) refusal(now *seqRow) error {
	switch {
	case w.next < now.next.Int64:
		return fmt.Errorf("next_id is %d: lowered to %d, ids would be given again that running seqgates hold in memory or have given to clients; "+
			"stop every seqgate and Vitess that uses the sequence, see that no row has such an id, and repeat it with --force", now.next.Int64, w.next)
	case w.next < w.free.next:
		return fmt.Errorf("ids up to %d are in use: from %d on they would be given again; give at least %d, or --force", w.free.next-1, w.next, w.free.next)
	case w.next > w.free.last:
		return fmt.Errorf("the ids of the column that it fills end at %d: from %d on every INSERT would fail; give a smaller NEXT_ID, or --force", w.free.last, w.next)
	case w.last > 0 && w.next > w.last:
		return fmt.Errorf("its MAXVALUE is %d: from %d on it would give no ids; give a smaller NEXT_ID, or --force", w.last, w.next)
	}
	return nil
}

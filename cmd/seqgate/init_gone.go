package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// What is gone is not simply made anew: processes that run hold ids of a sequence that are in no table yet, and go on giving
// them. Nothing but their ends tells which these are.

// errGone is that of a row that is missing or says nothing.
var errGone = errors.New("there is no row with id = 0 that says which ids were given, and processes that run may hold ids of the sequence in memory, which would be given " +
	"again: stop every seqgate and Vitess that uses it, and run seqgate init --stopped; a sequence that was never used may be made so at any time")

// unlessGone is decide for a row of a table that was there before.
func (s seeder) unlessGone(decide decision) decision {
	return func(now *seqRow) (seqRow, error) {
		if (now == nil || !now.next.Valid) && !s.stopped {
			return seqRow{}, errGone
		}
		return decide(now)
	}
}

// neverUsed returns an error for a table that is missing and is known to have been there.
func (s seeder) neverUsed(ctx context.Context, at *server, table string) error {
	if s.stopped {
		return nil
	}
	used, err := sequence.WasUsed(ctx, at.db, at.database, table)
	if err != nil || !used {
		return err
	}
	var there int // another init may have made it since the tables were read
	err = at.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", at.database, table).Scan(&there)
	if err == nil && there == 0 {
		err = errors.New("the table is gone, and processes that run may hold ids of the sequence in memory, which would be given again: " +
			"stop every seqgate that uses it, and run seqgate init --stopped")
	}
	return err
}

// mark notes that the sequence is used, so that one whose table is dropped is not made anew below what processes hold in
// memory. A user without the right to that makes sequences all the same, and is told.
func (s seeder) mark(ctx context.Context, name tableName) error {
	if s.dryRun || s.cluster.isStriped(name) {
		return nil
	}
	at, err := s.cluster.server(name.keyspace)
	if err != nil {
		return err
	}
	err = sequence.MarkUsed(ctx, at.db, at.database, name.table)
	if serverError(err, 1142) || serverError(err, 1044) { // ER_TABLEACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR
		return s.note("%s: that it is used could not be noted in the table %s (%v): should its table be dropped, "+
			"stop every seqgate that uses it before the next seqgate init, which could not know", name, sequence.UsedTable, err)
	}
	return err
}

// initLockWait is how long one init waits for another that makes the same.
const initLockWait = time.Minute

// lock keeps others that run at the same time from seeing tables without their rows. It ends with the connection.
func (s seeder) lock(ctx context.Context, seeds []seed) error {
	locked := map[*server]bool{}
	for _, d := range seeds {
		if s.dryRun || s.cluster.isStriped(d.sequence) {
			continue
		}
		at, err := s.cluster.server(d.sequence.keyspace)
		if err != nil || locked[at] {
			continue // what is away is told with its sequences
		}
		locked[at] = true
		var got *int
		query := fmt.Sprintf("SELECT GET_LOCK(LEFT(CONCAT('seqgate init ', SHA2(DATABASE(), 256)), 64), %d)", int(initLockWait.Seconds()))
		if err := at.conn.QueryRowContext(ctx, query).Scan(&got); err != nil {
			return fmt.Errorf("wait for another seqgate init: %w", err)
		}
		if got == nil || *got != 1 {
			return fmt.Errorf("another seqgate init has been at work in %s for %v: try again when it has ended", at.database, initLockWait)
		}
	}
	return nil
}

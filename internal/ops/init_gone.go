package ops

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
func (s Seeder) unlessGone(decide Decision) Decision {
	return func(now *SeqRow) (SeqRow, error) {
		if (now == nil || !now.next.Valid) && !s.Stopped {
			return SeqRow{}, errGone
		}
		return decide(now)
	}
}

// neverUsed returns an error for a table that is missing and is known to have been there.
func (s Seeder) neverUsed(ctx context.Context, at *Server, table string) error {
	if s.Stopped {
		return nil
	}
	used, err := sequence.WasUsed(ctx, at.DB, at.database, table)
	if err != nil || !used {
		return err
	}
	var there int // another init may have made it since the tables were read
	err = at.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", at.database, table).Scan(&there)
	if err == nil && there == 0 {
		err = errors.New("the table is gone, and processes that run may hold ids of the sequence in memory, which would be given again: " +
			"stop every seqgate that uses it, and run seqgate init --stopped")
	}
	return err
}

// mark notes that the sequence is used, so that one whose table is dropped is not made anew below what processes hold in
// memory. A user without the right to that makes sequences all the same, and is told.
func (s Seeder) mark(ctx context.Context, name TableName) error {
	if s.DryRun || s.Cluster.isStriped(name) {
		return nil
	}
	at, err := s.Cluster.server(name.Keyspace)
	if err != nil {
		return err
	}
	err = sequence.MarkUsed(ctx, at.DB, at.database, name.Table)
	if serverError(err, 1142) || serverError(err, 1044) { // ER_TABLEACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR
		return s.note("%s: that it is used could not be noted in the table %s (%v): should its table be dropped, "+
			"stop every seqgate that uses it before the next seqgate init, which could not know", name, sequence.UsedTable, err)
	}
	return err
}

// initLockWait is how long one init waits for another that makes the same.
const initLockWait = time.Minute

// lock keeps others that run at the same time from seeing tables without their rows. It ends with the connection.
func (s Seeder) lock(ctx context.Context, seeds []seed) error {
	locked := map[*Server]bool{}
	for _, d := range seeds {
		if s.DryRun || s.Cluster.isStriped(d.sequence) {
			continue
		}
		at, err := s.Cluster.server(d.sequence.Keyspace)
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

package sequence

import (
	"context"
	"errors"
	"slices"

	"github.com/go-sql-driver/mysql"
)

// lost lists the errors by which a server tells that another transaction was faster, and that this one is undone.
var lost = []uint16{
	1020, // ER_CHECKREAD: the row changed since it was read
	1213, // ER_LOCK_DEADLOCK: also Galera's for a transaction that another node's has overtaken
	3101, // ER_TRANSACTION_ROLLBACK_DURING_COMMIT: Group Replication's for the same
}

// IsConflict reports whether a server undid an attempt because another process was faster. The next attempt may be made at
// once, on the same connection.
func IsConflict(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && slices.Contains(lost, answer.Number)
}

// untilDecided makes an attempt again, after a short random pause, while others were faster: in a cluster of several
// writers that is no fault but how it says who comes first.
func (t table) untilDecided(ctx context.Context, attempt func() error) error {
	for try := range casTries {
		err := attempt()
		if !IsConflict(err) {
			return err
		}
		t.conflict()
		if pause(ctx, try) != nil {
			return err
		}
	}
	return t.contended()
}

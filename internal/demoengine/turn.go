//go:build !slim

package demoengine

import (
	"context"

	"github.com/dolthub/vitess/go/mysql"
)

var (
	// errLockWait is what InnoDB answers: ER_LOCK_WAIT_TIMEOUT.
	errLockWait = mysql.NewSQLError(mysql.ERLockWaitTimeout, mysql.SSUnknownSQLState,
		"Lock wait timeout exceeded; try restarting transaction")
	errShutdown = mysql.NewSQLError(mysql.ERServerShutdown, mysql.SSServerShutdown,
		"Server shutdown in progress")
)

// turn is a lock that can be waited for with a deadline, and be given back by another goroutine than
// took it.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the lock and returns ctx's cause when ctx ends first. A free lock is taken even
// then.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pass gives the lock back.
func (t turn) pass() { <-t }

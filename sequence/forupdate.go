package sequence

import (
	"context"
	"database/sql"
	"fmt"
)

// ForUpdate reserves blocks as Vitess does, in four round trips: BEGIN; SELECT ... FOR UPDATE; UPDATE; COMMIT. The lock
// on the row keeps all others out from the SELECT to the COMMIT. DB is a pool from [NewPool].
type ForUpdate struct{ DB *sql.DB }

var _ RowStore = ForUpdate{}

// Reserve implements [Store].
func (s ForUpdate) Reserve(ctx context.Context, q Request) (Reservation, error) {
	return reserve(ctx, s.DB, q, table.reserveLocking)
}

func (t table) reserveLocking(ctx context.Context) (res Reservation, err error) {
	err = t.inTransaction(ctx, func() error {
		from, err := t.read(ctx, "FOR UPDATE")
		if err != nil {
			return err
		}
		var to row
		if res, to, err = t.plan(from); err != nil {
			return err
		}
		return t.swapLocked(ctx, from, to)
	})
	return res, err
}

// swapLocked writes the row to, which is from and locked. Where the table's engine has no row locks (MyISAM) another may
// have written since.
func (t table) swapLocked(ctx context.Context, from, to row) error {
	ok, err := t.swap(ctx, from, to)
	if err != nil || ok {
		return err
	}
	return fmt.Errorf("the row of sequence %s changed while it was locked; use a table of ENGINE = InnoDB, and look for triggers on it", t.name())
}

// inTransaction runs f in a transaction. When it returns an error, what f did is undone, or its outcome is unknown and
// the connection closed. It is not a sql.Tx because the Commit of that takes no context: it would wait for a frozen server
// without end.
func (t table) inTransaction(ctx context.Context, f func() error) error {
	err := t.limitIdle(ctx)
	if err == nil {
		err = t.exec(ctx, "START TRANSACTION")
	}
	if err == nil {
		err = f()
	}
	if err == nil {
		err = t.exec(ctx, "COMMIT")
	}
	if err != nil {
		t.rollBack(ctx)
	}
	return err
}

// rollBack ends the transaction that failed, or else the connection.
func (t table) rollBack(ctx context.Context) {
	if err := t.exec(ctx, "ROLLBACK"); err != nil {
		discard(t.conn)
	}
}

func (t table) exec(ctx context.Context, statement string) error {
	if _, err := t.conn.ExecContext(ctx, statement); err != nil {
		return t.failure(statement, err)
	}
	return nil
}

// Release implements [Releaser].
func (s ForUpdate) Release(ctx context.Context, q Request, unused Range) (bool, error) {
	return release(ctx, s.DB, q, unused)
}

// Raise implements [Raiser].
func (s ForUpdate) Raise(ctx context.Context, q Request) (bool, error) {
	return raise(ctx, s.DB, q)
}

// String returns [StrategyForUpdate].
func (ForUpdate) String() string { return StrategyForUpdate }

package sequence

import (
	"context"
	"database/sql"
	"fmt"
)

// ForUpdate reserves blocks as Vitess does, in four round trips: BEGIN; SELECT ... FOR UPDATE; UPDATE; COMMIT. The lock
// on the row keeps all others out from the SELECT to the COMMIT. DB is a pool from [NewPool].
type ForUpdate struct{ DB *sql.DB }

var (
	_ Store    = ForUpdate{}
	_ Releaser = ForUpdate{}
	_ Raiser   = ForUpdate{}
)

// Reserve implements [Store].
func (s ForUpdate) Reserve(ctx context.Context, q Request) (res Reservation, err error) {
	err = onTable(ctx, s.DB, q, func(t table) error {
		if err := t.check(ctx); err != nil {
			return err
		}
		if res, err = t.reserveLocked(ctx); err != nil {
			t.rollBack(ctx)
		}
		return err
	})
	return res, err
}

// reserveLocked leaves the transaction open when it fails. It is not a sql.Tx because the Commit of that takes no context:
// it would wait for a frozen server without end.
func (t table) reserveLocked(ctx context.Context) (Reservation, error) {
	if err := t.exec(ctx, "START TRANSACTION"); err != nil {
		return Reservation{}, err
	}
	from, err := t.read(ctx, "FOR UPDATE")
	if err != nil {
		return Reservation{}, err
	}
	res, to, err := t.plan(from)
	if err != nil {
		return Reservation{}, err
	}
	// The row is locked, but where the table's engine has no row locks (MyISAM) another may have written since.
	ok, err := t.swap(ctx, from, to)
	if err != nil {
		return Reservation{}, err
	}
	if !ok {
		return Reservation{}, fmt.Errorf("the row of sequence %s.%s changed while it was locked; use a table of ENGINE = InnoDB, and look for triggers on it",
			t.Database, t.Table)
	}
	if err := t.exec(ctx, "COMMIT"); err != nil {
		return Reservation{}, err // it may be committed all the same: then the block is a gap
	}
	return res, nil
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
func (s ForUpdate) Raise(ctx context.Context, q Request) error {
	return raise(ctx, s.DB, q)
}

// String returns [StrategyForUpdate].
func (ForUpdate) String() string { return StrategyForUpdate }

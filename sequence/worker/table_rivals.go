package worker

import (
	"context"
	"database/sql"
	"time"
)

// Rivals returns an error that matches [ErrNoWorkerID] while ids are given with worker ids of a set whose ids may be the
// same: see [TableConfig].
func (t *Table) Rivals(ctx context.Context) error {
	return t.onConn(ctx, "look for layouts with the same ids", func(conn *sql.Conn) error {
		_, err := t.lastOfRivals(ctx, conn)
		if isAnswer(err, 1146) { // ER_NO_SUCH_TABLE: nobody has made it yet
			return nil
		}
		return err
	})
}

// alone ensures that no worker id of a set with the same ids is in use, and returns up to when such ids may have been
// given. Holders whose leases have ended lose them, so that they cannot extend them after this: a later lease of theirs is
// refused as long as there is one of this set. It is called before and after a lease is written: of two that come together at
// least one sees the other.
func (t *Table) alone(ctx context.Context, conn *sql.Conn) (after time.Time, err error) {
	if t.rivals == nil {
		return time.Time{}, nil
	}
	sets, err := t.sets(ctx, conn)
	if err != nil {
		return time.Time{}, err
	}
	for _, set := range sets {
		_, err := conn.ExecContext(ctx, "UPDATE "+sqlName(t.database)+" SET holder = '' WHERE set_name = "+text(set)+
			" AND worker_id >= 0 AND holder <> '' AND expires <= UTC_TIMESTAMP(6)")
		if err != nil {
			return time.Time{}, err
		}
	}
	return t.lastOfRivals(ctx, conn)
}

// sets returns the sets with the same ids.
func (t *Table) sets(ctx context.Context, conn *sql.Conn) (sets []string, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT DISTINCT set_name FROM "+sqlName(t.database)+" WHERE set_name <> "+text(t.set))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var set string
		if err := rows.Scan(&set); err != nil {
			return nil, err
		}
		if t.rivals(set) {
			sets = append(sets, set)
		}
	}
	return sets, rows.Err()
}

// lastOfRivals returns up to when ids of the sets with the same ids may have been given, and an error while that may go on.
func (t *Table) lastOfRivals(ctx context.Context, conn *sql.Conn) (last time.Time, err error) {
	if t.rivals == nil {
		return last, nil
	}
	sets, err := t.sets(ctx, conn)
	if err != nil {
		return last, err
	}
	for _, set := range sets {
		var until, now int64
		var live bool
		var address sql.NullString
		err := conn.QueryRowContext(ctx, "SELECT COALESCE(MAX("+sinceEpoch+"reserved_until)), 0), "+sinceEpoch+"UTC_TIMESTAMP(6)),"+
			" COALESCE(MAX(holder <> '' AND expires > UTC_TIMESTAMP(6)), 0), MAX(CASE WHEN holder <> '' AND expires > UTC_TIMESTAMP(6) THEN address END)"+
			" FROM "+sqlName(t.database)+" WHERE worker_id >= 0 AND set_name = "+text(set)).Scan(&until, &now, &live, &address)
		if err != nil {
			return last, err
		}
		if live || until > now {
			return last, InRivalUse(t.set, set, atMicros(until), address.String)
		}
		last = later(last, known(atMicros(until)))
	}
	return last, nil
}

// giveUp ends a lease with which nothing was given.
func (t *Table) giveUp(ctx context.Context, conn *sql.Conn, worker int64, c Claim) error {
	_, err := conn.ExecContext(ctx, "UPDATE "+sqlName(t.database)+" SET holder = '', expires = UTC_TIMESTAMP(6), free_from = UTC_TIMESTAMP(6)"+t.whose(worker, c.Token))
	return err
}

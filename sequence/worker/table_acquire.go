package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seqgate/seqgate/sequence"
)

// Acquire implements [Leaser]. It reads which worker ids are free, tries to take one of them with a statement that does
// nothing when another was faster, and reads again: so the answer is right whichever statement made it so, an earlier one
// with a lost answer too, whose lease is extended then. At first it tries the lowest free one, after each conflict one of
// twice as many.
func (t *Table) Acquire(ctx context.Context, c Claim) (l Lease, err error) {
	err = t.onConn(ctx, "acquire one", func(conn *sql.Conn) error {
		fresh := false // the lease was written by this call
		for window := 1; ; window = min(2*window, mostTried) {
			rows, now, err := t.readAll(ctx, conn)
			if err != nil {
				return err
			}
			if mine, ok := held(rows, c.Token); ok {
				if !fresh {
					query := "UPDATE " + sqlName(t.database) + " SET " + c.setSQL() + t.whose(mine.worker, c.Token)
					if fresh, err = t.try(ctx, conn, query); err != nil {
						return err
					}
					continue
				}
				after, err := t.alone(ctx, conn)
				if err != nil {
					return errors.Join(err, t.giveUp(ctx, conn, mine.worker, c))
				}
				l = Lease{Worker: mine.worker, After: later(known(mine.after), after), Until: earlier(c.Until, mine.until)}
				return nil
			}
			if settled, err := t.sameServer(ctx, conn, rows, c); err != nil {
				return err
			} else if !settled {
				continue
			}
			if _, err := t.alone(ctx, conn); err != nil {
				return err
			}
			free := t.free(rows, window, c)
			if len(free) == 0 {
				return NoneFree(t.set, t.most+1-c.Least, t.taken(rows, c.Least, now))
			}
			if fresh, err = t.take(ctx, conn, free[rand.IntN(len(free))], c); err != nil {
				return err
			}
		}
	})
	return l, err
}

// mostTried is how many worker ids one is chosen from after many conflicts.
const mostTried = 1024

// readAll makes the table when it is missing.
func (t *Table) readAll(ctx context.Context, conn *sql.Conn) ([]row, time.Time, error) {
	rows, now, err := t.read(ctx, conn, " ORDER BY worker_id")
	if !isAnswer(err, 1146) { // ER_NO_SUCH_TABLE
		return rows, now, err
	}
	if _, err := conn.ExecContext(ctx, CreateTableSQL(t.database)); err != nil {
		return nil, now, err
	}
	return t.read(ctx, conn, " ORDER BY worker_id")
}

func held(rows []row, token string) (row, bool) {
	for _, r := range rows {
		if r.worker >= 0 && r.holder == token && r.left > 0 {
			return r, true
		}
	}
	return row{}, false
}

// known makes the time of a worker id that nobody has had the zero time.
func known(after time.Time) time.Time {
	if after.Unix() <= 0 {
		return time.Time{}
	}
	return after
}

// candidate is a worker id to take: its row as it was read, if there is one.
type candidate struct {
	row
	exists bool
}

// free returns up to n worker ids that the claim can take, the lowest ones.
func (t *Table) free(rows []row, n int, c Claim) (free []candidate) {
	next := c.Least
	for _, r := range rows {
		if r.worker < c.Least {
			continue
		}
		for ; next < r.worker && next <= t.most && len(free) < n; next++ {
			free = append(free, candidate{row: row{worker: next}})
		}
		next = r.worker + 1
		if r.locked <= 0 && r.worker <= t.most && c.Usable(r.until) && len(free) < n {
			free = append(free, candidate{r, true})
		}
	}
	for ; next <= t.most && len(free) < n; next++ {
		free = append(free, candidate{row: row{worker: next}})
	}
	return free
}

// take makes a worker id the claim's unless somebody else was faster, or its last holder came back.
func (t *Table) take(ctx context.Context, conn *sql.Conn, free candidate, c Claim) (taken bool, err error) {
	query := fmt.Sprintf("INSERT INTO %s "+
		"(set_name, worker_id, holder, address, clock_ahead_us, expires, free_from, after_time, reserved_until)"+
		" VALUES (%s, %d, %s, %s, %d, UTC_TIMESTAMP(6)%s, UTC_TIMESTAMP(6)%s, '1970-01-01', %s)",
		sqlName(t.database), text(t.set), free.worker, text(c.Token), text(c.Address), c.Ahead.Microseconds(),
		interval(c.Lease), interval(c.Lease+c.Quarantine), c.untilSQL())
	if free.exists {
		query = fmt.Sprintf("UPDATE %s SET holder = %s, after_time = reserved_until, %s%s"+
			" AND reserved_until = %s AND free_from <= UTC_TIMESTAMP(6)", sqlName(t.database), text(c.Token), c.setSQL(), t.whose(free.worker, free.holder), datetime(free.until))
	}
	return t.try(ctx, conn, query)
}

// try runs a statement that may lose against another's, and reports whether it has written a row.
func (t *Table) try(ctx context.Context, conn *sql.Conn, query string) (won bool, err error) {
	res, err := conn.ExecContext(ctx, query)
	if isAnswer(err, 1062, 1205, 1213) { // ER_DUP_ENTRY, ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (t *Table) taken(rows []row, least int64, now time.Time) (all []Taken) {
	for _, r := range rows {
		if r.worker < least || r.worker > t.most || r.locked <= 0 && !r.until.After(now) {
			continue
		}
		one := Taken{Worker: r.worker, Address: r.address, Free: later(now.Add(r.locked), r.until)}
		if r.live() {
			one.Until = now.Add(r.left)
		}
		all = append(all, one)
	}
	return all
}

// Taken returns the worker ids of the set from least on that are not free, by number. The error matches [sequence.ErrNoTable] when
// nobody has made the table yet.
func (t *Table) Taken(ctx context.Context, least int64) (taken []Taken, err error) {
	err = t.onConn(ctx, "read the leases", func(conn *sql.Conn) error {
		rows, now, err := t.read(ctx, conn, " ORDER BY worker_id")
		if isAnswer(err, 1146) { // ER_NO_SUCH_TABLE
			return &Error{Kind: sequence.ErrNoTable, Set: t.set, Text: "there is no table " + sqlName(t.database), Cause: err}
		}
		taken = t.taken(rows, least, now)
		return err
	})
	return taken, err
}

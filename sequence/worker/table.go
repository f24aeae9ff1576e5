package worker

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TableName is the table that the worker ids of all sets are kept in.
const TableName = "seqgate_workers"

// Table keeps worker ids in a table of a database, one row for each that was ever used. The database's clock alone says
// when a lease has ended. The table is made when it is missing; that needs the privilege CREATE, all the rest SELECT,
// INSERT and UPDATE on it. Rows must not be deleted, nor the table be dropped, while there are holders.
//
// A failover can lose leases that the new server has not got from the old one. A first row, of no worker id, therefore
// holds which server served the table last. When another one does, worker ids are leased again only after the time in which
// lost leases end; those that are extended meanwhile are not concerned. Of what else it may have lost, that an extension
// was, the quarantine takes care, if it is longer than the replica was behind.
type Table struct {
	db       *sql.DB
	database string
	set      string
	most     int64
	anyone   bool
	rivals   func(set string) bool
}

var _ Leaser = (*Table)(nil)

// TableConfig says how a [Table] works. Its zero value is good for one server, with or without replicas.
type TableConfig struct {
	// AnyServer takes all servers for one: for clusters that lose no commit and may be written to through each of their
	// members, as Galera is.
	AnyServer bool
	// Rivals reports whether generators with worker ids of another set of the table may give the same ids as those of this
	// one. No worker id is leased while one of such a set is. nil: there is no such set.
	Rivals func(set string) bool
}

// NewTable returns the worker ids 0 to most of a set, which are kept in a database that db, a pool from
// [sequence.NewPool], reaches. Nothing is asked of the server yet. The name of the set may have up to 191 characters; where
// ids of two zones differ by their zone, each zone can have a set of its own.
func NewTable(db *sql.DB, database, set string, most int64, cfg TableConfig) *Table {
	return &Table{db: db, database: database, set: set, most: most, anyone: cfg.AnyServer, rivals: cfg.Rivals}
}

// CreateTableSQL returns the statement that makes the table of worker ids in a database, if it is not there. All its times
// are UTC; reserved_until and after_time are the holders' time, the others the database's.
func CreateTableSQL(database string) string {
	return "CREATE TABLE IF NOT EXISTS " + sqlName(database) + " (set_name VARCHAR(191) NOT NULL, worker_id BIGINT NOT NULL," +
		" holder VARCHAR(32) NOT NULL, address VARCHAR(255) NOT NULL, expires DATETIME(6) NOT NULL, free_from DATETIME(6) NOT NULL," +
		" after_time DATETIME(6) NOT NULL, reserved_until DATETIME(6) NOT NULL, clock_ahead_us BIGINT NOT NULL," +
		" PRIMARY KEY (set_name, worker_id)) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT 'seqgate worker ids'"
}

// row is a row of the table. Times that the database's clock is about are relative to the time of the reading.
type row struct {
	worker          int64
	holder, address string
	left            time.Duration // until the lease ends
	locked          time.Duration // until the quarantine ends
	after, until    time.Time
	ahead           time.Duration
}

func (r row) live() bool { return r.holder != "" && r.left > 0 }

// sinceEpoch and sinceNow begin the expressions for the microseconds to a time.
const (
	sinceEpoch = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', "
	sinceNow   = "TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), "
)

const rowColumns = "worker_id, holder, address, " + sinceNow + "expires), " + sinceNow + "free_from), " +
	sinceEpoch + "after_time), " + sinceEpoch + "reserved_until), clock_ahead_us, " + sinceEpoch + "UTC_TIMESTAMP(6))"

// read returns the rows of the set that match a condition, by worker id, and the database's time.
func (t *Table) read(ctx context.Context, conn *sql.Conn, condition string) (found []row, now time.Time, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT "+rowColumns+" FROM "+sqlName(t.database)+" WHERE set_name = "+text(t.set)+condition)
	if err != nil {
		return nil, now, err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		var left, locked, after, until, ahead, micros int64
		if err := rows.Scan(&r.worker, &r.holder, &r.address, &left, &locked, &after, &until, &ahead, &micros); err != nil {
			return nil, now, err
		}
		r.left, r.locked, r.ahead = microseconds(left), microseconds(locked), microseconds(ahead)
		r.after, r.until, now = atMicros(after), atMicros(until), atMicros(micros)
		found = append(found, r)
	}
	return found, now, rows.Err()
}

// Look implements [Leaser].
func (t *Table) Look(ctx context.Context) (v View, err error) {
	const most = 16 // clocks to compare with
	err = t.onConn(ctx, "look at the clocks", func(conn *sql.Conn) error {
		var micros int64
		err := conn.QueryRowContext(ctx, "SELECT "+sinceEpoch+"UTC_TIMESTAMP(6))").Scan(&micros)
		if err != nil {
			return err
		}
		v.Now = atMicros(micros)
		live, now, err := t.read(ctx, conn, fmt.Sprintf(
			" AND worker_id >= 0 AND holder <> '' AND expires > UTC_TIMESTAMP(6) ORDER BY worker_id LIMIT %d", most))
		if isAnswer(err, 1146) { // ER_NO_SUCH_TABLE: nobody has made it yet
			return nil
		}
		if len(live) > 0 {
			v.Now = now
		}
		for _, r := range live {
			v.Peers = append(v.Peers, Peer{Worker: r.worker, Address: r.address, Clock: now.Add(r.ahead)})
		}
		return err
	})
	return v, err
}

// Extend implements [Leaser].
func (t *Table) Extend(ctx context.Context, worker int64, c Claim) (until time.Time, err error) {
	err = t.onConn(ctx, "extend a lease", func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "UPDATE "+sqlName(t.database)+" SET "+c.setSQL()+t.whose(worker, c.Token)); err != nil {
			return err
		}
		found, _, err := t.read(ctx, conn, fmt.Sprintf(" AND worker_id = %d", worker))
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return Lost(t.set, worker, "")
		case found[0].holder != c.Token:
			return Lost(t.set, worker, found[0].address)
		}
		until = earlier(c.Until, found[0].until)
		return nil
	})
	return until, err
}

// Release implements [Leaser].
func (t *Table) Release(ctx context.Context, worker int64, c Claim) error {
	return t.onConn(ctx, "release a lease", func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "UPDATE "+sqlName(t.database)+" SET holder = '', expires = UTC_TIMESTAMP(6),"+
			" free_from = UTC_TIMESTAMP(6)"+interval(c.Quarantine)+t.whose(worker, c.Token))
		return err
	})
}

func (t *Table) whose(worker int64, token string) string {
	return fmt.Sprintf(" WHERE set_name = %s AND worker_id = %d AND holder = %s", text(t.set), worker, text(token))
}

// setSQL writes a lease. The statement's time is that of its beginning, before any wait for a lock, and after the holder
// began to count. The time reserved never goes back: what is out of order among the statements of a holder does no harm.
func (c Claim) setSQL() string {
	set := fmt.Sprintf("address = %s, clock_ahead_us = %d, expires = UTC_TIMESTAMP(6)%s, free_from = UTC_TIMESTAMP(6)%s",
		text(c.Address), c.Ahead.Microseconds(), interval(c.Lease), interval(c.Lease+c.Quarantine))
	if !c.Until.IsZero() {
		set += ", reserved_until = GREATEST(reserved_until, " + c.untilSQL() + ")"
	}
	return set
}

func (c Claim) untilSQL() string {
	return "LEAST(" + datetime(c.Until) + ", UTC_TIMESTAMP(6)" + interval(c.Lease+c.MaxSkew) + ")"
}

// onConn runs f on one connection, and keeps database/sql from repeating its statements. A connection whose state is not
// known afterwards is closed.
func (t *Table) onConn(ctx context.Context, act string, f func(*sql.Conn) error) error {
	conn, err := t.db.Conn(ctx)
	if err != nil {
		return t.failure("connect", err)
	}
	defer conn.Close() // gives it back to the pool; that of a broken connection fails
	if err = f(conn); err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	// Raw returns the error of the function, and drops the connection because of it.
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	return t.failure(act, err)
}

func (t *Table) failure(act string, err error) error {
	// ER_DBACCESS_DENIED_ERROR, ER_ACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ...
	if isAnswer(err, 1044, 1045, 1142, 1143, 1227) {
		return fmt.Errorf("%s of the worker ids of %s, which needs the privileges SELECT, INSERT and UPDATE on %s, and CREATE if it is missing: %w",
			act, t.set, sqlName(t.database), err)
	}
	if isAnswer(err, 1054) { // ER_BAD_FIELD_ERROR
		return &Error{Kind: ErrBroken, Set: t.set, Cause: err, Text: fmt.Sprintf(
			"table %s has other columns; drop it, when no process uses it, and run: %s", sqlName(t.database), CreateTableSQL(t.database))}
	}
	return fmt.Errorf("%s of the worker ids of %s in %s: %w", act, t.set, sqlName(t.database), err)
}

// isAnswer reports whether err is one of the server's errors with these numbers.
func isAnswer(err error, numbers ...uint16) bool {
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) {
		return false
	}
	for _, n := range numbers {
		if answer.Number == n {
			return true
		}
	}
	return false
}

func sqlName(database string) string {
	return "`" + strings.ReplaceAll(database, "`", "``") + "`." + TableName
}

// text writes a string so that it means the same in every sql_mode and character set.
func text(s string) string { return fmt.Sprintf("_utf8mb4 X'%x'", s) }

func interval(d time.Duration) string {
	return fmt.Sprintf(" + INTERVAL %d MICROSECOND", d.Microseconds())
}

// datetime writes a time, down to the microsecond.
func datetime(t time.Time) string {
	return "TIMESTAMP'" + t.UTC().Format("2006-01-02 15:04:05.000000") + "'"
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

func atMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

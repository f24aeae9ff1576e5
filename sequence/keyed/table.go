package keyed

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/sequence"
)

// store is the sections' rows. Its errors are [*sequence.Error] when the table needs somebody's help; after others
// another attempt may do.
type store interface {
	// load returns the number of sections.
	load(ctx context.Context) (int, error)
	// claim makes the rows with these ids this process's that are free or its own already, extends its leases, and
	// returns all the rows as they are then. After an error the rows may have been claimed.
	claim(ctx context.Context, ids []int) ([]row, error)
	// raise makes next the section's next_id, if this process holds the lease of that fence and it is less, and reports
	// whether it was so. After an error the row may have been raised.
	raise(ctx context.Context, id int, fence, next int64) (bool, error)
	// lift raises next_id and min_value of sections to at least the values there, whoever holds them.
	lift(ctx context.Context, next map[int]int64) error
	// release ends leases of this process, those that it still holds.
	release(ctx context.Context, all []release) error
}

// table is the store in a database.
type table struct {
	db             *sql.DB
	name           sequence.Name
	owner, address string
	lease          time.Duration
	made           *layout // as load found it
}

var _ store = table{}

// comment begins the comment of a keyed sequence's table; the number of sections follows it.
const comment = sequence.KeyedComment + " "

// load reads the number of sections from the table's comment, and refuses a table that does not hold just these.
func (t table) load(ctx context.Context) (sections int, err error) {
	err = t.onConn(ctx, "look at the table", func(conn *sql.Conn) error {
		l, err := t.layout(ctx, conn)
		if err != nil {
			return err
		}
		sections, *t.made = l.sections, l
		var n, least, most, fit int64
		err = conn.QueryRowContext(ctx, "SELECT COUNT(*), COALESCE(MIN(id), 0), COALESCE(MAX(id), 0), COALESCE(SUM("+l.condition()+"), 0) FROM "+t.sqlName()).
			Scan(&n, &least, &most, &fit)
		switch {
		case err != nil:
			return err
		case n != int64(sections) || least != 0 || most != n-1:
			return t.problem(sequence.ErrNoRow, nil, "has %d rows with ids %d to %d instead of %d from 0, as its comment says; seed it again", n, least, most, sections)
		case fit != n:
			return t.problem(sequence.ErrBadRow, nil, "has %d rows that were made for another number of sections than the %d of its comment; "+
				"stop all that use it and make the table anew, above the values given", n-fit, sections)
		}
		return nil
	})
	return sections, err
}

// claim asks for the rows after it has tried to take them, so that the answer is right whichever statement made it so,
// an earlier one with a lost answer too. The database's clock alone says whether a lease has ended. The statement's time
// is that of its beginning, before any wait for a lock: neither a lease taken nor one extended comes out too long.
func (t table) claim(ctx context.Context, ids []int) (rows []row, err error) {
	err = t.onConn(ctx, "claim sections", func(conn *sql.Conn) error {
		for chunk := range slices.Chunk(ids, chunkSize) {
			if _, err := conn.ExecContext(ctx, t.claimSQL(chunk)); err != nil {
				return t.unlessRemade(ctx, conn, err)
			}
			found, err := t.read(ctx, conn, chunk)
			if err != nil {
				return t.unlessRemade(ctx, conn, err)
			}
			rows = append(rows, found...)
		}
		if t.made.inRows {
			return nil
		}
		return t.unlessRemade(ctx, conn, nil)
	})
	return rows, err
}

// chunkSize bounds the length of the statements.
const chunkSize = 1024

// claimSQL writes the assignments so that they mean the same from left to right, as MySQL has it, and all at once.
func (t table) claimSQL(ids []int) string {
	owner := text(t.owner)
	return fmt.Sprintf("UPDATE %s SET fence = fence + IF(owner = %[2]s, 0, 1), owner = %[2]s, address = %s, expires = UTC_TIMESTAMP(6) + INTERVAL %d MICROSECOND"+
		" WHERE id IN (%s) AND (owner = %[2]s OR expires < UTC_TIMESTAMP(6)) AND %[6]s",
		t.sqlName(), owner, text(t.address), t.lease.Microseconds(), list(ids), t.made.condition())
}

func (t table) read(ctx context.Context, conn *sql.Conn, ids []int) (found []row, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT id, next_id, min_value, cache, fence, owner, address, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), expires) FROM "+
		t.sqlName()+" WHERE id IN ("+list(ids)+") AND "+t.made.condition())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		var left int64
		if err := rows.Scan(&r.id, &r.next, &r.least, &r.cache, &r.fence, &r.owner, &r.address, &left); err != nil {
			return nil, err
		}
		if r.cache < 1 {
			return nil, t.problem(sequence.ErrBadRow, nil, "has an unusable cache in section %d: %d; run: UPDATE %s SET cache = %d WHERE cache < 1",
				r.id, r.cache, t.sqlName(), int64(DefaultCache))
		}
		r.left = time.Duration(left) * time.Microsecond
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(found) != len(ids) {
		return nil, t.problem(sequence.ErrNoRow, nil, "lacks the rows of %d sections; seed it again", len(ids)-len(found))
	}
	return found, nil
}

func (t table) raise(ctx context.Context, id int, fence, next int64) (ok bool, err error) {
	err = t.onConn(ctx, "raise a section", func(conn *sql.Conn) error {
		res, err := conn.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET next_id = %d WHERE id = %d AND owner = %s AND fence = %d AND next_id < %[2]d AND %[6]s",
			t.sqlName(), next, id, text(t.owner), fence, t.made.condition()))
		if err != nil {
			return t.unlessRemade(ctx, conn, err)
		}
		n, err := res.RowsAffected()
		ok = n == 1
		return err
	})
	return ok, err
}

func (t table) release(ctx context.Context, all []release) error {
	return t.onConn(ctx, "release sections", func(conn *sql.Conn) error {
		if err := t.unlessRemade(ctx, conn, nil); err != nil {
			return err
		}
		for chunk := range slices.Chunk(all, chunkSize) {
			if _, err := conn.ExecContext(ctx, t.releaseSQL(chunk)); err != nil {
				return err
			}
		}
		return nil
	})
}

// releaseSQL lowers next_id, but not below what [RaiseSQL] and [Raise] asked for.
func (t table) releaseSQL(all []release) string {
	var next, held strings.Builder
	for i, r := range all {
		fmt.Fprintf(&next, " WHEN %d THEN %d", r.id, r.next)
		if i > 0 {
			held.WriteString(", ")
		}
		fmt.Fprintf(&held, "(%d, %d)", r.id, r.fence)
	}
	return fmt.Sprintf("UPDATE %s SET next_id = GREATEST(min_value, CASE id%s ELSE next_id END), owner = '', address = '', expires = '1970-01-01' WHERE (id, fence) IN (%s) AND owner = %s AND %s",
		t.sqlName(), next.String(), held.String(), text(t.owner), t.made.condition())
}

// onConn runs f on one connection, and keeps database/sql from repeating its statements. A connection whose state is not
// known afterwards is closed.
func (t table) onConn(ctx context.Context, act string, f func(*sql.Conn) error) error {
	conn, err := t.db.Conn(ctx)
	if err != nil {
		return t.failure("connect", err)
	}
	defer conn.Close() // gives it back to the pool; that of a broken connection fails
	err = t.failure(act, f(conn))
	var own *sequence.Error
	if err != nil && !errors.As(err, &own) {
		// Raw returns the error of the function, and drops the connection because of it.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// failure makes the errors of a server that tell of the table, or of missing rights, errors of package sequence.
func (t table) failure(act string, err error) error {
	var own *sequence.Error
	if err == nil || errors.As(err, &own) {
		return err
	}
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		switch answer.Number {
		case 1146, 1049: // ER_NO_SUCH_TABLE, ER_BAD_DB_ERROR
			return t.noTable(err)
		case 1054: // ER_BAD_FIELD_ERROR
			return t.problem(sequence.ErrNotSequence, err, "is not a keyed sequence: its table lacks columns; make it anew: %s",
				CreateTableSQL(t.name.Database, t.name.Table, DefaultSections))
		case 1044, 1045, 1142, 1143, 1227: // ER_DBACCESS_DENIED_ERROR, ER_ACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ...
			return fmt.Errorf("%s of keyed sequence %s, which needs the privileges SELECT and UPDATE on its table: %w", act, t.name, err)
		}
	}
	return fmt.Errorf("%s of keyed sequence %s: %w", act, t.name, err)
}

func (t table) noTable(cause error) error {
	return t.problem(sequence.ErrNoTable, cause, "does not exist; make it: %s; and seed its rows", CreateTableSQL(t.name.Database, t.name.Table, DefaultSections))
}

func (t table) problem(kind, cause error, format string, args ...any) error {
	return problem(t.name, kind, cause, format, args...)
}

func problem(name sequence.Name, kind, cause error, format string, args ...any) error {
	return &sequence.Error{Kind: kind, Sequence: name.String(), Text: fmt.Sprintf(format, args...), Cause: cause}
}

func (t table) sqlName() string { return sqlName(t.name.Database, t.name.Table) }

func sqlName(database, table string) string { return quoted(database) + "." + quoted(table) }

// quoted writes an identifier in backticks, which holds in every sql_mode.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// text writes a string so that it means the same in every sql_mode and character set.
func text(s string) string { return fmt.Sprintf("_utf8mb4 X'%x'", s) }

func list(ids []int) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(id))
	}
	return b.String()
}

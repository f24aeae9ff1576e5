package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// comment is what the comment of a sequence table contains (Vitess, go/vt/vttablet/tabletserver/schema/load_table.go).
const comment = "vitess_sequence"

// table is the table of a request on one connection.
type table struct {
	Request
	conn *sql.Conn
}

// where returns the condition that finds the row.
func (q Request) where() string { return fmt.Sprintf(" WHERE id = %d", q.Row) }

// sqlName returns the table's name as statements write it.
func (q Request) sqlName() string { return qualified(q.Database, q.Table) }

func qualified(database, table string) string { return quoted(database) + "." + quoted(table) }

// quoted writes an identifier in backticks, which holds in every sql_mode.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// check finds out whether the table says that it is a sequence. It is asked before the first block only.
func (t table) check(ctx context.Context) error {
	if t.Cache > 0 {
		return nil
	}
	var text string
	err := t.conn.QueryRowContext(ctx, "SELECT table_comment FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
		t.Database, t.Table).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return t.noTable(nil)
	case err != nil:
		return t.failure("read the comment", err)
	case !strings.Contains(text, comment):
		return t.problem(ErrNotSequence, nil, "is not a sequence: the comment of its table does not contain '%s'; if it is meant to be one, run: ALTER TABLE %s COMMENT '%s'",
			comment, t.sqlName(), comment)
	}
	return nil
}

// read reads the row; how is "" or "FOR UPDATE".
func (t table) read(ctx context.Context, how string) (row, error) {
	rows, err := t.conn.QueryContext(ctx, "SELECT next_id, cache FROM "+t.sqlName()+t.where()+" LIMIT 2 "+how)
	if err != nil {
		return row{}, t.failure("read the row", err)
	}
	defer rows.Close()
	var found []row
	for rows.Next() {
		var next, cache sql.NullString
		if err := rows.Scan(&next, &cache); err != nil {
			return row{}, t.failure("read the row", err)
		}
		r, err := t.parse(next, cache)
		if err != nil {
			return row{}, err
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return row{}, t.failure("read the row", err)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return row{}, t.problem(ErrNoRow, nil, "has no row with id %d; choose next_id above every id in use and run: %s",
			t.Row, InsertRowSQL(t.Database, t.Table, t.After+1, DefaultCache))
	}
	return row{}, t.twoRows()
}

func (t table) parse(next, cache sql.NullString) (row, error) {
	var r row
	for _, column := range []struct {
		name string
		text sql.NullString
		to   *int64
	}{{"next_id", next, &r.next}, {"cache", cache, &r.cache}} {
		if !column.text.Valid {
			return row{}, t.badColumn(column.name, "NULL")
		}
		var err error
		if *column.to, err = strconv.ParseInt(column.text.String, 10, 64); err != nil {
			return row{}, t.badColumn(column.name, column.text.String)
		}
	}
	return r, nil
}

// write runs an UPDATE that changes the row if its conditions hold, and reports whether it changed just one.
func (t table) write(ctx context.Context, query string) (sql.Result, bool, error) {
	res, err := t.conn.ExecContext(ctx, query)
	if err != nil {
		return nil, false, t.failure("update the row", err)
	}
	// An UPDATE of ours always changes the row that it finds, so it makes no difference whether the server counts
	// changed rows or found ones (CLIENT_FOUND_ROWS).
	n, err := res.RowsAffected()
	if err != nil {
		return nil, false, t.failure("update the row", err)
	}
	return res, n == 1, nil
}

// swap writes the row to if it still is from.
func (t table) swap(ctx context.Context, from, to row) (bool, error) {
	_, ok, err := t.write(ctx, "UPDATE "+t.sqlName()+to.set()+
		fmt.Sprintf("%s AND next_id = %d AND cache = %d", t.where(), from.next, from.cache))
	return ok, err
}

// set writes the columns of a row after a reservation; cache stays as it is but for the last block of all.
func (r row) set() string {
	if r == usedUp {
		return fmt.Sprintf(" SET next_id = %d, cache = %d", r.next, r.cache)
	}
	return fmt.Sprintf(" SET next_id = %d", r.next)
}

// release gives unused back: see [Releaser].
func release(ctx context.Context, db *sql.DB, q Request, unused Range) (given bool, err error) {
	err = onTable(ctx, db, q, func(t table) error {
		_, given, err = t.write(ctx, fmt.Sprintf("UPDATE %s SET next_id = %d%s AND next_id = %d",
			t.sqlName(), unused.First, t.where(), unused.Last()+1))
		return err
	})
	return given, err
}

// raise brings the row to q.After+1: see [Raiser]. A row that is there already is left as it is.
func raise(ctx context.Context, db *sql.DB, q Request) error {
	return onTable(ctx, db, q, func(t table) error {
		to, limit := row{next: q.After + 1}, " AND next_id <= %[2]d"
		if q.After == maxID {
			to, limit = usedUp, ""
		}
		_, changed, err := t.write(ctx, fmt.Sprintf("UPDATE %[1]s%[3]s%[4]s"+limit, t.sqlName(), q.After, to.set(), t.where()))
		if err != nil || changed {
			return err
		}
		_, err = t.read(ctx, "") // says what is wrong with a row that is not fit
		return err
	})
}

// failure wraps what a statement ended with. Errors that tell of the table become errors of this package.
func (q Request) failure(act string, err error) error {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		switch answer.Number {
		case 1146, 1049: // ER_NO_SUCH_TABLE, ER_BAD_DB_ERROR
			return q.noTable(err)
		case 1054: // ER_BAD_FIELD_ERROR
			return q.problem(ErrNotSequence, err, "is not a sequence: its table lacks the columns id, next_id and cache; name another table, or make this one anew: %s",
				CreateTableSQL(q.Database, q.Table))
		}
	}
	return fmt.Errorf("%s for sequence %s.%s: %w", act, q.Database, q.Table, err)
}

func (q Request) problem(kind, cause error, format string, args ...any) error {
	return &Error{Kind: kind, Sequence: q.Database + "." + q.Table, Text: fmt.Sprintf(format, args...), Cause: cause}
}

func (q Request) noTable(cause error) error {
	return q.problem(ErrNoTable, cause, "does not exist; choose next_id above every id in use and run: %s; %s",
		CreateTableSQL(q.Database, q.Table), InsertRowSQL(q.Database, q.Table, q.After+1, DefaultCache))
}

func (q Request) twoRows() error {
	return q.problem(ErrBadRow, nil, "has several rows with id %d; keep the one with the largest next_id and make id the primary key", q.Row)
}

func (q Request) badColumn(name, value string) error {
	if name == "cache" {
		return q.problem(ErrBadRow, nil, "has an unusable cache: %s; run: UPDATE %s SET cache = %d%s",
			value, q.sqlName(), int64(DefaultCache), q.where())
	}
	return q.problem(ErrBadRow, nil, "has an unusable next_id: %s; set it above every id in use, for example: UPDATE %s SET next_id = %d%s",
		value, q.sqlName(), q.After+1, q.where())
}

func (q Request) badCache(cache int64) error {
	return q.badColumn("cache", strconv.FormatInt(cache, 10))
}

func (q Request) exhausted(left int64) error {
	return q.problem(ErrExhausted, nil, "is exhausted: ids wanted: %d, left up to the last id %[3]d: %[2]d; use a new sequence, or a wider column if that ends it",
		q.Need, left, q.last())
}

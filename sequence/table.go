package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// comment is what the comment of a sequence table contains (Vitess, go/vt/vttablet/tabletserver/schema/load_table.go).
const comment = "vitess_sequence"

// table is the table of a request on one connection.
type table struct {
	Request
	conn *sql.Conn

	ordered  bool  // see Reservation
	unmarked error // see Reservation
}

// reserve has a strategy make its attempt on one connection of db.
func reserve(ctx context.Context, db *sql.DB, q Request, how strategy) (res Reservation, err error) {
	err = attemptOn(ctx, db, q, func(ctx context.Context, t table) error {
		if err := t.check(ctx); err != nil {
			return err
		}
		res, err = t.reserveHere(ctx, how)
		res.Max, res.Ordered, res.Unmarked = t.Max, t.ordered, t.unmarked
		return err
	})
	if err != nil {
		return Reservation{}, err
	}
	return res, nil
}

// strategy is a way to make one attempt to reserve a block.
type strategy func(t table, ctx context.Context) (Reservation, error)

// where returns the condition that finds the row.
func (q Request) where() string { return fmt.Sprintf(" WHERE id = %d", q.Row) }

// sqlName returns the table's name as statements write it.
func (q Request) sqlName() string { return qualified(q.Database, q.Table) }

func qualified(database, table string) string { return quoted(database) + "." + quoted(table) }

// quoted writes an identifier in backticks, which holds in every sql_mode.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// KeyedComment begins the comment of the tables of package keyed. Their rows are of another kind.
const KeyedComment = "seqgate_keyed"

// check finds out whether the table says that it is a sequence, which id is its last, and whether its ids are ordered. It is
// asked before the first block only.
func (t *table) check(ctx context.Context) error {
	if t.Cache > 0 {
		t.lookAgain(ctx)
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
	case strings.HasPrefix(text, KeyedComment):
		return t.problem(ErrNotSequence, nil, "counts by key: ask it with SELECT NEXT VALUE FROM %s FOR KEY 'k', or name its key column in the vschema", t.sqlName())
	case strings.HasPrefix(text, stripedComment):
		return t.problem(ErrNotSequence, nil, "lies in stripes on several servers: name them in the configuration, in sequences.overrides (stores)")
	case !strings.Contains(text, comment) && !t.hasRowColumns(ctx):
		return t.problem(ErrNotSequence, nil, "is not a sequence: it has no columns next_id and cache")
	case !strings.Contains(text, comment):
		return t.problem(ErrNotSequence, nil, "is not a sequence: the comment of its table does not contain '%s'; if it is meant to be one, run: ALTER TABLE %s COMMENT '%s'",
			comment, t.sqlName(), comment)
	}
	o, _ := ParseComment(text)
	if o.Max > 0 {
		t.Max = min(t.last(), o.Max)
	}
	t.order(ctx, text, o)
	return nil
}

// hasRowColumns reports whether the table has the columns of a sequence; also when that cannot be told.
func (t table) hasRowColumns(ctx context.Context) bool {
	var n int
	err := t.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = ? AND table_name = ? AND column_name IN ('next_id', 'cache')",
		t.Database, t.Table).Scan(&n)
	return err != nil || n == 2
}

// read reads the row; how is "" or "FOR UPDATE". It returns errElsewhere when another server served the row last.
func (t table) read(ctx context.Context, how string) (row, error) {
	rows, err := t.conn.QueryContext(ctx, "SELECT next_id, cache, "+t.here()+" FROM "+t.sqlName()+t.where()+" LIMIT 2 "+how)
	if err != nil {
		return row{}, t.failure("read the row", err)
	}
	defer rows.Close()
	var found []row
	var here bool
	for rows.Next() {
		var next, cache sql.NullString
		if err := rows.Scan(&next, &cache, &here); err != nil {
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
	switch {
	case len(found) == 0:
		return row{}, t.noRow()
	case len(found) > 1:
		return row{}, t.twoRows()
	case !here:
		return row{}, errElsewhere
	}
	return found[0], nil
}

func (t table) parse(next, cache sql.NullString) (row, error) {
	var r row
	for _, column := range []struct {
		name string
		text sql.NullString
		to   *int64
	}{{"next_id", next, &r.next}, {"cache", cache, &r.cache}} {
		if !column.text.Valid {
			return row{}, t.badColumn(column.name, "NULL", nil)
		}
		var err error
		if *column.to, err = strconv.ParseInt(column.text.String, 10, 64); err != nil {
			return row{}, t.badColumn(column.name, column.text.String, err)
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
		fmt.Sprintf("%s AND next_id = %d AND cache = %d", t.where(), from.next, from.cache)+t.andHere())
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
			t.sqlName(), unused.First, t.where(), unused.Last()+1)+t.andHere())
		return err
	})
	return given, err
}

// raise brings the row to q.After+1: see [Raiser]. A row that is there already is left as it is.
func raise(ctx context.Context, db *sql.DB, q Request) (raised bool, err error) {
	q.FailoverSkip = 0 // whichever server served the row, it is to be above After
	err = attemptOn(ctx, db, q, func(ctx context.Context, t table) error {
		if err := t.check(ctx); err != nil {
			return err
		}
		to, below := usedUp, fmt.Sprintf("(next_id < %d OR cache <> 0)", maxID)
		if q.After < maxID {
			to, below = row{next: q.After + 1, cache: 1}, fmt.Sprintf("next_id <= %d", q.After)
		}
		_, raised, err = t.write(ctx, fmt.Sprintf("UPDATE %s%s%s AND %s", t.sqlName(), to.set(), t.where(), below))
		if err != nil || raised {
			return err
		}
		_, err = t.read(ctx, "") // says what is wrong with a row that is not fit
		return err
	})
	return raised, err
}

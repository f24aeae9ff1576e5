package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// stripeRow is a row of a striped sequence's table. Rows 1, 2, 3, ... are the stripes that the server has. Row -1, -2,
// -3, ... is left behind when a stripe has moved away, and is kept: see [Striped.Move].
type stripeRow struct {
	id int
	row
	movedTo string // of a row left behind: the server that is to get the stripe; "" once that has it
}

// stripesSQL returns the statement that creates a striped sequence's table on a server.
func stripesSQL(l StripeLayout, q Request, server string) string {
	return "CREATE TABLE IF NOT EXISTS " + q.sqlName() + " (id INT PRIMARY KEY, next_id BIGINT NOT NULL, cache BIGINT NOT NULL," +
		" moved_to VARCHAR(64)) ENGINE = InnoDB COMMENT '" + l.comment(server) + "'"
}

// stripes reads the rows of a striped sequence's table, none if there is no table, after a look at its comment.
func (s *stripeServer) stripes(ctx context.Context, l StripeLayout, q Request) (found []stripeRow, err error) {
	err = onTable(ctx, s.db, q, func(t table) error {
		if err := t.checkStriped(ctx, l, s.name); err != nil {
			return err
		}
		found, err = t.stripeRows(ctx, l)
		return err
	})
	if errors.Is(err, ErrNoTable) {
		return nil, nil
	}
	return found, err
}

func (t table) checkStriped(ctx context.Context, l StripeLayout, server string) error {
	var got string
	err := t.conn.QueryRowContext(ctx, "SELECT table_comment FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
		t.Database, t.Table).Scan(&got)
	want := l.comment(server)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return t.noTable(nil)
	case err != nil:
		return t.failure("read the comment", err)
	case got == want:
		return nil
	case strings.HasPrefix(got, stripedComment):
		return t.problem(ErrStripes, nil, "is striped in another way than this process is configured for: the comment of its table on server %s is '%s', not '%s';"+
			" correct the configuration, or drop the table there if it is a copy of another server's", server, got, want)
	}
	return t.problem(ErrNotSequence, nil, "is no striped sequence: the comment of its table on server %s is '%s', not '%s'; name another table", server, got, want)
}

func (t table) stripeRows(ctx context.Context, l StripeLayout) ([]stripeRow, error) {
	rows, err := t.conn.QueryContext(ctx, fmt.Sprintf("SELECT id, next_id, cache, COALESCE(moved_to, '') FROM %s WHERE ABS(id) BETWEEN 1 AND %d",
		t.sqlName(), l.Stripes))
	if err != nil {
		return nil, t.failure("read the stripes", err)
	}
	defer rows.Close()
	var found []stripeRow
	for rows.Next() {
		var r stripeRow
		if err := rows.Scan(&r.id, &r.next, &r.cache, &r.movedTo); err != nil {
			return nil, t.failure("read the stripes", err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, t.failure("read the stripes", err)
	}
	return found, nil
}

// nextOf reads the next_id of the row that q names.
func (s *stripeServer) nextOf(ctx context.Context, q Request) (int64, error) {
	var r row
	q.FailoverSkip = 0 // whichever server served the row
	err := onTable(ctx, s.db, q, func(t table) (err error) {
		r, err = t.read(ctx, "")
		return err
	})
	return r.next, err
}

// create makes the table if it is missing.
func (s *stripeServer) create(ctx context.Context, l StripeLayout, q Request) error {
	return onTable(ctx, s.db, q, func(t table) error {
		return t.exec(ctx, stripesSQL(l, q, s.name))
	})
}

// seed inserts the first rows of the table. A table that has, or had, any is left alone.
func (s *stripeServer) seed(ctx context.Context, q Request, rows []stripeRow) error {
	var values []string
	for _, r := range rows {
		values = append(values, fmt.Sprintf("SELECT %d AS id, %d AS next_id, %d AS cache", r.id, r.next, r.cache))
	}
	query := fmt.Sprintf("INSERT INTO %[1]s (id, next_id, cache) SELECT id, next_id, cache FROM (%[2]s) AS seed WHERE NOT EXISTS (SELECT 1 FROM %[1]s AS there)",
		q.sqlName(), strings.Join(values, " UNION ALL "))
	return s.insert(ctx, q, query, 1062, 1213) // ER_DUP_ENTRY, ER_LOCK_DEADLOCK: another seeds the same at this moment
}

// arrive inserts a stripe that another server has left behind as r. It does nothing when this server has it already, or
// has had it since r was left behind: then an own row says so, with a larger next_id than r's. So it may be repeated, and
// may come late.
func (s *stripeServer) arrive(ctx context.Context, q Request, r stripeRow) error {
	return s.insert(ctx, q, fmt.Sprintf(
		"INSERT INTO %[1]s (id, next_id, cache) SELECT %[2]d, %[3]d, %[4]d FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM %[1]s AS left_behind WHERE id = %[5]d AND next_id >= %[3]d)",
		q.sqlName(), -r.id, r.next, r.cache, r.id), 1062) // ER_DUP_ENTRY: it is there
}

// insert runs query. The server's errors in done say that there is nothing to do.
func (s *stripeServer) insert(ctx context.Context, q Request, query string, done ...uint16) error {
	err := onTable(ctx, s.db, q, func(t table) error { return t.exec(ctx, query) })
	if slices.ContainsFunc(done, func(number uint16) bool { return isAnswer(err, number) }) {
		return nil
	}
	return err
}

// leave turns the stripe q.Row into a row left behind, on its way to another server, and returns that row. From the
// confirmed commit on, this server gives no more ids of the stripe. The next_id grows by one, so that a stripe is never
// left behind twice with the same.
func (s *stripeServer) leave(ctx context.Context, q Request, to string) (r stripeRow, err error) {
	r = stripeRow{id: -int(q.Row), movedTo: to}
	err = onTable(ctx, s.db, q, func(t table) error {
		return t.inTransaction(ctx, func() (err error) {
			r.row, err = t.leave(ctx, r)
			return err
		})
	})
	return r, err
}

func (t table) leave(ctx context.Context, as stripeRow) (row, error) {
	if err := t.exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE id = %d", t.sqlName(), as.id)); err != nil { // of an earlier move
		return row{}, err
	}
	_, ok, err := t.write(ctx, fmt.Sprintf("UPDATE %s SET id = %d, next_id = next_id + 1, moved_to = '%s'%s", t.sqlName(), as.id, as.movedTo, t.where()))
	if err != nil {
		return row{}, err
	}
	if !ok {
		return row{}, t.problem(ErrNoRow, nil, "has no stripe %d there any more; look where it is and try again", t.Row)
	}
	t.Row = int64(as.id)
	return t.read(ctx, "")
}

// arrived notes that the stripe left behind as r has its new server.
func (s *stripeServer) arrived(ctx context.Context, q Request, r stripeRow) error {
	return onTable(ctx, s.db, q, func(t table) error {
		return t.exec(ctx, fmt.Sprintf("UPDATE %s SET moved_to = NULL WHERE id = %d AND next_id = %d", t.sqlName(), r.id, r.next))
	})
}

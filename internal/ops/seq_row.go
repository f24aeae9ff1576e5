package ops

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/sequence"
)

// SeqRow is the row of a sequence.
type SeqRow struct {
	next, cache sql.NullInt64
}

func newSeqRow(next, cache int64) SeqRow {
	return SeqRow{sql.NullInt64{Int64: next, Valid: true}, sql.NullInt64{Int64: cache, Valid: true}}
}

// usedUp reports whether the row says that 2^63-1 itself was given: see package sequence.
func (r SeqRow) usedUp() bool { return r == newSeqRow(math.MaxInt64, 0) }

// usableCache is the row's cache, or another when none can be reserved by it.
func (r SeqRow) usableCache(other int64) int64 {
	if r.cache.Int64 < 1 {
		return other
	}
	return r.cache.Int64
}

func (r SeqRow) String() string {
	text := func(n sql.NullInt64) string {
		if !n.Valid {
			return "NULL"
		}
		return fmt.Sprint(n.Int64)
	}
	return fmt.Sprintf("next_id %s, cache %s", text(r.next), text(r.cache))
}

// readSequence reads the rows with id = 0, which should be one. It may be called in parallel.
func (s *Server) readSequence(ctx context.Context, table string) ([]SeqRow, error) {
	rows, err := s.DB.QueryContext(ctx, "SELECT `next_id`, `cache` FROM "+s.quoted(table)+" WHERE `id` = 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []SeqRow
	for rows.Next() {
		var r SeqRow
		if err := rows.Scan(&r.next, &r.cache); err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, rows.Err()
}

// Decision says what becomes of a sequence's row as it is now; nil stands for a row that is missing. It returns an error
// for a row that is to stay as it is.
type Decision func(now *SeqRow) (SeqRow, error)

// Editor changes the rows of sequences, and prints the SQL by which it does. What it prints besides are SQL comments.
type Editor struct {
	Out    io.Writer
	DryRun bool // print the SQL and run none of it
}

// EditTries is how often a row is read and found changed by others before an editor gives up.
const EditTries = 100

// Edit brings a row to what decide makes of it. Nothing that others write meanwhile is lost: each statement names the row
// as it was read or only raises it, and decide is asked again when the row has changed. The exception is a next_id that
// is to be lowered: a row that moves is in use, and is left alone.
func (e Editor) Edit(ctx context.Context, s *Server, name TableName, decide Decision) error {
	for range EditTries {
		now, err := e.read(ctx, s, name.Table)
		if err != nil {
			return err
		}
		to, err := decide(now)
		switch {
		case err != nil:
			return err
		case now != nil && *now == to:
			return e.note("%s: nothing to do, %s", name, to)
		}
		done, err := e.execute(ctx, s, rowSQL(s.database, name.Table, now, to))
		switch {
		case err != nil:
			return err
		case done && now != nil:
			return e.note("%s: %s -> %s", name, now, to)
		case done:
			return nil // the INSERT says it all
		case now != nil && to.next.Int64 < now.next.Int64:
			return fmt.Errorf("next_id is not %d any more: somebody reserves ids from it at this moment; stop every seqgate and Vitess that uses the sequence before lowering it", now.next.Int64)
		}
	}
	return fmt.Errorf("others changed the row between reading and writing it %d times: try again", EditTries)
}

// read reads the row, nil when there is none, as before the first run of a dry run.
func (e Editor) read(ctx context.Context, s *Server, table string) (*SeqRow, error) {
	if _, exists := s.table(table); !exists && e.DryRun {
		return nil, nil
	}
	rows, err := s.readSequence(ctx, table)
	switch {
	case err != nil:
		return nil, err
	case len(rows) > 1:
		return nil, fmt.Errorf("there are %d rows with id = 0: leave the one with the largest next_id", len(rows))
	case len(rows) == 1:
		return &rows[0], nil
	}
	return nil, nil
}

// rowSQL is the statement that brings a row to another state: it does so only while the row is what it was, or it raises
// the row as it is by then.
func rowSQL(database, table string, now *SeqRow, to SeqRow) string {
	switch {
	case now == nil:
		return sequence.InsertRowSQL(database, table, to.next.Int64, to.cache.Int64)
	case now.next.Valid && now.next.Int64 < to.next.Int64 && now.cache == to.cache:
		return sequence.RaiseSQL(database, table, to.next.Int64)
	}
	return fmt.Sprintf("UPDATE %s.%s SET next_id = %d, cache = %d WHERE id = 0 AND next_id <=> %s AND cache <=> %s",
		Quote(database), Quote(table), to.next.Int64, to.cache.Int64, sqlValue(now.next), sqlValue(now.cache))
}

func sqlValue(n sql.NullInt64) string {
	if !n.Valid {
		return "NULL"
	}
	return fmt.Sprint(n.Int64)
}

// execute prints a statement, and runs it unless this is a dry run. It reports false when others have changed the row
// before, so that the statement did nothing.
func (e Editor) execute(ctx context.Context, s *Server, statement string) (bool, error) {
	if _, err := fmt.Fprintln(e.Out, statement+";"); err != nil || e.DryRun {
		return true, err
	}
	result, err := s.DB.ExecContext(ctx, statement)
	if serverError(err, 1062) { // ER_DUP_ENTRY
		return false, nil
	}
	if err != nil {
		return false, err
	}
	changed, err := result.RowsAffected()
	return changed > 0, err
}

// create makes a sequence's table, unless another has just made it.
func (e Editor) create(ctx context.Context, s *Server, table string) error {
	_, err := e.execute(ctx, s, sequence.CreateTableSQL(s.database, table))
	if serverError(err, 1050) { // ER_TABLE_EXISTS_ERROR
		return nil
	}
	return err
}

// serverError reports whether err is a server's error of that number.
func serverError(err error, number uint16) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == number
}

// note prints a remark as an SQL comment, so that the output stays SQL.
func (e Editor) note(format string, args ...any) error {
	text := "-- " + strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n-- ")
	_, err := fmt.Fprintln(e.Out, text)
	return err
}

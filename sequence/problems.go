package sequence

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-sql-driver/mysql"
)

// failure wraps what a statement ended with. Errors that tell of the table become errors of this package.
func (q Request) failure(act string, err error) error {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		switch answer.Number {
		case 1146, 1049: // ER_NO_SUCH_TABLE, ER_BAD_DB_ERROR
			return q.noTable(err)
		case 1264, 1690: // ER_WARN_DATA_OUT_OF_RANGE, ER_DATA_OUT_OF_RANGE
			return q.problem(ErrBadRow, err, "has a column next_id that cannot hold its next value; run: ALTER TABLE %s MODIFY next_id BIGINT", q.sqlName())
		case 1292, 1366: // ER_TRUNCATED_WRONG_VALUE, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
			return q.badColumn("next_id", "no number", err)
		case 1054: // ER_BAD_FIELD_ERROR
			return q.problem(ErrNotSequence, err, "is not a sequence: its table lacks the columns id, next_id and cache; name another table, or make this one anew: %s",
				CreateTableSQL(q.Database, q.Table))
		}
	}
	return fmt.Errorf("%s for sequence %s: %w", act, q.name(), err)
}

func (q Request) problem(kind, cause error, format string, args ...any) error {
	return &Error{Kind: kind, Sequence: q.name(), Text: fmt.Sprintf(format, args...), Cause: cause}
}

func (q Request) noTable(cause error) error {
	return q.problem(ErrNoTable, cause, "does not exist; choose next_id above every id in use and run: %s; %s",
		CreateTableSQL(q.Database, q.Table), InsertRowSQL(q.Database, q.Table, q.After+1, DefaultCache))
}

func (q Request) noRow() error {
	return q.problem(ErrNoRow, nil, "has no row with id %d; choose next_id above every id in use and run: %s",
		q.Row, insertRowSQL(q.Database, q.Table, q.Row, q.After+1, DefaultCache))
}

func (q Request) twoRows() error {
	return q.problem(ErrBadRow, nil, "has several rows with id %d; keep the one with the largest next_id and make id the primary key", q.Row)
}

func (q Request) badColumn(name, value string, cause error) error {
	if name == "cache" {
		return q.problem(ErrBadRow, cause, "has an unusable cache: %s; run: UPDATE %s SET cache = %d%s",
			value, q.sqlName(), int64(DefaultCache), q.where())
	}
	return q.problem(ErrBadRow, cause, "has an unusable next_id: %s; set it above every id in use, for example: UPDATE %s SET next_id = %d%s",
		value, q.sqlName(), q.After+1, q.where())
}

func (q Request) badCache(cache int64) error {
	return q.badColumn("cache", strconv.FormatInt(cache, 10), nil)
}

// exhausted says that so many ids are left, the first of which is next; 0: not known.
func (q Request) exhausted(left, next int64) error {
	return &Error{Kind: ErrExhausted, Sequence: q.name(), Next: next, Text: fmt.Sprintf(
		"is exhausted: ids wanted: %d, left up to the last id %[3]d: %[2]d; use a new sequence, or a wider column if that ends it", q.Need, left, q.last())}
}

package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/sequence"
)

// What a server says of a table has to be of one table: MariaDB opens it anew for each part of a question to
// information_schema, so that it may be dropped, made anew or swapped for another one in between, and a part whose table
// could not be opened just has no rows. So it is asked for all parts twice; MySQL's statement sees one moment. What is not
// there counts only when the server says so in an error of its own.

// describeAttempts is how often a table is looked at that is another one each time, and interruptions how often a
// statement that was cut, by KILL QUERY say.
const (
	describeAttempts = 50
	interruptions    = 5
)

// describeText asks for the table and its columns. The conditions are equalities on purpose: with them both servers open
// that table alone. CONCAT makes text of what the engine of the demo has numbers for.
const describeText = "SELECT 0, CONVERT(CONCAT(TABLE_NAME, '') USING utf8mb4), CONVERT(CONCAT(TABLE_TYPE, '') USING utf8mb4)," +
	" CONVERT(COALESCE(ENGINE, '') USING utf8mb4), '', '', '', VERSION() LIKE '%MariaDB%' FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?" +
	" UNION ALL SELECT ORDINAL_POSITION, CONVERT(COLUMN_NAME USING utf8mb4), CONVERT(COLUMN_TYPE USING utf8mb4), CONVERT(CONCAT(COLUMN_KEY, '') USING utf8mb4)," +
	" CONVERT(EXTRA USING utf8mb4), CONVERT(COALESCE(COLUMN_DEFAULT, '') USING utf8mb4), CONVERT(COALESCE(CHARACTER_SET_NAME, '') USING utf8mb4)," +
	" VERSION() LIKE '%MariaDB%' OR EXTRA LIKE '%DEFAULT_GENERATED%' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"

// changedError says that a table was another one at each look, or that each look at it was cut: nothing is known of it.
func changedError(schema, table string) error {
	return mysql.NewError(mysql.ER_TABLE_DEF_CHANGED, fmt.Sprintf(
		"Table definition has changed, please retry transaction: seqgate looked at '%s.%s' again and again while it was being changed", schema, table))
}

// IsChanged reports whether err is changedError.
func IsChanged(err error) bool {
	var changed *mysql.MyError
	return errors.As(err, &changed) && changed.Code == mysql.ER_TABLE_DEF_CHANGED
}

// Describe asks the server for one table. One that is not there, or that seqgate's own account may not see, does not exist.
func Describe(ctx context.Context, db *sql.DB, schema, table string) (Table, error) {
	var found Table
	err := UntilStable(ctx, schema, table, func() (settled bool, err error) {
		var same bool
		if found, same, err = readTwice(ctx, db, schema, table); err != nil || !same {
			return false, err
		}
		if found.Exists && len(found.Columns) > 0 {
			return true, nil
		}
		shown, err := showColumns(ctx, db, schema, table)
		switch {
		case isAbsent(err):
			return !found.Exists, nil
		case err != nil:
			return false, err
		case len(shown.Columns) == 0: // the account may see the table, but none of its columns
			found = Table{}
			return true, nil
		}
		return false, nil // it is there by now
	})
	if err != nil {
		return Table{}, err
	}
	return found, nil
}

// DescribeSequence asks for the columns of what may be a sequence table. What has none that could be read is none.
func DescribeSequence(ctx context.Context, db *sql.DB, schema, table string) (found Table, err error) {
	err = UntilStable(ctx, schema, table, func() (bool, error) {
		found, err = showColumns(ctx, db, schema, table)
		if isAbsent(err) || IsServerError(err, mysql.ER_VIEW_INVALID) {
			return true, nil
		}
		return err == nil, err
	})
	return found, err
}

// UntilStable looks at a table until what is seen is one table's.
func UntilStable(ctx context.Context, schema, table string, look func() (settled bool, err error)) error {
	cut := 0
	for attempt := range describeAttempts {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(min(time.Duration(attempt), 10) * time.Millisecond):
			}
		}
		settled, err := look()
		switch {
		case isInterrupted(err):
			if cut++; cut > interruptions {
				return changedError(schema, table)
			}
		case settled || err != nil:
			return err
		}
	}
	return changedError(schema, table)
}

// readTwice reads a table, on MariaDB twice, and reports whether what was read is of one table, or none.
func readTwice(ctx context.Context, db *sql.DB, schema, table string) (found Table, same bool, err error) {
	found, torn, err := readOnce(ctx, db, schema, table)
	if err != nil || !found.Exists || !torn {
		return found, found.Exists || len(found.Columns) == 0, err
	}
	again, _, err := readOnce(ctx, db, schema, table)
	return found, found.equal(&again), err
}

// readOnce reads a table; torn says that parts may be another one's.
func readOnce(ctx context.Context, db *sql.DB, schema, table string) (found Table, torn bool, err error) {
	rows, err := db.QueryContext(ctx, describeText, schema, table, schema, table)
	if err != nil {
		return found, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Column
		if err := rows.Scan(&c.ordinal, &c.Name, &c.Type, &c.Key, &c.Extra, &c.value, &c.Charset, &c.valueIsSQL); err != nil {
			return found, false, err
		}
		if c.ordinal == 0 {
			torn = c.valueIsSQL // the server is a MariaDB
			found.Exists, found.Name, found.Kind, found.Engine = true, c.Name, c.Type, c.Key
		} else {
			found.Columns = append(found.Columns, c)
		}
	}
	slices.SortFunc(found.Columns, func(a, b Column) int { return cmp.Compare(a.ordinal, b.ordinal) })
	return found, torn, rows.Err()
}

// equal reports whether two readings are of one table. One that has columns is a table.
func (t *Table) equal(other *Table) bool {
	return t.Exists == other.Exists && t.Name == other.Name && t.Kind == other.Kind && t.Engine == other.Engine &&
		slices.Equal(t.Columns, other.Columns) && (t.Exists || len(t.Columns) == 0)
}

// showColumns returns the names of a table's columns, which both servers read of one table. It is an error that the table
// is not there.
func showColumns(ctx context.Context, db *sql.DB, schema, table string) (found Table, err error) {
	rows, err := db.QueryContext(ctx, "SHOW COLUMNS FROM "+Quote(schema)+"."+Quote(table))
	if err != nil {
		return found, err
	}
	defer rows.Close()
	for rows.Next() {
		var c Column
		var rest [5]sql.RawBytes
		if err := rows.Scan(&c.Name, &rest[0], &rest[1], &rest[2], &rest[3], &rest[4]); err != nil {
			return found, err
		}
		found.Columns = append(found.Columns, c)
	}
	found.Exists = true
	return found, rows.Err()
}

// isAbsent reports whether the server says that a table is not there, or cannot be, or that the account may not see it.
func isAbsent(err error) bool {
	return IsServerError(err, mysql.ER_NO_SUCH_TABLE, mysql.ER_UNKNOWN_TABLE, mysql.ER_BAD_DB_ERROR,
		mysql.ER_TABLEACCESS_DENIED_ERROR, mysql.ER_COLUMNACCESS_DENIED_ERROR, mysql.ER_DBACCESS_DENIED_ERROR,
		mysql.ER_WRONG_TABLE_NAME, mysql.ER_WRONG_DB_NAME, mysql.ER_TOO_LONG_IDENT, mysql.ER_INVALID_CHARACTER_STRING)
}

// isInterrupted reports whether a statement was cut, and may as well be asked again.
func isInterrupted(err error) bool {
	const (
		mysqlTimeout   = 3024 // ER_QUERY_TIMEOUT, of max_execution_time
		mariaDBTimeout = 1969 // ER_STATEMENT_TIMEOUT, of max_statement_time
		mariaDBKilled  = 1927 // ER_CONNECTION_KILLED
	)
	return IsServerError(err, mysql.ER_QUERY_INTERRUPTED, mysql.ER_TABLE_DEF_CHANGED, mysqlTimeout, mariaDBTimeout, mariaDBKilled)
}

// IsServerError reports whether err is an error of the server's with one of these numbers.
func IsServerError(err error, numbers ...uint16) bool {
	number, _, ok := sequence.ServerError(err)
	return ok && slices.Contains(numbers, number)
}

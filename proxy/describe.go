package proxy

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

// isChanged reports whether err is changedError.
func isChanged(err error) bool {
	var changed *mysql.MyError
	return errors.As(err, &changed) && changed.Code == mysql.ER_TABLE_DEF_CHANGED
}

// describe asks the server for one table. One that is not there, or that seqgate's own account may not see, does not exist.
func describe(ctx context.Context, db *sql.DB, schema, table string) (tableInfo, error) {
	var found tableInfo
	err := untilSettled(ctx, schema, table, func() (settled bool, err error) {
		var same bool
		if found, same, err = readTwice(ctx, db, schema, table); err != nil || !same {
			return false, err
		}
		if found.exists && len(found.columns) > 0 {
			return true, nil
		}
		shown, err := showColumns(ctx, db, schema, table)
		switch {
		case isAbsent(err):
			return !found.exists, nil
		case err != nil:
			return false, err
		case len(shown.columns) == 0: // the account may see the table, but none of its columns
			found = tableInfo{}
			return true, nil
		}
		return false, nil // it is there by now
	})
	if err != nil {
		return tableInfo{}, err
	}
	return found, nil
}

// describeSequence asks for the columns of what may be a sequence table. What has none that could be read is none.
func describeSequence(ctx context.Context, db *sql.DB, schema, table string) (found tableInfo, err error) {
	err = untilSettled(ctx, schema, table, func() (bool, error) {
		found, err = showColumns(ctx, db, schema, table)
		if isAbsent(err) || isServerError(err, mysql.ER_VIEW_INVALID) {
			return true, nil
		}
		return err == nil, err
	})
	return found, err
}

// untilSettled looks at a table until what is seen is one table's.
func untilSettled(ctx context.Context, schema, table string, look func() (settled bool, err error)) error {
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
func readTwice(ctx context.Context, db *sql.DB, schema, table string) (found tableInfo, same bool, err error) {
	found, torn, err := readOnce(ctx, db, schema, table)
	if err != nil || !found.exists || !torn {
		return found, found.exists || len(found.columns) == 0, err
	}
	again, _, err := readOnce(ctx, db, schema, table)
	return found, found.equal(&again), err
}

// readOnce reads a table; torn says that parts may be another one's.
func readOnce(ctx context.Context, db *sql.DB, schema, table string) (found tableInfo, torn bool, err error) {
	rows, err := db.QueryContext(ctx, describeText, schema, table, schema, table)
	if err != nil {
		return found, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var c columnInfo
		if err := rows.Scan(&c.ordinal, &c.name, &c.columnType, &c.key, &c.extra, &c.value, &c.charset, &c.valueIsSQL); err != nil {
			return found, false, err
		}
		if c.ordinal == 0 {
			torn = c.valueIsSQL // the server is a MariaDB
			found.exists, found.name, found.kind, found.engine = true, c.name, c.columnType, c.key
		} else {
			found.columns = append(found.columns, c)
		}
	}
	slices.SortFunc(found.columns, func(a, b columnInfo) int { return cmp.Compare(a.ordinal, b.ordinal) })
	return found, torn, rows.Err()
}

// equal reports whether two readings are of one table. One that has columns is a table.
func (t *tableInfo) equal(other *tableInfo) bool {
	return t.exists == other.exists && t.name == other.name && t.kind == other.kind && t.engine == other.engine &&
		slices.Equal(t.columns, other.columns) && (t.exists || len(t.columns) == 0)
}

// showColumns gives the names of a table's columns, which both servers read of one table. It is an error that the table
// is not there.
func showColumns(ctx context.Context, db *sql.DB, schema, table string) (found tableInfo, err error) {
	rows, err := db.QueryContext(ctx, "SHOW COLUMNS FROM "+quoteIdentifier(schema)+"."+quoteIdentifier(table))
	if err != nil {
		return found, err
	}
	defer rows.Close()
	for rows.Next() {
		var c columnInfo
		var rest [5]sql.RawBytes
		if err := rows.Scan(&c.name, &rest[0], &rest[1], &rest[2], &rest[3], &rest[4]); err != nil {
			return found, err
		}
		found.columns = append(found.columns, c)
	}
	found.exists = true
	return found, rows.Err()
}

// isAbsent reports whether the server says that a table is not there, or cannot be, or that the account may not see it.
func isAbsent(err error) bool {
	return isServerError(err, mysql.ER_NO_SUCH_TABLE, mysql.ER_UNKNOWN_TABLE, mysql.ER_BAD_DB_ERROR,
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
	return isServerError(err, mysql.ER_QUERY_INTERRUPTED, mysql.ER_TABLE_DEF_CHANGED, mysqlTimeout, mariaDBTimeout, mariaDBKilled)
}

// isServerError reports whether err is an error of the server's with one of these numbers.
func isServerError(err error, numbers ...uint16) bool {
	number, _, ok := sequence.ServerError(err)
	return ok && slices.Contains(numbers, number)
}

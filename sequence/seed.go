package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// DefaultCache is the cache of a sequence for which nobody chose one, in ids (Vitess uses it in MoveTables,
// go/vt/vtctl/workflow/sequences.go).
const DefaultCache = 1000

// CreateTableSQL returns the statement that creates a sequence table. The names are quoted.
func CreateTableSQL(database, table string) string {
	return "CREATE TABLE " + qualified(database, table) +
		" (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) ENGINE = InnoDB COMMENT '" + comment + "'"
}

// InsertRowSQL returns the statement that gives a sequence table its row, so that next is the first id.
func InsertRowSQL(database, table string, next, cache int64) string {
	return insertRowSQL(database, table, 0, next, cache)
}

func insertRowSQL(database, table string, id, next, cache int64) string {
	return fmt.Sprintf("INSERT INTO %s (id, next_id, cache) VALUES (%d, %d, %d)", qualified(database, table), id, next, cache)
}

// RaiseSQL returns the statement that raises a sequence's next id to next. It never lowers it.
func RaiseSQL(database, table string, next int64) string {
	return fmt.Sprintf("UPDATE %s SET next_id = GREATEST(next_id, %d) WHERE id = 0", qualified(database, table), next)
}

// Seed makes a sequence ready to hand out next and above: it creates the table and the row if they are missing, and
// raises a row that is behind. It may run at any time and any number of times, also while the sequence is in use. db is a
// pool from [NewPool], or another one whose connections commit by themselves.
func Seed(ctx context.Context, db *sql.DB, database, table string, next, cache int64) error {
	return seed(ctx, db, database+"."+table,
		seedStep{CreateTableSQL(database, table), 1050},            // ER_TABLE_EXISTS_ERROR
		seedStep{InsertRowSQL(database, table, next, cache), 1062}, // ER_DUP_ENTRY
		seedStep{RaiseSQL(database, table, next), 0})
}

// seedStep is a statement.
type seedStep struct {
	query string
	done  uint16 // the server's error that says that there is nothing to do
}

func seed(ctx context.Context, db *sql.DB, name string, steps ...seedStep) error {
	for _, step := range steps {
		if _, err := db.ExecContext(ctx, step.query); err != nil && !isAnswer(err, step.done) {
			return fmt.Errorf("seed sequence %s: %w", name, err)
		}
	}
	return nil
}

// isAnswer reports whether err is the server's error of that number.
func isAnswer(err error, number uint16) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && answer.Number == number
}

package keyed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/sequence"
)

// Defaults and limits of a keyed sequence's table.
const (
	// DefaultSections is the number of sections: with it WeChat's 100,000 keys to a section are reached at 100 million
	// keys. One key's pace pulls up only the keys of its own section when that changes hands, a process renews all its
	// leases with one statement, and the table is one of some 100 KiB.
	DefaultSections = 1024
	// MaxSections is the largest number of sections.
	MaxSections = 65536
	// DefaultCache is by how much a section's next_id is raised at once, in values; WeChat's figure.
	DefaultCache = 10_000
)

// CreateTableSQL returns the statement that creates the table of a keyed sequence with so many sections. The names are
// quoted. The comment holds the number of sections for all processes.
func CreateTableSQL(database, table string, sections int) string {
	return fmt.Sprintf("CREATE TABLE %s (id INT PRIMARY KEY, next_id BIGINT NOT NULL, min_value BIGINT NOT NULL DEFAULT 1, cache BIGINT NOT NULL,"+
		" owner VARCHAR(64) NOT NULL DEFAULT '', address VARCHAR(255) NOT NULL DEFAULT '', fence BIGINT NOT NULL DEFAULT 0,"+
		" expires DATETIME(6) NOT NULL DEFAULT '1970-01-01') ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT '%s%d'",
		sqlName(database, table), comment, sections)
}

// InsertRowsSQL returns the statement that gives the table its rows, so that next is the first value of every key. It
// leaves rows alone that are there.
func InsertRowsSQL(database, table string, sections int, next, cache int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s (id, next_id, cache) VALUES ", sqlName(database, table))
	for id := range sections {
		if id > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%d, %d, %d)", id, next, cache)
	}
	b.WriteString(" ON DUPLICATE KEY UPDATE id = id")
	return b.String()
}

// RaiseSQL returns the statement that raises the next value of every key to next. It never lowers one.
func RaiseSQL(database, table string, next int64) string {
	return fmt.Sprintf("UPDATE %s SET next_id = GREATEST(next_id, %d), min_value = GREATEST(min_value, %[2]d)", sqlName(database, table), next)
}

// Seed makes a keyed sequence ready to give each key next and above: it creates the table and the rows that are missing,
// and raises rows that are behind. It may run at any time and any number of times: the process that holds a section
// goes on from next when it renews its lease, after Config.Lease at the latest. A table that is there keeps its number of
// sections. db is a pool from [sequence.NewPool].
//
// It returns errors that match [sequence.ErrNotSequence] for a table of another kind, and those of the server.
func Seed(ctx context.Context, db *sql.DB, database, table string, sections int, next, cache int64) error {
	if sections < 1 || sections > MaxSections || next < 1 || cache < 1 {
		return fmt.Errorf("seed keyed sequence %s.%s: %d sections, next id %d, cache %d; want 1 to %d sections, and the others from 1",
			database, table, sections, next, cache, MaxSections)
	}
	t := tableOf(db, database, table)
	err := t.onConn(ctx, "seed the table", func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, CreateTableSQL(database, table, sections))
		var answer *mysql.MySQLError
		if err != nil && !(errors.As(err, &answer) && answer.Number == 1050) { // ER_TABLE_EXISTS_ERROR
			return err
		}
		if sections, err = t.sections(ctx, conn); err != nil {
			return err
		}
		for _, query := range []string{InsertRowsSQL(database, table, sections, next, cache), RaiseSQL(database, table, next)} {
			if _, err := conn.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// Check reports what is wrong with the table of a keyed sequence: nil for nothing, else an error that matches
// [sequence.ErrNoTable], [sequence.ErrNotSequence], [sequence.ErrNoRow] or [sequence.ErrBadRow], or what kept it from
// looking. It changes nothing.
func Check(ctx context.Context, db *sql.DB, database, table string) error {
	t := tableOf(db, database, table)
	sections, err := t.load(ctx)
	if err != nil {
		return err
	}
	all := make([]int, sections)
	for id := range all {
		all[id] = id
	}
	return t.onConn(ctx, "look at the rows", func(conn *sql.Conn) error {
		_, err := t.read(ctx, conn, all)
		return err
	})
}

func tableOf(db *sql.DB, database, name string) table {
	return table{db: db, name: sequence.Name{Database: database, Table: name}}
}

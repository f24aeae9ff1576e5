package keyed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
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
// quoted. The comment and each row hold the number of sections for all processes.
func CreateTableSQL(database, table string, sections int) string {
	return fmt.Sprintf("CREATE TABLE %s (id INT PRIMARY KEY, next_id BIGINT NOT NULL, min_value BIGINT NOT NULL DEFAULT 1, cache BIGINT NOT NULL,"+
		" owner VARCHAR(64) NOT NULL DEFAULT '', address VARCHAR(255) NOT NULL DEFAULT '', fence BIGINT NOT NULL DEFAULT 0,"+
		" expires DATETIME(6) NOT NULL DEFAULT '1970-01-01', sections INT NOT NULL DEFAULT %d) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT '%s%d'",
		sqlName(database, table), sections, comment, sections)
}

// insertRowsSQL returns the statement that gives the table its rows, so that next is the first value of every key. It
// leaves rows alone that are there.
func insertRowsSQL(database, table string, sections int, next, cache int64) string {
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
		l, err := t.layout(ctx, conn)
		if err != nil {
			return err
		}
		if err := t.addSections(ctx, conn, l); err != nil {
			return err
		}
		sections = l.sections
		for _, query := range []string{insertRowsSQL(database, table, sections, next, cache), RaiseSQL(database, table, next)} {
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
// looking. It changes nothing. A privilege that db's user lacks is the server's own error, in a text that names those
// needed.
func Check(ctx context.Context, db *sql.DB, database, table string) error {
	if _, err := Rows(ctx, db, database, table); err != nil {
		return err
	}
	t := tableOf(db, database, table)
	return t.onConn(ctx, "look at the privileges", func(conn *sql.Conn) error {
		// Needs the same privileges as the updates, and changes nothing.
		rows, err := conn.QueryContext(ctx, "EXPLAIN UPDATE "+t.sqlName()+
			" SET next_id = next_id, owner = owner, address = address, fence = fence, expires = expires WHERE id = 0")
		if err != nil {
			return err
		}
		return rows.Close()
	})
}

// Row is what the table of a keyed sequence says of a section.
type Row struct {
	Section  int   // from 0
	NextID   int64 // every value that was given to any of the section's keys lies below
	MinValue int64 // no key of the section gets a value below from now on
}

// Rows returns the rows of all sections of a keyed sequence, by their numbers. The errors are those of [Check], which looks
// at more.
func Rows(ctx context.Context, db *sql.DB, database, table string) ([]Row, error) {
	t := tableOf(db, database, table)
	sections, err := t.load(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Row, sections)
	ids := make([]int, sections)
	for id := range ids {
		ids[id] = id
	}
	err = t.onConn(ctx, "look at the rows", func(conn *sql.Conn) error {
		for chunk := range slices.Chunk(ids, chunkSize) {
			rows, err := t.read(ctx, conn, chunk)
			if err != nil {
				return err
			}
			for _, r := range rows {
				all[r.id] = Row{Section: r.id, NextID: r.next, MinValue: r.least}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Raise raises the next value of every key of the sections in next to at least the value there, from 1, and leaves other
// sections alone. It never lowers one, and may run while the sequence is in use: the process that holds a section goes
// on from there when it renews its lease, after Config.Lease at the latest. The errors are those of [Check]; after one,
// some sections may have been raised.
func Raise(ctx context.Context, db *sql.DB, database, table string, next map[int]int64) error {
	t := tableOf(db, database, table)
	sections, err := t.load(ctx)
	if err != nil {
		return err
	}
	for id, value := range next {
		if id < 0 || id >= sections || value < 1 {
			return fmt.Errorf("raise section %d of keyed sequence %s to %d: want sections 0 to %d, and values from 1", id, t.name, value, sections-1)
		}
	}
	return t.onConn(ctx, "raise sections", func(conn *sql.Conn) error {
		for ids := range slices.Chunk(slices.Sorted(maps.Keys(next)), chunkSize) {
			if _, err := conn.ExecContext(ctx, t.raiseSQL(ids, next)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t table) raiseSQL(ids []int, next map[int]int64) string {
	var values strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&values, " WHEN %d THEN %d", id, next[id])
	}
	return fmt.Sprintf("UPDATE %s SET next_id = GREATEST(next_id, CASE id%s END), min_value = GREATEST(min_value, CASE id%[2]s END) WHERE id IN (%s)",
		t.sqlName(), values.String(), list(ids))
}

func tableOf(db *sql.DB, database, name string) table {
	return table{db: db, name: sequence.Name{Database: database, Table: name}, made: &layout{}}
}

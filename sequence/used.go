package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// UsedTable is the name of the table that says which sequences of its database were ever used: see [AutoCreate]. A row in
// it outlives the sequence.
const UsedTable = "seqgate_used"

// UsedTableSQL returns the statement that creates [UsedTable] in the database of the sequences. The names are quoted.
func UsedTableSQL(database string) string {
	return "CREATE TABLE IF NOT EXISTS " + qualified(database, UsedTable) +
		" (sequence VARCHAR(64) PRIMARY KEY) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
}

// errUsed: somebody may hold ids in memory of a sequence whose table or row is gone.
var errUsed = errors.New("it was used before it was dropped, and processes may hold ids of it that are in no table yet; " +
	"stop all that use it and run seqgate init --stopped, or make it by hand above all ids that they can hold")

// WasUsed reports whether [MarkUsed] was called for a sequence, by any process at any time. db is a pool from [NewPool].
func WasUsed(ctx context.Context, db *sql.DB, database, name string) (used bool, err error) {
	err = onTable(ctx, db, Request{Database: database, Table: name}, func(t table) error {
		used, err = t.wasUsed(ctx)
		return err
	})
	return used, err
}

// MarkUsed notes for good that processes may hold ids of a sequence. db is a pool from [NewPool] whose user may write to
// [UsedTable], and create it where it is missing.
func MarkUsed(ctx context.Context, db *sql.DB, database, name string) error {
	return onTable(ctx, db, Request{Database: database, Table: name}, func(t table) error {
		if used, err := t.wasUsed(ctx); used || err != nil {
			return err
		}
		return t.markUsed(ctx)
	})
}

// whereUsed finds the row of a sequence. Where names of tables have no case, s and S are one.
func (q Request) whereUsed() string {
	return " WHERE sequence = " + quotedText(strings.ToLower(q.Table))
}

func (q Request) sqlUsed() string { return qualified(q.Database, UsedTable) }

func (t table) wasUsed(ctx context.Context) (bool, error) {
	var n int
	err := t.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.sqlUsed()+t.whereUsed()).Scan(&n)
	if isAnswer(err, 1146) || isAnswer(err, 1049) { // ER_NO_SUCH_TABLE, ER_BAD_DB_ERROR
		return false, nil
	}
	if err != nil {
		return false, t.failure("look into the table "+UsedTable, err)
	}
	return n > 0, nil
}

// markUsed makes the table first where it is missing: with it there, the right to insert is enough.
func (t table) markUsed(ctx context.Context) error {
	mark := fmt.Sprintf("INSERT IGNORE INTO %s (sequence) VALUES (%s)", t.sqlUsed(), quotedText(strings.ToLower(t.Table)))
	err := t.exec(ctx, mark)
	if !isAnswer(err, 1146) { // ER_NO_SUCH_TABLE
		return err
	}
	if err := t.exec(ctx, UsedTableSQL(t.Database)); err != nil {
		return err
	}
	return t.exec(ctx, mark)
}

// announce marks the sequence as used if its row is there, before the first id is taken of it, and reports whether there is
// no more to do. A user who may not create the table may not make a sequence anew either.
func (t table) announce(ctx context.Context) (found bool, err error) {
	if used, err := t.wasUsed(ctx); used || err != nil {
		return true, unlessDenied(err)
	}
	var row int
	err = t.conn.QueryRowContext(ctx, "SELECT 1 FROM "+t.sqlName()+t.where()+" LIMIT 1").Scan(&row)
	if err != nil && IsTemporary(err) && !errors.Is(err, sql.ErrNoRows) {
		return false, t.failure("look for the row", err)
	}
	if err != nil {
		return false, nil // what is missing or wrong, the attempt to reserve tells
	}
	return true, unlessDenied(t.markUsed(ctx))
}

func unlessDenied(err error) error {
	if isAnswer(err, 1142) || isAnswer(err, 1044) { // ER_TABLEACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR
		return nil
	}
	return err
}

// seedUnused is [Seed] for a sequence that nobody has used yet: where somebody has, it makes no row. That is in the
// statement which makes the row.
func seedUnused(ctx context.Context, db *sql.DB, q Request, next, cache int64) error {
	return seed(ctx, db, q.name(),
		seedStep{UsedTableSQL(q.Database), 0},
		seedStep{CreateTableSQL(q.Database, q.Table), 1050}, // ER_TABLE_EXISTS_ERROR
		seedStep{fmt.Sprintf("INSERT INTO %s (id, next_id, cache) SELECT 0, %d, %d FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM %s%s)",
			q.sqlName(), next, cache, q.sqlUsed(), q.whereUsed()), 1062}) // ER_DUP_ENTRY
}

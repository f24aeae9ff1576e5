package sequence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Foreign reserves blocks in a row of another system's table, as that system does, so that its own servers can go on
// beside: [Leaf] and [TinyID] make one. It looks at the row under its lock, which keeps out those who lock it and those who
// compare and swap. The names of a Request, its Row and Cache say nothing to it.
type Foreign struct {
	db              *sql.DB
	database, table string
	tag             string
	of              foreignTable
}

var (
	_ Store    = Foreign{}
	_ Releaser = Foreign{}
)

// foreignTable is how a system has its counters in a table.
type foreignTable struct {
	name, tag string // of the system, and of the column that finds the row
	columns   string // that give the largest id or the next one, the step, and the distance of two ids
	shift     int64  // what to add to the first to get the next id
	set       string // the assignment that sets it
}

var (
	// Leaf returns [max_id - step, max_id) after it has added the step to max_id (leaf-core, IDAllocMapper.java).
	leafTable = foreignTable{name: "Leaf", tag: "biz_tag", columns: "max_id, step, 1", set: "max_id = %d"}
	// tinyid gives the ids above max_id up to max_id + step, those that have the remainder modulo delta, and swaps by
	// version (tinyid-server, SegmentIdServiceImpl.java, TinyIdInfoDAOImpl.java; SegmentId.java).
	tinyTable = foreignTable{name: "tinyid", tag: "biz_type", columns: "max_id, step, delta", shift: 1,
		set: "max_id = %d, update_time = NOW(), version = version + 1"}
)

// Leaf returns the store of the row with that biz_tag in Leaf's table. db is a pool from [NewPool].
func Leaf(db *sql.DB, database, table, tag string) Foreign {
	return Foreign{db, database, table, tag, leafTable}
}

// TinyID returns the store of the row with that biz_type in tinyid's table. It serves rows of delta 1 only: of others no
// ids follow each other. db is a pool from [NewPool].
func TinyID(db *sql.DB, database, table, tag string) Foreign {
	return Foreign{db, database, table, tag, tinyTable}
}

// request makes a request about the row. The last id is left out: what is behind it could not be written.
func (s Foreign) request(q Request) Request {
	q.Database, q.Table, q.Tag, q.Max, q.FailoverSkip = s.database, s.table, s.tag, min(q.last(), maxID-1), 0
	return q
}

// Reserve implements [Store].
func (s Foreign) Reserve(ctx context.Context, q Request) (res Reservation, err error) {
	asked := q.Max
	q = s.request(q)
	err = attemptOn(ctx, s.db, q, func(ctx context.Context, t table) error {
		err := t.inTransaction(ctx, func() error {
			from, err := s.read(ctx, t)
			if err != nil {
				return err
			}
			var to row
			if res, to, err = t.plan(from); err != nil {
				return err
			}
			return s.write(ctx, t, from, to)
		})
		res.Server, res.Max = t.server(), asked
		return s.explain(q, err)
	})
	if err != nil {
		return Reservation{}, err
	}
	return res, nil
}

// where returns the condition that finds the row. The tag is a literal that reads alike in every sql_mode, as a parameter
// costs two more round trips.
func (s Foreign) where() string { return fmt.Sprintf(" WHERE %s = _utf8mb4 0x%x", s.of.tag, s.tag) }

// read reads and locks the row.
func (s Foreign) read(ctx context.Context, t table) (row, error) {
	rows, err := t.conn.QueryContext(ctx, "SELECT "+s.of.columns+" FROM "+t.sqlName()+s.where()+" LIMIT 2 FOR UPDATE")
	if err != nil {
		return row{}, t.failure("read the row", err)
	}
	defer rows.Close()
	var found []row
	for rows.Next() {
		var last, step, delta sql.NullInt64
		if err := rows.Scan(&last, &step, &delta); err != nil {
			return row{}, t.failure("read the row", err)
		}
		switch {
		case !last.Valid || last.Int64 == maxID || step.Int64 < 1:
			return row{}, t.problem(ErrBadRow, nil, "has a row with %s %q and no usable max_id or step; correct it there", s.of.tag, s.tag)
		case delta.Int64 != 1:
			return row{}, t.problem(ErrBadRow, nil, "counts %s %q in steps of delta %d, of which no ids follow each other; only delta 1 is served", s.of.tag, s.tag, delta.Int64)
		}
		found = append(found, row{last.Int64 + s.of.shift, step.Int64})
	}
	switch err := rows.Err(); {
	case err != nil:
		return row{}, t.failure("read the row", err)
	case len(found) == 0:
		return row{}, t.problem(ErrNoRow, nil, "has no row with %s %q; add it as %s wants it", s.of.tag, s.tag, s.of.name)
	case len(found) > 1:
		return row{}, t.problem(ErrBadRow, nil, "has several rows with %s %q; make it unique", s.of.tag, s.tag)
	}
	return found[0], nil
}

// write writes the locked row.
func (s Foreign) write(ctx context.Context, t table, from, to row) error {
	ok, err := s.swap(ctx, t, from.next, to.next)
	if err != nil || ok {
		return err
	}
	return fmt.Errorf("the row of %s %q in %s.%s changed while it was locked; use a table of ENGINE = InnoDB", s.of.tag, s.tag, t.Database, t.Table)
}

// swap sets the next id if it still is from.
func (s Foreign) swap(ctx context.Context, t table, from, to int64) (bool, error) {
	res, err := t.conn.ExecContext(ctx, "UPDATE "+t.sqlName()+" SET "+fmt.Sprintf(s.of.set, to-s.of.shift)+
		s.where()+fmt.Sprintf(" AND max_id = %d", from-s.of.shift))
	if err != nil {
		return false, t.failure("update the row", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return false, t.failure("update the row", err)
	}
	return n == 1, nil
}

// Release implements [Releaser].
func (s Foreign) Release(ctx context.Context, q Request, unused Range) (given bool, err error) {
	q = s.request(q)
	err = onTable(ctx, s.db, q, func(t table) error {
		given, err = s.swap(ctx, t, unused.Last()+1, unused.First)
		return s.explain(q, err)
	})
	return given, err
}

// explain tells of a table that is none of the system's in its words.
func (s Foreign) explain(q Request, err error) error {
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) {
		return err
	}
	switch {
	case errors.Is(err, ErrNoTable):
		return q.problem(ErrNoTable, answer, "does not exist; it is to be %s's table of counters", s.of.name)
	case errors.Is(err, ErrNotSequence):
		return q.problem(ErrNotSequence, answer, "lacks columns of %s's table (%s, %s)", s.of.name, s.of.tag, s.of.columns)
	}
	return err
}

// String returns the system's name.
func (s Foreign) String() string { return s.of.name }

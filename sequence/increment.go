package sequence

import (
	"context"
	"database/sql"
	"fmt"
)

// Increment reserves a block in one round trip, with one UPDATE that commits itself:
//
//	UPDATE s SET next_id = GREATEST(LAST_INSERT_ID(next_id), <given + 1>) + <size> WHERE id = <row> AND cache = <as known> AND ...
//
// LAST_INSERT_ID(expr) puts the old next_id into the OK packet, so that the answer that confirms the commit also says what
// was reserved (MySQL manual, "Information Functions"). The rule of [Request] is in the statement, for the cache that the
// request knows. When the statement finds no row (another cache, none known yet, the row gone or NULL, the end of the ids
// near), the row is read to see why.
//
// Processes may use different strategies on one row: they give each other no duplicates. But where many use Increment, a
// process with [CAS] may not get its turn. DB is a pool from [NewPool].
type Increment struct{ DB *sql.DB }

var _ RowStore = Increment{}

// Reserve implements [Store].
func (s Increment) Reserve(ctx context.Context, q Request) (Reservation, error) {
	return reserve(ctx, s.DB, q, table.reserveIncrementing)
}

// reserveIncrementing does not fall back on a swap because of the cache alone: among others who need one round trip, one
// who needs two may never get his turn.
func (t table) reserveIncrementing(ctx context.Context) (Reservation, error) {
	for range casTries {
		if res, ok, err := t.increment(ctx); ok || err != nil {
			return res, err
		}
		from, err := t.read(ctx, "")
		if err != nil {
			return Reservation{}, err
		}
		if from.cache == t.Cache { // the end of the ids is near, or the row is not fit
			return t.reserveSwapping(ctx)
		}
		t.Cache = from.cache
	}
	return Reservation{}, t.contended()
}

// increment runs the statement, and reports false when there is none or it found no row.
func (t table) increment(ctx context.Context) (Reservation, bool, error) {
	query, ok := t.incrementSQL()
	if !ok {
		return Reservation{}, false, nil
	}
	answer, ok, err := t.write(ctx, query)
	if err != nil || !ok {
		return Reservation{}, false, err
	}
	found, err := answer.LastInsertId()
	if err != nil {
		return Reservation{}, false, t.failure("read the answer", err)
	}
	// The same rule that made the statement: it finds room, which the statement saw to.
	res, _, err := t.plan(row{next: found, cache: t.Cache})
	return res, true, err
}

// incrementSQL writes the statement; false when there is none, because the cache is not known or the ids may run out:
// then every sum in it stays in the range of a BIGINT.
//
// LAST_INSERT_ID's type is unsigned, a negative next_id needs the cast.
func (q Request) incrementSQL() (string, bool) {
	if q.Cache < 1 {
		return "", false
	}
	last := min(q.last(), maxID-1) // the row that says 2^63-1 is taken is not written here: see usedUp
	large := q.size(q.need(false), q.Cache)
	if q.After >= last || last-q.After < large {
		return "", false
	}
	size := fmt.Sprint(large)
	if small := q.size(q.need(true), q.Cache); small != large {
		size = fmt.Sprintf("IF(next_id = %d, %d, %d)", q.After+1, small, large)
	}
	return fmt.Sprintf("UPDATE %s SET next_id = GREATEST(CAST(LAST_INSERT_ID(next_id) AS SIGNED), %d) + %s WHERE id = %d AND cache = %d AND next_id <= %d",
		q.sqlName(), q.After+1, size, q.Row, q.Cache, last-large+1) + q.andHere(), true
}

// Release implements [Releaser].
func (s Increment) Release(ctx context.Context, q Request, unused Range) (bool, error) {
	return release(ctx, s.DB, q, unused)
}

// Raise implements [Raiser].
func (s Increment) Raise(ctx context.Context, q Request) (bool, error) {
	return raise(ctx, s.DB, q)
}

// String returns [StrategyIncrement].
func (Increment) String() string { return StrategyIncrement }

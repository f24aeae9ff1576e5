package sequence

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"time"
)

// casTries is how often [CAS] reads the row and finds it changed by others before it gives up (VtDriver's figure).
const casTries = 100

// CAS reserves blocks without a lock between statements, as VtDriver does, in two round trips: SELECT; UPDATE ... WHERE
// next_id is still what was read. It tries again, after a short random pause, when others were faster. DB is a pool from
// [OpenPool].
type CAS struct{ DB *sql.DB }

var _ RowStore = CAS{}

// Reserve implements [Store]. Each statement is a transaction of its own, so that a SELECT sees what others have
// committed whatever the isolation level.
func (s CAS) Reserve(ctx context.Context, q Request) (Reservation, error) {
	return reserve(ctx, s.DB, q, table.reserveSwapping)
}

func (t table) reserveSwapping(ctx context.Context) (Reservation, error) {
	for try := range casTries {
		from, err := t.read(ctx, "")
		if err != nil {
			return Reservation{}, err
		}
		res, to, err := t.plan(from)
		if err != nil {
			return Reservation{}, err
		}
		ok, err := t.swap(ctx, from, to)
		if err != nil {
			return Reservation{}, err
		}
		if ok {
			return res, nil
		}
		t.conflict()
		if err := pause(ctx, try); err != nil {
			return Reservation{}, t.failure("wait for a turn", err)
		}
	}
	return Reservation{}, t.contended()
}

func (q Request) contended() error {
	return fmt.Errorf("others changed the row of sequence %s between reading and writing it %d times; use refill strategy %s or %s",
		q.name(), casTries, StrategyIncrement, StrategyForUpdate)
}

// pause waits up to 0.1 ms at random after the first try, up to twice as long after each further one, at most 5 ms.
func pause(ctx context.Context, try int) error {
	timer := time.NewTimer(rand.N(min(100*time.Microsecond<<min(try, 10), 5*time.Millisecond)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release implements [Releaser].
func (s CAS) Release(ctx context.Context, q Request, unused Range) (bool, error) {
	return release(ctx, s.DB, q, unused)
}

// Raise implements [Raiser].
func (s CAS) Raise(ctx context.Context, q Request) (bool, error) {
	return raise(ctx, s.DB, q)
}

// String returns [StrategyCAS].
func (CAS) String() string { return StrategyCAS }

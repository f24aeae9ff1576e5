package sequence

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"time"
)

// Store reserves blocks of ids in a sequence's row. It keeps nothing between two calls and is safe for concurrent use.
type Store interface {
	// Reserve makes one attempt to reserve the block that req asks for, and returns it only after the server has
	// confirmed the commit. After any error the caller has no ids, even if the row has moved.
	//
	// It returns errors that match ErrExhausted, ErrNoTable, ErrNotSequence, ErrNoRow or ErrBadRow when the sequence needs
	// somebody's help, and others as the server and the connection give them.
	Reserve(ctx context.Context, req Request) (Reservation, error)
}

// Releaser is a Store that can take the unused end of a block back.
type Releaser interface {
	// Release gives the ids of unused back to the row that req names if they are the last ones that were reserved in it,
	// and reports whether it did. Nobody may use them after the call, whatever it returns.
	Release(ctx context.Context, req Request, unused Range) (bool, error)
}

// Raiser is a Store that can raise a row without reserving anything.
type Raiser interface {
	// Raise brings the next_id of the row that req names to at least req.After+1, and reports whether it was below. It
	// never lowers it. An After of 2^63-1 uses the sequence up. The errors are those of [Store.Reserve].
	Raise(ctx context.Context, req Request) (raised bool, err error)
}

// Selective is a Store that does not give every id, such as one whose ids begin with the date.
type Selective interface {
	// Gives reports whether the store may have given that id, or may be about to, when the latest id that this process has
	// is given; 0: none. Ids of a time to come are none: to go on above them would end the sequence until then.
	Gives(id, given int64) bool
}

// RowStore is what every store on a table's row can do, whatever it is wrapped in. String returns the name of its strategy.
type RowStore interface {
	Store
	Releaser
	Raiser
	fmt.Stringer
}

// Strategies by the name that configurations give them.
const (
	StrategyForUpdate = "for_update"
	StrategyCAS       = "cas"
	StrategyIncrement = "increment"
)

// NewStore returns the store of the named strategy on db, a pool from [NewPool].
func NewStore(strategy string, db *sql.DB) (RowStore, error) {
	switch strategy {
	case StrategyForUpdate:
		return ForUpdate{db}, nil
	case StrategyCAS:
		return CAS{db}, nil
	case StrategyIncrement:
		return Increment{db}, nil
	}
	return nil, fmt.Errorf("unknown refill strategy %q; use %s, %s or %s", strategy, StrategyForUpdate, StrategyCAS, StrategyIncrement)
}

// Request says which block a process wants.
type Request struct {
	Database, Table string
	Name            string // the sequence's, in errors; database.table when empty
	Row             int64  // id of the row in the table; 0 but for the stripes of a [Striped] sequence

	Need  int64 // ids that must be there in one contiguous block, 1 to MaxN
	Tail  int64 // unused ids that the process has right up to After: they count towards Need when the block adjoins them
	Step  int64 // wanted size of the block; 0, or less than the row's cache: the cache
	Order bool  // the sequence is to be ordered: its table is to say so
	Again bool  // the table's comment is to be looked at once more
	Exact bool  // the block holds just Need ids: Tail, Step and the row's cache do not count
	After int64 // the largest id this process was ever given, 0 for none: the block lies above it
	Max   int64 // last id allowed; 0: 2^63-1
	Cache int64 // the row's cache when last seen; 0: not known, and the table is first checked to be a sequence

	Conflicts *atomic.Int64 // counts the changes of the row by others between reading and writing it; nil: not counted

	FailoverSkip int64 // ids to leave out when another server served the row before, 0 for no such check: see [Failover]

	Tag string // of the row in a table of another program's: see [Foreign]; "" elsewhere
}

func (q Request) name() string { return cmp.Or(q.Name, q.Database+"."+q.Table) }

// Reservation is a block of ids that belongs to the caller.
type Reservation struct {
	Range        // a whole multiple of Cache long, except at the end of the ids and for an Exact request
	Cache  int64 // the row's cache
	Found  int64 // next_id as it was before
	Raised bool  // the row was behind Request.After
	Max    int64 // last id allowed, as Request.Max or the table's comment says; 0: 2^63-1

	// Ordered says that the table's comment wants the sequence ordered. The block then holds just Need ids.
	Ordered bool
	// Unmarked is why the table could not be made to say that, as Request.Order asks for.
	Unmarked error

	// Until says when ids of the block that are still in memory are to be dropped, by the clock; zero: never.
	Until time.Time

	Server  string // the server that reserved it, as [NewPool] knows it; "" when it is not known
	Skipped int64  // by how much this attempt first raised the row because another server had served it: see [Failover]
}

// row is what a sequence's row holds.
type row struct{ next, cache int64 }

// The row says that 2^63-1 itself is taken by next_id 2^63-1 with cache 0: a next_id past it cannot be stored, and
// whoever reads that row, Vitess included, refuses a cache under 1.
var usedUp = row{next: maxID, cache: 0}

// conflict counts that others changed the row between reading and writing it.
func (q Request) conflict() {
	if q.Conflicts != nil {
		q.Conflicts.Add(1)
	}
}

// plan says what the request takes from a row: the reservation, and the row afterwards. It is Vitess's rule by arithmetic
// instead of a loop: as many whole caches as needed, beginning at next_id or above what this process was given.
func (q Request) plan(r row) (Reservation, row, error) {
	if r == usedUp || q.After >= q.last() {
		return Reservation{}, row{}, q.exhausted(0, 0)
	}
	if r.cache < 1 {
		return Reservation{}, row{}, q.badCache(r.cache)
	}
	first := max(r.next, q.After+1)
	need := q.need(r.next == q.After+1)
	if first > q.last() || q.last()-first < need-1 {
		return Reservation{}, row{}, q.exhausted(max(0, q.last()-first+1), first)
	}
	block := Range{first, min(q.size(need, r.cache), q.last()-first+1)}
	after := usedUp
	if block.Last() < maxID {
		after = row{block.Last() + 1, r.cache}
	}
	return Reservation{Range: block, Cache: r.cache, Found: r.next, Raised: q.raises(r.next)}, after, nil
}

// need returns how many ids the block must hold itself.
func (q Request) need(adjoins bool) int64 {
	if adjoins && q.After > 0 && !q.Exact {
		return max(1, q.Need-q.Tail)
	}
	return q.Need
}

// size returns the smallest multiple of cache that holds need ids and the wanted step, or 2^63-1 if that is too large;
// need itself for an exact request.
func (q Request) size(need, cache int64) int64 {
	if q.Exact {
		return need
	}
	caches := (max(need, q.Step)-1)/cache + 1
	if caches > maxID/cache {
		return maxID
	}
	return caches * cache
}

// raises reports whether a row with that next_id is behind what this process was given.
func (q Request) raises(next int64) bool { return q.After > 0 && next <= q.After }

func (q Request) last() int64 {
	if q.Max == 0 {
		return maxID
	}
	return q.Max
}

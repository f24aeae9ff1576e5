package sequence_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// What several processes do to one row is linearizable: as if each call had happened at one moment, between its beginning
// and its end, on a row that holds one number. Porcupine (github.com/anishathalye/porcupine) looks for such an order.

// rowCall is a call to a store. Which fields count depends on act.
type rowCall struct {
	act    string // "reserve", "release" or "raise"
	after  int64
	size   int64          // of the block to reserve
	unused sequence.Range // to release
}

// rowAnswer is what came of a call. One that is lost may have happened or not, or may happen yet.
type rowAnswer struct {
	lost  bool
	first int64 // of the block
	given bool  // the row took the ids back
}

// rowModel is the row as all stores must keep it; the state is next_id. It says exactly which block a reservation gets, so
// that a statement which is run twice is found too.
var rowModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{int64(1)} },
	Step: func(state, input, output any) []any {
		next, call, answer := state.(int64), input.(rowCall), output.(rowAnswer)
		after, fits := call.on(next, answer)
		switch {
		case answer.lost:
			return []any{next, after}
		case fits:
			return []any{after}
		}
		return nil
	},
}).ToModel()

// on returns next_id after the call, and whether the answer fits.
func (c rowCall) on(next int64, a rowAnswer) (after int64, fits bool) {
	floor := max(next, c.after+1)
	switch {
	case c.act == "reserve":
		return floor + c.size, a.first == floor
	case c.act == "raise":
		return floor, true
	case next == c.unused.Last()+1:
		return c.unused.First, a.given
	}
	return next, !a.given
}

// A history has few calls, and most of them get an answer: lost calls stay open, and porcupine's search grows with the
// number of calls that are open at the same time.
const (
	reservers    = 4
	callsOfEach  = 10
	rowCache     = 5
	histories    = 30 // of each kind of store
	mostPatience = 10 * time.Millisecond
)

// recorder collects what reservers do to one row.
type recorder struct {
	clock atomic.Int64

	mu  sync.Mutex
	ops []porcupine.Operation
}

func (r *recorder) record(client int, call rowCall, do func() (rowAnswer, error)) (rowAnswer, error) {
	began := r.clock.Add(1)
	answer, err := do()
	ended := r.clock.Add(1)
	if err != nil {
		answer.lost, ended = true, math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, porcupine.Operation{ClientId: client, Input: call, Output: answer, Call: began, Return: ended})
	return answer, err
}

// lost counts the calls without an answer.
func (r *recorder) lost() (n int) {
	for _, op := range r.ops {
		if op.Output.(rowAnswer).lost {
			n++
		}
	}
	return n
}

func (r *recorder) String() string {
	var s strings.Builder
	for _, op := range r.ops {
		fmt.Fprintf(&s, "%d at %d to %d: %+v: %+v\n", op.ClientId, op.Call, op.Return, op.Input, op.Output)
	}
	return s.String()
}

// reserver is one process after another: it reserves, gives the end of its latest block back, and begins anew.
type reserver struct {
	number   int
	store    sequence.Store
	request  sequence.Request // its After is the largest id of this process
	block    sequence.Range   // the latest one
	rng      *rand.Rand
	recorder *recorder
	proxy    *sequencetest.Proxy
}

// run makes calls one after the other, some of them disturbed.
func (r *reserver) run(ctx context.Context) {
	for range callsOfEach {
		ctx, cancel := r.disturb(ctx)
		switch kind := r.rng.IntN(6); {
		case kind == 0 && r.block.N > 1:
			r.release(ctx)
		case kind == 1:
			r.raise(ctx)
		default:
			r.reserve(ctx)
		}
		cancel()
	}
}

// disturb has a connection cut, this one's or another's, or gives the next call little time: the server may be at it still
// when it is given up.
func (r *reserver) disturb(ctx context.Context) (context.Context, context.CancelFunc) {
	statements := []string{"START TRANSACTION", "SELECT", "UPDATE", "UPDATE", "COMMIT", "COMMIT"}
	switch kind := r.rng.IntN(40); {
	case kind == 0:
		r.proxy.CutAll()
	case kind < 8:
		r.proxy.CutNext(sequencetest.Cut(kind%2), statements[r.rng.IntN(len(statements))])
	case kind < 12:
		return context.WithTimeout(ctx, time.Duration(r.rng.Int64N(int64(mostPatience))))
	}
	return context.WithCancel(ctx)
}

func (r *reserver) reserve(ctx context.Context) {
	q := r.request
	q.Need, q.Step = 1+r.rng.Int64N(20), r.rng.Int64N(30)
	var res sequence.Reservation
	call := rowCall{act: "reserve", after: q.After, size: (max(q.Need, q.Step) + rowCache - 1) / rowCache * rowCache}
	_, err := r.recorder.record(r.number, call, func() (_ rowAnswer, err error) {
		res, err = r.store.Reserve(ctx, q)
		return rowAnswer{first: res.First}, err
	})
	if err == nil {
		r.block, r.request.After, r.request.Cache = res.Range, res.Last(), res.Cache
	}
}

// release gives the second half of the latest block back, after which the process ends, whatever became of it.
func (r *reserver) release(ctx context.Context) {
	half := r.block.N / 2
	unused := sequence.Range{First: r.block.First + half, N: r.block.N - half}
	_, _ = r.recorder.record(r.number, rowCall{act: "release", unused: unused}, func() (a rowAnswer, err error) {
		a.given, err = r.store.(sequence.Releaser).Release(ctx, r.request, unused)
		return a, err
	}) // a lost one is in the history
	r.block, r.request.After = sequence.Range{}, 0
}

// raise skips some ids.
func (r *reserver) raise(ctx context.Context) {
	q := r.request
	q.After += r.rng.Int64N(30)
	_, _ = r.recorder.record(r.number, rowCall{act: "raise", after: q.After}, func() (rowAnswer, error) {
		_, err := r.store.(sequence.Raiser).Raise(ctx, q)
		return rowAnswer{}, err
	}) // a lost one is in the history
}

// rowBench has what histories on one server need.
type rowBench struct {
	admin    *sql.DB
	database string
	proxy    *sequencetest.Proxy
	stores   []sequence.Store // of the reservers
}

// newRowBench gives each reserver the store that open makes, on connections of its own through a proxy.
func newRowBench(t *testing.T, s *servertest.Server, open func(reserver int, pool *sql.DB) sequence.Store) *rowBench {
	t.Helper()
	b := &rowBench{database: s.NewDatabase(t), proxy: sequencetest.NewProxy(t, s.Addr)}
	b.admin = s.Open(t, b.database)
	cfg, err := mysql.ParseDSN(s.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Addr = b.proxy.Addr()
	for i := range reservers {
		b.stores = append(b.stores, open(i, openPool(t, cfg.FormatDSN())))
	}
	return b
}

// history has reservers work on a new row, with what happens to them decided by seed.
func (b *rowBench) history(t *testing.T, seed uint64) *recorder {
	t.Helper()
	table := fmt.Sprintf("s%d", seed)
	if err := sequence.Seed(t.Context(), b.admin, b.database, table, 1, rowCache); err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	var working sync.WaitGroup
	for i, store := range b.stores {
		r := &reserver{number: i, store: store, rng: rand.New(rand.NewPCG(seed, uint64(i))), recorder: rec, proxy: b.proxy,
			request: sequence.Request{Database: b.database, Table: table}}
		working.Go(func() { r.run(t.Context()) })
	}
	working.Wait()
	return rec
}

// judge looks for an order of the calls; [porcupine.Unknown] when that takes too long.
func judge(rec *recorder) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(rowModel, rec.ops, 15*time.Second)
}

// The stores, each by itself and all of them on one row, keep the row as the model does.
func TestRowIsLinearizable(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for name, strategy := range map[string]func(reserver int) string{
			sequence.StrategyForUpdate: func(int) string { return sequence.StrategyForUpdate },
			sequence.StrategyCAS:       func(int) string { return sequence.StrategyCAS },
			sequence.StrategyIncrement: func(int) string { return sequence.StrategyIncrement },
			"mixed":                    func(i int) string { return strategies[i%len(strategies)] },
		} {
			t.Run(name, func(t *testing.T) {
				b := newRowBench(t, s, func(i int, pool *sql.DB) sequence.Store {
					store, err := sequence.NewStore(strategy(i), pool)
					if err != nil {
						t.Fatal(err)
					}
					return store
				})
				calls, lost, unknown := 0, 0, 0
				seed := rand.Uint64N(1e9)
				for i := range uint64(histories) {
					rec := b.history(t, seed+i)
					switch judge(rec) {
					case porcupine.Illegal:
						t.Fatalf("seed %d: not linearizable:\n%s", seed+i, rec)
					case porcupine.Unknown:
						unknown++
					}
					calls, lost = calls+len(rec.ops), lost+rec.lost()
				}
				t.Logf("%d calls, %d of them lost; %d histories of %d not judged; from seed %d", calls, lost, unknown, histories, seed)
				if unknown > histories/2 {
					t.Errorf("%d histories could not be judged, want %d at most", unknown, histories/2)
				}
			})
		}
	})
}

// Stores that are wrong in a way that others are or were are found out.
func TestWrongStoreIsNotLinearizable(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for name, wrong := range map[string]func(pool *sql.DB) sequence.Store{
			"uncommitted block given": func(pool *sql.DB) sequence.Store { return uncommitted{sequence.ForUpdate{DB: pool}} },
			"row not locked":          func(pool *sql.DB) sequence.Store { return unlocked{sequence.ForUpdate{DB: pool}} },
			"ids taken back blindly":  func(pool *sql.DB) sequence.Store { return blind{sequence.ForUpdate{DB: pool}} },
		} {
			t.Run(name, func(t *testing.T) {
				b := newRowBench(t, s, func(_ int, pool *sql.DB) sequence.Store { return wrong(pool) })
				seed := rand.Uint64N(1e9)
				for i := range uint64(histories) {
					if judge(b.history(t, seed+i)) == porcupine.Illegal {
						return
					}
				}
				t.Errorf("from seed %d: %d histories are linearizable, want one that is not", seed, histories)
			})
		}
	})
}

// uncommitted gives a block whatever COMMIT says, as Vitess does.
type uncommitted struct{ sequence.ForUpdate }

func (s uncommitted) Reserve(ctx context.Context, q sequence.Request) (res sequence.Reservation, err error) {
	tx, err := s.DB.BeginTx(ctx, nil)
	if err != nil {
		return res, err
	}
	defer tx.Rollback()
	if res, err = take(ctx, tx, q, "FOR UPDATE"); err != nil {
		return res, err
	}
	_ = tx.Commit() // wrong
	return res, nil
}

// unlocked reads and writes the row as if it were alone.
type unlocked struct{ sequence.ForUpdate }

func (s unlocked) Reserve(ctx context.Context, q sequence.Request) (res sequence.Reservation, err error) {
	return take(ctx, s.DB, q, "")
}

// blind lowers next_id without a look at what it is.
type blind struct{ sequence.ForUpdate }

func (s blind) Release(ctx context.Context, q sequence.Request, unused sequence.Range) (bool, error) {
	_, err := s.DB.ExecContext(ctx, fmt.Sprintf("UPDATE %s.%s SET next_id = %d WHERE id = 0", q.Database, q.Table, unused.First))
	return true, err
}

// take reserves a block in two statements.
func take(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, q sequence.Request, how string) (res sequence.Reservation, err error) {
	row := db.QueryRowContext(ctx, fmt.Sprintf("SELECT next_id, cache FROM %s.%s WHERE id = 0 %s", q.Database, q.Table, how))
	if err := row.Scan(&res.Found, &res.Cache); err != nil {
		return res, err
	}
	res.Range = sequence.Range{First: max(res.Found, q.After+1), N: (max(q.Need, q.Step) + res.Cache - 1) / res.Cache * res.Cache}
	_, err = db.ExecContext(ctx, fmt.Sprintf("UPDATE %s.%s SET next_id = %d WHERE id = 0", q.Database, q.Table, res.Last()+1))
	return res, err
}

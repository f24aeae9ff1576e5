package sequence_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// slowServer is a driver for a server that takes its time over each statement. All rows of sequences have a cache of 10.
type slowServer struct {
	takes    time.Duration
	connects time.Duration     // how long it takes over a connection
	heldUp   func(string) bool // tables on which it answers no statement; nil: none
	oneByOne bool              // it works at one statement after the other
	away     atomic.Bool       // it takes no connections
	refuses  atomic.Value      // the refusal of every UPDATE
	asked    atomic.Int64
	broken   atomic.Int64 // statements that were given up

	mu   sync.Mutex
	next map[string]int64 // by statement
	free time.Time        // when it has done all it was given, one by one
}

// Connect implements [driver.Connector].
func (s *slowServer) Connect(ctx context.Context) (driver.Conn, error) {
	s.asked.Add(1)
	if s.away.Load() {
		return nil, errors.New("connection refused")
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(s.connects):
		return slowConn{s}, nil
	}
}

// Driver implements [driver.Connector].
func (s *slowServer) Driver() driver.Driver { return nil }

// slowConn is a connection to a slowServer.
type slowConn struct{ *slowServer }

func (slowConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("no prepared statements")
}
func (slowConn) Begin() (driver.Tx, error) { return nil, errors.New("no transactions") }
func (slowConn) Close() error              { return nil }

// run takes the server's time, also for a statement that is given up.
func (c slowConn) run(ctx context.Context) error {
	c.mu.Lock()
	done := time.Now()
	if c.oneByOne && done.Before(c.free) {
		done = c.free
	}
	done = done.Add(c.takes)
	c.free = done
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		c.broken.Add(1)
		return ctx.Err()
	case <-time.After(time.Until(done)):
		return nil
	}
}

// QueryContext implements [driver.QueryerContext]. The comment of each table, which is asked for before the first block, and
// its row come at once.
func (c slowConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if strings.Contains(query, "table_comment") {
		return &oneRow{columns: []string{"table_comment"}, values: []driver.Value{"vitess_sequence"}}, nil
	}
	return &oneRow{columns: []string{"next_id", "cache", "here"}, values: []driver.Value{"1", "10", true}}, nil
}

// ExecContext implements [driver.ExecerContext]: the UPDATE of [sequence.Increment].
func (c slowConn) ExecContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	if c.heldUp != nil && c.heldUp(query) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	if box, ok := c.refuses.Load().(refusal); ok && box.err != nil {
		return nil, box.err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next[query]++
	return updated(c.next[query]*10 - 9), nil
}

// refusal is the error that a slowServer refuses all UPDATEs with; nil when it does not.
type refusal struct{ err error }

// updated is the answer to an UPDATE of one row that found this next_id.
type updated int64

func (u updated) LastInsertId() (int64, error) { return int64(u), nil }
func (updated) RowsAffected() (int64, error)   { return 1, nil }

// oneRow is a result of one row.
type oneRow struct {
	columns []string
	values  []driver.Value
}

func (r *oneRow) Columns() []string { return r.columns }
func (r *oneRow) Close() error      { return nil }

func (r *oneRow) Next(to []driver.Value) error {
	if r.values == nil {
		return io.EOF
	}
	copy(to, r.values)
	r.values = nil
	return nil
}

// Far more sequences than connections are dry when a slow server is back. Each attempt has the whole of its time from when
// it has a connection: whichever waited for one does not lose what the server does for it, and all recover as fast as the
// server can.
func TestAttemptCountsFromItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const connections, sequences = 8, 200
		server := &slowServer{takes: 2 * time.Second, next: map[string]int64{}}
		db := sql.OpenDB(server)
		defer db.Close()
		db.SetMaxOpenConns(connections)
		db.SetMaxIdleConns(connections)
		reg := sequencetest.Registry(sequence.Increment{DB: db}, sequence.Config{Timeout: 2 * time.Minute})
		var callers sync.WaitGroup
		began := time.Now()
		for i := range sequences {
			callers.Go(func() {
				seq := get(t, reg, sequence.Name{Keyspace: "main", Database: "d", Table: fmt.Sprintf("s%d", i)})
				if _, err := seq.Next(t.Context(), 1); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		// Pauses between two waits leave connections unused only when few sequences are left.
		if took, least := time.Since(began), sequences/connections*server.takes; took > least+5*time.Second {
			t.Errorf("it took %v, the server needs %v", took, least)
		}
		if n := server.broken.Load(); n > 0 {
			t.Errorf("%d statements were given up", n)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A caller waits no longer than its own time, whoever has the connections.
func TestTimeoutWithoutConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(&slowServer{takes: time.Second, next: map[string]int64{}})
		defer db.Close()
		db.SetMaxOpenConns(1)
		reg := sequencetest.Registry(sequence.Increment{DB: db}, sequence.Config{Timeout: 700 * time.Millisecond})
		held, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seq := get(t, reg, sequence.Name{Keyspace: "main", Database: "d", Table: "s"})
		began := time.Now()
		if _, err := seq.Next(t.Context(), 1); !errors.Is(err, sequence.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took != 700*time.Millisecond {
			t.Errorf("it waited for %v", took)
		}
		// The wait for a connection ends too, so that the reason is known.
		time.Sleep(5 * time.Second)
		if s := seq.Status(); s.LastError == nil || !strings.Contains(s.LastError.Error(), "connect") {
			t.Errorf("after the wait for a connection: %v", s.LastError)
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
		if err := reg.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

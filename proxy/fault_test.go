package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// insertUntil inserts by workers until stop is closed or the test is over, and
// gives the ids that were acknowledged. Errors that are not MySQL's or the
// connection's fail the test.
func insertUntil(t *testing.T, db *sql.DB, workers int, stop <-chan struct{}) (wait func() []int64, acknowledged *atomic.Int64) {
	var mu sync.Mutex
	var ids []int64
	var group sync.WaitGroup
	acknowledged = new(atomic.Int64)
	for w := range workers {
		group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-t.Context().Done(): // it failed, and did not close stop
					return
				default:
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				result, err := db.ExecContext(ctx, "INSERT INTO t (v) VALUES (?)", w)
				cancel()
				if err != nil {
					if !isMySQLError(err) && t.Context().Err() == nil {
						t.Errorf("insert: %v (%T) is no MySQL error", err, err)
					}
					continue
				}
				id, err := result.LastInsertId()
				if err != nil || id == 0 {
					t.Errorf("insert id %d, %v", id, err)
				}
				acknowledged.Add(1)
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
			}
		})
	}
	t.Cleanup(group.Wait)
	return func() []int64 { group.Wait(); return ids }, acknowledged
}

// isMySQLError reports whether err came as a MySQL error packet, or is the end
// of the connection after one.
func isMySQLError(err error) bool {
	var e *mysql.MySQLError
	var n net.Error
	return errors.As(err, &e) || errors.Is(err, mysql.ErrInvalidConn) || errors.As(err, &n)
}

// await waits for a condition.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	awaitWithin(t, 2*time.Minute, what, condition)
}

// untimely is less than the time after which servers end by themselves what waits for the
// network (net_read_timeout, net_write_timeout), and seqgate does by its defaults.
const untimely = 29 * time.Second

// awaitWithin waits for a condition no longer than limit.
func awaitWithin(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: still waiting after %v", what, limit)
		}
		time.Sleep(time.Millisecond)
	}
}

// checkIDs checks that no id was acknowledged twice, and that each has its row.
func checkIDs(t *testing.T, direct *sql.DB, ids []int64) {
	t.Helper()
	seen := make(map[int64]bool)
	for _, id := range ids {
		if seen[id] {
			t.Errorf("id %d was acknowledged twice", id)
		}
		seen[id] = true
	}
	rows, err := direct.QueryContext(t.Context(), "SELECT id FROM t")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		delete(seen, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(seen) > 0 {
		t.Errorf("%d acknowledged ids have no row", len(seen))
	}
}

// A server that is killed and comes back: statements fail with MySQL's errors
// meanwhile, and everything heals by itself, with each strategy of refills.
func TestServerKilledUnderLoad(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		type load struct {
			gate         *gate
			strategy     string
			wait         func() []int64
			acknowledged *atomic.Int64
		}
		var loads []*load
		stop := make(chan struct{})
		for _, strategy := range []string{sequence.StrategyForUpdate, sequence.StrategyCAS, sequence.StrategyIncrement} {
			g := newGate(t, s, gateOptions{strategy: strategy, sequence: sequence.Config{Timeout: time.Second}})
			exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
			createSequence(t, g.direct, "t_seq", 1, 10)
			l := &load{gate: g, strategy: strategy}
			l.wait, l.acknowledged = insertUntil(t, g.open(t, ""), 4, stop)
			loads = append(loads, l)
		}
		more := func(when string) {
			for _, l := range loads {
				n := l.acknowledged.Load()
				await(t, l.strategy+": inserts "+when, func() bool { return l.acknowledged.Load() > n+100 })
			}
		}
		more("at first")
		s.Kill(t)
		time.Sleep(200 * time.Millisecond) // the outage itself
		s.Start(t)
		more("after the restart")
		close(stop)
		for _, l := range loads {
			checkIDs(t, l.gate.direct, l.wait())
		}
	}, "--innodb-flush-log-at-trx-commit=1")
}

// While the server is away: values in memory go on being served, the next one
// past them fails with a clear error in time, and connecting says where it is not.
func TestServerAway(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		createSequence(t, g.direct, "s", 1, 100)
		db := g.open(t, "")
		c := conn(t, db)
		if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != 1 {
			t.Fatalf("got %d", got)
		}
		g.sequences.Configure(sequence.Config{Timeout: 500 * time.Millisecond})
		s.Kill(t)
		for want := int64(2); want <= 100; want++ {
			if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != want {
				t.Fatalf("while the server is away: got %d, want %d", got, want)
			}
		}
		begun := time.Now()
		err := c.QueryRowContext(t.Context(), "SELECT NEXT VALUE FROM s").Scan(new(int64))
		if errno(err) != 1205 {
			t.Errorf("past the ids in memory: got %v, want error 1205", err)
		}
		if d := time.Since(begun); d > 20*time.Second {
			t.Errorf("the error took %v", d)
		}
		if err := openDSN(t, g.dsn("")).PingContext(t.Context()); errno(err) != 1429 || !strings.Contains(err.Error(), "Can't connect to MySQL server on '"+s.Addr) {
			t.Errorf("connecting: got %v, want error 1429", err)
		}
		if _, err := c.ExecContext(t.Context(), "DO 1"); errno(err) != 1429 {
			t.Errorf("a statement for the server: got %v, want error 1429", err)
		}
		s.Start(t)
		await(t, "the server's return", func() bool {
			var id int64
			err := db.QueryRowContext(t.Context(), "SELECT NEXT VALUE FROM s").Scan(&id)
			return err == nil && id > 100
		})
	})
}

// A shutdown lets a statement in flight end, and a transaction, and then no
// client in.
func TestShutdown(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		db := g.open(t, "")
		idle, busy, inTransaction := conn(t, db), conn(t, db), conn(t, db)
		exec(t, idle, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
		exec(t, inTransaction, "BEGIN", "INSERT INTO t VALUES (1, 1)")
		holder := conn(t, g.direct)
		exec(t, holder, "DO GET_LOCK(DATABASE(), 0)")
		waited := make(chan error, 1)
		go func() {
			var n int
			waited <- busy.QueryRowContext(context.Background(), "SELECT GET_LOCK(DATABASE(), 60) + 7").Scan(&n)
		}()
		await(t, "the statement to run", func() bool { return g.threads(t, "INFO LIKE 'SELECT GET_LOCK%'") == 1 })
		ended := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			ended <- g.proxy.Shutdown(ctx)
		}()
		await(t, "the shutdown's begin", func() bool { return !g.proxy.Ready() })
		exec(t, holder, "DO RELEASE_LOCK(DATABASE())")
		if err := <-waited; err != nil {
			t.Errorf("the statement in flight: %v", err)
		}
		exec(t, inTransaction, "COMMIT")
		if err := <-ended; err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != 1 {
			t.Errorf("%d rows of the transaction, want 1", got)
		}
		if _, err := idle.ExecContext(t.Context(), "DO 1"); err == nil {
			t.Error("an idle session outlived the shutdown")
		}
		if c, err := net.Dial("tcp", g.addr); err == nil {
			_ = c.Close()
			t.Error("a client was let in after the shutdown")
		}
	})
}

// Many seqgates on one row never give an id twice.
func TestSeveralSeqgates(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		first := newGate(t, s, gateOptions{})
		second := newGate(t, s, gateOptions{database: first.database, strategy: sequence.StrategyCAS})
		third := newGate(t, s, gateOptions{database: first.database, strategy: sequence.StrategyIncrement})
		exec(t, first.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
		createSequence(t, first.direct, "t_seq", 1, 3)
		stop := make(chan struct{})
		var waits []func() []int64
		var counts []*atomic.Int64
		for _, g := range []*gate{first, second, third} {
			wait, acknowledged := insertUntil(t, g.open(t, ""), 4, stop)
			waits, counts = append(waits, wait), append(counts, acknowledged)
		}
		await(t, "rows of each", func() bool {
			few := slices.ContainsFunc(counts, func(n *atomic.Int64) bool { return n.Load() < 100 })
			return !few && value[int](t, first.direct, "SELECT COUNT(*) FROM t") > 3000
		})
		close(stop)
		var ids []int64
		for _, wait := range waits {
			ids = append(ids, wait()...)
		}
		checkIDs(t, first.direct, ids)
	})
}

// A client that is still to log in when seqgate stops is cut off, and does not
// hold up the stop.
func TestShutdownDuringLogin(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{})
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.ReadAtLeast(c, make([]byte, 1024), 40); err != nil {
		t.Fatalf("read the greeting: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := g.proxy.Shutdown(ctx); err != nil {
		t.Errorf("shut down: %v", err)
	}
	if rest, _ := io.ReadAll(c); len(rest) > 0 { // however it ends
		t.Errorf("the client was sent %q, want nothing", rest)
	}
}

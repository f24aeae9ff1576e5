package sequence_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// pair is two servers of a kind that hold the same database, behind a switch that leads to one of them.
type pair struct {
	a, b     *servertest.Server
	database string
	proxy    *sequencetest.Proxy
	user     string
}

func eachPair(t *testing.T, f func(t *testing.T, p pair)) {
	shared := map[string]*servertest.Server{}
	servertest.Each(t, func(_ *testing.T, s *servertest.Server) { shared[s.Name] = s })
	servertest.Private(t, func(t *testing.T, b *servertest.Server) {
		a := shared[b.Name]
		if a == nil {
			t.Skip("no shared server of that kind")
		}
		p := pair{a: a, b: b, database: a.NewDatabase(t), proxy: sequencetest.NewProxy(t, a.Addr), user: a.User}
		mustExec(t, b.Open(t, ""), "CREATE DATABASE "+p.database)
		f(t, p)
	})
}

// table makes a sequence on both servers.
func (p pair) table(t *testing.T, name string) sequence.Request {
	t.Helper()
	for _, s := range []*servertest.Server{p.a, p.b} {
		mustExec(t, s.Open(t, p.database), sequence.CreateTableSQL(p.database, name), sequence.InsertRowSQL(p.database, name, 1, 10))
	}
	return sequence.Request{Database: p.database, Table: name, Need: 1}
}

// store returns a store with connections of its own through addr.
func (p pair) store(t *testing.T, strategy, addr string, skip int64) sequence.RowStore {
	t.Helper()
	cfg, err := mysql.ParseDSN(p.a.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Addr, cfg.User, cfg.Passwd = addr, p.user, p.user
	store := namedStore(t, strategy, openPool(t, cfg.FormatDSN()))
	if skip == 0 {
		return store
	}
	return sequence.Failover(store, skip)
}

// replicate brings what one server has committed to the other, as replication does in its own time.
func (p pair) replicate(t *testing.T, from, to *servertest.Server, table string) {
	t.Helper()
	source, target := from.Open(t, p.database), to.Open(t, p.database)
	rows, err := source.QueryContext(t.Context(), "SELECT id, next_id, cache FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, next, cache int64
		if err := rows.Scan(&id, &next, &cache); err != nil {
			t.Fatal(err)
		}
		mustExec(t, target, fmt.Sprintf("REPLACE INTO %s VALUES (%d, %d, %d)", table, id, next, cache))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	served, err := source.QueryContext(t.Context(), "SELECT row_id, server FROM seqgate_servers WHERE sequence = ?", table)
	var missing *mysql.MySQLError
	if errors.As(err, &missing) && missing.Number == 1146 {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	mustExec(t, target, sequence.ServersTableSQL(p.database))
	for served.Next() {
		var id int64
		var server string
		if err := served.Scan(&id, &server); err != nil {
			t.Fatal(err)
		}
		mustExec(t, target, fmt.Sprintf("REPLACE INTO seqgate_servers VALUES ('%s', %d, '%s')", table, id, server))
	}
	if err := served.Err(); err != nil {
		t.Fatal(err)
	}
}

// failOver has all connections end, and later ones lead to server.
func (p pair) failOver(server *servertest.Server) {
	p.proxy.Switch(server.Addr)
	p.proxy.CutAll()
}

func nextID(t *testing.T, s *servertest.Server, database, table string) (next int64) {
	t.Helper()
	if err := s.Open(t, database).QueryRowContext(t.Context(), "SELECT next_id FROM "+table+" WHERE id = 0").Scan(&next); err != nil {
		t.Fatal(err)
	}
	return next
}

// Without a skip, a replica that lacks the latest reservations gives them out again: to any process but the one that
// holds them. It is what the documentation says asynchronous replication loses.
func TestFailoverWithoutSkip(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		req := p.table(t, "s")
		holder := p.store(t, sequence.StrategyIncrement, p.proxy.Addr(), 0)
		before := mustReserve(t, holder, req)
		p.replicate(t, p.a, p.b, "s")
		lost := mustReserve(t, holder, req)
		p.failOver(p.b)

		again := mustReserve(t, p.store(t, sequence.StrategyIncrement, p.proxy.Addr(), 0), req)
		if again.Range != lost.Range {
			t.Errorf("another process: got %v, want %v, which the new primary knows nothing of", again.Range, lost.Range)
		}
		req.After = lost.Last()
		mine := sequence.Reservation{}
		retry(t, func() (err error) { mine, err = holder.Reserve(t.Context(), req); return err })
		if mine.First <= lost.Last() {
			t.Errorf("the process itself: got %v after %v", mine.Range, lost.Range)
		}
		if before.Server == "" || mine.Server == "" || before.Server == mine.Server {
			t.Errorf("got the servers %q and %q, want two", before.Server, mine.Server)
		}
	})
}

// retry calls f until it succeeds: a connection that was cut is only noticed by using it.
func retry(t *testing.T, f func() error) {
	t.Helper()
	var err error
	for range 20 {
		if err = f(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

func mustReserve(t *testing.T, store sequence.Store, req sequence.Request) sequence.Reservation {
	t.Helper()
	res, err := store.Reserve(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// With a skip of what was lost at least, no id is given twice over processes that ran before and one that did not, and
// each failover skips once, there and back again.
func TestFailover(t *testing.T) {
	const skip = 1000
	eachPair(t, func(t *testing.T, p pair) {
		for _, strategy := range strategies {
			t.Run(strategy, func(t *testing.T) {
				p.failOver(p.a)
				p.table(t, strategy)
				var ids sequencetest.IDs
				start := func() *sequence.Sequence {
					reg := sequencetest.Registry(p.store(t, strategy, p.proxy.Addr(), skip), sequence.Config{MaxStep: 20})
					t.Cleanup(func() { _ = reg.Close(t.Context()) }) // nothing is checked after it
					return get(t, reg, sequence.Name{Database: p.database, Table: strategy})
				}
				take := func(n int, processes ...*sequence.Sequence) {
					t.Helper()
					var all sync.WaitGroup
					for _, seq := range processes {
						for range 2 {
							all.Go(func() {
								for range n {
									if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 3) }); err != nil {
										t.Error(err)
									}
								}
							})
						}
					}
					all.Wait()
				}
				// The first time of all counts as a failover: the record may be among what was lost.
				one, two := start(), start()
				take(20, one, two)
				from, to := p.a, p.b
				for range 3 {
					p.replicate(t, from, to, strategy)
					kept := nextID(t, to, p.database, strategy)
					take(20, one, two) // of this, to knows nothing
					if lost := nextID(t, from, p.database, strategy) - kept; lost == 0 || lost > skip {
						t.Fatalf("got %d ids lost, want 1 to %d", lost, skip)
					}
					p.failOver(to)
					three := start() // knows nothing of what was given
					take(20, three, one, two)
					// 3 processes take 360 ids and have less than 600 in memory.
					if raised := nextID(t, to, p.database, strategy) - kept; raised < skip || raised >= 2*skip {
						t.Errorf("got next_id %d further on, want %d to %d: one skip and the ids taken", raised, skip, 2*skip-1)
					}
					from, to = to, from
				}
				ids.NoDuplicates(t)
			})
		}
	})
}

// Of many processes that find a new server at the same time, one skips: also those with connections that are open for
// long, and for rows other than 0.
func TestFailoverSkipsOnce(t *testing.T) {
	const skip = 100_000
	eachPair(t, func(t *testing.T, p pair) {
		req := p.table(t, "s")
		mustExec(t, p.a.Open(t, p.database), "INSERT INTO s VALUES (1, 1, 10)")
		var onA, onB []sequence.RowStore
		for i := range 8 {
			onA = append(onA, p.store(t, strategies[i%3], p.a.Addr, skip))
			onB = append(onB, p.store(t, strategies[i%3], p.b.Addr, skip))
		}
		from, to := p.b, p.a
		var failed atomic.Int64
		for turn, stores := range [][]sequence.RowStore{onA, onB, onA, onB} {
			if turn > 0 {
				p.replicate(t, from, to, "s")
			}
			var skipped [2]atomic.Int64
			var all sync.WaitGroup
			for _, store := range stores {
				all.Go(func() {
					for i := range 40 {
						req := req
						req.Row = int64(i % 2)
						var res sequence.Reservation
						retry(t, func() (err error) {
							if res, err = store.Reserve(t.Context(), req); err != nil {
								failed.Add(1)
							}
							return err
						})
						skipped[req.Row].Add(res.Skipped)
					}
				})
			}
			all.Wait()
			for row := range skipped {
				// A skip whose reservation failed is not told: see Reservation. So the row counts, not the sum.
				if got := skipped[row].Load(); got > skip {
					t.Errorf("turn %d, row %d: got %d skipped, want %d at most", turn, row, got, skip)
				}
			}
			// An attempt that got no answer, as on a busy machine, may have cost its block.
			lost := 10 * failed.Load()
			if got, want := nextID(t, to, p.database, "s"), int64(turn+1)*(skip+8*20*10)+1; got < want || got > want+lost {
				t.Errorf("turn %d: got next_id %d, want %d to %d", turn, got, want, want+lost)
			}
			from, to = to, from
		}
	})
}

// A connection cut at any statement of the skip leaves all of it or nothing.
func TestFailoverCut(t *testing.T) {
	const skip = 1000
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		p := pair{a: s, database: h.Database, user: s.User}
		// The first reservation of a row skips as well. The table of the servers is there then, but for the first.
		for i, statement := range []string{"CREATE", "START", "SELECT next_id", "INSERT", "UPDATE", "COMMIT"} {
			for name, when := range map[string]sequencetest.Cut{"unsent": sequencetest.CutUnsent, "unanswered": sequencetest.CutUnanswered} {
				t.Run(statement+" "+name, func(t *testing.T) {
					if statement == "CREATE" {
						mustExec(t, h.Admin, "DROP TABLE IF EXISTS seqgate_servers")
					}
					table := fmt.Sprintf("s%d_%s", i, name)
					mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, table), sequence.InsertRowSQL(h.Database, table, 1, 10))
					proxy := sequencetest.NewProxy(t, s.Addr)
					store := p.store(t, sequence.StrategyForUpdate, proxy.Addr(), skip)
					req := sequence.Request{Database: h.Database, Table: table, Need: 1}
					proxy.CutNext(when, statement)
					var res sequence.Reservation
					retry(t, func() (err error) { res, err = store.Reserve(t.Context(), req); return err })
					if res.First != 1+skip {
						t.Errorf("got %v, want the ids from %d", res, 1+skip)
					}
					if proxy.Cuts() != 1 {
						t.Errorf("got %d cuts, want 1", proxy.Cuts())
					}
				})
			}
		}
	})
}

// While the server is the same, the record costs no round trip.
func TestFailoverRoundTrips(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, strategy := range strategies {
			h := harness(t, s, strategy)
			p := pair{a: s, database: h.Database, user: s.User}
			var queries []int
			for _, skip := range []int64{0, 1000} {
				table := fmt.Sprintf("s%d", skip)
				mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, table), sequence.InsertRowSQL(h.Database, table, 1, 10))
				proxy := sequencetest.NewProxy(t, s.Addr)
				store := p.store(t, strategy, proxy.Addr(), skip)
				req := sequence.Request{Database: h.Database, Table: table, Need: 1}
				res := mustReserve(t, store, req)
				req.After, req.Cache = res.Last(), res.Cache
				before := proxy.Queries()
				for range 10 {
					mustReserve(t, store, req)
				}
				queries = append(queries, proxy.Queries()-before)
			}
			if queries[0] == 0 || queries[1] != queries[0] {
				t.Errorf("%s: got %d statements with a skip, want %d as without", strategy, queries[1], queries[0])
			}
		}
	})
}

// What may go wrong with the record: the user may not create it; there is no room for the skip; nobody takes part of it.
func TestFailoverRefusals(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := harness(t, s, "")
		user := "fo_" + strings.TrimPrefix(h.Database, "test_")
		p := pair{a: s, database: h.Database, user: user}
		mustExec(t, h.Admin, sequence.CreateTableSQL(h.Database, "s"), sequence.InsertRowSQL(h.Database, "s", 1, 10),
			"CREATE USER "+user+" IDENTIFIED BY '"+user+"'", "GRANT SELECT, UPDATE ON "+h.Database+".s TO "+user)
		t.Cleanup(func() { mustExec(t, h.Admin, "DROP USER "+user) })
		req := sequence.Request{Database: h.Database, Table: "s", Need: 1}
		open := func(skip int64) sequence.RowStore { return p.store(t, sequence.StrategyIncrement, s.Addr, skip) }

		_, err := open(50).Reserve(t.Context(), req)
		var refused *mysql.MySQLError
		if !errors.As(err, &refused) || refused.Number != 1142 {
			t.Errorf("without privileges: got %v, want 1142", err)
		}
		mustExec(t, h.Admin, "GRANT SELECT, INSERT, UPDATE ON "+h.Database+".* TO "+user)
		_, err = open(50).Reserve(t.Context(), req)
		if err == nil || !strings.Contains(err.Error(), "a user who may should run: "+sequence.ServersTableSQL(h.Database)) {
			t.Errorf("without CREATE: got %v, want the statement to run", err)
		}
		mustExec(t, h.Admin, sequence.ServersTableSQL(h.Database))
		if got := mustReserve(t, open(50), req); got.First != 51 || got.Skipped != 50 {
			t.Errorf("got %+v, want 51 after 50 skipped", got)
		}

		mustExec(t, h.Admin, "DELETE FROM seqgate_servers")
		req.Max = 127
		if _, err := open(67).Reserve(t.Context(), req); !errors.Is(err, sequence.ErrExhausted) || !strings.Contains(err.Error(), "no room to skip 67 ids up to the last id 127") {
			t.Errorf("without room: got %v", err)
		}
		if got := nextID(t, s, h.Database, "s"); got != 61 {
			t.Errorf("without room: got next_id %d, want 61 left alone", got)
		}
		if got := mustReserve(t, open(66), req); got.Range != (sequence.Range{First: 127, N: 1}) {
			t.Errorf("with room for one id: got %v", got)
		}
	})
}

// A primary that was demoted refuses writes on connections that stay open. They are dropped, so that the next ones find
// the new primary; and when the server takes writes again, all goes on.
func TestReadOnlyPrimary(t *testing.T) {
	eachPair(t, func(t *testing.T, p pair) {
		p.user = "ro_" + strings.TrimPrefix(p.database, "test_")
		readOnly, transactions := "super_read_only", "transaction_read_only"
		if p.b.IsMariaDB() {
			readOnly, transactions = "read_only", "tx_read_only"
		}
		for _, s := range []*servertest.Server{p.a, p.b} {
			mustExec(t, s.Open(t, ""), "CREATE USER "+p.user+" IDENTIFIED BY '"+p.user+"'", "GRANT SELECT, INSERT, UPDATE, CREATE ON "+p.database+".* TO "+p.user)
		}
		t.Cleanup(func() { mustExec(t, p.a.Open(t, ""), "DROP USER "+p.user) })
		p.proxy.Switch(p.b.Addr) // the one that may be made read-only; a is the other
		admin := p.b.Open(t, "")
		for _, strategy := range strategies {
			t.Run(strategy, func(t *testing.T) {
				p.proxy.Switch(p.b.Addr)
				p.table(t, strategy)
				reg := sequencetest.Registry(p.store(t, strategy, p.proxy.Addr(), 1000), sequence.Config{MaxStep: 10, Timeout: time.Minute})
				seq := get(t, reg, sequence.Name{Database: p.database, Table: strategy})
				var ids sequencetest.IDs
				stop := make(chan struct{})
				var caller sync.WaitGroup
				caller.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1) }); err != nil {
							t.Error(err)
							return
						}
					}
				})
				goOn := func() {
					t.Helper()
					before := seq.Status().Refills
					await(t, func() bool { return seq.Status().Refills > before+2 })
				}
				refused := func(variable string, number uint16) {
					t.Helper()
					mustExec(t, admin, "SET GLOBAL "+variable+" = ON")
					if variable == transactions {
						p.proxy.CutAll() // it holds for new connections
					}
					await(t, func() bool {
						var refusal *mysql.MySQLError
						st := seq.Status()
						return !st.AwaySince.IsZero() && errors.As(st.LastError, &refusal) && refusal.Number == number
					})
				}
				goOn()
				for variable, number := range map[string]uint16{readOnly: 1290, transactions: 1792} {
					refused(variable, number)
					mustExec(t, admin, "SET GLOBAL read_only = OFF", "SET GLOBAL "+transactions+" = OFF")
					goOn()
				}
				refused(readOnly, 1290)
				p.proxy.Switch(p.a.Addr) // cuts nothing
				goOn()
				mustExec(t, admin, "SET GLOBAL read_only = OFF")
				close(stop)
				caller.Wait()
				ids.NoDuplicates(t)
				if err := reg.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// A replica that runs the primary's statements would take itself for the server that served the row: refused.
func TestFailoverNeedsRows(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		admin := s.Open(t, database)
		mustExec(t, admin, sequence.CreateTableSQL(database, "s"), sequence.InsertRowSQL(database, "s", 1, 10))
		reserve := func() error {
			store := namedStore(t, sequence.StrategyIncrement, openPool(t, s.DSN(database)))
			_, err := sequence.Failover(store, 100).Reserve(t.Context(), sequence.Request{Database: database, Table: "s", Need: 1})
			return err
		}
		mustExec(t, admin, "SET GLOBAL binlog_format = 'STATEMENT'")
		if err := reserve(); err == nil || !strings.Contains(err.Error(), "set binlog_format = ROW") {
			t.Errorf("with statements in the binary log: got %v, want an error that says what to set", err)
		}
		mustExec(t, admin, "SET GLOBAL binlog_format = 'ROW'")
		if err := reserve(); err != nil {
			t.Errorf("with rows in the binary log: %v", err)
		}
	}, "--log-bin=bin")
}

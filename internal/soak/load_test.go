package soak

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// What a client does at most.
const (
	mostInserts    = 4                     // statements of one transaction
	mostStatements = 60                    // transactions and single statements on one connection
	mostThinking   = 10 * time.Millisecond // between two of them
	mostAway       = 80 * time.Millisecond // before another connection after one that failed, as pools do
	answerTimeout  = 40 * time.Second      // longer than the longest faults in a row, on a busy machine
)

// undone are the errors after which nothing is there of the statement that they refuse, and nothing of the transaction that such a
// COMMIT would have ended. After others it is not known: a connection was lost, or a shard has committed.
var undone = []uint16{1021, 1040, 1114, 1205, 1213, 1290, 1429, 1614, 1836}

// fate says what became of rows whose commit came to c; parts: it may have left those of some shards.
func fate(c *Call, parts bool) (Fate, bool) {
	switch {
	case c.Outcome == Done:
		return Kept, false
	case slices.Contains(undone, c.errorNumber()):
		return Undone, false
	}
	return Unknown, parts
}

// outcome says how a call ended whose error of the driver is err, nil too.
func outcome(err error) Outcome {
	var answer *mysql.MySQLError
	var network net.Error
	switch {
	case err == nil:
		return Done
	case errors.As(err, &answer):
		return Refused
	case errors.Is(err, context.DeadlineExceeded):
		return Hung
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network):
		return Lost
	case errors.Is(err, mysql.ErrBusyBuffer): // an error 1053 came right behind the answer before
		return Lost
	}
	return Unexpected
}

// client is one user of the cluster, with one connection at a time.
type client struct {
	number  int
	cluster *cluster
	rng     *rand.Rand
	calls   []Call
	kept    []kept
}

// kept is a row that was acknowledged.
type kept struct {
	table table
	Row
	late bool // it may be seen later only: its shard is told by recovery if it was away in the second phase of the COMMIT
}

func newClient(number int, c *cluster, seed uint64) *client {
	return &client{number: number, cluster: c, rng: rand.New(rand.NewPCG(seed, uint64(number)))}
}

// startLoad starts the clients, each of which does run until its stop is closed; end has them stop and returns their calls.
func startLoad(t *testing.T, c *cluster, seed uint64, run func(c *client, stop <-chan struct{})) (end func() []Call) {
	var running sync.WaitGroup
	all := make([]*client, c.clients)
	stop := make(chan struct{})
	for i := range all {
		all[i] = newClient(i+1, c, seed)
		running.Go(func() { run(all[i], stop) })
	}
	ended := sync.OnceFunc(func() { close(stop); running.Wait() })
	t.Cleanup(ended)
	return func() (calls []Call) {
		ended()
		for _, c := range all {
			calls = append(calls, c.calls...)
		}
		return calls
	}
}

// run uses one gate after another until stop is closed.
func (c *client) run(stop <-chan struct{}) {
	stopped := func(most time.Duration) bool {
		select {
		case <-stop:
			return true
		case <-time.After(upTo(c.rng, most)):
			return false
		}
	}
	most := mostThinking
	for !stopped(most) {
		g := c.cluster.gates[c.rng.IntN(len(c.cluster.gates))]
		s, ok := c.open(g, c.number%2 == 0)
		for n := c.rng.IntN(mostStatements); ok && n > 0 && !stopped(mostThinking); n-- {
			ok = s.act()
		}
		s.close()
		most = mostThinking
		if !ok {
			most = mostAway
		}
	}
}

// awaitAll inserts through every gate into every table, and fails the test when that does not succeed in time.
func (c *client) awaitAll(t *testing.T) {
	t.Helper()
	begun := time.Now()
	for _, g := range c.cluster.gates {
		for _, table := range c.cluster.tables {
			for table.filledBy(g) && c.insertOnce(g, table) == 0 {
				if time.Since(begun) > c.cluster.recovery {
					t.Fatalf("%v after the last fault process %s does not fill %s: %s; its log:\n%s",
						c.cluster.recovery, g.process().Name, table.name, c.calls[len(c.calls)-1], g.process().Dump())
				}
				for _, s := range c.cluster.servers { // one may have answered once more before it ended of a full disk
					s.startIfEnded(t)
				}
			}
		}
	}
}

func (t table) filledBy(g *gate) bool { return t.gate == 0 || t.gate == g.number }

// insertOnce returns the id of a new row; 0 when it failed.
func (c *client) insertOnce(g *gate, t table) int64 {
	s, ok := c.open(g, false)
	defer s.close()
	if !ok {
		return 0
	}
	return s.insertAlone(t, 1).First
}

// session is a connection of a client to a process.
type session struct {
	*client
	gate    *gate
	process string
	opened  time.Duration
	pool    *sql.DB // of this connection alone
	conn    *sql.Conn
	tx      int // the transaction that is open; 0: none
}

// open connects to the gate's present process, directly or by a faulty network.
func (c *client) open(g *gate, faulty bool) (*session, bool) {
	p := g.process()
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", p.Addr, "app", "app", "main"
	if faulty && g.networks != nil {
		cfg.Addr = g.networks[len(g.networks)-1].addr
	}
	return c.connect(g, p.Name, cfg)
}

func (c *client) connect(g *gate, process string, cfg *mysql.Config) (*session, bool) {
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		panic(err) // of a wrong configuration
	}
	s := &session{client: c, gate: g, process: process, opened: c.cluster.since(), pool: sql.OpenDB(connector)}
	call := s.call(Call{Statement: "connect"}, func(ctx context.Context) (_ int64, err error) {
		s.conn, err = s.pool.Conn(ctx)
		return 0, err
	})
	return s, call.Outcome == Done
}

func (s *session) close() {
	if s.conn != nil {
		_ = s.conn.Close() // of a broken connection it fails
	}
	_ = s.pool.Close()
}

// errWrong is the error of an answer that is not true.
var errWrong = errors.New("wrong answer")

// call runs do, which returns the first id that was acknowledged, and collects what came of it.
func (s *session) call(c Call, do func(ctx context.Context) (int64, error)) *Call {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	c.Client, c.Number, c.Process, c.Opened, c.Tx = s.number, len(s.calls)+1, s.process, s.opened, s.tx
	c.Begin = s.cluster.since()
	first, err := do(ctx)
	c.End = s.cluster.since()
	c.First, c.Outcome = first, outcome(err)
	if err != nil {
		c.First, c.Error = 0, err.Error()
	}
	if c.Outcome == Hung {
		s.cluster.noteHung(s.gate)
	}
	s.calls = append(s.calls, c)
	return &s.calls[len(s.calls)-1]
}

// noteHung has a process that does not answer tell where it hangs. It is not needed any more: the test has failed.
func (c *cluster) noteHung(g *gate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hung = append(c.hung, g.process().Dump())
}

// usable reports whether the connection is of use after a call.
func usable(c *Call) bool { return c.Outcome == Done || c.Outcome == Refused }

// act runs a statement or a transaction, and reports whether the connection is of use still.
func (s *session) act() bool {
	switch s.rng.IntN(10) {
	case 0, 1, 2, 3:
		return usable(s.insertAlone(s.table(), s.some()))
	case 4, 5:
		return usable(s.next(s.table(), s.some()))
	case 6, 7:
		return len(s.kept) == 0 || usable(s.read(s.kept[s.rng.IntN(len(s.kept))]))
	}
	return s.transaction()
}

// some returns a number of ids or rows: 1 half of the time.
func (s *session) some() int64 {
	if s.rng.IntN(2) == 0 {
		return 1
	}
	return 2 + s.rng.Int64N(s.cluster.rows-1)
}

// table chooses one that the session's gate fills.
func (s *session) table() table {
	for {
		if t := s.cluster.tables[s.rng.IntN(len(s.cluster.tables))]; t.filledBy(s.gate) {
			return t
		}
	}
}

// keep remembers what was acknowledged.
func (s *session) keep(t table, c *Call, late bool) {
	for pos := range c.N {
		s.kept = append(s.kept, kept{t, Row{Sequence: t.name, ID: c.First + pos, Client: s.number, Number: c.Number, Pos: pos}, late})
	}
}

// insertAlone runs an INSERT outside a transaction.
func (s *session) insertAlone(t table, n int64) *Call {
	call := s.insert(t, n)
	call.Rows, call.Parts = fate(call, t.sharded && n > 1 && !s.gate.xa)
	if call.Outcome == Done {
		s.keep(t, call, t.sharded && n > 1 && s.gate.xa)
	}
	return call
}

// insert runs an INSERT, as a text or prepared. What becomes of the rows is for the caller to say.
func (s *session) insert(t table, n int64) *Call {
	number := len(s.calls) + 1
	var values []string
	var args []any
	prepared := s.rng.IntN(2) == 0
	for pos := range n {
		if prepared {
			values = append(values, "(?, ?, ?)")
			args = append(args, s.number, number, pos)
		} else {
			values = append(values, fmt.Sprintf("(%d, %d, %d)", s.number, number, pos))
		}
	}
	return s.call(Call{Statement: "insert", Sequence: t.name, N: n}, func(ctx context.Context) (int64, error) {
		r, err := s.conn.ExecContext(ctx, "INSERT INTO "+t.into()+" (client, number, pos) VALUES "+strings.Join(values, ", "), args...)
		if err != nil {
			return 0, err
		}
		return r.LastInsertId()
	})
}

// next asks for the next value of a sequence or generator, or for several.
func (s *session) next(t table, n int64) *Call {
	query := "SELECT NEXT VALUE FROM "
	if n > 1 {
		query = fmt.Sprintf("SELECT NEXT %d VALUES FROM ", n)
	}
	return s.call(Call{Statement: "next value", Sequence: t.name, N: n}, func(ctx context.Context) (first int64, err error) {
		err = s.conn.QueryRowContext(ctx, query+t.source()).Scan(&first)
		return first, err
	})
}

// read looks for a row that was acknowledged, maybe by another gate.
func (s *session) read(want kept) *Call {
	return s.call(Call{Statement: "select"}, func(ctx context.Context) (int64, error) {
		var got Row
		err := s.conn.QueryRowContext(ctx, "SELECT id, client, number, pos FROM "+want.table.into()+" WHERE id = ?", want.ID).
			Scan(&got.ID, &got.Client, &got.Number, &got.Pos)
		got.Sequence = want.Sequence
		if errors.Is(err, sql.ErrNoRows) && want.late {
			return 0, nil
		}
		if errors.Is(err, sql.ErrNoRows) || err == nil && got != want.Row {
			return 0, fmt.Errorf("%w: got %v, want %v", errWrong, got, want.Row)
		}
		return 0, err
	})
}

// transaction runs INSERTs, into one server or several, and keeps them two times out of three. An INSERT that fails ends it.
func (s *session) transaction() bool {
	s.tx = len(s.calls) + 1
	defer func() { s.tx = 0 }()
	if begin := s.exec("START TRANSACTION"); begin.Outcome != Done {
		return usable(begin)
	}
	begun := len(s.calls)
	into := s.plan()
	for _, t := range into {
		if insert := s.insert(t, s.some()); insert.Outcome != Done {
			return usable(insert) && s.exec("ROLLBACK").Outcome == Done
		}
	}
	inserts := s.calls[begun:len(s.calls):len(s.calls)]
	if s.rng.IntN(3) == 0 {
		return s.exec("ROLLBACK").Outcome == Done
	}
	commit := s.exec("COMMIT")
	for i := range inserts {
		insert := &s.calls[begun+i]
		insert.Rows, insert.Parts = fate(commit, !s.gate.xa && several(inserts, into))
		if commit.Outcome == Done {
			s.keep(into[i], insert, s.gate.xa && several(inserts, into))
		}
	}
	return usable(commit)
}

// plan chooses the tables of a transaction: one time out of three those of one server alone.
func (s *session) plan() (into []table) {
	alone := s.rng.IntN(3) == 0
	for range 1 + s.rng.IntN(mostInserts) {
		t := s.table()
		for alone && t.sharded {
			t = s.table()
		}
		into = append(into, t)
	}
	return into
}

// several reports whether the rows of INSERTs can be on more than one server.
func several(inserts []Call, into []table) bool {
	for i, t := range into {
		if t.sharded && (len(into) > 1 || inserts[i].N > 1) {
			return true
		}
	}
	return false
}

// exec runs a statement that asks for no ids.
func (s *session) exec(statement string) *Call {
	return s.call(Call{Statement: statement}, func(ctx context.Context) (int64, error) {
		_, err := s.conn.ExecContext(ctx, statement)
		return 0, err
	})
}

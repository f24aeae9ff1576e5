package soak

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/testgate"
)

// What a client does at most.
const (
	mostRows       = 5                    // rows of one INSERT, and ids of one NEXT n VALUES
	mostInserts    = 4                    // statements of one transaction
	mostStatements = 60                   // transactions and single statements on one connection
	mostThinking   = 8 * time.Millisecond // between two of them
)

// answerTimeout is how long a call may take: longer than the longest faults in a row, on a busy machine.
const answerTimeout = 40 * time.Second

// client is one user of the cluster, with one connection at a time.
type client struct {
	number  int
	cluster *cluster
	rng     *rand.Rand
	calls   []Call
}

func newClient(number int, c *cluster, seed uint64) *client {
	return &client{number: number, cluster: c, rng: rand.New(rand.NewPCG(seed, uint64(number)))}
}

// run uses one gate after another until stop is closed.
func (c *client) run(stop <-chan struct{}) {
	stopped := func() bool {
		select {
		case <-stop:
			return true
		case <-time.After(time.Duration(c.rng.Int64N(int64(mostThinking)))):
			return false
		}
	}
	for !stopped() {
		g := c.cluster.gates[c.rng.IntN(len(c.cluster.gates))]
		s, ok := c.open(g)
		for n := c.rng.IntN(mostStatements); ok && n > 0 && !stopped(); n-- {
			ok = s.act()
		}
		s.close()
	}
}

// session is a connection of a client to a process.
type session struct {
	*client
	process *testgate.Process
	opened  time.Duration
	pool    *sql.DB // of this connection alone
	conn    *sql.Conn
	inside  bool // a transaction
}

// open connects to the gate's present process.
func (c *client) open(g *gate) (*session, bool) {
	s := &session{client: c, process: g.process()}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", s.process.Addr, "app", "app", "main"
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		panic(err) // of a wrong configuration
	}
	s.pool, s.opened = sql.OpenDB(connector), c.cluster.since()
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

// call runs do, which returns the first id that was acknowledged, and collects what came of it.
func (s *session) call(c Call, do func(ctx context.Context) (int64, error)) *Call {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	c.Client, c.Number, c.Process, c.Opened = s.number, len(s.calls)+1, s.process.Name, s.opened
	c.Begin = s.cluster.since()
	first, err := do(ctx)
	c.End = s.cluster.since()
	c.First, c.Outcome = first, Judge(err, explained)
	if err != nil {
		c.First, c.Error = 0, err.Error()
	}
	s.calls = append(s.calls, c)
	return &s.calls[len(s.calls)-1]
}

// act runs a statement or a transaction, and reports whether the connection is of use still.
func (s *session) act() bool {
	switch kind := s.rng.IntN(10); {
	case kind < 6:
		return s.insert()
	case kind < 8:
		return s.next()
	}
	return s.transaction()
}

// some returns a number of ids or rows: 1 half of the time.
func (s *session) some() int64 {
	if s.rng.IntN(2) == 0 {
		return 1
	}
	return 2 + s.rng.Int64N(mostRows-1)
}

func (s *session) table() string { return tables[s.rng.IntN(len(tables))].name }

// insert runs an INSERT, as a text or prepared.
func (s *session) insert() bool {
	table, n := s.table(), s.some()
	number := len(s.calls) + 1
	if s.rng.IntN(3) == 0 {
		return s.insertPrepared(table, n)
	}
	var values []string
	for pos := range n {
		values = append(values, fmt.Sprintf("(%d, %d, %d)", s.number, number, pos))
	}
	return s.insertWith("insert", table, n, strings.Join(values, ", "))
}

func (s *session) insertPrepared(table string, n int64) bool {
	number := len(s.calls) + 1
	var args []any
	for pos := range n {
		args = append(args, s.number, number, pos)
	}
	return s.insertWith("prepared insert", table, n, strings.Repeat(", (?, ?, ?)", int(n))[2:], args...)
}

func (s *session) insertWith(statement, table string, n int64, values string, args ...any) bool {
	call := s.call(Call{Statement: statement, Sequence: table, N: n}, func(ctx context.Context) (int64, error) {
		r, err := s.conn.ExecContext(ctx, "INSERT INTO "+table+" (client, number, pos) VALUES "+values, args...)
		if err != nil {
			return 0, err
		}
		return r.LastInsertId()
	})
	switch {
	case s.inside:
		call.Rows = Undone // until there is a COMMIT
	case call.Outcome == Done:
		call.Rows = Kept
	default:
		call.Rows = Unknown
	}
	return call.Outcome == Done || call.Outcome == Refused
}

// next asks for the next value, or for several.
func (s *session) next() bool {
	table, n := s.table(), s.some()
	query, statement := "SELECT NEXT VALUE FROM ", "next value"
	if n > 1 {
		query, statement = fmt.Sprintf("SELECT NEXT %d VALUES FROM ", n), "next values"
	}
	call := s.call(Call{Statement: statement, Sequence: table, N: n}, func(ctx context.Context) (first int64, err error) {
		err = s.conn.QueryRowContext(ctx, query+table+"_seq").Scan(&first)
		return first, err
	})
	return call.Outcome == Done || call.Outcome == Refused
}

// transaction runs INSERTs and keeps them two times out of three.
func (s *session) transaction() bool {
	if !s.exec("START TRANSACTION") {
		return false
	}
	begun := len(s.calls)
	s.inside = true
	defer func() { s.inside = false }()
	for range 1 + s.rng.IntN(mostInserts) {
		if !s.insert() {
			return false
		}
	}
	if s.rng.IntN(3) == 0 {
		return s.exec("ROLLBACK")
	}
	kept := s.exec("COMMIT")
	for i := begun; i < len(s.calls)-1; i++ {
		switch insert := &s.calls[i]; {
		case !kept:
			insert.Rows = Unknown
		case insert.Outcome == Done:
			insert.Rows = Kept
		}
	}
	return kept
}

// exec runs a statement that asks for no ids.
func (s *session) exec(statement string) bool {
	call := s.call(Call{Statement: statement}, func(ctx context.Context) (int64, error) {
		_, err := s.conn.ExecContext(ctx, statement)
		return 0, err
	})
	return call.Outcome == Done
}

// explained are the MySQL errors that the faults explain.
var explained = []uint16{
	1053,       // ER_SERVER_SHUTDOWN: the server or seqgate is told to stop
	1205,       // ER_LOCK_WAIT_TIMEOUT: no ids came in time
	1317, 1927, // ER_QUERY_INTERRUPTED and MariaDB's ER_CONNECTION_KILLED: KILL
	1429, // the server cannot be reached
	1615, // ER_NEED_REPREPARE: MySQL closes its tables while it stops, and a statement that is prepared just then fails
	1158, // the server was lost
}

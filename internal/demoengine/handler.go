//go:build !slim

package demoengine

import (
	"context"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// handler serves the engine's connections one at a time.
//
// Two locks make that safe. A statement holds the engine's statement lock while it runs, and its
// side's turn (clients, or sequences for SequenceUser) if it uses tables; a connection inside a
// transaction keeps the turn, so that no other connection of its side sees or changes a row until
// COMMIT, ROLLBACK or disconnect. The other side only ever waits for single statements. What the two
// sides share, the sequence tables, is never part of a transaction (see sequenceTable), so neither
// can write back the other's rows.
type handler struct {
	mysql.Handler
	statement, clients, sequences turn

	ctx  context.Context // done with close: ends all waiting
	stop context.CancelCauseFunc

	mu     sync.Mutex // guards the fields below
	conns  map[*mysql.Conn]bool
	closed bool
	served sync.WaitGroup // one per connection in conns
}

func newHandler(next mysql.Handler) *handler {
	ctx, stop := context.WithCancelCause(context.Background())
	return &handler{
		Handler:   next,
		statement: newTurn(), clients: newTurn(), sequences: newTurn(),
		ctx: ctx, stop: stop,
		conns: make(map[*mysql.Conn]bool),
	}
}

// session is what the handler knows of a connection, kept in its ClientData. One goroutine at a time
// uses it, the one that serves the connection.
type session struct {
	engine        *memory.Session // nil before the first statement
	hasTurn       bool            // between statements only inside a transaction
	inTransaction bool
}

// newSessionBuilder returns the engine's builder of sessions over provider. Sessions must be the
// engine's own type, and need the unwrapped provider to commit into.
func newSessionBuilder(provider *memory.DbProvider) server.SessionBuilder {
	build := memory.NewSessionBuilder(provider)
	return func(ctx context.Context, c *mysql.Conn, addr string) (sql.Session, error) {
		s, err := build(ctx, c, addr)
		if err != nil {
			return nil, err
		}
		c.ClientData.(*session).engine = s.(*memory.Session)
		return s, nil
	}
}

// NewConnection implements mysql.Handler.
func (h *handler) NewConnection(c *mysql.Conn) {
	c.ClientData = &session{}
	c.StatusFlags = mysql.ServerStatusAutocommit // in the greeting too, as MySQL
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		c.Close()
	} else {
		h.conns[c] = true
		h.served.Add(1)
	}
	h.Handler.NewConnection(c)
}

// ConnectionClosed implements mysql.Handler: an open transaction is rolled back.
func (h *handler) ConnectionClosed(c *mysql.Conn) {
	h.Handler.ConnectionClosed(c)
	h.abandon(c)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conns[c] {
		delete(h.conns, c)
		h.served.Done()
	}
}

// ComResetConnection implements mysql.Handler: an open transaction is rolled back.
func (h *handler) ComResetConnection(c *mysql.Conn) error {
	err := h.Handler.ComResetConnection(c)
	h.abandon(c)
	c.StatusFlags = mysql.ServerStatusAutocommit
	return err
}

// ComQuery implements mysql.Handler.
func (h *handler) ComQuery(ctx context.Context, c *mysql.Conn, query string, send mysql.ResultSpoolFn) error {
	if err := refusePrepare(query); err != nil {
		return err
	}
	var a answer
	query, a.dropped = withoutDo(query)
	err := h.exclusive(c, query, func() error {
		return h.Handler.ComQuery(a.watch(ctx), c, query, a.collect)
	})
	if err != nil {
		return err
	}
	return a.send(send)
}

// ComMultiQuery implements mysql.Handler.
func (h *handler) ComMultiQuery(ctx context.Context, c *mysql.Conn, query string, send mysql.ResultSpoolFn) (rest string, err error) {
	if err := refusePrepare(query); err != nil {
		return "", err
	}
	var a answer
	query, a.dropped = withoutDo(query)
	err = h.exclusive(c, query, func() error {
		rest, err = h.Handler.ComMultiQuery(a.watch(ctx), c, query, a.collect)
		return err
	})
	if err != nil {
		return "", err
	}
	return rest, a.send(send)
}

// ComPrepare implements mysql.Handler.
func (h *handler) ComPrepare(ctx context.Context, c *mysql.Conn, query string, p *mysql.PrepareData) (fields []*querypb.Field, err error) {
	err = h.exclusive(c, query, func() error {
		fields, err = h.Handler.ComPrepare(ctx, c, query, p)
		return err
	})
	return fields, err
}

// ComStmtExecute implements mysql.Handler.
func (h *handler) ComStmtExecute(ctx context.Context, c *mysql.Conn, p *mysql.PrepareData, send func(*sqltypes.Result) error) error {
	var a answer
	err := h.exclusive(c, p.PrepareStmt, func() error {
		return h.Handler.ComStmtExecute(a.watch(ctx), c, p, func(r *sqltypes.Result) error {
			return a.collect(r, false)
		})
	})
	if err != nil {
		return err
	}
	return a.send(func(r *sqltypes.Result, _ bool) error { return send(r) })
}

// exclusive runs a statement while no other connection runs one or, on the same side, is inside a
// transaction that used tables. It gives up with MySQL error 1205 after the session's
// innodb_lock_wait_timeout, and with 1053 when the engine closes.
func (h *handler) exclusive(c *mysql.Conn, query string, run func() error) error {
	s := c.ClientData.(*session)
	ctx, cancel := context.WithTimeoutCause(h.ctx, s.lockWait(), errLockWait)
	defer cancel()
	if !s.hasTurn && usesTables(query) {
		if err := h.side(c).take(ctx); err != nil {
			return err
		}
		s.hasTurn = true
	}
	defer func() {
		if !s.inTransaction {
			h.passTurn(c)
		}
	}()
	if err := h.statement.take(ctx); err != nil {
		return err
	}
	defer h.statement.pass()
	defer s.finish(c, query)
	return run()
}

// passTurn frees the connection's side for others if the connection has its turn.
func (h *handler) passTurn(c *mysql.Conn) {
	if s := c.ClientData.(*session); s.hasTurn {
		s.hasTurn = false
		h.side(c).pass()
	}
}

func (h *handler) side(c *mysql.Conn) turn {
	if c.User == SequenceUser {
		return h.sequences
	}
	return h.clients
}

// abandon forgets the transaction of a connection whose engine session is gone.
func (h *handler) abandon(c *mysql.Conn) {
	c.ClientData.(*session).inTransaction = false
	h.passTurn(c)
}

// setUp runs f as a client's statement without a connection.
func (h *handler) setUp(f func() error) error {
	for _, t := range []turn{h.clients, h.statement} {
		if err := t.take(h.ctx); err != nil {
			return err
		}
		defer t.pass()
	}
	return f()
}

// close refuses new connections, ends those there are and waits until they are gone.
func (h *handler) close() {
	h.stop(errShutdown)
	h.mu.Lock()
	h.closed = true
	for c := range h.conns {
		c.Close()
	}
	h.mu.Unlock()
	h.served.Wait()
}

// finish ends what the engine leaves open after a statement, and notes whether the connection is
// inside a transaction. It is called with the statement lock held.
//
// A statement that fails outside a transaction leaves its copies of tables in the session, where a
// later statement would find them stale. With autocommit off every statement opens a transaction;
// as long as those have only read, dropping it keeps an idle reader from stopping everybody else
// (such a session sees each statement's state of the data, as under READ COMMITTED).
func (s *session) finish(c *mysql.Conn, query string) {
	if s.engine == nil {
		return
	}
	tx := s.engine.GetTransaction()
	if tx == nil {
		s.engine.SetIgnoreAutoCommit(false) // an implicit commit (DDL) leaves it set, and later statements uncommitted
		s.inTransaction = false
		return
	}
	autocommit := c.StatusFlags&mysql.ServerStatusAutocommit != 0
	s.inTransaction = s.inTransaction || s.engine.GetIgnoreAutoCommit() || !autocommit && !onlyReads(query)
	if !s.inTransaction {
		s.engine.Rollback(s.context(), tx)
		s.engine.SetTransaction(nil)
		c.StatusFlags &^= mysql.ServerInTransaction
	}
}

// lockWait is how long the session's statements wait for another connection's transaction.
func (s *session) lockWait() time.Duration {
	seconds := int64(50)
	if s.engine != nil {
		if v, err := s.engine.GetSessionVariable(s.context(), lockWaitTimeout); err == nil {
			seconds, _ = v.(int64)
		}
	}
	return time.Duration(seconds) * time.Second
}

// context is what the engine's methods ask for where they need no more than the session.
func (s *session) context() *sql.Context {
	return sql.NewContext(context.Background(), sql.WithSession(s.engine))
}

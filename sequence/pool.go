package sequence

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/sessionvars"
)

// lockWait is how long a statement of a store waits for the row's lock, instead of the server's default of 50 s: a client
// that is frozen while it holds the lock costs an error and another try.
const lockWait = 2 * time.Second

// attemptTimeout ends an attempt to reserve a block that gets no answer, from when it has a connection. It is longer than
// lockWait, so that a server which is only held up by a lock can say so.
const attemptTimeout = 3 * time.Second

// connectTimeout is how long a connection may take to be made.
const connectTimeout = 3 * time.Second

// waitTimeout is how long an attempt waits for its turn, and then for a connection: longer than attemptTimeout, so that one
// that holds the only turn does not make others wait in vain, and than connectTimeout, after which the error says more.
const waitTimeout = 4 * time.Second

// callTimeout returns when a Sequence ends a call to s.
func callTimeout(s Store) time.Duration {
	switch s := s.(type) {
	case ForUpdate, CAS, Increment, Foreign: // see attemptOn
		return 2*waitTimeout + attemptTimeout
	case failover:
		return callTimeout(s.RowStore)
	case *autoCreate:
		return callTimeout(s.RowStore)
	}
	return attemptTimeout // of a Striped too, which goes on to another server instead of waiting for one
}

// poolSize is how many sequences of one server are refilled at the same time at most: see turns.
const poolSize = 8

// OpenPool is [NewPool] for a server named as go-sql-driver/mysql writes it. It returns an error when dsn is malformed.
func OpenPool(dsn string) (*sql.DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("data source name of a sequence's server: %w", err)
	}
	return NewPool(cfg)
}

// poolSettings are what NewPool says.
var poolSettings = fmt.Sprintf("%s, sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = %d, lock_wait_timeout = %[2]d",
	sessionvars.OwnTransactions, int(lockWait.Seconds()))

// NewPool returns the small pool of connections that all stores of one server share. It does not connect yet. Each
// connection begins with a SET statement, without which a server's defaults could break what a store promises:
//
//   - autocommit=1: without it an UPDATE reserves nothing until a COMMIT;
//   - completion_type='NO_CHAIN': with CHAIN a COMMIT begins the next transaction, and the UPDATE after it, of another
//     store too, reserves nothing;
//   - a strict sql_mode: a value out of range is an error and never clipped;
//   - innodb_lock_wait_timeout and lock_wait_timeout of 2 s, against row locks and table locks (ALTER TABLE, LOCK TABLES);
//   - REPEATABLE READ: an INSERT ... SELECT keeps others from writing what it has read, which moves of stripes rely on.
//
// It comes behind what cfg says for these, however that is spelled. RejectReadOnly of cfg is not used: it would hide the
// server's reason. Each connection then asks the server who it is: see Server of [Reservation]. NewPool returns an error when
// cfg contradicts itself.
func NewPool(cfg *mysql.Config) (*sql.DB, error) {
	cfg = cfg.Clone()
	cfg.Timeout = cmp.Or(cfg.Timeout, 2*time.Second) // of connecting
	cfg.RejectReadOnly = false
	cfg.Logger = &mysql.NopLogger{} // what it logs, a Sequence reports with its errors
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configuration of a sequence's server: %w", err)
	}
	db := sql.OpenDB(withTurns{&paced{Connector: identifying{sessionvars.Connector{Connector: connector, Statement: poolSettings}}}, newTurns(poolSize)})
	db.SetMaxOpenConns(poolSize)
	db.SetMaxIdleConns(poolSize)
	db.SetConnMaxIdleTime(time.Minute)
	return db, nil
}

// onTable runs f on one connection of db. All statements of an attempt go through that connection and not through db:
// database/sql repeats a statement of db, up to twice, when the driver answers driver.ErrBadConn. go-sql-driver/mysql
// does so only when nothing was sent, so a repetition would do no harm; on a connection there is none to reason about.
//
// A connection whose state is not known for sure afterwards is closed, which also rolls back what it had begun.
func onTable(ctx context.Context, db *sql.DB, q Request, f func(t table) error) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return q.failure("connect", err)
	}
	return q.on(conn, f)
}

// attemptOn is onTable for an attempt of a [Sequence]: it waits for its turn, and f has attemptTimeout from when there is a
// connection. After an outage of the server all sequences want one of its few connections at the same time. If their wait
// counted, those that come late would be given up while the server works for them, and the connections made in place of
// theirs would keep the server busy: it would never get done.
func attemptOn(ctx context.Context, db *sql.DB, q Request, f func(ctx context.Context, t table) error) (err error) {
	turn, conn, err := connection(ctx, db, q)
	if err != nil {
		return q.failure("connect", err)
	}
	attempt, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	defer func() {
		switch {
		case ctx.Err() != nil: // whoever asks had no more time
			turn.handBack()
		case attempt.Err() != nil:
			turn.unanswered()
		default:
			turn.answered(err)
		}
	}()
	return q.on(conn, func(t table) error {
		return t.untilDecided(attempt, func() error { return f(attempt, t) })
	})
}

// connection waits for its turn and for a connection of db, each for its own time: that of the connection must not suffer from
// a long line. Who has less time than an attempt may take, as a [Striped] that has other servers to ask, does not wait in line.
func connection(ctx context.Context, db *sql.DB, q Request) (turn, *sql.Conn, error) {
	line := turnsOf(db)
	if end, ok := ctx.Deadline(); ok && time.Until(end) < attemptTimeout {
		line = nil
	}
	waiting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	turn, err := line.take(waiting, q)
	if err != nil {
		return turn, nil, err
	}
	connecting, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	conn, err := db.Conn(connecting)
	switch {
	case err == nil:
	case ctx.Err() != nil: // whoever asks had no more time
		turn.handBack()
	default:
		turn.unconnected(err)
	}
	return turn, conn, err
}

// on runs f on the table of q, and closes conn or gives it back to its pool.
func (q Request) on(conn *sql.Conn, f func(t table) error) error {
	defer conn.Close() // that of a broken connection fails
	err := f(table{Request: q, conn: conn})
	if err != nil && IsTemporary(err) {
		discard(conn)
	}
	return err
}

// discard has the pool close conn.
func discard(conn *sql.Conn) {
	// Raw returns the error of the function, and drops the connection because of it.
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

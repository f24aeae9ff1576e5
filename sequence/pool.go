package sequence

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

// lockWait is how long a statement of a store waits for the row's lock, instead of the server's default of 50 s: a client
// that is frozen while it holds the lock costs an error and another try.
const lockWait = 2 * time.Second

// poolSize is how many sequences of one server are refilled at the same time.
const poolSize = 8

// OpenPool is [NewPool] for a server named as go-sql-driver/mysql writes it. It returns an error when dsn is malformed.
func OpenPool(dsn string) (*sql.DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("data source name of a sequence's server: %w", err)
	}
	return NewPool(cfg)
}

// NewPool returns the small pool of connections that all stores of one server share. It does not connect yet. Each
// connection begins with one SET statement, without which a server's defaults could break what a store promises:
//
//   - autocommit=1: without it an UPDATE reserves nothing until a COMMIT;
//   - completion_type='NO_CHAIN': with CHAIN a COMMIT begins the next transaction, and the UPDATE after it, of another
//     store too, reserves nothing;
//   - a strict sql_mode: a value out of range is an error and never clipped;
//   - innodb_lock_wait_timeout and lock_wait_timeout of 2 s, against row locks and table locks (ALTER TABLE, LOCK TABLES);
//   - REPEATABLE READ: an INSERT ... SELECT keeps others from writing what it has read, which moves of stripes rely on.
//
// What cfg says for these is not used; nor is its RejectReadOnly, which would hide the server's reason. Each connection
// then asks the server who it is: see Server of [Reservation]. NewPool returns an error when cfg contradicts itself.
func NewPool(cfg *mysql.Config) (*sql.DB, error) {
	cfg = cfg.Clone()
	cfg.Timeout = cmp.Or(cfg.Timeout, 2*time.Second) // of connecting
	cfg.RejectReadOnly = false
	cfg.Logger = &mysql.NopLogger{} // what it logs, a Sequence reports with its errors
	params := map[string]string{}
	maps.Copy(params, cfg.Params)
	seconds := strconv.Itoa(int(lockWait.Seconds()))
	maps.Copy(params, map[string]string{
		"autocommit": "1", "completion_type": "'NO_CHAIN'", "sql_mode": "'STRICT_ALL_TABLES'",
		"innodb_lock_wait_timeout": seconds, "lock_wait_timeout": seconds,
	})
	cfg.Params = params
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("configuration of a sequence's server: %w", err)
	}
	db := sql.OpenDB(identifying{connector})
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
	defer conn.Close() // gives it back to the pool; that of a broken connection fails
	err = f(table{q, conn})
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

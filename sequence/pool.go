package sequence

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

// lockWait is how long a statement of a store waits for the row's lock, instead of the server's default of 50 s: a client
// that is frozen while it holds the lock costs an error and another try.
const lockWait = 2 * time.Second

// poolSize is how many sequences of one server are refilled at the same time.
const poolSize = 8

// OpenPool opens the small pool of connections that the stores of one server share. dsn is as go-sql-driver/mysql writes
// it. Each connection begins with one SET statement that makes the stores independent of the server's defaults:
//
//   - innodb_lock_wait_timeout and lock_wait_timeout of 2 s, against row locks and against table locks (ALTER TABLE,
//     LOCK TABLES);
//   - autocommit=1: where it is off by default, an UPDATE would reserve nothing until a COMMIT;
//   - a strict sql_mode: a value out of range is an error and never clipped.
//
// It does not connect yet. It returns an error when dsn is malformed.
func OpenPool(dsn string) (*sql.DB, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("data source name of a sequence's server: %w", err)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 2 * time.Second // of connecting
	}
	cfg.RejectReadOnly = false // it would hide the server's reason; a read-only server's connections are dropped here
	cfg.Logger = &mysql.NopLogger{}
	if cfg.Params == nil {
		cfg.Params = map[string]string{}
	}
	seconds := strconv.Itoa(int(lockWait.Seconds()))
	cfg.Params["innodb_lock_wait_timeout"] = seconds
	cfg.Params["lock_wait_timeout"] = seconds
	cfg.Params["autocommit"] = "1"
	cfg.Params["sql_mode"] = "'STRICT_ALL_TABLES'"
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, fmt.Errorf("data source name of a sequence's server: %w", err)
	}
	db := sql.OpenDB(connector)
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
	if err != nil && isTemporary(err) {
		discard(conn)
	}
	return err
}

// discard has the pool close conn.
func discard(conn *sql.Conn) {
	// Raw returns the error of the function, and drops the connection because of it.
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

package sequence

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// serverSQL is what tells one server from another: host name, port and server_id, and server_uuid, which MariaDB does not
// have. MariaDB takes the comment as one; MySQL runs it (MariaDB knowledge base, "Comment Syntax": MySQL's executable
// comments of the versions 50700 to 99999 are not executed).
//
// No part alone would do: server_id is 1 on every server that never replicated, server_uuid is the same on copies of a
// data directory, and host names and ports repeat in containers. A server that only changes its name counts as another
// one, which costs ids and does no harm.
const serverSQL = "CONCAT_WS(':', @@hostname, @@port, @@server_id /*!50700 , @@server_uuid */)"

// identifying asks each server that it connects to who it is, once. It also sets the isolation level, whose variable has
// other names on other servers.
type identifying struct{ driver.Connector }

// Connect implements [driver.Connector]. It ends after connectTimeout: database/sql also makes connections of its own accord,
// for whoever waits, and would wait without end for a server that takes the connection and says nothing.
func (c identifying) Connect(ctx context.Context) (driver.Conn, error) {
	bounded, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := c.connect(bounded)
	switch {
	case err == nil:
	case bounded.Err() != nil && ctx.Err() == nil:
		err = fmt.Errorf("the server gave no answer in %v: %w", connectTimeout, bounded.Err())
	case errors.Is(err, driver.ErrBadConn): // with which database/sql would try twice more, at once
		err = fmt.Errorf("the server ended the connection before it was made: %w", mysql.ErrInvalidConn)
	}
	return conn, err
}

func (c identifying) connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(mysqlConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T lacks what database/sql asks of a connection", opened), opened.Close())
	}
	server, err := identify(ctx, conn)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ask the server who it is: %w", err), conn.Close())
	}
	if _, err := conn.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", nil); err != nil {
		return nil, errors.Join(fmt.Errorf("set the isolation level: %w", err), conn.Close())
	}
	return &identified{mysqlConn: conn, server: server}, nil
}

// identify returns "" for a server that cannot say who it is.
func identify(ctx context.Context, conn mysqlConn) (string, error) {
	rows, err := conn.QueryContext(ctx, "SELECT "+serverSQL, nil)
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var server sql.NullString
	value := []driver.Value{nil}
	if err := rows.Next(value); err != nil {
		return "", err
	}
	if err := server.Scan(value[0]); err != nil {
		return "", err
	}
	return server.String, nil
}

// mysqlConn is what database/sql uses of go-sql-driver/mysql's connections.
type mysqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// identified is a connection to a server that is known.
type identified struct {
	mysqlConn
	server  string
	limited bool // see [table.limitIdle]
}

// server returns the server that t's connection leads to, "" when it is not known.
func (t table) server() (server string) {
	_ = t.conn.Raw(func(conn any) error { // fails for a connection that is broken, which the next statement tells
		if c, ok := conn.(*identified); ok {
			server = c.server
		}
		return nil
	})
	return server
}

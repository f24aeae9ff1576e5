// Package sessionvars makes sure of the variables of connections to a server.
package sessionvars

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// OwnTransactions is for connections whose statements are to last when they have run: without autocommit, or in a chain of
// transactions, they would end with the connection.
const OwnTransactions = "SET autocommit = 1, completion_type = 'NO_CHAIN'"

// Connector returns connections on which a statement has run after all that their data source name asks for. The driver sends
// that in one SET, in any order, and whoever writes autocommit or AUTOCOMMIT or @@SESSION.autocommit means the same variable:
// what must hold is set behind it.
type Connector struct {
	driver.Connector
	Statement string
}

// Connect implements [driver.Connector].
func (c Connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	runner, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("%T runs no statements", conn), conn.Close())
	}
	if _, err := runner.ExecContext(ctx, c.Statement, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.Statement, err), conn.Close())
	}
	return conn, nil
}

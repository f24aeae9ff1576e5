package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// Driver is the driver that [sql.Open] knows as "seqgate". Its data source names are those of go-sql-driver/mysql, with a
// database. Each [sql.DB] has sequences of its own, so a program needs one for each database.
type Driver struct{}

var (
	_ driver.Driver        = Driver{}
	_ driver.DriverContext = Driver{}
)

func init() { sql.Register("seqgate", Driver{}) }

// OpenConnector implements [driver.DriverContext] by [NewConnector] without a vschema.
func (Driver) OpenConnector(dsn string) (driver.Connector, error) { return NewConnector(dsn, Config{}) }

// Open implements [driver.Driver]. [sql.Open] does not use it. The connection has sequences of its own, which end with it.
func (Driver) Open(dsn string) (driver.Conn, error) {
	c, err := NewConnector(dsn, Config{})
	if err != nil {
		return nil, err
	}
	conn, err := c.Connect(context.Background())
	if err != nil {
		_ = c.Close() // nothing was used yet
		return nil, err
	}
	return &loneConn{conn, c}, nil
}

// loneConn is a connection that nobody shares the sequences with.
type loneConn struct {
	driver.Conn
	connector *Connector
}

// Close ends the connection, then its sequences.
func (c *loneConn) Close() error {
	if err := c.Conn.Close(); err != nil {
		_ = c.connector.Close() // the first error tells more
		return err
	}
	return c.connector.Close()
}

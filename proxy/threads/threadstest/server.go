// Package threadstest has a server for tests of what ends connections.
package threadstest

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
)

// Server is a driver for a server that has one connection with id 7, and notes what it is asked to kill.
type Server struct {
	Host, Command string
	Variables     map[string]string
	Killed        []string
	Asked         func() // called when somebody asks for its connections; nil: nothing
}

func (s *Server) Connect(context.Context) (driver.Conn, error) { return conn{s}, nil }
func (s *Server) Driver() driver.Driver                        { return nil }

type conn struct{ *Server }

func (conn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("no prepared statements")
}
func (conn) Begin() (driver.Tx, error) { return nil, errors.New("no transactions") }
func (conn) Close() error              { return nil }

func (c conn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if query == "SHOW PROCESSLIST" {
		if c.Asked != nil {
			c.Asked()
		}
		return &rowsOf{columns: 8, rows: [][]driver.Value{{"7", "app", c.Host, "d", c.Command, "1", "", ""}}}, nil
	}
	found := &rowsOf{columns: 2}
	for name, value := range c.Variables {
		if strings.Contains(query, "'"+name+"'") {
			found.rows = append(found.rows, []driver.Value{name, value})
		}
	}
	return found, nil
}

func (c conn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	c.Killed = append(c.Killed, query)
	return driver.ResultNoRows, nil
}

type rowsOf struct {
	columns int
	rows    [][]driver.Value
}

func (r *rowsOf) Columns() []string { return make([]string, r.columns) }
func (r *rowsOf) Close() error      { return nil }

func (r *rowsOf) Next(to []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(to, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

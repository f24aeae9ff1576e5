package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// workload is one kind of statement. Every target runs the same statement, but where ids are made:
// direct and through the relay the server makes them, through seqgate a sequence does.
type workload struct {
	name    string
	inserts int // rows per statement, into the table insertTable names
	// open returns a function that runs the statement once on conn, a connection to t, and reads its whole answer.
	open func(ctx context.Context, conn driver.Conn, t *target) (operation, error)
}

type operation func() error

const (
	pointRows = 10000
	resultRow = "SELECT id, filler FROM thousand"
)

// schema creates and fills the tables. A row of thousand is 100 bytes in a text result, with the four
// bytes of its packet's header, an id of four digits and two bytes for lengths.
var schema = []string{
	"CREATE TABLE points (id BIGINT PRIMARY KEY, v VARCHAR(64) NOT NULL)",
	"CREATE TABLE thousand (id BIGINT PRIMARY KEY, filler CHAR(90) NOT NULL)",
	"CREATE TABLE native (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT NOT NULL, b VARCHAR(64) NOT NULL)",
	"CREATE TABLE filled (id BIGINT PRIMARY KEY, a INT NOT NULL, b VARCHAR(64) NOT NULL)",
	"CREATE TABLE filled_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
	"CREATE TABLE tickets_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
	"CREATE TABLE native_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT)",
	"INSERT INTO filled_seq VALUES (0, 1, 1000)",
	"INSERT INTO tickets_seq VALUES (0, 1, 1000)",
	"INSERT INTO native_seq VALUES (0, 1, 1000)",
	"INSERT INTO points VALUES " + list(pointRows, func(i int) string { return fmt.Sprintf("(%d, 'value %d')", i+1, i+1) }),
	"INSERT INTO thousand VALUES " + list(1000, func(i int) string { return fmt.Sprintf("(%d, '%090d')", i+1000, i) }),
}

var workloads = []workload{
	{name: "point select, text", open: func(ctx context.Context, conn driver.Conn, _ *target) (operation, error) {
		return textQuery(ctx, conn, func() string {
			return fmt.Sprintf("SELECT v FROM points WHERE id = %d", 1+rand.IntN(pointRows))
		}), nil
	}},
	{name: "point select, prepared", open: func(ctx context.Context, conn driver.Conn, _ *target) (operation, error) {
		return preparedQuery(ctx, conn, "SELECT v FROM points WHERE id = ?", func(args []driver.NamedValue) {
			args[0].Value = int64(1 + rand.IntN(pointRows))
		})
	}},
	{name: "1000-row select", open: func(ctx context.Context, conn driver.Conn, _ *target) (operation, error) {
		return textQuery(ctx, conn, func() string { return resultRow }), nil
	}},
	{name: "1-row INSERT, text", inserts: 1, open: func(ctx context.Context, conn driver.Conn, t *target) (operation, error) {
		return textExec(ctx, conn, func() string { return insertStatement(t.fills(), 1) }), nil
	}},
	{name: "1-row INSERT, prepared", inserts: 1, open: func(ctx context.Context, conn driver.Conn, t *target) (operation, error) {
		return preparedExec(ctx, conn, "INSERT INTO "+insertTable(t.fills())+" (a, b) VALUES (?, ?)", func(args []driver.NamedValue) {
			args[0].Value, args[1].Value = int64(rand.IntN(1e6)), "a note of some length"
		})
	}},
	{name: "100-row INSERT", inserts: 100, open: func(ctx context.Context, conn driver.Conn, t *target) (operation, error) {
		return textExec(ctx, conn, func() string { return insertStatement(t.fills(), 100) }), nil
	}},
	{name: "NEXT VALUE", open: func(ctx context.Context, conn driver.Conn, t *target) (operation, error) {
		if s := nextValue[t.ids]; s != "" {
			return textQuery(ctx, conn, func() string { return s }), nil
		}
		return textExec(ctx, conn, func() string {
			return "UPDATE native_seq SET next_id = LAST_INSERT_ID(next_id + 1) WHERE id = 0"
		}), nil
	}},
	{name: "connect, ping, quit", open: func(ctx context.Context, _ driver.Conn, t *target) (operation, error) {
		return func() error {
			conn, err := connect(ctx, t.client)
			if err != nil {
				return err
			}
			return errors.Join(conn.(driver.Pinger).Ping(ctx), conn.Close())
		}, nil
	}},
}

// nextValue is how the next value is asked for, by who makes it. A server without sequences counts in a row.
var nextValue = map[idSource]string{
	bySeqgate: "SELECT NEXT VALUE FROM tickets_seq", byVitess: "SELECT NEXT 1 VALUES FROM tickets_seq", byOwnSequence: "SELECT NEXTVAL(own_seq)",
}

// workloads returns those that as gives a name and that --only asks for, under these names.
func (cfg *config) workloads(as func(*workload) (name string, ok bool)) (asked []workload) {
	for _, w := range workloads {
		name, ok := as(&w)
		if w.name = name; ok && (cfg.only == nil || cfg.only.MatchString(name)) {
			asked = append(asked, w)
		}
	}
	return asked
}

func (w *workload) unsharded() (name string, ok bool) { return w.name, true }

// insertOf is an INSERT of rows.
func insertOf(rows int) *workload {
	return &workload{name: "INSERT", inserts: rows, open: func(ctx context.Context, conn driver.Conn, t *target) (operation, error) {
		return textExec(ctx, conn, func() string { return insertStatement(t.fills(), rows) }), nil
	}}
}

// insertTable is the table that rows are inserted into without ids.
func insertTable(filled bool) string {
	if filled {
		return "filled"
	}
	return "native"
}

func insertStatement(filled bool, rows int) string {
	return "INSERT INTO " + insertTable(filled) + " (a, b) VALUES " +
		list(rows, func(int) string { return fmt.Sprintf("(%d, 'a note of some length')", rand.IntN(1e6)) })
}

func list(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, ", ")
}

// textQuery runs a text statement and reads all its rows.
func textQuery(ctx context.Context, conn driver.Conn, statement func() string) operation {
	q := conn.(driver.QueryerContext)
	return func() error {
		rows, err := q.QueryContext(ctx, statement(), nil)
		if err != nil {
			return err
		}
		return drain(rows)
	}
}

func textExec(ctx context.Context, conn driver.Conn, statement func() string) operation {
	e := conn.(driver.ExecerContext)
	return func() error {
		_, err := e.ExecContext(ctx, statement(), nil)
		return err
	}
}

func preparedQuery(ctx context.Context, conn driver.Conn, statement string, bind func([]driver.NamedValue)) (operation, error) {
	s, args, err := prepare(ctx, conn, statement)
	if err != nil {
		return nil, err
	}
	return func() error {
		bind(args)
		rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, args)
		if err != nil {
			return err
		}
		return drain(rows)
	}, nil
}

func preparedExec(ctx context.Context, conn driver.Conn, statement string, bind func([]driver.NamedValue)) (operation, error) {
	s, args, err := prepare(ctx, conn, statement)
	if err != nil {
		return nil, err
	}
	return func() error {
		bind(args)
		_, err := s.(driver.StmtExecContext).ExecContext(ctx, args)
		return err
	}, nil
}

// prepare returns a statement, which ends with its connection, and room for its arguments.
func prepare(ctx context.Context, conn driver.Conn, statement string) (driver.Stmt, []driver.NamedValue, error) {
	s, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, statement)
	if err != nil {
		return nil, nil, err
	}
	args := make([]driver.NamedValue, s.NumInput())
	for i := range args {
		args[i].Ordinal = i + 1
	}
	return s, args, nil
}

// drain reads all rows.
func drain(rows driver.Rows) error {
	row := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(row)
		if err == io.EOF {
			return rows.Close()
		}
		if err != nil {
			return errors.Join(err, rows.Close())
		}
	}
}

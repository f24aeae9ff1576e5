package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// pages counts pages of tables that went between the server's memory and its files.
type pages struct{ read, written int64 }

func (s *server) pages(ctx context.Context) (p pages, err error) {
	if p.read, err = s.status(ctx, "Innodb_pages_read"); err != nil {
		return p, err
	}
	p.written, err = s.status(ctx, "Innodb_pages_written")
	return p, err
}

func (s *server) status(ctx context.Context, name string) (n int64, err error) {
	var same string
	err = s.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&same, &n)
	return n, err
}

// writeOut has the server write the changed pages of a table to its file (MySQL manual, "FLUSH TABLES ... FOR EXPORT").
func (s *server) writeOut(ctx context.Context, table string) error {
	if _, err := s.ExecContext(ctx, "FLUSH TABLES "+table+" FOR EXPORT"); err != nil {
		return err
	}
	_, err := s.ExecContext(ctx, "UNLOCK TABLES")
	return err
}

// size is that of a table, in bytes.
type size struct{ data, index, file int64 }

// check makes sure that all rows are there, and notes the table's size.
func (s *server) check(ctx context.Context, t *table, rows int) error {
	var n int
	if err := s.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.table).Scan(&n); err != nil {
		return err
	}
	if n != rows {
		return fmt.Errorf("table %s has %d rows, but %d were inserted", t.table, n, rows)
	}
	if err := s.analyze(ctx, t.table); err != nil {
		return err
	}
	err := s.QueryRowContext(ctx, "SELECT data_length, index_length FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
		s.database, t.table).Scan(&t.size.data, &t.size.index)
	if err != nil {
		return err
	}
	return s.QueryRowContext(ctx, "SELECT file_size FROM information_schema."+s.tablespaces()+" WHERE name = ?",
		s.database+"/"+t.table).Scan(&t.size.file)
}

// analyze has the sizes in information_schema be those of now. Its result says so, or what went wrong.
func (s *server) analyze(ctx context.Context, table string) error {
	var name, op, kind, text string
	if err := s.QueryRowContext(ctx, "ANALYZE TABLE "+table).Scan(&name, &op, &kind, &text); err != nil {
		return err
	}
	if kind == "Error" {
		return fmt.Errorf("analyze table %s: %s", table, text)
	}
	return nil
}

func (s *server) isMariaDB() bool { return strings.Contains(s.version, "MariaDB") }

// tablespaces is the view of information_schema that has the sizes of files.
func (s *server) tablespaces() string {
	if s.isMariaDB() {
		return "innodb_sys_tablespaces"
	}
	return "innodb_tablespaces"
}

// patience is how long a server may take to resize its buffer pool.
const patience = time.Minute

// redoLog is the size of the redo log where the size of the buffer pool is set: with a small one the server writes pages
// all the time, whatever its memory.
const redoLog = 512 << 20

// setPool sets the size of the buffer pool and of the redo log, and returns what sets both back. MySQL rounds the former up
// to a multiple of innodb_buffer_pool_chunk_size, 128 MiB (MySQL manual, "Configuring InnoDB Buffer Pool Size").
func (s *server) setPool(ctx context.Context, bytes int64) (restore func() error, err error) {
	if s.poolSize, err = s.variable(ctx, poolVariable); err != nil || bytes == 0 {
		return func() error { return nil }, err
	}
	log, err := s.variable(ctx, s.logVariable())
	if err != nil {
		return nil, err
	}
	before := s.poolSize
	restore = func() error {
		ctx := context.WithoutCancel(ctx)
		return errors.Join(s.set(ctx, poolVariable, before), s.set(ctx, s.logVariable(), log))
	}
	err = s.set(ctx, s.logVariable(), max(log, redoLog))
	if err == nil {
		err = s.set(ctx, poolVariable, bytes)
	}
	if err == nil {
		err = s.awaitPool(ctx, bytes)
	}
	if err != nil {
		return nil, errors.Join(err, restore())
	}
	return restore, nil
}

const poolVariable = "innodb_buffer_pool_size"

// logVariable is the size of the redo log, which can be set while the server runs: in MariaDB from 10.9 on, in MySQL from
// 8.0.30 on (their manuals, "innodb_log_file_size" and "innodb_redo_log_capacity").
func (s *server) logVariable() string {
	if s.isMariaDB() {
		return "innodb_log_file_size"
	}
	return "innodb_redo_log_capacity"
}

// awaitPool returns when the buffer pool, which is resized in the background, has its new size.
func (s *server) awaitPool(ctx context.Context, bytes int64) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pageSize, err := s.variable(ctx, "innodb_page_size")
	if err != nil {
		return err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if s.poolSize, err = s.variable(ctx, poolVariable); err != nil {
			return err
		}
		total, err := s.status(ctx, "Innodb_buffer_pool_pages_total")
		if err != nil {
			return err
		}
		// What describes the pages takes some of it.
		if got := total * pageSize; s.poolSize >= bytes && got <= s.poolSize && got >= s.poolSize/10*9 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the buffer pool did not get its size of %d bytes: %w", bytes, ctx.Err())
		}
	}
}

func (s *server) variable(ctx context.Context, name string) (n int64, err error) {
	err = s.QueryRowContext(ctx, "SELECT @@GLOBAL."+name).Scan(&n)
	return n, err
}

func (s *server) set(ctx context.Context, name string, n int64) error {
	_, err := s.ExecContext(ctx, fmt.Sprintf("SET GLOBAL %s = %d", name, n))
	return err
}

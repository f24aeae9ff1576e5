package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// server is a server that is measured on. Its one connection is not a writer's.
type server struct {
	*sql.Conn
	version  string
	database string
	poolSize int64
}

// measureServer loads the tables with a buffer pool of that size (0: as it is), and returns the report.
func measureServer(ctx context.Context, cfg *config, dsn string, pool int64, log io.Writer) (text string, err error) {
	s := &server{database: "keys_" + strings.ToLower(rand.Text())}
	db, err := openDatabase(ctx, dsn, s.database)
	if err != nil {
		return "", err
	}
	defer func() {
		_, dropErr := db.Exec("DROP DATABASE " + s.database)
		err = errors.Join(err, dropErr, db.Close())
	}()
	if s.Conn, err = db.Conn(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.QueryRowContext(ctx, "SELECT VERSION()").Scan(&s.version); err != nil {
		return "", err
	}
	restore, err := s.setPool(ctx, pool)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, restore()) }()
	fmt.Fprintf(log, "%s, buffer pool %d MiB\n", s.version, s.poolSize>>20)
	tables, closeTables, err := s.open(ctx, cfg, db)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, closeTables()) }()
	if err := loadAll(ctx, cfg, s, tables); err != nil {
		return "", err
	}
	for _, t := range tables {
		if err := s.check(ctx, t, cfg.rows+cfg.single); err != nil {
			return "", err
		}
	}
	return s.report(tables), nil
}

// openDatabase makes the database, and returns connections that are in it.
func openDatabase(ctx context.Context, dsn, name string) (*sql.DB, error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	config.DBName = ""
	outside, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		return nil, err
	}
	defer outside.Close()
	if _, err := outside.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, err
	}
	config.DBName = name
	return sql.Open("mysql", config.FormatDSN())
}

// open makes the tables. All share the writers' connections, as only one of them is loaded at a time.
func (s *server) open(ctx context.Context, cfg *config, db *sql.DB) (tables []*table, stop func() error, err error) {
	var conns []*sql.Conn
	stop = func() error {
		var errs []error
		for _, c := range conns {
			errs = append(errs, c.Close())
		}
		return errors.Join(errs...)
	}
	for range cfg.writers {
		c, err := db.Conn(ctx)
		if err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		conns = append(conns, c)
	}
	for _, k := range keys() {
		t := &table{key: k, conns: conns}
		if t.sources, err = k.open(cfg.writers); err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		if _, err := s.ExecContext(ctx, t.createTable()); err != nil {
			return nil, nil, errors.Join(err, stop())
		}
		tables = append(tables, t)
	}
	return tables, stop, nil
}

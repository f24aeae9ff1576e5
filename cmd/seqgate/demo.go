//go:build !slim

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"text/template"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/demoengine"
)

// runDemo is `seqgate demo`: a real seqgate in front of an engine of its own.
func runDemo(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	fs := newFlags("demo", "[--listen ADDR]", "Runs seqgate in front of an embedded MySQL-compatible engine, with example tables.", stdout)
	listen := fs.String("listen", defaultConfig().Listen[0], "`ADDR` to listen on, host:port")
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	engine, err := demoengine.Start(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	if err := engine.Exec(demoTables...); err != nil {
		return err
	}
	return serve(ctx, demoConfig(engine.Addr(), *listen), nil, stderr, func(addr string) { printBanner(stdout, addr) })
}

// demoConfig is the configuration of a seqgate in front of the engine. The
// engine has no row locks, so refills compare and swap.
func demoConfig(engine, listen string) *Config {
	dsn := mysql.NewConfig()
	dsn.Net, dsn.Addr, dsn.User, dsn.DBName = "tcp", engine, demoengine.SequenceUser, demoDatabase
	cfg := defaultConfig()
	cfg.Listen = []string{listen}
	cfg.Users = []User{{Name: "root"}}
	cfg.Keyspaces = []Keyspace{{Name: demoDatabase, Shards: []Shard{{
		Name: wholeRange, DSN: dsn, Mode: TLSDisabled, SessionUser: "root"}}}}
	cfg.DefaultKeyspace = demoDatabase
	cfg.Sequences.Refill = RefillCAS
	return cfg
}

const demoDatabase = "main"

var demoTables = []string{
	"CREATE DATABASE main",
	"CREATE TABLE main.users (id BIGINT PRIMARY KEY, name VARCHAR(64) NOT NULL, email VARCHAR(128), created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
	"CREATE TABLE main.orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, item VARCHAR(64), amount DECIMAL(10, 2), KEY (user_id))",
	"CREATE TABLE main.users_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
	"CREATE TABLE main.orders_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
	"INSERT INTO main.users_seq VALUES (0, 1, 1000)",
	"INSERT INTO main.orders_seq VALUES (0, 1000001, 1000)",
}

var banner = template.Must(template.New("banner").Parse(`
seqgate demo: a real seqgate at {{.Host}}:{{.Port}}, in front of an embedded engine.
Connect with any MySQL client, as root without a password:

  mysql   -h {{.Host}} -P {{.Port}} -u root {{.Database}}
  mariadb -h {{.Host}} -P {{.Port}} -u root {{.Database}}

and type, for example:

  INSERT INTO users (name) VALUES ('Ann'), ('Ben');      -- no ids: seqgate fills them
  SELECT LAST_INSERT_ID();                               -- the first of the two
  INSERT INTO orders (user_id, item) VALUES (1, 'tea');
  SELECT NEXT VALUE FROM users_seq;                      -- an id for a program of yours
  SELECT * FROM users;  SELECT * FROM users_seq;

The engine (go-mysql-server) is for trying things: data are in memory and gone at
the end; it has no row locks, so one transaction runs at a time and others wait for
it; it has no savepoints and no temporary tables, and error texts are its own.
For real use put seqgate in front of a MySQL server: seqgate serve --upstream DSN.
Stop with ctrl-C.

`))

// printBanner says what to type. A banner that cannot be printed stops nothing.
func printBanner(w io.Writer, addr string) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil {
		err = banner.Execute(w, map[string]string{"Host": host, "Port": port, "Database": demoDatabase})
	}
	if err != nil {
		fmt.Fprintln(w, "seqgate demo at", addr)
	}
}

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

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/config"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/demoengine"
	"github.com/seqgate/seqgate/vschema"
)

// demo runs a real seqgate in front of engines of its own, one for each shard: an engine runs one
// transaction at a time, so that two shards of one engine would wait for each other.
func demo(ctx context.Context, listen, admin string, stdout, stderr io.Writer) (err error) {
	var engines []*demoengine.Engine
	defer func() {
		for _, e := range engines {
			err = errors.Join(err, e.Close())
		}
	}()
	var addrs []string
	for _, tables := range [][]string{demoTables, demoShardTables, demoShardTables} {
		e, err := demoengine.Start(ctx, slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		engines, addrs = append(engines, e), append(addrs, e.Addr())
		if err := e.Exec(tables...); err != nil {
			return err
		}
	}
	cfg, err := demoConfig(listen, addrs[0], addrs[1:])
	if err != nil {
		return err
	}
	cfg.Admin.Listen = admin
	return app.Serve(ctx, cfg, nil, stderr, func(addr string) { printBanner(stdout, addr) })
}

// demoConfig is the configuration of a seqgate in front of the engine of the keyspace main and those of the shards. The
// engines have no row locks, so refills compare and swap.
func demoConfig(listen, unsharded string, shards []string) (*config.Config, error) {
	cfg := config.Default()
	cfg.Log.Format = "text" // for people, through a pipe too
	cfg.Listen = []string{listen}
	cfg.Users = []config.User{{Name: "root"}}
	cfg.DefaultKeyspace = demoDatabase
	cfg.Sequences.Refill = config.RefillCAS
	var err error
	if cfg.VSchema, err = vschema.Load("vschema.json", []byte(demoVSchema)); err != nil {
		return nil, err
	}
	customer := config.Keyspace{Name: demoSharded}
	if customer.Layout, err = cfg.Declared(demoSharded).NewShards([]string{"-80", "80-"}); err != nil {
		return nil, err
	}
	for i, addr := range shards {
		customer.Shards = append(customer.Shards, demoShard(customer.Layout.Name(i), addr, demoSharded))
	}
	cfg.Keyspaces = []config.Keyspace{{Name: demoDatabase, Shards: []config.Shard{demoShard(config.WholeRange, unsharded, demoDatabase)}}, customer}
	return cfg, nil
}

func demoShard(name, engine, database string) config.Shard {
	dsn := mysql.NewConfig()
	dsn.Net, dsn.Addr, dsn.User, dsn.DBName = "tcp", engine, demoengine.SequenceUser, database
	return config.Shard{Name: name, DSN: dsn, Mode: config.TLSDisabled, SessionUser: "root"}
}

// The keyspaces of the demo, which are also the names of their databases.
const (
	demoDatabase = "main"
	demoSharded  = "customer"
)

// demoVSchema has the rows of customer.orders divided by their user, as Vitess's example does.
const demoVSchema = `{"keyspaces": {
	"main": {"tables": {
		"users":  {"auto_increment": {"column": "id", "sequence": "users_seq"}},
		"orders": {"auto_increment": {"column": "id", "sequence": "orders_seq"}},
		"users_seq": {"type": "sequence"}, "orders_seq": {"type": "sequence"}
	}},
	"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {
		"orders": {"column_vindexes": [{"column": "user_id", "name": "hash"}],
			"auto_increment": {"column": "id", "sequence": "main.orders_seq"}}
	}}
}}`

var demoShardTables = []string{
	"CREATE DATABASE customer",
	"CREATE TABLE customer.orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, item VARCHAR(64), amount DECIMAL(10, 2), KEY (user_id))",
}

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
seqgate demo: a real seqgate at {{.Host}}:{{.Port}}, in front of embedded engines.
Connect with any MySQL client, as root without a password:

  mysql   -h {{.Host}} -P {{.Port}} -u root {{.Database}}
  mariadb -h {{.Host}} -P {{.Port}} -u root {{.Database}}

and type, for example:

  INSERT INTO users (name) VALUES ('Ann'), ('Ben');      -- no ids: seqgate fills them
  SELECT LAST_INSERT_ID();                               -- the first of the two
  INSERT INTO orders (user_id, item) VALUES (1, 'tea');
  SELECT NEXT VALUE FROM users_seq;                      -- an id for a program of yours
  SELECT * FROM users;  SELECT * FROM users_seq;

The keyspace customer is sharded by user over two engines, with ids from orders_seq:

  USE customer
  INSERT INTO orders (user_id, item) VALUES (1, 'tea'), (2, 'rice'), (4, 'salt');
  SELECT * FROM orders ORDER BY id;                      -- of both shards

  mariadb -h {{.Host}} -P {{.Port}} -u root customer:-80 -e 'SELECT * FROM orders'    # one shard alone: users 1 and 2

The engines (go-mysql-server) are for trying things: data are in memory and gone at
the end; they have no row locks, so one transaction runs at a time and others wait
for it; no savepoints, so a statement on several shards works outside a transaction
only; no temporary tables and no XA; and error texts are their own.
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

package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/worker"
)

// planLine is a row of SHOW SEQGATE PLAN.
type planLine struct{ about, says string }

// showPlan asks a seqgate of its own, in this process, which gives nobody an id.
func showPlan(ctx context.Context, cfg *config.Config, database, statement string) (plan []planLine, err error) {
	log := slog.New(slog.DiscardHandler)
	keyspaces, err := app.OpenKeyspaces(cfg)
	if err != nil {
		return nil, err
	}
	defer app.CloseKeyspaces(keyspaces, log)
	sequences := sequence.NewRegistry(func(name sequence.Name) (sequence.Settings, error) {
		return sequence.Settings{}, fmt.Errorf("sequence %s was asked for an id by a plan", name)
	}, app.SequenceConfig(cfg, nil, log))
	defer func() { err = errors.Join(err, sequences.Close(context.WithoutCancel(ctx))) }()
	generators := generate.New(generate.Config{Workers: generate.StaticWorkers(0, "", worker.Config{Logger: log})}) // of which none is asked
	defer func() { err = errors.Join(err, generators.Close(context.WithoutCancel(ctx))) }()
	dsn := mysql.NewConfig()
	dsn.User, dsn.Passwd, dsn.DBName, dsn.InterpolateParams = "explain", rand.Text(), database, true
	server, err := proxy.New(proxy.Config{
		Keyspaces: keyspaces, Default: cfg.DefaultKeyspace, VSchema: cfg.VSchema, OnExplicitID: cfg.Tables.OnExplicitIDOf,
		Users:     []proxy.User{{Name: dsn.User, Password: dsn.Passwd, Plugin: "mysql_native_password"}},
		Sequences: sequences, Generators: generators, Logger: log, Version: app.Version(), HandshakeTimeout: cfg.Timeouts.Handshake, MaxValues: cfg.Sequences.MaxN,
	})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, server.Shutdown(ctx))
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() { err = errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)), <-served) }()
	dsn.Net, dsn.Addr = "tcp", listener.Addr().String()
	return askPlan(ctx, dsn, statement)
}

// askPlan asks a seqgate for the plan of a statement.
func askPlan(ctx context.Context, dsn *mysql.Config, statement string) (plan []planLine, err error) {
	connector, err := mysql.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "SHOW SEQGATE PLAN FOR ?", statement)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var line planLine
		if err := rows.Scan(&line.about, &line.says); err != nil {
			return nil, err
		}
		plan = append(plan, line)
	}
	return plan, rows.Err()
}

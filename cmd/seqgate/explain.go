package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"text/tabwriter"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"github.com/seqgate/seqgate/internal/config"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/worker"
)

const explainAbout = `Shows what seqgate would make of a statement: how many ids it takes and from where, which shards it goes to, and the text
that each server gets. Nothing of it runs, and no id is taken: :id1, :id2 stand for the ids. Tables are looked up at the
servers, with the accounts of the configuration. A ? makes it a statement that a driver prepares. The statement SHOW
SEQGATE PLAN FOR '...' shows the same in a client's session.`

func newExplain() *cobra.Command {
	var from source
	var database string
	cmd := &cobra.Command{
		Use: "explain --config FILE | --upstream DSN [--database NAME] SQL", Short: "Show what seqgate would make of a statement", Long: explainAbout,
		Args: arguments(1, 1, "give one statement, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := from.load()
			if err != nil {
				return err
			}
			plan, err := showPlan(cmd.Context(), cfg, cmp.Or(database, cfg.DefaultKeyspace), args[0])
			if err != nil {
				return err
			}
			return printPlan(cmd.OutOrStdout(), plan)
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().StringVar(&database, "database", "", "the `NAME` of the current keyspace, default_keyspace unless said")
	return cmd
}

func printPlan(w io.Writer, plan []planLine) error {
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range plan {
		if _, err := fmt.Fprintf(lines, "%s\t%s\n", line.about, line.says); err != nil {
			return err
		}
	}
	return lines.Flush()
}

// planLine is a row of SHOW SEQGATE PLAN.
type planLine struct{ about, says string }

// showPlan asks a seqgate of its own, in this process, which gives nobody an id.
func showPlan(ctx context.Context, cfg *config.Config, database, statement string) (plan []planLine, err error) {
	log := slog.New(slog.DiscardHandler)
	keyspaces, err := openKeyspaces(cfg)
	if err != nil {
		return nil, err
	}
	defer closeKeyspaces(keyspaces, log)
	sequences := sequence.NewRegistry(func(name sequence.Name) (sequence.Settings, error) {
		return sequence.Settings{}, fmt.Errorf("sequence %s was asked for an id by a plan", name)
	}, sequenceConfig(cfg, nil, log))
	defer func() { err = errors.Join(err, sequences.Close(context.WithoutCancel(ctx))) }()
	generators := generate.New(generate.Config{Workers: generate.StaticWorkers(0, "", worker.Config{Logger: log})}) // of which none is asked
	defer func() { err = errors.Join(err, generators.Close(context.WithoutCancel(ctx))) }()
	dsn := mysql.NewConfig()
	dsn.User, dsn.Passwd, dsn.DBName, dsn.InterpolateParams = "explain", rand.Text(), database, true
	server, err := proxy.New(proxy.Config{
		Keyspaces: keyspaces, Default: cfg.DefaultKeyspace, VSchema: cfg.VSchema, OnExplicitID: cfg.Tables.OnExplicitIDOf,
		Users:     []proxy.User{{Name: dsn.User, Password: dsn.Passwd, Plugin: "mysql_native_password"}},
		Sequences: sequences, Generators: generators, Logger: log, Version: version(), HandshakeTimeout: cfg.Timeouts.Handshake,
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

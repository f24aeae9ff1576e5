package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/bench/internal/servers"
)

// measureAll measures on every server there is and returns the report.
func measureAll(ctx context.Context, cfg *config, log io.Writer) (report string, err error) {
	dir, err := os.MkdirTemp("", "seqgate-bench-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var seqgate string
	if slices.Contains(cfg.targets, viaSeqgate) {
		if seqgate, err = buildSeqgate(ctx, cfg, dir); err != nil {
			return "", err
		}
	}
	head := header(cfg)
	dsns, stop, err := servers.Start(cfg.server, log)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, dsn := range dsns {
		part, err := measureServer(ctx, cfg, dsn, seqgate, log)
		if err != nil {
			return "", err
		}
		head += part
	}
	return head, nil
}

// measureServer measures all workloads on one server, in a database of its own.
func measureServer(ctx context.Context, cfg *config, dsn, seqgate string, log io.Writer) (report string, err error) {
	upstream, err := mysql.ParseDSN(dsn)
	if err != nil {
		return "", err
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	upstream.DBName = "bench_" + strings.ToLower(rand.Text())
	if err := createTables(ctx, db, upstream.DBName); err != nil {
		return "", err
	}
	defer func() {
		_, dropErr := db.Exec("DROP DATABASE " + upstream.DBName)
		err = errors.Join(err, dropErr)
	}()
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return "", err
	}
	var targets []*target
	defer func() {
		for _, t := range targets {
			err = errors.Join(err, t.stop())
		}
	}()
	for _, name := range cfg.targets {
		t, err := startTarget(ctx, name, upstream, seqgate)
		if err != nil {
			return "", err
		}
		targets = append(targets, t)
	}
	idle, err := measureIdle(ctx, cfg, targets)
	if err != nil {
		return "", err
	}
	results, inserted, err := measureLoads(ctx, cfg, cfg.workloads((*workload).unsharded), targets, log)
	if err != nil {
		return "", err
	}
	for table, want := range inserted {
		if err := checkRows(ctx, db, []string{upstream.DBName}, table, rows{acknowledged: want}); err != nil {
			return "", err
		}
	}
	onShards, err := measureSharded(ctx, cfg, db, upstream, seqgate, targets, log)
	if err != nil {
		return "", err
	}
	return serverReport(version, cfg.targets, append(results, onShards...), idle), nil
}

// createTables makes the database and its tables. One connection, because of USE.
func createTables(ctx context.Context, db *sql.DB, name string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range append([]string{"CREATE DATABASE " + name, "USE " + name}, schema...) {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%.60s: %w", s, err)
		}
	}
	return nil
}

func measureIdle(ctx context.Context, cfg *config, targets []*target) (map[string]float64, error) {
	idle := map[string]float64{}
	for _, t := range targets {
		if cfg.idle == 0 || !t.hop() {
			continue
		}
		perSession, err := idleMemory(ctx, t, cfg.idle)
		if err != nil {
			return nil, err
		}
		idle[t.name] = perSession
	}
	return idle, nil
}

// measureLoads also returns the number of rows whose insertion was acknowledged, by table.
func measureLoads(ctx context.Context, cfg *config, loads []workload, targets []*target, log io.Writer) ([]result, map[string]int, error) {
	var results []result
	inserted := map[string]int{}
	for i := range loads {
		w := &loads[i]
		for _, conns := range cfg.conns {
			l, err := openLoad(ctx, w, conns, targets)
			if err != nil {
				return nil, nil, err
			}
			rounds, err := l.rounds(ctx, cfg.rounds, cfg.slice)
			if err := errors.Join(err, l.close()); err != nil {
				return nil, nil, err
			}
			for name, n := range l.done {
				inserted[insertTable(name == viaSeqgate)] += n * w.inserts
			}
			r := result{w.name, conns, rounds}
			fmt.Fprintln(log, r.row(cfg.targets))
			results = append(results, r)
		}
	}
	return results, inserted, nil
}

// checkRows makes sure that what was measured happened: every acknowledged row is in its table, which is divided among the
// databases. (Ids are its primary key.)
func checkRows(ctx context.Context, db *sql.DB, databases []string, table string, want rows) error {
	got := 0
	for _, database := range databases {
		var n int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+database+"."+table).Scan(&n); err != nil {
			return err
		}
		got += n
	}
	if got < want.acknowledged || got > want.acknowledged+want.unsure {
		return fmt.Errorf("table %s has %d rows, but %d insertions were acknowledged, and at most %d more made", table, got, want.acknowledged, want.unsure)
	}
	return nil
}

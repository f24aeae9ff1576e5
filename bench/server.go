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

	"github.com/seqgate/seqgate/internal/servertest"
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
	dsns, stop, err := servers(cfg.server, log)
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

// servers returns the DSNs of the servers to measure on: that given as a DSN, or those of the tests,
// all or the one named.
func servers(which string, log io.Writer) (dsns []string, stop func() error, err error) {
	if strings.Contains(which, "/") {
		return []string{which}, func() error { return nil }, nil
	}
	started, missing, err := servertest.StartShared()
	if err != nil {
		return nil, nil, err
	}
	for _, reason := range missing {
		fmt.Fprintln(log, "not measured:", reason)
	}
	for pair := range strings.SplitSeq(started, ",") {
		name, dsn, _ := strings.Cut(pair, "=")
		if dsn != "" && (which == "" || which == name) {
			dsns = append(dsns, dsn)
		}
	}
	if len(dsns) == 0 {
		return nil, nil, errors.Join(errors.New("no server to measure on"), servertest.StopShared())
	}
	return dsns, servertest.StopShared, nil
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
	results, inserted, err := measureLoads(ctx, cfg, targets, log)
	if err != nil {
		return "", err
	}
	if err := checkRows(ctx, db, upstream.DBName, inserted); err != nil {
		return "", err
	}
	return serverReport(version, cfg.targets, results, idle), nil
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
func measureLoads(ctx context.Context, cfg *config, targets []*target, log io.Writer) ([]result, map[string]int, error) {
	var results []result
	inserted := map[string]int{}
	for i := range workloads {
		w := &workloads[i]
		if cfg.only != nil && !cfg.only.MatchString(w.name) {
			continue
		}
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

// checkRows makes sure that what was measured happened: every acknowledged row is in its table. (Ids
// are its primary key.)
func checkRows(ctx context.Context, db *sql.DB, database string, inserted map[string]int) error {
	for table, want := range inserted {
		var got int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+database+"."+table).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("table %s has %d rows, but %d insertions were acknowledged", table, got, want)
		}
	}
	return nil
}

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/bench/internal/report"
	"github.com/seqgate/seqgate/bench/internal/results"
	"github.com/seqgate/seqgate/bench/internal/servers"
)

// comparison is what the flags say of a run beside peers.
type comparison struct {
	peers  []string // programs of hops, and vitess; nil if no comparison is asked for
	parts  []string
	file   string   // of the results
	resume bool     // go on with what is in file
	from   []string // files to report from, without measuring
	docs   string   // a Markdown file with the markers, beside a folder images
}

const peerVitess = "vitess"

// asked reports whether the flags ask for a comparison, or for its report.
func (c *comparison) asked() bool { return c.peers != nil || c.from != nil }

// part is one question of a comparison.
type part struct {
	name    string
	servers func(b *bed) bool // which it is put to
	measure func(ctx context.Context, b *bed, p *results.Part) error
}

func everyServer(*bed) bool   { return true }
func firstServer(b *bed) bool { return b.first }
func mySQL(b *bed) bool       { return !b.isMariaDB() }

var parts = []part{
	{results.Relaying, everyServer, measureRelaying},
	{results.NextValue, everyServer, measureNextValue},
	{results.Connections, firstServer, measureConnections},
	{results.Sequences, firstServer, measureSequences},
	{results.Rows, firstServer, measureRows},
	{results.Seqgates, firstServer, measureSeqgates},
	{results.Shards, firstServer, measureShards},
	{results.Vitess, mySQL, measureVitess},
	{results.IDs, firstServer, measureIDs},
}

func partNames() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// compare measures beside the peers, or reads what was measured, and reports.
func compare(ctx context.Context, cfg *config, stdout, log io.Writer) error {
	c := &cfg.comparison
	run, err := results.LoadAll(c.from...)
	if c.from == nil {
		if run, err = measurePeers(ctx, cfg, log); run == nil {
			return err
		}
		// What a part could not measure must not cost the report on the others.
	} else if err != nil {
		return err
	}
	text := run.Markdown("images")
	if c.docs != "" {
		err = errors.Join(err, writeDocs(c.docs, text), run.WriteFigures(filepath.Join(filepath.Dir(c.docs), "images")))
	}
	_, writeErr := io.WriteString(stdout, text)
	return errors.Join(err, writeErr)
}

// The generated part of a page stands between these lines.
const (
	docsBegin = "<!-- go run ./bench --peers: begin -->\n"
	docsEnd   = "<!-- go run ./bench --peers: end -->\n"
)

// writeDocs puts text between the markers of a file.
func writeDocs(file, text string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(page, []byte(docsBegin))
	_, after, ok2 := bytes.Cut(rest, []byte(docsEnd))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %q and %q", file, strings.TrimSpace(docsBegin), strings.TrimSpace(docsEnd))
	}
	return os.WriteFile(file, slices.Concat(before, []byte(docsBegin), []byte("\n"+text+"\n"), []byte(docsEnd), after), 0o644)
}

// measurePeers measures all parts that are asked for and not in the file of results yet, and saves after each. A part that
// fails does not keep the others from being measured; its error is returned with the run.
func measurePeers(ctx context.Context, cfg *config, log io.Writer) (run *results.Run, err error) {
	c := &cfg.comparison
	run = &results.Run{ID: strings.ToLower(rand.Text()[:8]), Machine: report.Machine(), Rounds: cfg.rounds, Slice: cfg.slice}
	if c.resume {
		if run, err = results.Resume(c.file, run); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "seqgate-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	seqgate, err := buildSeqgate(ctx, cfg, dir)
	if err != nil {
		return nil, err
	}
	dsns, stop, err := servers.Start(cfg.server, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for i, dsn := range dsns {
		b := &bed{cfg: cfg, dir: dir, seqgate: seqgate, first: i == 0, log: log}
		err = errors.Join(err, b.measure(ctx, dsn, run))
	}
	return run, err
}

// bed is a server to measure on, with what the parts need.
type bed struct {
	cfg     *config
	dir     string // for files
	seqgate string // the binary
	first   bool   // of the servers
	log     io.Writer

	db       *sql.DB
	upstream *mysql.Config   // without a database
	server   string          // its name and version
	inserted map[place]*rows // since the part began
}

// place is where rows are inserted, as clients name it.
type place struct{ database, table string }

// rows are how many a place got: those that were acknowledged, and at most so many more.
type rows struct{ acknowledged, unsure int }

func (b *bed) rows(at place) *rows {
	if b.inserted[at] == nil {
		b.inserted[at] = &rows{}
	}
	return b.inserted[at]
}

// check makes sure that the rows inserted into a database or sharded keyspace, which lies in these databases, are there.
func (b *bed) check(ctx context.Context, name string, databases ...string) error {
	for at, want := range b.inserted {
		if at.database == name {
			if err := checkRows(ctx, b.db, databases, at.table, *want); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bed) measure(ctx context.Context, dsn string, run *results.Run) (err error) {
	if b.upstream, err = mysql.ParseDSN(dsn); err != nil {
		return err
	}
	if b.db, err = sql.Open("mysql", dsn); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.db.Close()) }()
	if b.server, err = serverName(ctx, b.db); err != nil {
		return err
	}
	for i := range parts {
		asked := &parts[i]
		if !slices.Contains(b.cfg.comparison.parts, asked.name) || !asked.servers(b) {
			continue
		}
		p := results.Part{Name: asked.name, Server: b.server}
		if asked.name == results.IDs {
			p.Server = ""
		}
		if run.Part(p.Name, p.Server) != nil {
			continue
		}
		fmt.Fprintf(b.log, "%s, %s\n", p.Name, b.server)
		if partErr := asked.measure(ctx, b, &p); partErr != nil {
			err = errors.Join(err, fmt.Errorf("part %s on %s: %w", p.Name, b.server, partErr))
			fmt.Fprintln(b.log, partErr)
			continue
		}
		if len(p.Points) == 0 && p.Text == "" {
			fmt.Fprintln(b.log, "nothing was measured:", strings.Join(p.Notes, "; "))
		}
		run.Parts = append(run.Parts, p)
		if err := run.Save(b.cfg.comparison.file); err != nil {
			return err
		}
	}
	return err
}

// serverName is "MariaDB 10.11.19" or "MySQL 9.7.4".
func serverName(ctx context.Context, db *sql.DB) (string, error) {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return "", err
	}
	number, rest, _ := strings.Cut(version, "-")
	if strings.Contains(rest, "MariaDB") {
		return "MariaDB " + number, nil
	}
	return "MySQL " + number, nil
}

func (b *bed) isMariaDB() bool { return strings.HasPrefix(b.server, "MariaDB") }

// inDatabase runs f with a database that has the tables, makes sure that what it inserted is there, and deletes it.
func (b *bed) inDatabase(ctx context.Context, f func(upstream *mysql.Config) error) (err error) {
	upstream := b.upstream.Clone()
	upstream.DBName = "bench_" + strings.ToLower(rand.Text())
	if err := createTables(ctx, b.db, upstream.DBName); err != nil {
		return err
	}
	defer func() {
		_, dropErr := b.db.Exec("DROP DATABASE " + upstream.DBName)
		err = errors.Join(err, dropErr)
	}()
	b.inserted = map[place]*rows{}
	if err := f(upstream); err != nil {
		return err
	}
	return b.check(ctx, upstream.DBName, upstream.DBName)
}

// targets are what a part measures, to be stopped together.
type targets []*target

func (ts *targets) add(t *target, err error) error {
	if err == nil {
		*ts = append(*ts, t)
	}
	return err
}

func (ts *targets) stop() (err error) {
	for _, t := range *ts {
		err = errors.Join(err, t.stop())
	}
	return err
}

// startHops starts direct, the relay, each peer that relays and is asked for, and seqgate. Peers that this machine lacks,
// or that do not work with the server, are noted in p.
func (b *bed) startHops(ctx context.Context, upstream *mysql.Config, p *results.Part) (ts targets, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, ts.stop())
		}
	}()
	for _, name := range []string{direct, viaRelay} {
		if err := ts.add(startTarget(ctx, name, upstream, "")); err != nil {
			return nil, err
		}
	}
	for _, peer := range b.cfg.comparison.peers {
		h := hopNamed(peer)
		if h == nil {
			continue
		}
		if err := ts.add(b.startPeer(ctx, h, upstream)); err != nil {
			p.Notes = append(p.Notes, firstLine(err))
			fmt.Fprintln(b.log, "not measured:", err)
		}
	}
	return ts, ts.add(startSeqgate(ctx, upstream, b.seqgate, ""))
}

// startPeer starts a hop and makes sure that statements get through it.
func (b *bed) startPeer(ctx context.Context, h *hop, upstream *mysql.Config) (*target, error) {
	t, err := h.start(ctx, b.dir, upstream)
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, t.client)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", h.name, err), t.stop())
	}
	if err := errors.Join(textQuery(ctx, conn, func() string { return "SELECT 1" })(), conn.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", h.name, err), t.stop())
	}
	return t, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

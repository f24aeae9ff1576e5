package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/bench/internal/results"
	"github.com/seqgate/seqgate/internal/servertest"
)

// A short run measures every part that needs no download, keeps it, and goes on with it; its report is made anew from the
// file. Peers that this machine lacks are told of.
func TestComparison(t *testing.T) {
	dir := t.TempDir()
	file, page := filepath.Join(dir, "run.json"), filepath.Join(dir, "page.md")
	if err := os.WriteFile(page, []byte("before\n"+docsBegin+"old\n"+docsEnd+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := servertest.First(t).DSN("")
	measure := func(parts string, more ...string) string {
		var out, log strings.Builder
		args := []string{"--server", server, "--peers", "haproxy,mysqlrouter", "--parts", parts, "--results", file, "--rounds", "1",
			"--slice", "10ms", "--conns", "1", "--most", "2", "--idle", "3"}
		if err := run(t.Context(), append(args, more...), &out, &log); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		return out.String()
	}
	measure("relaying,nextvalue,rows,seqgates,shards")
	// The second run has a part to measure again, which it does not.
	report := measure("relaying,connections,sequences", "--resume", "--docs", page)

	r, err := results.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var measured []string
	for _, p := range r.Parts {
		measured = append(measured, p.Name)
		checkPart(t, &p)
	}
	want := []string{results.Relaying, results.NextValue, results.Rows, results.Seqgates, results.Shards, results.Connections, results.Sequences}
	if diff := cmp.Diff(want, measured); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	for i, h := range hops {
		_, err := h.find()
		ran := slices.ContainsFunc(r.Parts[0].Points, func(p results.Point) bool { return p.Target == h.name })
		told := slices.ContainsFunc(r.Parts[0].Notes, func(note string) bool { return strings.HasPrefix(note, h.name+": ") })
		if ran != (err == nil) || told == ran {
			t.Errorf("hop %d, %s: measured: %v, told of: %v; where its program is: %v", i, h.name, ran, told, err)
		}
	}
	text, err := os.ReadFile(page)
	if want := "before\n" + docsBegin + "\n" + report + "\n" + docsEnd + "after\n"; err != nil || string(text) != want {
		t.Errorf("page: got error %v and (-want +got)\n%s", err, cmp.Diff(want, string(text)))
	}
	var again strings.Builder
	if err := run(t.Context(), []string{"--from", file}, &again, io.Discard); err != nil || again.String() != report {
		t.Errorf("--from: got error %v and (-want +got)\n%s", err, cmp.Diff(report, again.String()))
	}
}

// checkPart makes sure that each point was measured, and the memory of hops.
func checkPart(t *testing.T, p *results.Part) {
	t.Helper()
	if len(p.Points) == 0 {
		t.Errorf("%s has no points", p.Name)
	}
	for _, at := range p.Points {
		if at.Rate() <= 0 || len(at.Samples) != 1 || at.X < 1 || at.Per < 1 || at.Samples[0].P50 <= 0 {
			t.Errorf("%s: got point %+v, want one with a rate, a sample, a size and times", p.Name, at)
		}
	}
	for _, hop := range []string{viaRelay, viaSeqgate} {
		// That of a few connections may be lost in what else the hop takes and gives back.
		if _, ok := p.Memory[hop]; p.Name == results.Relaying && !ok {
			t.Errorf("memory of idle connections: got %v, want it of %s too", p.Memory, hop)
		}
	}
}

func TestParsePeersFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--peers nginx":              `"nginx" is none of haproxy, mysqlrouter, vitess`,
		"--peers none --parts speed": `"speed" is none of relaying`,
	} {
		if _, err := parseFlags(strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", args, err, want)
		}
	}
	cfg, err := parseFlags(strings.Fields("--peers all"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"haproxy", "mysqlrouter", "vitess"}, cfg.comparison.peers); diff != "" {
		t.Errorf("all peers (-want +got):\n%s", diff)
	}
	if cfg.rounds != 7 || cfg.slice != 200*time.Millisecond {
		t.Errorf("settings of a full run: got %d rounds of %v, want 7 of 200ms", cfg.rounds, cfg.slice)
	}
	if cfg, err = parseFlags(strings.Fields("--peers none --slice 1s"), io.Discard); err != nil || cfg.slice != time.Second || !cfg.comparison.asked() {
		t.Errorf("--peers none --slice 1s: got %+v and error %v, want a comparison with that slice", cfg, err)
	}
}

func TestWriteDocsNeedsMarkers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte("text\n"+docsBegin), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeDocs(file, "report"); err == nil || !strings.Contains(err.Error(), "has no lines") {
		t.Errorf("got %v, want an error that names the markers", err)
	}
	if got, err := os.ReadFile(file); string(got) != "text\n"+docsBegin || err != nil {
		t.Errorf("the page was changed to %q, %v", got, err)
	}
}

// Connections are shared out evenly among the hops of a group.
func TestClientOf(t *testing.T) {
	var got []string
	group := &target{client: addressed("a")}
	group.others = append(group.others, addressed("b"), addressed("c"))
	for i := range 6 {
		got = append(got, group.clientOf(i).Addr)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "a", "b", "c"}, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

func addressed(addr string) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.Addr = addr
	return cfg
}

// A peer that ends while it is measured, or is not there, is left out of the cell with a note; what the others did is kept,
// and rows that it may have inserted without telling are allowed for.
func TestPeerThatFails(t *testing.T) {
	server, err := mysql.ParseDSN(servertest.First(t).DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{cfg: &config{rounds: 3, slice: 10 * time.Millisecond}, log: io.Discard, upstream: server, server: "MariaDB"}
	if b.db, err = sql.Open("mysql", server.FormatDSN()); err != nil {
		t.Fatal(err)
	}
	defer b.db.Close()
	p := results.Part{Name: results.Connections}
	err = b.inDatabase(t.Context(), func(upstream *mysql.Config) error {
		ends, err := startTarget(t.Context(), viaRelay, upstream, "")
		if err != nil {
			return err
		}
		ends.name, ends.peer = "ends", true
		defer ends.stop()
		absent := &target{name: "absent", peer: true, client: upstream.Clone()}
		if absent.client.Addr, err = freeAddr(); err != nil {
			return err
		}
		insert := *named("1-row INSERT, text")
		inserted := 0
		open := insert.open
		insert.open = func(ctx context.Context, conn driver.Conn, to *target) (operation, error) {
			op, err := open(ctx, conn, to)
			if err != nil || to != ends {
				return op, err
			}
			return func() error {
				if inserted++; inserted == 3 {
					return errors.Join(ends.stop(), op())
				}
				return op()
			}, nil
		}
		_, err = b.cell(t.Context(), &p, cell{workload: &insert, conns: 1}, targets{{name: direct, client: upstream}, ends, absent})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Points) != 1 || p.Points[0].Target != direct || len(p.Points[0].Samples) != 3 {
		t.Errorf("got points %+v, want three rounds of direct", p.Points)
	}
	if len(p.Notes) != 2 || !strings.HasPrefix(p.Notes[0], "ends, 1-row INSERT, text, 1 connections: ") || !strings.HasPrefix(p.Notes[1], "absent, 1-row INSERT, text, 1 connections: ") {
		t.Errorf("got notes %q, want one of each peer", p.Notes)
	}
}

package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// stripedPlace has the table t with ids up to 10, and its sequence t_seq on two servers, a and b.
type stripedPlace struct {
	*place
	a, b  string  // DSNs
	other *sql.DB // of b
}

func newStripedPlace(t *testing.T) stripedPlace {
	var all []*servertest.Server
	servertest.Each(t, func(_ *testing.T, s *servertest.Server) { all = append(all, s) })
	if len(all) < 2 {
		t.Skip("needs two servers")
	}
	p := newPlace(t, all[0], "", "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (10)")
	db := all[1].Open(t, "")
	if _, err := db.Exec("CREATE DATABASE " + p.name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := db.Exec("DROP DATABASE " + p.name); err != nil {
			t.Error(err)
		}
	})
	striped := stripedPlace{p, all[0].DSN(p.name), all[1].DSN(p.name), db}
	striped.configure("")
	return striped
}

// configure writes the configuration, with further keys at its top.
func (p *stripedPlace) configure(keys string) {
	p.from = []string{"--config", writeFile(p.t, "striped.yaml", fmt.Sprintf(`keyspaces: {main: {shards: {"-": %q}}}
sequences: {overrides: {main.t_seq: {stores: {a: %[1]q, b: %q}, stripes: 3, stripe_chunk: 1000}}}
%s
`, p.a, p.b, keys))}
}

// stripedTable is the statement that makes the table of t_seq on a server.
func stripedTable(server string) string {
	return "CREATE TABLE IF NOT EXISTS `DB`.`t_seq` (id INT PRIMARY KEY, next_id BIGINT NOT NULL, cache BIGINT NOT NULL, moved_to VARCHAR(64))" +
		" ENGINE = InnoDB COMMENT 'seqgate_stripes 3 x 1000 on " + server + "';"
}

func TestSeqStripes(t *testing.T) {
	p := newStripedPlace(t)
	ran := func(command, args, want string) {
		t.Helper()
		out, err := p.run(seqCommand(command), strings.Fields(args)...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("seq %s %s: %v, output %q, want %q in it", command, args, err, out, want)
		}
	}
	made := []string{"-- on server a:", stripedTable("a"), "-- on server b:", stripedTable("b"), "-- and a row for each of 3 stripes, dealt to the servers in turn"}
	for _, run := range []struct{ args, want []string }{{[]string{"--dry-run", "t"}, made}, {[]string{"t"}, made}, {[]string{"t"}, nil}} {
		out, err := p.run(initCommand, run.args...)
		if err != nil {
			t.Fatalf("init %q: %v", run.args, err)
		}
		wantLines(t, out, append(run.want, "-- main.t_seq: its stripes are to give 11 and above")...)
	}
	ran("stripes", "t_seq", "STRIPE  SERVER  NEXT  NEXT_ID  CACHE  MOVES TO\n1       a       11    11       1000   -\n2       b       1001  ")
	ran("move", "main.t_seq 2 a", "stripe 2 is on a\n")
	ran("stripes", "t_seq", "\n2       a       1002  ")
	out, err := p.run(seqCommand("list"))
	if err != nil {
		t.Error(err)
	}
	wantLines(t, out, "SEQUENCE    KIND                    NEXT_ID  CACHE  FILLS      MAX  USED",
		"main.t_seq  3 stripes on 1 servers  11       1000   main.t.id  10   -")

	seen := map[string]bool{}
	for range 6 {
		out, err := p.run(seqCommand("next"), "t_seq", "5")
		if err != nil || seen[out] {
			t.Errorf("next: %q, %v, want a block that was not there before", out, err)
		}
		seen[out] = true
	}
	for _, args := range []string{"set t_seq 500", "reset t_seq"} {
		command, rest, _ := strings.Cut(args, " ")
		_, err := p.run(seqCommand(command), strings.Fields(rest)...)
		wantError(t, p.place, err, 1, "sequence main.t_seq: it lies in stripes on several servers")
	}
	_, err = p.run(seqCommand("move"), "t_seq", "2", "c")
	wantError(t, p.place, err, 2, `sequence main.t_seq has no server "c": write one of a, b`)
}

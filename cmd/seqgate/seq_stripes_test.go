package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// newStripedPlace has the table t with ids up to 10, and its sequence t_seq on two servers, a and b.
func newStripedPlace(t *testing.T) *place {
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
	p.from = []string{"--config", writeFile(t, "striped.yaml", fmt.Sprintf(`keyspaces: {main: {shards: {"-": %q}}}
sequences: {overrides: {main.t_seq: {stores: {a: %[1]q, b: %q}, stripes: 3, stripe_chunk: 1000}}}
`, all[0].DSN(p.name), all[1].DSN(p.name)))}
	return p
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
	for _, args := range [][]string{{"--dry-run", "t"}, {"t"}, {"t"}} {
		out, err := p.run(initCommand, args...)
		if err != nil || out != "-- main.t_seq: its stripes are to give 11 and above\n" {
			t.Fatalf("init %q: %q, %v", args, out, err)
		}
	}
	ran("stripes", "t_seq", "STRIPE  SERVER  NEXT  NEXT_ID  CACHE  MOVES TO\n1       a       11    11       1000   -\n2       b       1001  ")
	ran("move", "main.t_seq 2 a", "stripe 2 is on a\n")
	ran("stripes", "t_seq", "\n2       a       1002  ")
	ran("list", "", "main.t_seq: it lies in stripes on several servers, not in one row: see seqgate seq stripes\n")

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
		wantError(t, p, err, 1, "sequence main.t_seq: it lies in stripes on several servers")
	}
	_, err := p.run(seqCommand("move"), "t_seq", "2", "c")
	wantError(t, p, err, 1, "move stripe 2 of sequence DB.t_seq to server c")
}

const keyedVSchema = `{"keyspaces": {"main": {"tables": {
	"msg": {"auto_increment": {"column": "seq_no", "sequence": "msg_seq", "key": "user_id"}},
	"msg_seq": {"type": "sequence"}
}}}}`

func TestKeyed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, keyedVSchema, "CREATE TABLE msg (user_id INT, seq_no BIGINT, PRIMARY KEY (user_id, seq_no))", "INSERT INTO msg VALUES (1, 70)")
		for _, run := range []struct {
			args []string
			want string
		}{
			{[]string{"--dry-run"}, "-- main.msg_seq: its keys are to give 71 and above\n"},
			{nil, "-- main.msg_seq: its keys are to give 71 and above\n"},
			{nil, "-- main.msg_seq: nothing to do, it counts by key\n"},
		} {
			out, err := p.run(initCommand, run.args...)
			if err != nil || out != run.want {
				t.Fatalf("init %q: %q, %v, want %q", run.args, out, err, run.want)
			}
		}
		var rows int
		if err := p.db.QueryRow("SELECT COUNT(*) FROM msg_seq WHERE next_id = 71").Scan(&rows); err != nil || rows == 0 {
			t.Errorf("%d rows that go on from 71, %v", rows, err)
		}
		for _, args := range []string{"next msg_seq", "set msg_seq 500", "reset msg_seq", "import leaf --from x msg_seq=k"} {
			command, rest, _ := strings.Cut(args, " ")
			_, err := p.run(seqCommand(command), strings.Fields(rest)...)
			wantError(t, p, err, 1, "sequence main.msg_seq: it counts by key, not in one row")
		}
	})
}

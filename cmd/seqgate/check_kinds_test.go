package main

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

func TestCheckStriped(t *testing.T) {
	p := newStripedPlace(t)
	checkOutput := func(want ...string) {
		t.Helper()
		checkOutput(t, p.place, want)
	}
	vschema := "vschema: " + writeFile(t, "v.json",
		`{"keyspaces": {"main": {"tables": {"t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}, "t_seq": {"type": "sequence"}}}}}`)
	p.configure(vschema)
	checkOutput("error: main.t_seq: no server has a stripe: run seqgate init")
	if out, err := p.run(initCommand); err != nil {
		t.Fatal(err, out)
	}
	ok := "ok: main.t_seq: 3 stripes on 2 servers"
	checkOutput(ok)

	p.exec("INSERT INTO t VALUES (2500)", "UPDATE t_seq SET next_id = 600 WHERE id = 3")
	checkOutput(ok) // id 2500 is stripe 3's: the others may be behind it
	p.exec("UPDATE t_seq SET next_id = 300 WHERE id = 3")
	checkOutput("error: main.t_seq: stripe 3 is at id 2300, and 2500 is in use, ids would repeat: run seqgate init", ok)
	if out, err := p.run(initCommand); err != nil {
		t.Fatal(err, out)
	}
	checkOutput(ok)

	if _, err := p.other.Exec("DELETE FROM " + p.name + ".t_seq"); err != nil {
		t.Fatal(err)
	}
	checkOutput(
		"warning: main.t_seq: server b has no stripe, it gives no ids: seqgate seq move gives it one",
		"warning: main.t_seq: no server has the stripes 2: they are lost for good, or moved to a server that is not configured",
		"ok: main.t_seq: 2 stripes on 1 servers")

	p.b = "u:p@tcp(127.0.0.1:1)/" + p.name
	p.configure(vschema)
	out, err := p.run(checkCommand)
	if err != nil || !strings.Contains(out, "warning: main.t_seq: its stripes there are not checked: not all servers") || !strings.Contains(out, "\nok: main.t_seq: 2 stripes on 1 servers\n") {
		t.Errorf("a server is away: %v\n%s", err, out)
	}
	_, err = p.run(initCommand)
	wantError(t, p.place, err, 1, "the stripes of the servers that answer are raised; run seqgate init again when all do: ")
}

// TestCheckAutoCreate holds that what is made when first used is no error.
func TestCheckAutoCreate(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, `{"keyspaces": {"main": {"tables": {"t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}, "t_seq": {"type": "sequence"}}}}}`,
			"CREATE TABLE t (id BIGINT PRIMARY KEY)")
		t.Setenv("SEQGATE_SEQUENCES_AUTO_CREATE", "true")
		checkOutput(t, p, []string{"note: main.t_seq: the sequence table is missing: it is made when first used, or by seqgate init"})
		p.exec("CREATE TABLE t_seq " + vitessSequence)
		checkOutput(t, p, []string{"note: main.t_seq: there is no row with id = 0: it is made when first used, or by seqgate init"})
	})
}

// TestCheckFailover holds that check knows what failover_skip needs.
func TestCheckFailover(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT PRIMARY KEY)", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 1)")
		t.Setenv("SEQGATE_SEQUENCES_FAILOVER_SKIP", "100")
		ok := "ok: main.t.id: filled from main.t_seq: next_id 1, cache 1, 9223372036854775807 ids left of bigint"
		checkOutput(t, p, []string{"warning: main.t_seq: the table seqgate_servers, which failover_skip needs, is missing: it is made when first used;" +
			" if seqgate's account may not create tables, run " + sequence.ServersTableSQL("DB"), ok})
		p.exec(sequence.ServersTableSQL(p.name))
		checkOutput(t, p, []string{ok})

		user := "r" + p.name[len(p.name)-8:]
		p.exec("CREATE USER "+user+"@'%' IDENTIFIED BY 'pw'", "GRANT SELECT ON "+p.name+".* TO "+user+"@'%'", "GRANT UPDATE ON "+p.name+".t_seq TO "+user+"@'%'")
		defer p.exec("DROP USER " + user + "@'%'")
		p.from = []string{"--upstream", user + ":pw@tcp(" + s.Addr + ")/" + p.name}
		out, err := p.run(checkCommand)
		if exitCode(err) != 1 || !strings.Contains(out, "error: DB.t_seq: failover_skip needs SELECT, INSERT and UPDATE on the table seqgate_servers: Error 1142") {
			t.Errorf("output %q, %v, want that INSERT is denied", out, err)
		}
	})
}

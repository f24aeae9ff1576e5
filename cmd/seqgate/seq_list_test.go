package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

var listStatements = []string{
	"CREATE TABLE a (id INT PRIMARY KEY)", "INSERT INTO a VALUES (7)", "CREATE TABLE a_seq " + vitessSequence, "INSERT INTO a_seq VALUES (0, 1073741825, 1000)",
	"CREATE TABLE `b\tø``b` (`i d` TINYINT UNSIGNED AUTO_INCREMENT PRIMARY KEY)", "CREATE TABLE `b\tø``b_seq` " + vitessSequence,
	"INSERT INTO `b\tø``b_seq` VALUES (0, 1, 5)",
	"CREATE TABLE c (id BIGINT PRIMARY KEY)", "INSERT INTO c VALUES (10)",
	"CREATE TABLE c_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT)", "INSERT INTO c_seq VALUES (0, 10, 0)",
	"CREATE TABLE d (id TINYINT PRIMARY KEY)", "CREATE TABLE d_seq " + vitessSequence, "INSERT INTO d_seq VALUES (0, 200, 5)",
	"CREATE TABLE e (id INT PRIMARY KEY)", "CREATE TABLE e_seq " + vitessSequence,
	"CREATE TABLE alone " + vitessSequence, "INSERT INTO alone VALUES (0, NULL, 5)",
}

func TestSeqList(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", listStatements...)
		out, err := p.run(seqCommand("list"))
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, out,
			"SEQUENCE        KIND  NEXT_ID     CACHE  FILLS           MAX  USED",
			"main.a_seq      row   1073741825  1000   main.a.id       7    50.0% of int",
			"main.alone      row   -           5      -               -    -",
			"main.b ø`b_seq  row   1           5      main.b ø`b.i d  0    0.0% of tinyint unsigned",
			"main.c_seq      row   10          0      main.c.id       10   0.0% of bigint",
			"main.d_seq      row   200         5      main.d.id       0    100.0% of tinyint",
			"main.e_seq      row   -           -      main.e.id       0    -",
			"",
			"problems:",
			"  main.alone: next_id is NULL: run seqgate init",
			"  main.c_seq: the table lacks the comment of a sequence: ALTER TABLE `DB`.`c_seq` COMMENT 'vitess_sequence'",
			"  main.c_seq: cache is not at least 1: UPDATE `DB`.`c_seq` SET `cache` = 1000 WHERE `id` = 0",
			"  main.c.id: next_id 10 is not above the largest id 10, ids would repeat: run seqgate init",
			"  main.d.id: the ids are used up: next_id 200 is past the end of tinyint, 127: make it a BIGINT",
			"  main.e_seq: there is no row with id = 0: run seqgate init",
		)
	})
}

func TestSeqListJSON(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", listStatements...)
		out, err := p.run(seqCommand("list"), "--json")
		if err != nil {
			t.Fatal(err)
		}
		var got []map[string]any
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 6 {
			t.Fatalf("%d sequences, %v, want 6 in\n%s", len(got), err, out)
		}
		want := []map[string]any{
			{"keyspace": "main", "table": "alone", "kind": "row", "next_id": nil, "cache": 5., "fills": []any{}, "problems": []any{"main.alone: next_id is NULL: run seqgate init"}},
			{"keyspace": "main", "table": "b\tø`b_seq", "kind": "row", "next_id": 1., "cache": 5., "problems": []any{}, "fills": []any{map[string]any{
				"keyspace": "main", "table": "b\tø`b", "column": "i d", "type": "tinyint unsigned", "max_id": 0., "used": 0.}}},
		}
		if diff := cmp.Diff(want, got[1:3]); diff != "" {
			t.Errorf("sequences 2 and 3 (-want +got):\n%s", diff)
		}
	})
}

func TestSeqListVSchema(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, initVSchema, "CREATE TABLE a (id BIGINT PRIMARY KEY)", "INSERT INTO a VALUES (10)",
			"CREATE TABLE b (id CHAR(8) PRIMARY KEY, n CHAR(8))", "INSERT INTO b VALUES ('x', '25')",
			"CREATE TABLE shared_seq "+vitessSequence, "INSERT INTO shared_seq VALUES (0, 30, 5)")
		out, err := p.run(seqCommand("list"))
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, out,
			"SEQUENCE         KIND  NEXT_ID  CACHE  FILLS          MAX  USED",
			"main.alone_seq   row   -        -      -              -    -",
			"main.later_seq   row   -        -      main.later.id  -    -",
			"main.shared_seq  row   30       5      main.a.id      10   0.0% of bigint",
			"                                       main.b.n       25   0.0% of char(8)",
			"",
			"problems:",
			"  main.alone_seq: the sequence table is missing: run seqgate init",
			"  main.later_seq: the sequence table is missing: run seqgate init",
			"  main.later.id: the table does not exist",
		)
	})
}

// TestSeqListAway holds that a server that is away does not hide the others.
func TestSeqListAway(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE s "+vitessSequence, "INSERT INTO s VALUES (0, 30, 5)")
		p.from = []string{"--config", writeFile(t, "two.yaml", `default_keyspace: main
keyspaces:
  main: {shards: {"-": "`+s.DSN(p.name)+`"}}
  away: {shards: {"-": "u:p@tcp(127.0.0.1:1)/away"}}
`)}
		out, err := p.run(seqCommand("list"))
		wantError(t, p, err, 1, "keyspace away at 127.0.0.1:1: ")
		if !strings.Contains(out, "\nmain.s    row   30       5      -      -    -\n") {
			t.Errorf("output without the sequence that can be read:\n%s", out)
		}
		// A command about one sequence does not ask the server that is away.
		if out, err := p.run(seqCommand("next"), "main.s"); err != nil || out != "30 30\n" {
			t.Errorf("next: %q, %v, want 30 30", out, err)
		}
		if _, err := p.run(seqCommand("set"), "s", "50"); err != nil {
			t.Errorf("set: %v", err)
		}
	})
}

package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// Where names have no case, a table that the vschema has in another case is the one to seed above.
func TestInitFoldsNames(t *testing.T) {
	t.Setenv("SEQGATE_TEST_MYSQL97", "") // it takes that option for a new data directory only
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		direct := s.Open(t, database)
		run1(t, direct, "CREATE TABLE users (id BIGINT PRIMARY KEY AUTO_INCREMENT)", "INSERT INTO users VALUES (1000)")
		vschema := writeFile(t, "v.json", `{"keyspaces": {"main": {"tables": {
			"Users": {"auto_increment": {"column": "id", "sequence": "Users_seq"}}, "Users_seq": {"type": "sequence"}}}}}`)
		config := writeFile(t, "c.yaml", fmt.Sprintf("vschema: %s\nkeyspaces: {main: {shards: {\"-\": %q}}}\n", vschema, s.DSN(database)))
		for range 2 {
			if err := run(t.Context(), []string{"init", "--config", config}, io.Discard, io.Discard); err != nil {
				t.Fatal(err)
			}
		}
		if got := query1[int](t, direct, "SELECT next_id FROM users_seq"); got != 1001 {
			t.Errorf("got next_id %d, want 1001", got)
		}
	}, "--lower-case-table-names=1")
}

// seq next jumps as a seqgate does when another server served the row last.
func TestSeqNextAfterFailover(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		database := s.NewDatabase(t)
		direct := s.Open(t, database)
		run1(t, direct, sequence.CreateTableSQL(database, "t_seq"), sequence.InsertRowSQL(database, "t_seq", 41, 10),
			sequence.ServersTableSQL(database), "INSERT INTO seqgate_servers VALUES ('t_seq', 0, 'the old primary')")
		config := writeFile(t, "c.yaml", fmt.Sprintf("keyspaces: {main: {shards: {\"-\": %q}}}\nsequences: {failover_skip: 5000}\n", s.DSN(database)))
		for _, want := range []string{"5041 5041", "5042 5042"} {
			var out strings.Builder
			if err := run(t.Context(), []string{"seq", "next", "--config", config, "t_seq"}, &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(out.String()); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

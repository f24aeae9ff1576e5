package main

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// What is gone is not made anew while processes may hold ids of it in memory.
func TestInitGone(t *testing.T) {
	const keyedPlace = `{"keyspaces": {"main": {"tables": {"messages": {"auto_increment": {"column": "n", "sequence": "m_seq", "key": "u"}}, "m_seq": {"type": "sequence"},
		"t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}, "t_seq": {"type": "sequence"}}}}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, tt := range []struct{ name, damage, want string }{
			{"row", "DELETE FROM t_seq", "there is no row with id = 0"},
			{"next_id", "UPDATE t_seq SET next_id = NULL", "there is no row with id = 0 that says which ids were given"},
			{"table", "DROP TABLE t_seq", "the table is gone"},
			{"keyed table", "DROP TABLE m_seq", "the table is gone"},
			{"section", "DELETE FROM m_seq WHERE id = 3", "processes that run may hold values of those sections"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				p := newPlace(t, s, keyedPlace, "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (10)",
					"CREATE TABLE messages (u BIGINT, n BIGINT, PRIMARY KEY (u, n))")
				if _, err := p.run(initCommand); err != nil {
					t.Fatal(err)
				}
				p.exec(tt.damage)
				for _, args := range [][]string{{"--dry-run"}, {}, {}} {
					_, err := p.run(initCommand, args...)
					if exitCode(err) != 1 || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "seqgate init --stopped") {
						t.Errorf("%v: got %v, want %q", args, err, tt.want)
					}
				}
				for range 2 { // the second time there is nothing to do
					if _, err := p.run(initCommand, "--stopped"); err != nil {
						t.Fatal(err)
					}
				}
				if got := p.sequence("t_seq"); !strings.HasPrefix(got, "11 ") {
					t.Errorf("next_id and cache %s, want 11", got)
				}
				if _, err := p.run(initCommand); err != nil {
					t.Errorf("with all as it was: %v", err)
				}
			})
		}
	})
}

// An older table of a sequence that counts by key gets the column that says how many sections there are.
func TestInitOlderKeyed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, `{"keyspaces": {"main": {"tables": {"messages": {"auto_increment": {"column": "n", "sequence": "m_seq", "key": "u"}}, "m_seq": {"type": "sequence"}}}}}`,
			"CREATE TABLE messages (u BIGINT, n BIGINT, PRIMARY KEY (u, n))")
		for _, older := range []bool{false, true} {
			if older {
				p.exec("ALTER TABLE m_seq DROP COLUMN sections")
			}
			if _, err := p.run(initCommand); err != nil {
				t.Fatal(err)
			}
			if got := query1[int](t, p.db, "SELECT COUNT(*) FROM m_seq WHERE sections = 1024"); got != 1024 {
				t.Errorf("%d rows say that there are 1024", got)
			}
		}
	})
}

// check tells of a sequence that its table, or this configuration alone, says to be ordered.
func TestCheckOrdered(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT PRIMARY KEY)", "CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 1)",
			"ALTER TABLE t_seq COMMENT 'vitess_sequence ordered'")
		out, err := p.run(checkCommand)
		if err != nil || !strings.Contains(out, "note: main.t_seq: it is ordered, as the comment of its table says") {
			t.Errorf("got %v:\n%s", err, out)
		}
	})
}

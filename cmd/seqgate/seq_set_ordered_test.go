package main

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// An ordered sequence that an operator sets back under a running seqgate goes on above what that has given, and the row with
// it: another seqgate goes on from there.
func TestSetBackOrdered(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		direct, database, args := sequencedTable(t, s)
		run1(t, direct, "ALTER TABLE t_seq COMMENT 'vitess_sequence ordered'")
		p := start(t, args...)
		db, other := openClient(t, s.User, s.Password, p.addr, database), openClient(t, s.User, s.Password, start(t, args...).addr, database)
		next := func(from string) int64 {
			t.Helper()
			if from == "other" {
				return query1[int64](t, other, "SELECT NEXT VALUE FROM t_seq")
			}
			return query1[int64](t, db, "SELECT NEXT VALUE FROM t_seq")
		}
		query1[int64](t, db, "SELECT NEXT 10 VALUES FROM t_seq")
		last := next("it")
		for range 3 {
			if code, text := runCommand(t, "seq", "set", "--upstream", s.DSN(database), "t_seq", "1", "--force"); code != 0 || !strings.Contains(text, "next_id") {
				t.Fatalf("seq set: %d, %s", code, text)
			}
			for _, from := range []string{"it", "other", "it"} {
				id := next(from)
				if id != last+1 {
					t.Errorf("set back after %d, %s gives %d", last, from, id)
				}
				last = id
			}
		}
		run1(t, db, "INSERT INTO t (v) VALUES (1)")
		if id := query1[int64](t, direct, "SELECT id FROM t"); id != last+1 {
			t.Errorf("the row after %d has the id %d", last, id)
		}
		p.line(t, "sequence row was behind")
	})
}

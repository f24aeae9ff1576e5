package main

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
)

// A process that takes ids of a sequence which somebody made by hand leaves a mark, so that init does not make it anew below
// what that process holds.
func TestInitAfterUse(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT PRIMARY KEY)",
			"CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 10)")
		if got := query1[int64](t, serveDDL(t, p, "", ""), "SELECT NEXT VALUE FROM t_seq"); got != 1 {
			t.Fatalf("got %d, want 1", got)
		}
		p.exec("DROP TABLE t_seq")
		_, err := p.run(initCommand, "t")
		if exitCode(err) != 1 || !strings.Contains(err.Error(), "seqgate init --stopped") {
			t.Errorf("got %v, want that it was used", err)
		}
	})
}

// A user who may not write the mark makes the sequence, and is told.
func TestInitMarkDenied(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, "", "CREATE TABLE t (id BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (10)",
			"CREATE TABLE t_seq "+vitessSequence, "INSERT INTO t_seq VALUES (0, 1, 10)")
		user := "m_" + strings.TrimPrefix(p.name, "test_")
		p.exec("CREATE USER "+user+" IDENTIFIED BY 'x'", "GRANT SELECT ON "+p.name+".* TO "+user, "GRANT SELECT, UPDATE ON "+p.name+".t_seq TO "+user)
		t.Cleanup(func() { p.exec("DROP USER " + user) })
		p.from = []string{"--upstream", strings.Replace(s.DSN(p.name), "app:app@", user+":x@", 1)}
		out, err := p.run(initCommand)
		if err != nil || !strings.Contains(out, "could not be noted in the table "+sequence.UsedTable) || !strings.HasPrefix(p.sequence("t_seq"), "11 ") {
			t.Errorf("got %v, row %s:\n%s", err, p.sequence("t_seq"), out)
		}
	})
}

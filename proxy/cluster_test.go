package proxy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// Which rows of a partly ignored INSERT went in is asked in the client's session where seqgate's own connections may lead to
// another node of a cluster: here to a server that has the table, and none of its rows.
func TestInsertIDsOnAnotherNode(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, u VARCHAR(20) UNIQUE, n BIGINT DEFAULT 0)"
	servertest.Private(t, func(t *testing.T, other *servertest.Server) {
		t.Parallel()
		servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
			if s.Name != other.Name {
				t.Skip("nodes of one kind")
			}
			database := s.NewDatabase(t)
			exec(t, other.Open(t, ""), "CREATE DATABASE "+database)
			elsewhere := other.Open(t, database)
			exec(t, s.Open(t, database), table)
			exec(t, elsewhere, table)
			createSequence(t, elsewhere, "t_seq", 1, 10)
			g := newGate(t, s, gateOptions{database: database, configure: func(c *proxy.Config) { c.Keyspaces["main"].DB = elsewhere }})
			createSequence(t, g.direct, "t_seq", firstID, 10)
			g.proxy.TreatAsCluster("main")
			native := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), "")))
			exec(t, native, table, "ALTER TABLE t AUTO_INCREMENT = 1000000", "INSERT INTO t (id, u) VALUES (5, 'a')")
			through := conn(t, g.open(t, ""))
			exec(t, through, "INSERT INTO t (id, u) VALUES (5, 'a')")
			c := insertCase{table: "t", stmt: "INSERT IGNORE INTO t (u) VALUES ('a'), ('b'), ('c')"}
			if diff := cmp.Diff(runInsert(t, native, c), runInsert(t, through, c)); diff != "" {
				t.Errorf("%s (-native +seqgate):\n%s", c.stmt, diff)
			}
		})
	})
}

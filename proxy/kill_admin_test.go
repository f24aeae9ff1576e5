package proxy_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// An operator ends sessions of all users: what they run and the session itself, also where seqgate's account may not KILL those of
// others, and where the session waits for its client.
func TestKillByOperator(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		sharded := newShardedGate(t, s, 2, gateOptions{})
		limited := newGate(t, s, gateOptions{passThrough: true, configure: func(cfg *proxy.Config) {
			cfg.Keyspaces["main"].DB = limitedAccount(t, s)
		}})
		for _, tt := range []struct {
			name     string
			g        *gate
			database string
			limited  bool
		}{
			{name: "listed", g: newGate(t, s, gateOptions{})},
			{name: "own accounts", g: newGate(t, s, gateOptions{passThrough: true})},
			{name: "no right to KILL", g: limited, limited: true},
			{name: "sharded", g: sharded.gate, database: "customer"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				killByOperator(t, tt.g, cmp.Or(tt.database, tt.g.database), tt.limited)
			})
		}
	})
}

func killByOperator(t *testing.T, g *gate, database string, limited bool) {
	connect := func() *client.Conn {
		c, err := client.Connect(g.addr, gateUser, gatePassword, database)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Ping(); err != nil { // it is a session by then
			t.Fatal(err)
		}
		return c
	}
	if found, err := g.proxy.Kill(t.Context(), 4294967295, false); found || err != nil {
		t.Errorf("an id of nobody: %v, %v", found, err)
	}
	kill := func(c *client.Conn, query bool) error {
		found, err := g.proxy.Kill(t.Context(), uint64(c.GetConnectionID()), query)
		if !found {
			t.Errorf("session %d was not found", c.GetConnectionID())
		}
		return err
	}

	idle := connect()
	defer idle.Close()
	if err := kill(idle, false); err != nil {
		t.Errorf("an idle session: %v", err)
	}
	await(t, "the idle session to end", func() bool { return idle.Ping() != nil })

	busy := connect()
	defer busy.Close()
	statement := "SELECT SLEEP(20) /* of " + g.database + " */"
	running := func() int {
		return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE ID <> CONNECTION_ID() AND INFO = '"+statement+"'")
	}
	for _, query := range []bool{true, false} {
		done := execute(busy, statement)
		await(t, "the statement to run", func() bool { return running() == 1 })
		err := kill(busy, query)
		if limited && query {
			if err == nil {
				t.Error("a statement that the server did not end is said to be ended")
			}
			if err := kill(busy, false); err != nil {
				t.Error(err)
			}
			if err := ended(t, done); err == nil {
				t.Error("the session's statement has an answer")
			}
			return // the server notices at the statement's end
		}
		if err != nil {
			t.Errorf("query %v: %v", query, err)
		}
		_ = ended(t, done) // with 1, or an error
		await(t, "the statement to end", func() bool { return running() == 0 })
	}
}

// limitedAccount gives connections of an account that may not see or end what others run.
func limitedAccount(t *testing.T, s *servertest.Server) *sql.DB {
	t.Helper()
	root, name := s.Open(t, ""), "limited_"+s.NewDatabase(t)
	exec(t, root, fmt.Sprintf("CREATE USER %s IDENTIFIED BY 'limited'", name))
	atEnd(t, root, "DROP USER "+name)
	return openDSN(t, fmt.Sprintf("%s:limited@tcp(%s)/", name, s.Addr))
}

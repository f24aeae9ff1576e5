package proxy_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// KILL QUERY with the id of the greeting, as clients send it on ctrl-C, ends that
// session's statement and no other's.
func TestKill(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		victim, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
		if err != nil {
			t.Fatal(err)
		}
		defer victim.Close()
		for _, statement := range []string{"KILL QUERY %d", "kill query %d;", "KILL CONNECTION %d"} {
			done := execute(victim, "SELECT SLEEP(120)")
			running := func() int { return g.threads(t, "INFO = 'SELECT SLEEP(120)'") }
			await(t, "the statement to run", func() bool { return running() == 1 })
			exec(t, g.open(t, ""), fmt.Sprintf(statement, victim.GetConnectionID()))
			_ = ended(t, done) // with 1, or the error 1317 or 2013
			await(t, statement, func() bool { return running() == 0 })
		}
		_, err = g.open(t, "").ExecContext(context.Background(), "KILL QUERY 4294967295")
		if errno(err) != 1094 {
			t.Errorf("an unknown id: got %v, want error 1094", err)
		}
	})
}

// Listed users share an account at the server, yet may end their own sessions only,
// whatever id they name.
func TestKillOfAnotherUsers(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{users: []proxy.User{{Name: gateUser, Password: gatePassword}, {Name: "low", Password: "low"}}})
		victim, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
		if err != nil {
			t.Fatal(err)
		}
		defer victim.Close()
		r, err := victim.Execute("SELECT CONNECTION_ID()")
		if err != nil {
			t.Fatal(err)
		}
		own, err := r.GetInt(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		low := openDSN(t, fmt.Sprintf("low:low@tcp(%s)/%s", g.addr, g.database))
		for _, id := range []int64{int64(victim.GetConnectionID()), own} {
			if _, err := low.ExecContext(t.Context(), fmt.Sprintf("KILL %d", id)); errno(err) != 1095 {
				t.Errorf("KILL %d: got %v, want error 1095", id, err)
			}
		}
		if _, err := victim.Execute("SELECT 1"); err != nil {
			t.Errorf("the session was ended: %v", err)
		}
	})
}

// The id of a session on another server than the one that KILL comes by is not
// taken for one of this server's.
func TestKillAtAnotherServer(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, far *servertest.Server) {
		servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
			if s.IsMariaDB() != far.IsMariaDB() {
				return
			}
			database := far.NewDatabase(t)
			db := far.Open(t, database)
			g := newGate(t, s, gateOptions{more: map[string]*catalog.Keyspace{"far": {
				Name: "far", Database: database, DB: db,
				Backend: &backend.Backend{Network: "tcp", Addr: far.Addr, User: far.User, Password: far.Password},
			}}})
			victim, err := client.Connect(g.addr, gateUser, gatePassword, "far")
			if err != nil {
				t.Fatal(err)
			}
			defer victim.Close()
			done := execute(victim, "SELECT SLEEP(120)")
			await(t, "the statement to run", func() bool {
				return value[int](t, db, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE info = 'SELECT SLEEP(120)'") == 1
			})
			exec(t, g.open(t, ""), fmt.Sprintf("KILL QUERY %d", victim.GetConnectionID()))
			_ = ended(t, done) // with 1, or error 1317
		})
	})
}

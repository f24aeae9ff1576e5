package proxy_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"

	"github.com/seqgate/seqgate/internal/servertest"
)

// KILL QUERY with the id of the greeting, as clients send it on ctrl-C, ends that
// session's statement and no other's.
func TestKill(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		victim, err := client.Connect(g.addr, gateUser, gatePassword, g.database)
		if err != nil {
			t.Fatal(err)
		}
		defer victim.Close()
		for _, statement := range []string{"KILL QUERY %d", "kill query %d;", "KILL CONNECTION %d"} {
			ended := make(chan error, 1)
			go func() {
				_, err := victim.Execute("SELECT SLEEP(20)")
				ended <- err
			}()
			running := func() int {
				return value[int](t, g.direct, "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(20)'")
			}
			await(t, "the statement to run", func() bool { return running() == 1 })
			exec(t, g.open(t, ""), fmt.Sprintf(statement, victim.GetConnectionID()))
			<-ended // with 1, or the error 1317 or 2013
			await(t, statement, func() bool { return running() == 0 })
		}
		_, err = g.open(t, "").ExecContext(context.Background(), "KILL QUERY 4294967295")
		if errno(err) != 1094 {
			t.Errorf("an unknown id: got %v, want error 1094", err)
		}
	})
}

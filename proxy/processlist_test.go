package proxy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A MySQL server's information_schema.PROCESSLIST cannot be read while any connection runs a text that is no UTF-8.
func TestSessionsBesideBinaryTexts(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		binary := conn(t, g.direct)
		ended := make(chan error, 1)
		id := value[int](t, binary, "SELECT CONNECTION_ID()")
		go func() {
			_, err := binary.ExecContext(t.Context(), "DO SLEEP(60), _binary'\xff\xfe\x00'")
			ended <- err
		}()
		state := "SELECT COUNT(*) FROM " + servertest.Processlist + fmt.Sprintf(" WHERE ID = %d AND STATE LIKE 'User %%'", id)
		await(t, "the text to run", func() bool { return value[int](t, g.direct, state) == 1 })

		victim, killer := conn(t, g.open(t, "customer", "")), conn(t, g.open(t, "customer", ""))
		victimID := value[uint64](t, victim, "SELECT CONNECTION_ID()")
		sleeps := make(chan error, 1)
		ids := usersOf(t, g)
		go func() {
			_, err := victim.ExecContext(t.Context(), fmt.Sprintf("UPDATE user SET n = SLEEP(60) WHERE id = %d", ids[0]))
			sleeps <- err
		}()
		const running = "SELECT COUNT(*) FROM " + servertest.Processlist + " WHERE INFO LIKE 'UPDATE user SET n = SLEEP(60)%'"
		await(t, "the victim's statement to run", func() bool { return value[int](t, g.direct, running) == 1 })
		if !slices.Contains(texts(t, killer, "SHOW SEQGATE SESSIONS"), fmt.Sprint(victimID)) {
			t.Error("the victim's session is not shown")
		}
		exec(t, killer, fmt.Sprintf("KILL QUERY %d", victimID))
		if err := <-sleeps; errno(err) != 1317 && errno(err) != 1158 { // 1158 where it takes the server too long
			t.Errorf("the victim's statement ends with %v, want error 1317", err)
		}
		exec(t, g.direct, fmt.Sprintf("KILL %d", id))
		<-ended
	})
}

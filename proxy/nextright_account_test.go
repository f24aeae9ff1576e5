package proxy_test

import (
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// A session that goes on with another connection, as another account behind a reload, takes values with the rights of that.
func TestNextValueOfChangedAccount(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		a := newAccounts(t, s)
		g := newUsersGate(t, s, a.options())
		createSequence(t, g.direct, "lone_seq", 1, 1000)
		a.grant("SELECT, REFERENCES", g.database+".*", a.write)
		c := conn(t, g.userOf(t, "writer", ""))
		id := value[int64](t, c, "SELECT CONNECTION_ID()")
		exec(t, c, "SELECT NEXT VALUE FROM lone_seq")
		users := a.users()
		users[2].Account = users[1].Account
		if err := g.proxy.Change(proxy.Settings{Users: users}); err != nil {
			t.Fatal(err)
		}
		exec(t, g.direct, fmt.Sprintf("KILL %d", id))
		await(t, "another connection", func() bool {
			var got string
			return c.QueryRowContext(t.Context(), currentUser).Scan(&got) == nil && got == a.read
		})
		fails(t, c, 1142, "GRANT REFERENCES", "SELECT NEXT VALUE FROM lone_seq")
	})
}

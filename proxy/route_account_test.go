package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// Clients are not told of seqgate's own account, whenever it is that a server refuses it.
func TestOwnAccountIsNotTold(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const account = "seqgate_own_account"
		var databases []string
		g := newShardedGate(t, s, 2, gateOptions{configure: func(c *proxy.Config) {
			for _, k := range append([]*catalog.Keyspace{c.Keyspaces["main"]}, c.Keyspaces["customer"].Shards...) {
				k.Backend.User, k.Backend.Password = account, "hush"
				databases = append(databases, k.Database)
			}
		}})
		exec(t, g.direct, "CREATE USER "+account+"@'%' IDENTIFIED BY 'hush'")
		defer exec(t, g.direct, "DROP USER "+account+"@'%'")
		for _, database := range databases {
			exec(t, g.direct, fmt.Sprintf("GRANT ALL ON %s.* TO %s@'%%'", database, account))
		}
		check := func(what string, want uint16, err error) {
			t.Helper()
			if errno(err) != want || strings.Contains(err.Error(), account) {
				t.Errorf("%s: %v, want error %d without the account", what, err, want)
			}
		}
		ids := g.onEach(t)
		c := conn(t, g.open(t, "customer", ""))
		fresh := conn(t, g.open(t, "main", ""))
		for i := range ids {
			exec(t, c, fmt.Sprintf("SELECT name FROM user WHERE id = %d", ids[i][0]))
		}
		check("a login to another database", 1044, g.open(t, "mysql", "").PingContext(t.Context()))

		exec(t, g.direct, "ALTER USER "+account+"@'%' IDENTIFIED BY 'other'")
		for i := range ids {
			g.killThreads(t, i)
		}
		for i := range ids {
			q := fmt.Sprintf("SELECT name FROM customer.user WHERE id = %d", ids[i][0])
			await(t, "the loss of the connection to be seen", func() bool {
				_, err := c.ExecContext(t.Context(), q)
				if err == nil || strings.Contains(err.Error(), account) {
					t.Errorf("%s: %v", q, err)
				}
				return err == nil || errno(err) == 1429
			})
			_, err := fresh.ExecContext(t.Context(), q)
			check("the first use of a shard", 1429, err)
		}
		check("a login", 1429, g.open(t, "customer", "").PingContext(t.Context()))
	})
}

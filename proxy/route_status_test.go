package proxy_test

import (
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Drivers go by the flag of a transaction that each answer has.
func TestRoutedTellsOfTransaction(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := g.onEach(t)
		for _, home := range []string{"customer", "main"} {
			for _, shard := range ids {
				c := g.dial(t, home)
				statements := []string{"BEGIN", fmt.Sprintf("INSERT INTO customer.user (id, name) VALUES (%d, 'x')", shard[0]), "SELECT LAST_INSERT_ID()",
					"SELECT @@version", "SELECT DATABASE()", "SET @a = 1", "SHOW WARNINGS", "SHOW DATABASES", "SELECT CONNECTION_ID()", "USE customer",
					"SELECT GET_LOCK('a', 1)", "SELECT RELEASE_LOCK('a')", "SELECT 1", "DO 1", "SELECT NEXT VALUE FOR main.user_seq", "SELECT COUNT(*) FROM user", "SHOW SEQGATE STATUS"}
				for _, q := range statements {
					r, err := c.Execute(q)
					if err != nil {
						t.Fatalf("%s: %v", q, err)
					}
					if r.Status&mysql.SERVER_STATUS_IN_TRANS == 0 {
						t.Errorf("in %s: %s: the answer says that no transaction is open", home, q)
					}
				}
				p, err := c.Prepare("SELECT ?, LAST_INSERT_ID()")
				if err != nil {
					t.Fatal(err)
				}
				if r, err := p.Execute(5); err != nil || r.Status&mysql.SERVER_STATUS_IN_TRANS == 0 {
					t.Errorf("in %s: a prepared statement's answer says that no transaction is open: %v", home, err)
				}
				for _, q := range []string{"ROLLBACK", "SELECT LAST_INSERT_ID()", "SELECT 1"} {
					if r, err := c.Execute(q); err != nil || r.Status&mysql.SERVER_STATUS_IN_TRANS != 0 {
						t.Errorf("in %s: %s: the answer says that a transaction is open: %v", home, q, err)
					}
				}
			}
		}
	})
}

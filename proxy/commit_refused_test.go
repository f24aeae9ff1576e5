package proxy_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/catalog"
)

// refusingGate is a seqgate with two shards, of which the server can be made read-only: it refuses COMMIT then, and
// MariaDB also XA COMMIT and XA ROLLBACK, so that the connection has to be given up.
type refusingGate struct {
	*shardedGate
	admin *sql.DB
}

// eachRefusing runs a test with both ways to commit, on servers of its own.
func eachRefusing(t *testing.T, test func(t *testing.T, g refusingGate, xa bool)) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		admin := s.Open(t, "")
		exec(t, admin, "CREATE USER plain", "GRANT ALL ON *.* TO plain")
		above := "CONNECTION_ADMIN" // read_only
		if s.IsMariaDB() {
			above = "READ_ONLY ADMIN"
		}
		exec(t, admin, "REVOKE SUPER, "+above+" ON *.* FROM plain")
		for _, xa := range []bool{false, true} {
			t.Run(map[bool]string{false: "in order", true: "xa"}[xa], func(t *testing.T) {
				g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
					if xa {
						twoPhases(cfg)
						cfg.XAGrace = 3 * time.Second
					}
					for _, shard := range append([]*catalog.Keyspace{cfg.Keyspaces["main"]}, cfg.Keyspaces["customer"].Shards...) {
						shard.Backend.User, shard.Backend.Password = "plain", ""
					}
				}})
				exec(t, g.shards[0], userValues+"(1, 'a', 10)")
				exec(t, g.shards[1], userValues+"(4, 'd', 10)")
				exec(t, g.direct, decisionsTable) // no DDL between the phases, which takes its time
				test(t, refusingGate{g, admin}, xa)
			})
		}
	})
}

// commit is COMMIT while the server is read-only.
func (g refusingGate) commit(t *testing.T, c *sql.Conn) error {
	t.Helper()
	exec(t, g.admin, "SET GLOBAL read_only = ON")
	_, err := c.ExecContext(t.Context(), "COMMIT")
	exec(t, g.admin, "SET GLOBAL read_only = OFF")
	return err
}

// refuseCommit has the COMMIT of an UPDATE refused.
func (g refusingGate) refuseCommit(t *testing.T, c *sql.Conn, where string) {
	t.Helper()
	exec(t, c, "BEGIN", "UPDATE user SET age = 11 WHERE "+where)
	checkErrno(t, g.commit(t, c), mysql.ER_OPTION_PREVENTS_STATEMENT)
}

// wantEnded checks that seqgate has ended a session.
func wantEnded(t *testing.T, c *sql.Conn) {
	t.Helper()
	if _, err := c.ExecContext(t.Context(), "DO 1"); !errors.Is(err, driver.ErrBadConn) && !errors.Is(err, sql.ErrConnDone) {
		t.Errorf("%v, want the connection to have ended", err)
	}
}

// Nothing is left open behind a COMMIT that was refused, with its locks, and the session goes on.
func TestCommitRefused(t *testing.T) {
	eachRefusing(t, func(t *testing.T, g refusingGate, xa bool) {
		c := conn(t, g.open(t, "customer", ""))
		check := func(where string, want [2]int) {
			t.Helper()
			eventually(t, func() bool { return g.ages(t) == want }, fmt.Sprintf("ages %v behind COMMIT, %s", want, where))
			for _, shard := range g.shards {
				exec(t, conn(t, shard), "SET innodb_lock_wait_timeout = 5", "UPDATE user SET n = 1")
			}
			exec(t, c, "UPDATE user SET age = 12 WHERE id = 1", "UPDATE user SET age = 12 WHERE id = 4", "UPDATE user SET age = 10")
		}
		for _, where := range []string{"id = 1", "id = 4"} {
			g.refuseCommit(t, c, where)
			check(where, [2]int{10, 10})
		}
		if !xa {
			g.refuseCommit(t, c, "id IN (1, 4)")
			check("both", [2]int{10, 10})
			return
		}
		exec(t, c, "BEGIN", "UPDATE user SET age = 11")
		if err := g.commit(t, c); err != nil { // both shards have prepared, and the decision is written
			t.Error(err)
		}
		check("both", [2]int{11, 11})
	})
}

// What the session had on a connection that was given up is not silently another way on the next one: the settings are
// brought there, or the session has ended.
func TestSettingsBehindRefusedCommit(t *testing.T) {
	eachRefusing(t, func(t *testing.T, g refusingGate, _ bool) {
		for _, where := range []string{"id = 1", "id = 4"} {
			for name, known := range map[string]bool{"on one shard": false, "on both": true} {
				c := conn(t, g.open(t, "customer", ""))
				exec(t, c, "SET autocommit = 0, time_zone = '+05:00'", "UPDATE user SET n = 1 WHERE "+where)
				if known {
					exec(t, c, "UPDATE user SET n = 2")
				}
				exec(t, c, "COMMIT")
				g.refuseCommit(t, c, where)
				if _, err := c.ExecContext(t.Context(), "SELECT name FROM user WHERE id = LAST_INSERT_ID()"); err != nil {
					if known {
						t.Errorf("%s: %v, want the session to go on, whose settings were on both shards", where, err)
					}
					wantEnded(t, c)
					continue
				}
				exec(t, c, "UPDATE user SET age = 13 WHERE "+where)
				var zone string
				err := c.QueryRowContext(t.Context(), "SELECT @@time_zone FROM user WHERE "+where).Scan(&zone)
				if err != nil || zone != "+05:00" {
					t.Errorf("%s, %s: time zone %q, %v", where, name, zone, err)
				}
				exec(t, c, "ROLLBACK")
				if got := g.ages(t); got != [2]int{10, 10} {
					t.Fatalf("%s, %s: ages %v behind ROLLBACK with autocommit = 0, want 10 and 10", where, name, got)
				}
			}
		}
	})
}

// A client's lock, which is at the default keyspace's server, is not lost while its session goes on with another one.
func TestLockBehindRefusedCommit(t *testing.T) {
	eachRefusing(t, func(t *testing.T, g refusingGate, _ bool) {
		exec(t, g.direct, "CREATE TABLE ua (n INT)", "INSERT INTO ua VALUES (0)")
		c := conn(t, g.open(t, "customer", ""))
		lock := "('" + g.database + "')"
		exec(t, c, "UPDATE user SET n = 1")
		if got := value[int](t, c, "SELECT GET_LOCK"+strings.Replace(lock, ")", ", 0)", 1)); got != 1 {
			t.Fatalf("GET_LOCK gives %d", got)
		}
		exec(t, c, "BEGIN", "UPDATE main.ua SET n = 1")
		checkErrno(t, g.commit(t, c), mysql.ER_OPTION_PREVENTS_STATEMENT)
		free := func() bool { return value[int](t, g.direct, "SELECT IS_FREE_LOCK"+lock) == 1 }
		if _, err := c.ExecContext(t.Context(), "UPDATE user SET n = 1 WHERE id = 1"); err != nil {
			wantEnded(t, c)
			eventually(t, free, "the end of the lock with its session")
		} else if free() {
			t.Error("the lock is lost, and the session goes on")
		}
	})
}

// A session whose LAST_INSERT_ID() seqgate does not know goes on behind the loss of its server, once it was told.
func TestLossOfUnknownLastID(t *testing.T) {
	bothWays(t, func(t *testing.T, g *shardedGate) {
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "UPDATE user SET n = LAST_INSERT_ID(41 + 1) WHERE id = 1")
		lost := make(chan error, 1)
		go func() {
			_, err := c.ExecContext(context.Background(), "SELECT SLEEP(60) FROM user WHERE id = 1")
			lost <- err
		}()
		g.awaitRunning(t, 0, "%SLEEP(60)%")
		g.killThreads(t, 0)
		if err := <-lost; err == nil {
			t.Fatal("a statement whose server was lost succeeded")
		}
		exec(t, c, "UPDATE user SET age = 11 WHERE id = 1")
	})
}

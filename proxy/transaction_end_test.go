package proxy_test

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A server may end a transaction by an error that is no deadlock: MariaDB's
// innodb_snapshot_isolation does by 1020.
func TestAnyErrorMayEndTheTransaction(t *testing.T) {
	bothWays(t, func(t *testing.T, g *shardedGate) {
		c := conn(t, g.open(t, "customer", ""))
		if _, err := c.ExecContext(t.Context(), "SET SESSION innodb_snapshot_isolation = ON"); err != nil {
			t.Skipf("the server has no innodb_snapshot_isolation: %v", err)
		}
		exec(t, c, "BEGIN", "UPDATE user SET age = 11 WHERE id = 4", "SELECT * FROM user WHERE id = 1")
		exec(t, g.shards[0], "UPDATE user SET n = 5 WHERE id = 1")
		if _, err := c.ExecContext(t.Context(), "UPDATE user SET age = 11 WHERE id = 1"); errno(err) != 1020 {
			t.Fatalf("%v, want error 1020", err)
		}
		exec(t, c, "BEGIN", "ROLLBACK") // as a client that tries again
		if got := g.ages(t); got != [2]int{10, 10} {
			t.Errorf("ages %v after a conflict, want 10 and 10", got)
		}
	})
}

// An error that ends no transaction leaves it as it is.
func TestErrorWithinTransaction(t *testing.T) {
	bothWays(t, func(t *testing.T, g *shardedGate) {
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "BEGIN", "UPDATE user SET age = 11")
		for statement, want := range map[string]uint16{
			"INSERT INTO user (id, name) VALUES (4, 'again')":       1062,
			"INSERT INTO user (id, name) VALUES (1, 'a'), (4, 'd')": 1062,
			"SELECT nothing FROM user":                              1054,
			"ROLLBACK TO SAVEPOINT nothing":                         1305,
		} {
			if _, err := c.ExecContext(t.Context(), statement); errno(err) != want {
				t.Errorf("%s: %v, want error %d", statement, err, want)
			}
		}
		if got := g.ages(t); got != [2]int{10, 10} {
			t.Errorf("ages %v before COMMIT, want 10 and 10", got)
		}
		exec(t, c, "COMMIT")
		if got := g.ages(t); got != [2]int{11, 11} {
			t.Errorf("ages %v, want 11 and 11", got)
		}
	})
}

// A program may commit by itself. Alone in the client's transaction it ends that; with
// other shards in it, it is refused, unless servers refuse to commit.
func TestProgramWithinTransaction(t *testing.T) {
	bothWays(t, func(t *testing.T, g *shardedGate) {
		exec(t, g.direct, "CREATE PROCEDURE p() COMMIT")
		c := conn(t, g.open(t, "main", ""))
		const refused, byServer = 1235, 1399
		programs := []string{"CALL p()"}
		if strings.Contains(value[string](t, g.direct, "SELECT VERSION()"), "MariaDB") {
			programs = append(programs, "EXECUTE IMMEDIATE 'COMMIT'", "BEGIN NOT ATOMIC COMMIT; END", "SET STATEMENT lock_wait_timeout = 5 FOR COMMIT")
		}
		for _, program := range programs {
			exec(t, c, "BEGIN", "UPDATE customer.user SET age = 11 WHERE id = 1")
			if _, err := c.ExecContext(t.Context(), program); errno(err) != refused && errno(err) != byServer {
				t.Errorf("%s: %v, want error %d or %d", program, err, refused, byServer)
			}
			exec(t, c, "ROLLBACK")
			if got := g.ages(t); got != [2]int{10, 10} {
				t.Errorf("%s: ages %v after ROLLBACK, want 10 and 10", program, got)
			}
		}
	})
}

func TestProgramEndsTheTransaction(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.shards[0], userValues+"(1, 'a', 10)")
		exec(t, g.shards[1], userValues+"(4, 'd', 10)")
		exec(t, g.direct, "CREATE PROCEDURE p() COMMIT")
		c := conn(t, g.open(t, "main", ""))
		exec(t, c, "BEGIN", "CALL p()", "UPDATE customer.user SET age = 11 WHERE id = 1", "ROLLBACK")
		if got := g.ages(t); got != [2]int{11, 10} {
			t.Errorf("ages %v, want 11 and 10: the procedure has ended the transaction", got)
		}
	})
}

// What a server commits by itself, it commits on all shards, whatever the text mentions.
func TestImplicitCommitIsOfAllShards(t *testing.T) {
	bothWays(t, func(t *testing.T, g *shardedGate) {
		exec(t, g.direct, "CREATE TABLE x (id INT)", "CREATE TABLE ua (n INT)", "INSERT INTO ua VALUES (0)")
		c := conn(t, g.open(t, "main", ""))
		exec(t, c, "BEGIN", "UPDATE ua SET n = 1", "UPDATE customer.user SET age = 11 WHERE id = 1", "ALTER TABLE x COMMENT = 'not temporary'", "ROLLBACK")
		if got := g.ages(t); got != [2]int{11, 10} {
			t.Errorf("ages %v, want 11 and 10", got)
		}
		exec(t, c, "BEGIN", "UPDATE customer.user SET age = 12 WHERE id = 1")
		if _, err := c.ExecContext(t.Context(), "ALTER TABLE temporary_nothing COMMENT = ''"); errno(err) != 1146 {
			t.Errorf("%v, want error 1146", err)
		}
		exec(t, c, "ROLLBACK")
		if got := g.ages(t); got != [2]int{12, 10} {
			t.Errorf("ages %v, want 12 and 10: DDL that fails commits too", got)
		}
	})
}

package proxy_test

import (
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// With the vindex hash user 1 is in shard -80 and user 4 in 80-.
const userValues = "INSERT INTO user (id, name, age) VALUES "

// bothWays runs a test with transactions that commit shard by shard, and in two phases.
func bothWays(t *testing.T, test func(t *testing.T, g *shardedGate)) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, xa := range []bool{false, true} {
			t.Run(map[bool]string{false: "in order", true: "xa"}[xa], func(t *testing.T) {
				o := gateOptions{}
				if xa {
					o.configure = twoPhases
				}
				g := newShardedGate(t, s, 2, o)
				exec(t, g.shards[0], userValues+"(1, 'a', 10)")
				exec(t, g.shards[1], userValues+"(4, 'd', 10)")
				test(t, g)
			})
		}
	})
}

// twoPhases has transactions commit in two phases.
func twoPhases(cfg *proxy.Config) { cfg.XA = cfg.Keyspaces["main"] }

// ages gives the ages of users 1 and 4, as their shards have committed them.
func (g *shardedGate) ages(t *testing.T) [2]int {
	t.Helper()
	return [2]int{value[int](t, g.shards[0], "SELECT age FROM user WHERE id = 1"), value[int](t, g.shards[1], "SELECT age FROM user WHERE id = 4")}
}

func TestTransactionOverShards(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, g *shardedGate) {
		c := conn(t, g.open(t, "customer", ""))
		for _, tt := range []struct {
			name       string
			statements []string
			want       [2]int
		}{
			{"rollback", []string{"BEGIN", "UPDATE user SET age = 11 WHERE id = 1", "UPDATE user SET age = 11 WHERE id = 4", "ROLLBACK"}, [2]int{10, 10}},
			{"commit", []string{"START TRANSACTION", "UPDATE user SET age = 12 WHERE id = 1", "UPDATE user SET age = 12 WHERE id = 4", "COMMIT"}, [2]int{12, 12}},
			{"one shard", []string{"BEGIN", "UPDATE user SET age = 13 WHERE id = 4", "COMMIT WORK"}, [2]int{12, 13}},
			{"one statement", []string{"UPDATE user SET age = 14 WHERE id IN (1, 4)"}, [2]int{14, 14}},
			{"no key", []string{"UPDATE user SET age = 15"}, [2]int{15, 15}},
			{"begin commits", []string{"BEGIN", "UPDATE user SET age = 16", "BEGIN", "UPDATE user SET age = 17", "ROLLBACK"}, [2]int{16, 16}},
			{"savepoint before a shard is used", []string{"BEGIN", "UPDATE user SET age = 18 WHERE id = 1", "SAVEPOINT a",
				"UPDATE user SET age = 18 WHERE id = 4", "ROLLBACK TO SAVEPOINT A", "COMMIT"}, [2]int{18, 16}},
			{"released savepoint", []string{"BEGIN", "SAVEPOINT a", "UPDATE user SET age = 19", "RELEASE SAVEPOINT a", "COMMIT"}, [2]int{19, 19}},
			{"chain", []string{"BEGIN", "UPDATE user SET age = 20", "COMMIT AND CHAIN", "UPDATE user SET age = 21", "ROLLBACK"}, [2]int{20, 20}},
			{"autocommit off", []string{"SET autocommit = 0", "UPDATE user SET age = 22", "ROLLBACK", "UPDATE user SET age = 23 WHERE id = 4", "COMMIT", "SET autocommit = 1"}, [2]int{20, 23}},
			{"DDL commits", []string{"BEGIN", "UPDATE user SET age = 24", "CREATE TABLE extra (id INT)", "ROLLBACK"}, [2]int{24, 24}},
		} {
			exec(t, c, tt.statements...)
			if got := g.ages(t); got != tt.want {
				t.Errorf("%s: ages %v, want %v", tt.name, got, tt.want)
			}
		}
	})
}

// A statement that one shard refuses is undone on all, and what the transaction did
// before it stays.
func TestFailingShardUndoesTheStatement(t *testing.T) {
	bothWays(t, func(t *testing.T, g *shardedGate) {
		exec(t, g.shards[1], "CREATE TRIGGER no BEFORE UPDATE ON user FOR EACH ROW BEGIN IF NEW.age > 99 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too old'; END IF; END")
		c := conn(t, g.open(t, "customer", ""))
		refused := func() {
			t.Helper()
			if _, err := c.ExecContext(t.Context(), "UPDATE user SET age = age + 90"); errno(err) != 1644 {
				t.Errorf("%v, want error 1644", err)
			}
		}
		refused()
		if got := g.ages(t); got != [2]int{10, 10} {
			t.Errorf("ages %v after a refused statement, want 10 and 10", got)
		}
		exec(t, c, "BEGIN", "UPDATE user SET age = 20")
		refused()
		exec(t, c, "COMMIT")
		if got := g.ages(t); got != [2]int{20, 20} {
			t.Errorf("ages %v after a transaction with a refused statement, want 20 and 20", got)
		}
	})
}

// What a dead seqgate has prepared and not ended is ended as it was decided.
func TestRecoverXA(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for decision, want := range map[string][2]int{"": {10, 10}, "rollback": {10, 10}, "commit": {50, 50}} {
			t.Run("decision "+decision, func(t *testing.T) {
				g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) {
					cfg.XA, cfg.XAGrace = cfg.Keyspaces["main"], 50*time.Millisecond
				}})
				own := transactionsOf(value[string](t, g.direct, "SELECT DATABASE()"))
				exec(t, g.direct, "CREATE TABLE seqgate_transactions (name VARBINARY(64) PRIMARY KEY, decision ENUM('commit', 'rollback') NOT NULL, decided TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)")
				// Until all is prepared nobody reads the decision, nor makes another one.
				decides := conn(t, g.direct)
				exec(t, decides, "LOCK TABLES seqgate_transactions WRITE")
				if decision != "" {
					exec(t, decides, "INSERT INTO seqgate_transactions (name, decision) VALUES ('"+own+"dead-1', '"+decision+"')")
				}
				exec(t, g.shards[0], userValues+"(1, 'a', 10)")
				exec(t, g.shards[1], userValues+"(4, 'd', 10)")
				for i, shard := range g.shards {
					prepareXA(t, shard, fmt.Sprintf("'%sdead-1','%s/customer:%s',21319", own, value[string](t, shard, "SELECT DATABASE()"), g.layout.Name(i)), fmt.Sprintf("UPDATE user SET age = 50 WHERE id = %d", []int{1, 4}[i]))
				}
				// Of something else, of a seqgate whose decisions are in another table, and of what uses such names in another format.
				database := value[string](t, g.shards[0], "SELECT DATABASE()")
				others := []string{fmt.Sprintf("'another','%s/customer:-80',1", database), fmt.Sprintf("'%sdead-1','%s/customer:-80',21319", transactionsOf("another"), database), fmt.Sprintf("'%sdead-2','%s/customer:-80',1", own, database)}
				for i, xid := range others {
					prepareXA(t, g.shards[0], xid, userValues+fmt.Sprintf("(%d, 'b', 10)", 1000+i))
				}
				exec(t, decides, "UNLOCK TABLES")
				eventually(t, func() bool { return len(g.preparedXA(t)) == len(others) }, "recovery of two parts")
				if got := g.ages(t); got != want {
					t.Errorf("ages %v, want %v", got, want)
				}
				left := g.preparedXA(t)
				slices.Sort(left)
				want := []string{"another" + database + "/customer:-80", transactionsOf("another") + "dead-1" + database + "/customer:-80", own + "dead-2" + database + "/customer:-80"}
				slices.Sort(want)
				if !slices.Equal(left, want) {
					t.Errorf("prepared transactions left: %v, want %v", left, want)
				}
				for _, xid := range others {
					exec(t, g.direct, "XA ROLLBACK "+xid)
				}
				eventually(t, func() bool {
					return value[int](t, g.direct, "SELECT COUNT(*) FROM seqgate_transactions WHERE decision = 'commit'") == 0
				}, "the decision to be dropped")
			})
		}
	})
}

// transactionsOf gives how the names of transactions begin that are decided in a database.
func transactionsOf(database string) string {
	hash := sha256.Sum256([]byte(database))
	return fmt.Sprintf("seqgate-%x-", hash[:4])
}

// prepareXA leaves a prepared transaction behind.
func prepareXA(t *testing.T, db *sql.DB, xid, statement string) {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "XA START "+xid, statement, "XA END "+xid, "XA PREPARE "+xid)
	thread := fmt.Sprintf(" thread id %d,", value[int](t, c, "SELECT CONNECTION_ID()"))
	_ = c.Raw(func(any) error { return fmt.Errorf("closed: %w", driver.ErrBadConn) })
	// MariaDB's InnoDB lets go of it after the server has: an XA COMMIT in between says OK, and nothing is committed.
	eventually(t, func() bool {
		var engine, name, status string
		if err := db.QueryRow("SHOW ENGINE INNODB STATUS").Scan(&engine, &name, &status); err != nil {
			t.Fatal(err)
		}
		return !strings.Contains(status, thread)
	}, "InnoDB to let go of a prepared transaction")
}

// preparedXA gives what the server has prepared of transactions that name a database of the gate: it has those of other
// tests too.
func (g *shardedGate) preparedXA(t *testing.T) (names []string) {
	t.Helper()
	rows, err := g.direct.Query("XA RECOVER")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var format, length, branch int
		var data string
		if err := rows.Scan(&format, &length, &branch, &data); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(g.shards, func(db *sql.DB) bool { return strings.Contains(data, value[string](t, db, "SELECT DATABASE()")) }) {
			names = append(names, data)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// A deadlock on one shard ends the transaction on all of them.
func TestDeadlockEndsTheTransaction(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, g *shardedGate) {
		exec(t, g.shards[0], userValues+"(2, 'b', 10)")
		db := g.open(t, "customer", "")
		lasts := []struct {
			statement string
			args      []any
		}{
			{"UPDATE user SET age = 11 WHERE id = 1", nil},
			{"UPDATE user SET age = 11 WHERE id IN (1, 4)", nil},
			{"SELECT * FROM user FOR UPDATE", nil},
			{"SELECT * FROM user WHERE age > ? FOR UPDATE", []any{0}},
			{"INSERT INTO child (user_id, v) SELECT id, name FROM user FOR UPDATE", nil},
		}
		for _, last := range lasts {
			c, other := conn(t, db), conn(t, g.shards[0])
			exec(t, c, "BEGIN", "UPDATE user SET age = 11 WHERE id = 4", "UPDATE user SET age = 11 WHERE id = 2")
			exec(t, other, "BEGIN", "UPDATE user SET age = 12 WHERE id = 1", "UPDATE user SET name = 'heavier', n = 5 WHERE id = 1", "INSERT INTO user (id) SELECT 1000 + seq FROM (SELECT 0 AS seq UNION SELECT 1 UNION SELECT 2) s")
			waits := make(chan error, 1)
			go func() {
				_, err := other.ExecContext(t.Context(), "UPDATE user SET age = 12 WHERE id = 2")
				waits <- err
			}()
			eventually(t, func() bool {
				return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE INFO LIKE 'UPDATE user SET age = 12 WHERE id = 2'") > 0
			}, "the other transaction to wait")
			if _, err := c.ExecContext(t.Context(), last.statement, last.args...); errno(err) != 1213 {
				t.Fatalf("%s: %v, want error 1213", last.statement, err)
			}
			if err := <-waits; err != nil {
				t.Fatal(err)
			}
			exec(t, other, "ROLLBACK")
			exec(t, c, "UPDATE user SET n = n + 1 WHERE id = 4", "BEGIN", "ROLLBACK") // of its own, as after a deadlock on one server
			if got := g.ages(t); got != [2]int{10, 10} {
				t.Errorf("%s: ages %v after a deadlock, want 10 and 10", last.statement, got)
			}
		}
		if got := value[int](t, g.shards[1], "SELECT n FROM user WHERE id = 4"); got != len(lasts) {
			t.Errorf("n is %d, want one for each: what follows a deadlock is not in the transaction", got)
		}
	})
}

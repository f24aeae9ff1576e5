package proxy_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/vschema"
)

// shardOf gives the shard of a user.
func (g *shardedGate) shardOf(t *testing.T, id int64) int {
	t.Helper()
	hash, err := vschema.NewVindex("hash", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := hash.Map(nil, []vschema.Value{vschema.Int(id)})
	if err != nil {
		t.Fatal(err)
	}
	return g.layout.Find(key)
}

// onEach gives two ids of users in each shard.
func (g *shardedGate) onEach(t *testing.T) (ids [][]int64) {
	t.Helper()
	ids = make([][]int64, len(g.shards))
	for id, missing := int64(1), 2*len(ids); missing > 0; id++ {
		if at := g.shardOf(t, id); len(ids[at]) < 2 {
			ids[at] = append(ids[at], id)
			missing--
		}
	}
	return ids
}

// users gives the users of all shards, in any case those that are committed.
func (g *shardedGate) users(t *testing.T) map[int64]int {
	t.Helper()
	all := make(map[int64]int)
	for _, shard := range g.shards {
		rows, err := shard.QueryContext(t.Context(), "SELECT id, n FROM user")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			var n int
			if err := rows.Scan(&id, &n); err != nil {
				t.Fatal(err)
			}
			all[id] = n
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// refuseOn has one shard refuse users with an n of 9, and to delete any.
func refuseOn(t *testing.T, shard *sql.DB) {
	t.Helper()
	const refuse = " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the shard says no'"
	exec(t, shard, "CREATE TRIGGER i BEFORE INSERT ON user FOR EACH ROW IF NEW.n = 9 THEN"+refuse+"; END IF",
		"CREATE TRIGGER u BEFORE UPDATE ON user FOR EACH ROW IF NEW.n = 9 THEN"+refuse+"; END IF",
		"CREATE TRIGGER d BEFORE DELETE ON user FOR EACH ROW"+refuse)
}

// A statement over several shards that one of them refuses leaves nothing on the others, by itself as within a
// transaction, whose earlier work stays.
func TestFailedStatementOverShards(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for bad := range 2 {
			t.Run(fmt.Sprintf("shard %d", bad), func(t *testing.T) { testFailedStatement(t, s, bad) })
		}
	})
}

func testFailedStatement(t *testing.T, s *servertest.Server, bad int) {
	g := newShardedGate(t, s, 2, gateOptions{})
	ids := g.onEach(t)
	refuseOn(t, g.shards[bad])
	exec(t, g.direct, "UPDATE user_seq SET next_id = 1000")
	there := make(map[int64]int)
	for i, shard := range g.shards {
		exec(t, shard, fmt.Sprintf("INSERT INTO user (id, n) VALUES (%d, 1)", ids[i][0]))
		there[ids[i][0]] = 1
	}
	c := conn(t, g.open(t, "customer", ""))
	statements := []string{
		fmt.Sprintf("INSERT INTO user (id, n) VALUES (%d, 9), (%d, 9)", ids[0][1], ids[1][1]),
		"INSERT INTO user (n) VALUES (9), (9), (9), (9), (9), (9), (9), (9), (9), (9)",
		"UPDATE user SET n = 9",
		fmt.Sprintf("UPDATE user SET n = 9 WHERE id IN (%d, %d)", ids[0][0], ids[1][0]),
		"DELETE FROM user",
	}
	for _, statement := range statements {
		_, err := c.ExecContext(t.Context(), statement)
		checkErrno(t, err, 1644)
		if diff := cmp.Diff(there, g.users(t)); diff != "" {
			t.Fatalf("after %s (-want +got):\n%s", statement, diff)
		}
	}
	for i, statement := range statements {
		exec(t, c, "BEGIN", fmt.Sprintf("UPDATE user SET n = %d WHERE id = %d", 20+i, ids[0][0]))
		_, err := c.ExecContext(t.Context(), statement)
		checkErrno(t, err, 1644)
		exec(t, c, fmt.Sprintf("UPDATE user SET n = %d WHERE id = %d", 20+i, ids[1][0]), "COMMIT")
		there[ids[0][0]], there[ids[1][0]] = 20+i, 20+i
		if diff := cmp.Diff(there, g.users(t)); diff != "" {
			t.Fatalf("after %s within a transaction (-want +got):\n%s", statement, diff)
		}
	}
}

// killThreads ends all connections to a shard but the one that asks for it.
func (g *shardedGate) killThreads(t *testing.T, shard int) {
	t.Helper()
	const others = "FROM " + servertest.Processlist + " WHERE DB = DATABASE() AND ID <> CONNECTION_ID()"
	c := conn(t, g.shards[shard])
	for _, id := range texts(t, c, "SELECT ID "+others) {
		_, _ = c.ExecContext(t.Context(), "KILL "+id) // one that has ended by itself fails
	}
	await(t, "their end", func() bool { return value[int](t, c, "SELECT COUNT(*) "+others) == 0 })
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// A transaction that lost the connection to one of its shards is over: what the client does next fails, and nothing of
// it is committed anywhere.
func TestTransactionLosesAShard(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"COMMIT", "INSERT INTO user (id) VALUES (%d)", "SELECT * FROM user", "SAVEPOINT a"} {
		t.Run(then, func(t *testing.T) {
			servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
				for lost := range 2 {
					g := newShardedGate(t, s, 2, gateOptions{})
					ids := g.onEach(t)
					c := conn(t, g.open(t, "customer", ""))
					exec(t, c, "BEGIN")
					for _, of := range ids {
						exec(t, c, fmt.Sprintf("INSERT INTO user (id, n) VALUES (%d, 1)", of[0]))
					}
					g.killThreads(t, lost)
					statement := then
					if then == "INSERT INTO user (id) VALUES (%d)" {
						statement = fmt.Sprintf(then, ids[lost][1])
					}
					if _, err := c.ExecContext(t.Context(), statement); err == nil {
						t.Errorf("%s succeeded without shard %d", statement, lost)
					}
					_, _ = c.ExecContext(t.Context(), "COMMIT") // of a session that may have ended
					if users := g.users(t); len(users) > 0 {
						t.Errorf("without shard %d, users %v of the transaction are there", lost, users)
					}
				}
			})
		})
	}
}

// A session outside of a transaction goes on when the connection to a shard was lost.
func TestIdleShardConnIsReplaced(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := g.onEach(t)
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "SET @x = 7", "BEGIN")
		for _, of := range ids {
			exec(t, c, fmt.Sprintf("INSERT INTO user (id, n) VALUES (%d, 1)", of[0]))
		}
		exec(t, c, "ROLLBACK")
		g.killThreads(t, 1)
		await(t, "the statement to succeed again", func() bool {
			_, err := c.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO user (id, n) VALUES (%d, 1), (%d, 1)", ids[0][1], ids[1][1]))
			return err == nil
		})
		want := map[int64]int{ids[0][1]: 1, ids[1][1]: 1}
		if diff := cmp.Diff(want, g.users(t)); diff != "" {
			t.Errorf("users (-want +got):\n%s", diff)
		}
	})
}

// Sessions that end within a transaction, in order or not, leave none open on any shard.
func TestEndedSessionsLeaveNoTransaction(t *testing.T) {
	t.Parallel()
	g := newShardedGate(t, servertest.First(t), 4, gateOptions{})
	for i := range 30 {
		c := g.dial(t, "customer")
		for _, statement := range []string{"BEGIN", "INSERT INTO user (name) VALUES ('a'), ('b'), ('c'), ('d'), ('e'), ('f')", "SELECT COUNT(*) FROM user"} {
			if _, err := c.Execute(statement); err != nil {
				t.Fatal(err)
			}
		}
		end := c.Close
		if i%2 == 0 {
			end = c.Conn.Close
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
	for i, shard := range g.shards {
		const open = "SELECT COUNT(*) FROM information_schema.INNODB_TRX t JOIN " + servertest.Processlist + " p ON p.ID = t.trx_mysql_thread_id WHERE p.DB = DATABASE()"
		await(t, fmt.Sprintf("the end of transactions on shard %d", i), func() bool { return value[int](t, shard, open) == 0 })
	}
	if users := g.users(t); len(users) > 0 {
		t.Errorf("users %v of transactions that were not committed", users)
	}
}

package proxy_test

import (
	"testing"
)

// With autocommit=0 any statement begins the transaction, which is then as one of BEGIN.
func TestAutocommitOff(t *testing.T) {
	t.Parallel()
	bothWays(t, func(t *testing.T, g *shardedGate) {
		for _, tt := range []struct {
			name       string
			statements []string
			want       [2]int
		}{
			{"savepoint before a shard is used", []string{"UPDATE user SET age = 20 WHERE id = 1", "SAVEPOINT a", "UPDATE user SET age = 21 WHERE id = 1",
				"UPDATE user SET age = 21 WHERE id = 4", "ROLLBACK TO a", "COMMIT"}, [2]int{20, 10}},
			{"savepoint first", []string{"SAVEPOINT a", "UPDATE user SET age = 21 WHERE id = 1", "UPDATE user SET age = 21 WHERE id = 4", "ROLLBACK TO a", "COMMIT"}, [2]int{10, 10}},
			{"SET TRANSACTION is of one transaction", []string{"SET TRANSACTION READ ONLY", "SELECT * FROM user WHERE id = 1", "COMMIT", "UPDATE user SET age = 22 WHERE id = 4", "COMMIT"}, [2]int{10, 22}},
			{"SET TRANSACTION ends by COMMIT", []string{"SET TRANSACTION READ ONLY", "COMMIT", "UPDATE user SET age = 23 WHERE id = 4", "COMMIT"}, [2]int{10, 23}},
			{"no transaction yet", []string{"SELECT 1", "SET TRANSACTION READ WRITE", "UPDATE user SET age = 24", "COMMIT"}, [2]int{24, 24}},
			{"autocommit on commits", []string{"SAVEPOINT a", "UPDATE user SET age = 25", "SET autocommit = 1", "UPDATE user SET age = 26 WHERE id = 1", "ROLLBACK"}, [2]int{26, 25}},
			{"autocommit on forgets", []string{"SAVEPOINT a", "SET autocommit = 1", "UPDATE user SET age = 27", "ROLLBACK"}, [2]int{27, 27}},
			{"DDL", []string{"UPDATE user SET age = 28", "CREATE TABLE extra (id INT)", "DROP TABLE extra", "UPDATE user SET age = 29 WHERE id = 1", "ROLLBACK"}, [2]int{28, 28}},
			{"chain", []string{"UPDATE user SET age = 30", "COMMIT AND CHAIN", "UPDATE user SET age = 31", "ROLLBACK"}, [2]int{30, 30}},
		} {
			exec(t, g.shards[0], "UPDATE user SET age = 10")
			exec(t, g.shards[1], "UPDATE user SET age = 10")
			c := conn(t, g.open(t, "customer", ""))
			exec(t, c, append([]string{"SET autocommit = 0"}, tt.statements...)...)
			if got := g.ages(t); got != tt.want {
				t.Errorf("%s: ages %v, want %v", tt.name, got, tt.want)
			}
			exec(t, c, "ROLLBACK")
			_ = c.Close()
		}
	})
}

// READ ONLY is of the transaction on every shard, and of the one that is chained to it.
func TestReadOnly(t *testing.T) {
	bothWays(t, func(t *testing.T, g *shardedGate) {
		for _, statements := range [][]string{
			{"SET autocommit = 0", "SET TRANSACTION READ ONLY"},
			{"SET TRANSACTION READ ONLY", "BEGIN", "SELECT * FROM user WHERE id = 1"},
			{"START TRANSACTION READ ONLY", "SELECT * FROM user WHERE id = 4", "COMMIT AND CHAIN"},
			{"START TRANSACTION READ ONLY", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN"},
		} {
			c := conn(t, g.open(t, "customer", ""))
			exec(t, c, statements...)
			if _, err := c.ExecContext(t.Context(), "UPDATE user SET age = 11 WHERE id = 4"); errno(err) != 1792 {
				t.Errorf("%q: %v, want error 1792", statements, err)
			}
			exec(t, c, "ROLLBACK")
			_ = c.Close()
		}
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "COMMIT AND CHAIN", "UPDATE user SET age = 12", "ROLLBACK") // begins one where there was none
		if got := g.ages(t); got != [2]int{10, 10} {
			t.Errorf("ages %v, want 10 and 10", got)
		}
	})
}

package proxy_test

import (
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// sql_select_limit is of the rows that the client gets, not of what each shard gives.
func TestRoutedSelectLimit(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		for id := 1; id <= 8; id++ {
			exec(t, c, fmt.Sprintf("INSERT INTO user (id, name, age, n) VALUES (%d, 'u', %d, 1)", id, id%4))
		}
		exec(t, c, "SET sql_select_limit = 2")
		for q, want := range map[string]int{"SELECT id FROM user": 2, "SELECT COUNT(*) FROM user GROUP BY age ORDER BY age": 2,
			"SELECT DISTINCT age FROM user": 2, "SELECT id FROM user LIMIT 5": 5, "SELECT id FROM user ORDER BY id LIMIT 3, 3": 3} {
			if got := len(columnOf(t, c, q)); got != want {
				t.Errorf("%s: %d rows, want %d", q, got, want)
			}
			if got := len(columnOf(t, c, q+" /* ? */")); got != want {
				t.Errorf("%s again: %d rows, want %d", q, got, want)
			}
		}
		if got := len(columnOf(t, c, "SELECT COUNT(*) FROM user WHERE n = ? GROUP BY age", 1)); got != 2 {
			t.Errorf("prepared: %d rows, want 2", got)
		}
		if got := value[int](t, c, "SELECT COUNT(*) FROM user GROUP BY age ORDER BY age DESC LIMIT 1"); got != 2 {
			t.Errorf("a group has %d rows, want 2 of both shards", got)
		}
		exec(t, c, "INSERT INTO child (cid, user_id, v) SELECT id + 100, id + 1000, name FROM user")
		if got := value[int](t, c, "SELECT @@sql_select_limit"); got != 2 {
			t.Errorf("the limit is %d then, want 2", got)
		}
		exec(t, c, "SET sql_select_limit = DEFAULT")
		if got := value[int](t, c, "SELECT COUNT(*) FROM child"); got != 8 {
			t.Errorf("INSERT ... SELECT copied %d rows, want 8", got)
		}
	})
}

// What INSERT ... SELECT copies does not go through the character set of results.
func TestRoutedInsertSelectKeepsText(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		for _, shard := range g.shards {
			exec(t, shard, "ALTER TABLE user MODIFY name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
				"ALTER TABLE child MODIFY v VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
		}
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "SET NAMES utf8mb4", "INSERT INTO user (id, name) VALUES (1, '中'), (2, 'é\\''), (3, '中'), (4, '🙂'), (5, 'a')")
		for i, names := range []string{"SET NAMES latin1", "SET NAMES utf8mb3", "SET character_set_results = NULL", "SET NAMES gbk", "SET NAMES utf8mb4"} {
			exec(t, c, names)
			before := value[string](t, c, "SELECT CONCAT_WS(',', @@character_set_client, @@character_set_results, @@collation_connection)")
			exec(t, c, fmt.Sprintf("INSERT INTO child (cid, user_id, v) SELECT id + %d, id + 100, name FROM user", 100*i))
			if after := value[string](t, c, "SELECT CONCAT_WS(',', @@character_set_client, @@character_set_results, @@collation_connection)"); after != before {
				t.Errorf("%s: the session has %s then, had %s", names, after, before)
			}
			for _, shard := range g.shards {
				if got := len(columnOf(t, shard, "SELECT 1 FROM child WHERE v NOT IN (_utf8mb4 X'E4B8AD', _utf8mb4 X'C3A927', _utf8mb4 X'F09F9982', 'a')")); got != 0 {
					t.Errorf("%s: %d rows are copied as something else", names, got)
				}
			}
			exec(t, c, "SET NAMES utf8mb4")
			if got := value[int](t, c, "SELECT COUNT(*) FROM child"); got != 5 {
				t.Errorf("%s: %d rows are copied", names, got)
			}
			exec(t, c, "DELETE FROM child")
		}
	})
}

package proxy_test

import (
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Values of many MiB come to their rows, in the text or as parameters: what a server takes, its shards take.
func TestRoutedLongValues(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		for _, shard := range g.shards {
			exec(t, shard, "ALTER TABLE user ADD doc LONGBLOB")
		}
		c := conn(t, g.open(t, "customer", "maxAllowedPacket=67108864"))
		size := 5 << 20
		if !s.IsMariaDB() { // whose max_allowed_packet is 16 MiB
			size = 17 << 20
		}
		doc := strings.Repeat("x'", size/2)
		text := "'" + strings.ReplaceAll(doc, "'", "''") + "'"
		if len(text) > 16<<20 && s.IsMariaDB() {
			t.Fatal("the text is longer than what the server takes")
		}
		for _, q := range []string{
			"INSERT INTO user (id, doc) VALUES (1, " + text + ")", "REPLACE INTO user SET id = 1, doc = " + text,
			"UPDATE user SET doc = CONCAT(" + text + ", '') WHERE id = 1", "UPDATE user SET doc = " + text + " WHERE id IN (1, 2, 3, 4)",
		} {
			exec(t, c, "DELETE FROM user", "INSERT INTO user (id, doc) VALUES (1, 'old')")
			if strings.HasPrefix(q, "INSERT") {
				exec(t, c, "DELETE FROM user")
			}
			if _, err := c.ExecContext(t.Context(), q); err != nil {
				t.Errorf("%.60s...: %.300s", q, err)
			}
			if n := value[int](t, c, "SELECT LENGTH(doc) FROM user WHERE id = 1 AND doc = "+text); n != len(doc) {
				t.Errorf("after %.60s... the value has %d bytes", q, n)
			}
		}
		for _, q := range []string{
			"UPDATE user SET doc = ? WHERE id = 1", "UPDATE user SET doc = ? WHERE id IN (1, 2, 3, 4)", "REPLACE INTO user (id, doc) VALUES (1, ?)",
		} {
			exec(t, c, "UPDATE user SET doc = 'old' WHERE id = 1")
			execArgs(t, c, q, doc)
			if n := value[int](t, c, "SELECT LENGTH(doc) FROM user WHERE doc = ?", doc); n != len(doc) {
				t.Errorf("after %s the value has %d bytes", q, n)
			}
		}
		if _, err := c.ExecContext(t.Context(), "DELETE FROM user WHERE id = 1 AND doc = "+text); err != nil {
			t.Errorf("DELETE: %.300s", err)
		}
		if rows := g.users(t); len(rows) != 0 {
			t.Errorf("users are left: %v", rows)
		}
	})
}

package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// sameRef fails when the shards do not have the same rows of ref.
func (g *shardedGate) sameRef(t *testing.T, after, query string) {
	t.Helper()
	a, b := value[sql.NullString](t, g.shards[0], query), value[sql.NullString](t, g.shards[1], query)
	if a != b {
		t.Errorf("after %s the shards differ:\n%v\n%v", after, a.String, b.String)
	}
}

// A reference table has the same rows in all shards: what each would compute for itself
// is refused.
func TestReferenceComputed(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		for _, shard := range g.shards {
			exec(t, shard, "DROP TABLE ref", "CREATE TABLE ref (id BIGINT PRIMARY KEY, v VARCHAR(64), n INT DEFAULT 5, e VARCHAR(9) DEFAULT 'uuid()', k INT DEFAULT (1 + 1),"+
				" d DATETIME DEFAULT '2020-01-02', u VARCHAR(64) DEFAULT (UUID()), at TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6))")
		}
		c := conn(t, g.open(t, "customer", ""))
		for _, tt := range []struct {
			stmt  string
			errno uint16
		}{
			{"INSERT INTO ref (id, v) VALUES (1, 'a')", 1235},
			{"INSERT INTO ref (id, v, u) VALUES (1, 'a', 'u')", 1235},
			{"INSERT INTO ref (id, v, at) VALUES (1, 'a', '2020-01-01')", 1235},
			{"INSERT INTO ref (id, v, u, at) VALUES (1, 'a', DEFAULT, '2020-01-01')", 1235},
			{"INSERT INTO ref (id, v, u, at) VALUES (1, 'a', 'u', NULL)", 1235},
			{"INSERT INTO ref SET id = 1, u = DEFAULT, at = '2020-01-01'", 1235},
			{"INSERT INTO ref (id, v, u, at) VALUES (2, 'b', 'u', '2020-01-01'), (3, 'b', NULL, '2020-01-01')", 0},
			{"INSERT INTO ref SET id = 4, u = 'u', at = '2020-01-01', n = DEFAULT", 0},
			{"INSERT INTO ref (id, v, u, at) VALUES (2, 'b', 'u', '2020-01-01') ON DUPLICATE KEY UPDATE v = 'c'", 1235},
			{"REPLACE INTO ref (id, v, u, at) VALUES (2, 'd', 'u', '2020-01-02')", 0},
			{"UPDATE ref SET v = 'c' WHERE id = 2", 1235},
			{"UPDATE ref SET at = '2020-01-01'", 0},
			{"UPDATE ref SET v = UUID(), at = at", 1235},
			{"UPDATE ref SET v = NOW(6), at = at", 1235},
			{"UPDATE ref SET v = CURRENT_TIMESTAMP, at = at", 1235},
			{"UPDATE ref SET u = DEFAULT, at = at", 1235},
			{"UPDATE ref SET v = @@server_id, at = at", 1235},
			{"UPDATE ref SET v = CONNECTION_ID(), at = at", 0}, // which seqgate writes for its own
			{"UPDATE ref SET at = '2020-01-01', v = CONCAT('x', id), n = n + 1", 0},
			{"DELETE FROM ref WHERE id = 3", 0},
			{"DELETE FROM ref LIMIT 1", 1235},
		} {
			_, err := c.ExecContext(t.Context(), tt.stmt)
			if errno(err) != tt.errno || err != nil && tt.errno == 0 {
				t.Errorf("%s: %v, want error %d", tt.stmt, err, tt.errno)
			}
			g.sameRef(t, tt.stmt, "SELECT GROUP_CONCAT(CONCAT_WS('/', id, v, n, e, k, d, u, at) ORDER BY id) FROM ref")
		}
	})
}

// Ids that each shard would count for itself are refused, those of a client are not.
func TestReferenceAutoIncrement(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		for _, shard := range g.shards {
			exec(t, shard, "ALTER TABLE ref MODIFY id BIGINT AUTO_INCREMENT")
		}
		c := conn(t, g.open(t, "customer", ""))
		for _, open := range []string{"ref (v) VALUES ('a')", "ref VALUES (0, 'a')", "ref VALUES (NULL, 'a')", "ref VALUES (DEFAULT, 'a')", "ref VALUES ('0', 'a')", "ref SET v = 'a'"} {
			if _, err := c.ExecContext(t.Context(), "INSERT INTO "+open); errno(err) != 1235 {
				t.Errorf("%s: %v, want 1235", open, err)
			}
		}
		exec(t, c, "INSERT INTO ref VALUES (7, 'a'), (8, 'b')")
		g.sameRef(t, "INSERT", "SELECT GROUP_CONCAT(CONCAT_WS('/', id, v) ORDER BY id) FROM ref")
	})
}

// Writers that meet have one order on all shards: none of them is in a deadlock, and the
// last one is the same everywhere.
func TestReferenceWritersMeet(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		first := conn(t, g.open(t, "customer", ""))
		exec(t, first, "INSERT INTO ref (id, v) VALUES (1, '')")
		done := make(chan error, 4)
		for w := range cap(done) {
			c := conn(t, g.open(t, "customer", ""))
			go func() {
				var err error
				for i := 0; i < 25 && err == nil; i++ {
					_, err = c.ExecContext(context.Background(), fmt.Sprintf("UPDATE ref SET v = '%d-%d' WHERE id = 1", w, i))
					if err == nil {
						_, err = c.ExecContext(context.Background(), fmt.Sprintf("INSERT INTO ref (id, v) VALUES (1, '') ON DUPLICATE KEY UPDATE v = '%d:%d'", w, i))
					}
				}
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		g.sameRef(t, "all", "SELECT GROUP_CONCAT(v) FROM ref")
	})
}

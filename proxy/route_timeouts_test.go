package proxy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A client that reads steadily gets all rows of several shards, however long the last of them waits for their turn.
func TestSlowReaderOfSeveralShards(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const rows = 60 // of more than all buffers between them hold
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "INSERT INTO user (name) VALUES ('a')"+strings.Repeat(", ('a')", rows-1), "SET net_write_timeout = 1")
		read, err := c.QueryContext(t.Context(), "SELECT id, REPEAT('x', 1000000) FROM user")
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		n := 0
		for pace := time.NewTicker(70 * time.Millisecond); read.Next(); n++ {
			<-pace.C
		}
		if err := read.Err(); err != nil || n != rows {
			t.Errorf("%d rows of %d, %v", n, rows, err)
		}
	})
}

// The timeout that seqgate sets for that is no client's to see.
func TestWriteTimeoutOfSeveralShards(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		check := func(want int) {
			t.Helper()
			for _, query := range []string{"SELECT @@net_write_timeout", "SELECT @@session.NET_WRITE_TIMEOUT + 0"} {
				value[int](t, c, "SELECT COUNT(*) FROM user")
				if got := value[int](t, c, query); got != want {
					t.Errorf("%s gives %d, want %d", query, got, want)
				}
			}
			value[int](t, c, "SELECT COUNT(*) FROM user")
			if got := value[int](t, c, "SELECT @@net_write_timeout + ?", 0); got != want {
				t.Errorf("a prepared statement gives %d, want %d", got, want)
			}
			value[int](t, c, "SELECT COUNT(*) FROM user")
			var name string
			var shown int
			if err := c.QueryRowContext(t.Context(), "SHOW VARIABLES LIKE 'net_write_timeout'").Scan(&name, &shown); err != nil || shown != want {
				t.Errorf("SHOW VARIABLES gives %d and %v, want %d", shown, err, want)
			}
		}
		check(value[int](t, g.direct, "SELECT @@net_write_timeout"))
		exec(t, c, "SET net_write_timeout = 7")
		check(7)
		exec(t, c, "SET @was = @@net_write_timeout", "SET net_write_timeout = @was + 1")
		check(8)
		exec(t, c, "SET SESSION net_write_timeout = DEFAULT")
		check(value[int](t, g.direct, "SELECT @@net_write_timeout"))
		for _, shard := range []int{0, 1} {
			id := fmt.Sprint(g.onEach(t)[shard][0])
			exec(t, c, "INSERT INTO user (id) VALUES ("+id+")")
			if got := value[int](t, c, "SELECT @@net_write_timeout FROM user WHERE id = "+id); got != value[int](t, g.direct, "SELECT @@net_write_timeout") {
				t.Errorf("shard %d has %d", shard, got)
			}
		}
	})
}

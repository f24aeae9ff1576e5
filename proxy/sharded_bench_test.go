package proxy_test

import (
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// benchmarkSharded runs a statement on four sessions of two shards.
func benchmarkSharded(b *testing.B, run func(c *sql.Conn, n int64) error) {
	g := newShardedGate(b, servertest.First(b), 2, gateOptions{})
	db := g.open(b, "customer", "interpolateParams=true")
	var n atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(2)
	b.RunParallel(func(pb *testing.PB) {
		c := conn(b, db)
		for pb.Next() {
			if err := run(c, n.Add(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkShardedSelect(b *testing.B) {
	benchmarkSharded(b, func(c *sql.Conn, n int64) error {
		rows, err := c.QueryContext(b.Context(), fmt.Sprintf("SELECT name FROM user WHERE id = %d", n%10000))
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		return rows.Close()
	})
}

func BenchmarkShardedInsert(b *testing.B) {
	benchmarkSharded(b, func(c *sql.Conn, n int64) error {
		_, err := c.ExecContext(b.Context(), fmt.Sprintf("INSERT INTO user (age, name) VALUES (%d, 'a note of some length')", n%10000))
		return err
	})
}

package proxy_test

import (
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// BenchmarkRoutedPreparedSelect measures a point select by a prepared statement over
// four shards, and by a session that is alone with one, which is relayed.
func BenchmarkRoutedPreparedSelect(b *testing.B) {
	s := servertest.First(b)
	g := newShardedGate(b, s, 4, gateOptions{})
	db := g.open(b, "customer", "interpolateParams=true")
	for id := range 8 {
		if _, err := db.Exec("INSERT INTO user (id, name) VALUES (?, 'n')", id+1); err != nil {
			b.Fatal(err)
		}
	}
	for name, database := range map[string]string{"routed": "customer", "relayed": "customer:-40"} {
		b.Run(name, func(b *testing.B) {
			c := dialBulk(b, g.addr, database, 0)
			read := c.prepareRows("SELECT name FROM user WHERE id = ?")
			id := 0
			b.ReportAllocs()
			for b.Loop() {
				id++
				c.send(executeCommand(read, 0, boundInt(int64(id%8+1)))...)
				for packets := 0; ; packets++ {
					if p := c.receive(); packets > 0 && p[0] == protocol.EOF_HEADER {
						break
					}
				}
			}
		})
	}
}

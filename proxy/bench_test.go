package proxy_test

import (
	"io"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// BenchmarkStatement measures one connection's statements: relayed, filled and
// answered. `make bench` measures the program itself against a plain relay.
func BenchmarkStatement(b *testing.B) {
	for _, bench := range []struct{ name, sql string }{
		{"relayed SELECT", "SELECT v FROM t WHERE id = 1"},
		{"native INSERT", "INSERT INTO n (v) VALUES (1)"},
		{"filled INSERT", "INSERT INTO t (v) VALUES (1)"},
		{"NEXT VALUE", "SELECT NEXT VALUE FROM t_seq"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			g := newGate(b, servertest.First(b), gateOptions{})
			exec(b, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1)",
				"CREATE TABLE n (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)")
			createSequence(b, g.direct, "t_seq", 1000, 100000)
			c := rawClient(b, g.dsn(""))
			packet := command("\x03" + bench.sql)
			answer := make([]byte, 64<<10)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(packet); err != nil {
					b.Fatal(err)
				}
				// Each answer comes in one piece: it is written in one.
				if _, err := c.Read(answer); err != nil && err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}

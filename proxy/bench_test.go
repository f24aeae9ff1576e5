package proxy_test

import (
	"io"
	"strings"
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

// BenchmarkShardedStatement measures INSERTs that are placed on two shards, of one row
// and of several.
func BenchmarkShardedStatement(b *testing.B) {
	for _, bench := range []struct{ name, sql string }{
		{"one row", "INSERT INTO user (name, age) VALUES ('a', 1)"},
		{"eight rows", "INSERT INTO user (name, age) VALUES " + strings.Repeat("('a', 1), ", 7) + "('a', 1)"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			g, _ := newInsertGate(b, servertest.First(b), 2)
			exec(b, g.direct, "UPDATE user_seq SET cache = 100000")
			c := rawClient(b, strings.Replace(g.dsn(""), "/"+g.database, "/customer", 1))
			packet := command("\x03" + bench.sql)
			answer := make([]byte, 64<<10)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(packet); err != nil {
					b.Fatal(err)
				}
				n, err := c.Read(answer)
				if err != nil || n < 5 || answer[4] != 0 {
					b.Fatalf("%q, %v", answer[:n], err)
				}
			}
		})
	}
}

package proxy_test

import (
	"bytes"
	"io"
	"math"
	"net"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// rawClient logs in and gives the bare socket, for clients that cost nothing
// themselves.
func rawClient(t testing.TB, dsn string, options ...client.Option) net.Conn {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Connect(cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName, options...)
	if err != nil {
		t.Fatal(err)
	}
	raw := c.Conn.Conn
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

// command makes the packet of a COM_QUERY for a client without query attributes.
func command(payload string) []byte {
	n := len(payload)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0}, payload...)
}

// answerOf sends a command twice and gives its answer: what comes again and
// again, byte for byte.
func answerOf(t testing.TB, c net.Conn, packet []byte) []byte {
	t.Helper()
	if _, err := c.Write(packet); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64<<10)
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return b[:n]
}

// A relayed statement and an INSERT into a table without a sequence take nothing
// from the heap of seqgate in steady state.
func TestAllocationsPerStatement(t *testing.T) {
	if raceEnabled {
		t.Skip("pools forget at random under the race detector; allocations cannot be counted")
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		counting := newGate(t, s, gateOptions{database: g.database, configure: func(c *proxy.Config) { c.StatementShapes = 100 }})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)", "INSERT INTO t VALUES (1, 1)", "CREATE TABLE n (v INT)")
		for _, sql := range []string{"SELECT v FROM t WHERE id = 1", "INSERT INTO n (v) VALUES (1)"} {
			t.Run(sql, func(t *testing.T) { testAllocations(t, g, sql) })
			t.Run("counting "+sql, func(t *testing.T) { testAllocations(t, counting, sql) })
		}
	})
}

func testAllocations(t *testing.T, g *gate, sql string) {
	c := rawClient(t, g.dsn(""))
	query := command("\x03\x00\x01" + sql)
	if g.server.IsMariaDB() { // has no query attributes
		query = command("\x03" + sql)
	}
	want := answerOf(t, c, query)
	got := make([]byte, len(want))
	const batches, statements = 100, 20
	run := func() {
		if _, err := c.Write(query); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, got); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		run()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // emptying pools would count
	least := math.Inf(1)                             // of all batches: in some of them the catalog asks anew of a table in use
	for range batches {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range statements {
			run()
		}
		runtime.ReadMemStats(&after)
		least = min(least, float64(after.Mallocs-before.Mallocs)/statements)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("answer %q, want %q", got, want)
	}
	if least > 0.5 {
		t.Errorf("%.2f heap allocations a statement, want 0", least)
	}
}

// An idle session holds no buffers.
func TestIdleSessionMemory(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		const sessions = 300
		open := func(n int) {
			for range n {
				rawClient(t, g.dsn(""))
			}
		}
		inUse := func() uint64 {
			var m runtime.MemStats
			debug.FreeOSMemory()
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc + m.StackInuse
		}
		open(20)
		before := inUse()
		open(sessions)
		per := (int64(inUse()) - int64(before)) / sessions
		t.Logf("%d bytes of heap and stack for each idle session, its client in this process included", per)
		if per > 24<<10 {
			t.Errorf("%d bytes for each idle session, want at most %d", per, 24<<10)
		}
	})
}

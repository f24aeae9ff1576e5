package proxy_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// A session over TLS lives as long as one without: what bounds a login is
// lifted after it.
func TestTLSLongSession(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, "tls=skip-verify"))
		text := strings.Repeat("x", 100_000)
		for range 15 {
			if got := value[int](t, c, "SELECT LENGTH(?)", text); got != len(text) {
				t.Fatalf("got %d", got)
			}
		}
	})
}

// The answer to a filled statement of several packets goes on with their
// sequence numbers.
func TestFillLongStatement(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, "maxAllowedPacket=0"))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, v LONGTEXT)")
		createSequence(t, c, "t_seq", 1, 10)
		text := strings.Repeat("0123456789abcdef", 20<<20/16)
		exec(t, c, "INSERT INTO t (v) VALUES ('"+text+"')")
		if _, err := c.ExecContext(t.Context(), "INSERT INTO t (v) VALUES (?)", text); err != nil {
			t.Fatal(err)
		}
		if got := value[int](t, c, "SELECT COUNT(*) FROM t WHERE id IN (1, 2) AND LENGTH(v) = 20971520"); got != 2 {
			t.Errorf("%d rows, want 2", got)
		}
	})
}

// A command that is cut by the client's end never runs: no byte of seqgate's own
// completes it.
func TestCutCommand(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id INT PRIMARY KEY, v BIGINT)", "INSERT INTO t VALUES (1, 100)")
		cfg, err := mysql.ParseDSN(g.dsn(""))
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.Connect(cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName)
		if err != nil {
			t.Fatal(err)
		}
		stmt, err := c.Prepare("UPDATE t SET v = ? WHERE id = 1")
		if err != nil {
			t.Fatal(err)
		}
		id := uint32(1) // the first statement of the connection
		if stmt.ParamNum() != 1 {
			t.Fatalf("%d parameters", stmt.ParamNum())
		}
		var thread int64
		if r, err := c.Execute("SELECT CONNECTION_ID()"); err != nil {
			t.Fatal(err)
		} else if thread, err = r.GetInt(0, 0); err != nil {
			t.Fatal(err)
		}
		body := binary.LittleEndian.AppendUint32([]byte{0x17}, id)
		body = append(body, 0, 1, 0, 0, 0, 0, 1, 8, 0)
		body = binary.LittleEndian.AppendUint64(body, 200)
		packet := command(string(body))
		if _, err := c.Conn.Conn.Write(packet[:len(packet)-5]); err != nil {
			t.Fatal(err)
		}
		if err := c.Conn.Conn.Close(); err != nil {
			t.Fatal(err)
		}
		awaitWithin(t, untimely, "the backend's session to end", func() bool { return g.threads(t, fmt.Sprintf("ID = %d", thread)) == 0 })
		if got := value[int](t, g.direct, "SELECT v FROM t"); got != 100 {
			t.Errorf("a cut command wrote %d", got)
		}
	})
}

package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// compressedClient sends packets of any number inside compressed ones.
func compressedClient(t *testing.T, addr, user, password, database string) func(outer, inner byte, payload string) string {
	c, err := client.Connect(addr, user, password, database, func(c *client.Conn) error {
		c.SetCapability(protocol.CLIENT_COMPRESS)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Conn.Conn.Close() })
	return func(outer, inner byte, payload string) string {
		n := byte(len(payload))
		b := append([]byte{n + 4, 0, 0, outer, 0, 0, 0, n, 0, 0, inner}, payload...)
		if _, err := c.Conn.Conn.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := c.Conn.Conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		var header [7]byte
		if _, err := io.ReadFull(c.Conn.Conn, header[:]); err != nil {
			return err.Error()
		}
		answer := make([]byte, int(header[0])|int(header[1])<<8)
		if _, err := io.ReadFull(c.Conn.Conn, answer); err != nil || header[4] != 0 || len(answer) < 7 {
			return fmt.Sprintf("%x %x %v", header, answer, err)
		}
		text := fmt.Sprintf("compressed %d, packet %d, begins with %#x", header[3], answer[3], answer[4])
		if answer[4] == protocol.ERR_HEADER {
			text += fmt.Sprintf(", error %d", int(answer[5])|int(answer[6])<<8)
		}
		return text
	}
}

// The number of a command inside a compressed packet is none of the server's concern:
// Connector/J's is 1.
func TestCompressedCommandNumber(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
		createSequence(t, g.direct, "t_seq", 100, 10)
		native := compressedClient(t, s.Addr, s.User, s.Password, "")
		through := compressedClient(t, g.addr, gateUser, gatePassword, g.database)
		query := "\x03\x00\x01" // without attributes
		if s.IsMariaDB() {
			query = "\x03"
		}
		for _, inner := range []byte{0, 1, 5, 255} {
			for _, command := range []string{"\x0e", query + "DO 1"} {
				if got, want := through(0, inner, command), native(0, inner, command); got != want || !strings.Contains(got, "with 0x0") {
					t.Errorf("%q numbered %d: %s, the server: %s", command, inner, got, want)
				}
			}
			through(0, inner, query+"INSERT INTO t (v) VALUES (1)")
		}
		if n := value[int](t, g.direct, "SELECT COUNT(*) FROM t WHERE id >= 100"); n != 4 {
			t.Errorf("%d rows with an id, want 4", n)
		}
		if got := through(2, 1, "\x0e"); strings.Contains(got, "with 0x0") {
			t.Errorf("a compressed packet numbered 2: %s", got)
		}
	})
}

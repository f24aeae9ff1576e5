package proxy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// No value of a parameter or attribute has the server run another statement, or read
// another id, than seqgate has judged.
func TestSmuggledParameters(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, sharded := range []bool{false, true} {
			t.Run(fmt.Sprintf("sharded %v", sharded), func(t *testing.T) {
				addr, database, table := smuggleGate(t, s, sharded)
				if !s.IsMariaDB() {
					smuggleText(t, dialBulk(t, addr, database, uint64(protocol.CLIENT_QUERY_ATTRIBUTES)), table)
				}
				smuggleID(t, dialBulk(t, addr, database, 0), table)
			})
		}
	})
}

func smuggleGate(t *testing.T, s *servertest.Server, sharded bool) (addr, database, table string) {
	if sharded {
		g := newShardedGate(t, s, 2, gateOptions{})
		return g.addr, "customer", "user"
	}
	g := newGate(t, s, gateOptions{})
	c := conn(t, g.open(t, ""))
	exec(t, c, "CREATE TABLE user (id BIGINT PRIMARY KEY, name VARCHAR(100))")
	createSequence(t, c, "user_seq", 1000, 10)
	return g.addr, g.database, "user"
}

// smuggleText hides a statement behind the value of an attribute.
func smuggleText(t *testing.T, c *bulkClient, table string) {
	hidden := "INSERT INTO " + table + " (name) VALUES ('smuggled')"
	harmless := "SELECT 1/*"
	for _, value := range []string{
		"\xfc\x04\x00", "\xfd\x00\x00", "\xfe\x00\x00\x00\x00\x00\x00\x00\x00", "\xff\x00\x00\x00\x00\x00\x00\x00\x00", "\xfb", "\x05",
	} {
		for _, typ := range []uint16{6, 7, 9, 10, 11, 12, 13, 14, 16, 17, 20, 244, 255, 0x0101, 0x0108, 0x4008, 0x8107} {
			body := append([]byte{protocol.COM_QUERY, 1, 1, 0, 1, byte(typ), byte(typ >> 8), 1, 'n'}, value...)
			body = append(append(append(body, harmless...), "*/ "...), hidden...)
			c.send(body...)
			if _, _, errno := okFields(c.receive()); errno != protocol.ER_MALFORMED_PACKET {
				t.Fatalf("type %#x, value %x: error %d, want %d", typ, value, errno, protocol.ER_MALFORMED_PACKET)
			}
		}
	}
}

// smuggleID hides that an id is 0 behind the value of a parameter before it.
func smuggleID(t *testing.T, c *bulkClient, table string) {
	stmt := c.prepare("INSERT INTO " + table + " (name, id) VALUES (?, ?)")
	id := binary.LittleEndian.AppendUint64(nil, 9000000)
	for _, v := range []struct {
		typ, flags byte
		value      []byte
	}{
		{7, 0, []byte{0xfc, 4, 0}}, {10, 0, []byte{0xfc, 4, 0}}, {12, 0, []byte{0xfc, 4, 0}}, {11, 0, []byte{0xfc, 8, 0}}, {12, 0, []byte{3, 1, 1, 1}},
		{254, 0, []byte{0xff}}, {254, 0, []byte{0xfb}}, {16, 0, []byte{0}}, {255, 0, []byte{0}}, {14, 0, []byte{0}}, {9, 0, nil}, {6, 0, nil}, {1, 1, []byte{1}}, {200, 0, []byte{0}},
	} {
		c.send(slices.Concat([]byte{protocol.COM_STMT_EXECUTE}, stmt, []byte{0, 1, 0, 0, 0, 0, 1, v.typ, v.flags, 8, 0}, v.value, id, bytes.Repeat([]byte{0}, 300))...)
		if _, _, errno := okFields(c.receive()); errno != protocol.ER_MALFORMED_PACKET {
			t.Errorf("type %d, flags %d, value %x: error %d, want %d", v.typ, v.flags, v.value, errno, protocol.ER_MALFORMED_PACKET)
		}
	}
}

// A command without an answer that is too short to be one is answered as the server
// answers it, and so is the next one.
func TestCutSilentCommands(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		plain := newGate(t, s, gateOptions{})
		sharded := newShardedGate(t, s, 2, gateOptions{})
		clients := []*bulkClient{dialBulk(t, s.Addr, "", 0), dialBulk(t, plain.addr, plain.database, 0), dialBulk(t, sharded.addr, "customer", 0)}
		for i, c := range clients {
			stmt := c.prepare("DO ?")
			for _, command := range [][]byte{
				{protocol.COM_STMT_CLOSE}, append([]byte{protocol.COM_STMT_CLOSE}, stmt[:3]...),
				{protocol.COM_STMT_SEND_LONG_DATA}, slices.Concat([]byte{protocol.COM_STMT_SEND_LONG_DATA}, stmt, []byte{0}),
			} {
				c.send(command...)
				if !s.IsMariaDB() {
					if _, _, errno := okFields(c.receive()); errno != protocol.ER_MALFORMED_PACKET {
						t.Errorf("client %d: %x: error %d, want %d", i, command, errno, protocol.ER_MALFORMED_PACKET)
					}
				}
				if got := c.query("SELECT 17"); got != "17" {
					t.Fatalf("client %d: behind %x: %q", i, command, got)
				}
			}
		}
	})
}

package proxy_test

import (
	"fmt"
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/wiretest"
)

// okClient reads the answers of a gate strictly.
type okClient struct {
	*bulkClient
	flags uint64
}

func dialStrict(t *testing.T, addr, database string, flags uint64) *okClient {
	return &okClient{dialBulk(t, addr, database, flags), flags | uint64(protocol.CLIENT_DEPRECATE_EOF|protocol.CLIENT_TRANSACTIONS)}
}

// strictly sends a command and reads the packets of its answers, the last of which is
// given. Errors are answers, too.
func (c *okClient) strictly(name string, payload ...byte) []byte {
	c.Helper()
	c.send(payload...)
	for {
		b := c.receive()
		switch {
		case b[0] == protocol.ERR_HEADER:
			return b
		case b[0] != protocol.OK_HEADER: // columns
			for b = c.receive(); b[0] != protocol.EOF_HEADER; {
				b = c.receive()
			}
		}
		if err := wiretest.CheckOK(b, c.flags); err != nil {
			c.Errorf("%s: malformed OK packet %x: %v", name, b, err)
			return b
		}
		if r := okOf(b); r&protocol.SERVER_MORE_RESULTS_EXISTS == 0 {
			return b
		}
	}
}

// okOf gives the status of an OK packet.
func okOf(b []byte) uint16 {
	at := 1
	for range 2 {
		_, _, size := protocol.LengthEncodedInt(b[at:])
		at += size
	}
	return uint16(b[at]) | uint16(b[at+1])<<8
}

// Each OK packet that seqgate composes or merges is one that a client can read, with and
// without news of the session (CLIENT_SESSION_TRACK), whatever the answer before it told.
func TestComposedOKPackets(t *testing.T) {
	t.Parallel()
	statements := []string{
		"INSERT INTO user (name) VALUES ('a'), ('b'), ('c'), ('d')",
		"UPDATE user SET n = n + 1", "DELETE FROM user WHERE n > 7", "UPDATE user SET n = 5; DO 1; UPDATE user SET n = 6",
		"INSERT INTO user (name) SELECT name FROM user WHERE id < 0", "INSERT INTO user (name) VALUES ('one')",
		"INSERT INTO ref (id, v) VALUES (1, 'r') ON DUPLICATE KEY UPDATE v = 'r'", "UPDATE ref SET v = 's'",
		"REPLACE INTO ref (id, v) VALUES (2, 'r'), (3, 's')", "CREATE TABLE IF NOT EXISTS more (id BIGINT PRIMARY KEY)", "DROP TABLE more",
		"BEGIN", "INSERT INTO user (name) VALUES ('e'), ('f'), ('g'), ('h')", "UPDATE user SET n = n + 1", "SELECT NEXT VALUE FOR main.user_seq", "COMMIT",
		"SELECT LAST_INSERT_ID()", "SELECT COUNT(*) FROM user", "SHOW WARNINGS", "KILL 4000000000", "DO 1", "USE main", "INSERT INTO ua (v) VALUES (1), (2)",
		"DO SETVAL(user_seq, 500000)", "USE customer", "SHOW SEQGATE STATUS", "SET @a = 1",
	}
	// What leaves news of the session in the answer before.
	news := []string{"SET NAMES utf8mb4", "SET autocommit = 1", "USE customer", "SET session_track_state_change = 1", "SET @@session_track_transaction_info = 'STATE'"}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.direct, "CREATE TABLE ua (id BIGINT PRIMARY KEY, v INT)")
		for _, tracks := range []uint64{0, uint64(protocol.CLIENT_SESSION_TRACK)} {
			c := dialStrict(t, g.addr, "customer", tracks|uint64(protocol.CLIENT_MULTI_STATEMENTS))
			for _, before := range news {
				for _, sql := range statements {
					name := fmt.Sprintf("track %v: %s behind %s", tracks != 0, sql, before)
					c.strictly(before, append([]byte{protocol.COM_QUERY}, before...)...)
					if b := c.strictly(name, append([]byte{protocol.COM_QUERY}, sql...)...); b[0] == protocol.ERR_HEADER && sql[:4] != "KILL" {
						t.Fatalf("%s: %q", name, b)
					}
				}
				c.strictly("ping", protocol.COM_PING)
				c.strictly("init", append([]byte{protocol.COM_INIT_DB}, "main"...)...)
				c.strictly("reset", 0x1f)
				c.strictly("init", append([]byte{protocol.COM_INIT_DB}, "customer"...)...)
			}
			stmt := c.prepare("UPDATE user SET n = ? WHERE age IS NULL")
			c.strictly("a prepared UPDATE", executeCommand(stmt, 0, boundInt(3))...)
			c.strictly("a reset", append([]byte{protocol.COM_STMT_RESET}, stmt...)...)
		}
	})
}

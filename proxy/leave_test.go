package proxy_test

import (
	"context"
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// leaveQuiet is Config.Quiet of the tests here: a session is ended behind an answer when
// it is that old, and out of the blue after that long without a command, which is longer
// than any test.
const leaveQuiet = time.Minute

// limitWait has a client wait for answers no longer than that.
func limitWait(t *testing.T, c *client.Conn) {
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
}

// age has a session be older than its settings. What comes before it is no statement,
// behind which the session would end when the drain begins.
func age(t *testing.T, g *gate, c *client.Conn) {
	t.Helper()
	if err := c.Ping(); err != nil { // from its answer on the session is known
		t.Fatal(err)
	}
	g.proxy.AgeSessions(2 * leaveQuiet)
}

// A session is not ended behind what a client sends ahead of a statement: a pool's own
// look at the connection, settings, COM_STMT_CLOSE, which has no answer, and a cursor's
// execution. It is ended behind the statement that follows.
func TestDrainServesWhatFollowsALook(t *testing.T) {
	command := func(code byte, body string) func(*testing.T, *client.Conn, uint32) {
		return func(t *testing.T, c *client.Conn, _ uint32) {
			if b := sendCommand(t, c, code, body); b[0] != mysql.OK_HEADER {
				t.Fatalf("got %q", b)
			}
		}
	}
	tests := []struct {
		name string
		look func(t *testing.T, c *client.Conn, prepared uint32)
		then byte
	}{
		{"ping", command(mysql.COM_PING, ""), mysql.COM_QUERY},
		{"reset", command(comResetConnection, ""), mysql.COM_QUERY},
		{"settings", command(mysql.COM_QUERY, "SET autocommit = 1"), mysql.COM_QUERY},
		{"isolation", command(mysql.COM_QUERY, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"), mysql.COM_QUERY},
		{"close of a statement", func(t *testing.T, c *client.Conn, prepared uint32) {
			sendClose(t, c, prepared)
			time.Sleep(20 * time.Millisecond) // a network: it comes alone, most likely
		}, mysql.COM_QUERY},
		{"reset of a statement", func(t *testing.T, c *client.Conn, prepared uint32) {
			sendCommand(t, c, mysql.COM_STMT_RESET, string(binary.LittleEndian.AppendUint32(nil, prepared)))
		}, mysql.COM_QUERY},
		{"statement that looks", func(t *testing.T, c *client.Conn, _ uint32) {
			readToEnd(t, c, sendCommand(t, c, mysql.COM_QUERY, "select  1;"))
		}, mysql.COM_QUERY},
		{"cursor", func(t *testing.T, c *client.Conn, prepared uint32) {
			body := binary.LittleEndian.AppendUint32(nil, prepared)
			readToEnd(t, c, sendCommand(t, c, mysql.COM_STMT_EXECUTE, string(append(body, 1, 1, 0, 0, 0))))
		}, mysql.COM_STMT_FETCH},
	}
	for _, sharded := range []bool{false, true} {
		for _, tt := range tests {
			t.Run(map[bool]string{true: "sharded "}[sharded]+tt.name, func(t *testing.T) {
				g, database := leavingGate(t, sharded)
				c := g.dial(t, database)
				limitWait(t, c)
				prepared := prepareSelect(t, c)
				age(t, g, c)
				ended := beginDrain(t, g)
				tt.look(t, c, prepared)
				body := "DO 1"
				if tt.then == mysql.COM_STMT_FETCH {
					body = string(append(binary.LittleEndian.AppendUint32(nil, prepared), 10, 0, 0, 0))
				}
				if b := sendCommand(t, c, tt.then, body); b[0] == mysql.ERR_HEADER {
					t.Errorf("the client's next command is lost: %q", b)
				}
				if tt.then == mysql.COM_STMT_FETCH {
					answerPacket(t, c) // the end behind the one row
				}
				c.ResetSequence()
				if b := answerPacket(t, c); b[0] != mysql.ERR_HEADER {
					t.Errorf("behind the answer there is %q, want error 1053", b)
				}
				if err := <-ended; err != nil {
					t.Errorf("shutdown: %v", err)
				}
			})
		}
	}
}

// A session whose statement is under way when the drain begins is not ended behind that answer, which may have left before
// anybody held it back: the client's next statement may be on its way.
func TestDrainServesWhatFollowsAnAnswerUnderWay(t *testing.T) {
	for _, sharded := range []bool{false, true} {
		g, database := leavingGate(t, sharded)
		c, holder := g.dial(t, database), conn(t, g.direct)
		limitWait(t, c)
		age(t, g, c)
		lock := "'" + g.database + "'"
		exec(t, holder, "DO GET_LOCK("+lock+", 0)")
		c.ResetSequence()
		if err := c.WritePacket(append([]byte{0, 0, 0, 0, mysql.COM_QUERY}, "DO GET_LOCK("+lock+", 60)"...)); err != nil {
			t.Fatal(err)
		}
		const waits = "SELECT COUNT(*) FROM " + servertest.Processlist + " WHERE ID <> CONNECTION_ID() AND INFO LIKE 'DO GET_LOCK(%, 60)' AND INFO LIKE CONCAT('%', ?, '%')"
		await(t, "the statement to run", func() bool { return value[int](t, g.direct, waits, g.database) == 1 })
		ended := beginDrain(t, g)
		exec(t, holder, "DO RELEASE_LOCK("+lock+")")
		if b := answerPacket(t, c); b[0] != mysql.OK_HEADER {
			t.Errorf("sharded %v: the statement under way: %q", sharded, b)
		}
		if b := sendCommand(t, c, mysql.COM_QUERY, "DO 1"); b[0] != mysql.OK_HEADER {
			t.Errorf("sharded %v: the client's next statement is lost: %q", sharded, b)
		}
		c.ResetSequence()
		if b := answerPacket(t, c); b[0] != mysql.ERR_HEADER {
			t.Errorf("sharded %v: behind that answer there is %q, want error 1053", sharded, b)
		}
		if err := <-ended; err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}
}

// COM_INIT_DB, whose names differ.
func TestDrainServesWhatFollowsInitDB(t *testing.T) {
	for _, sharded := range []bool{false, true} {
		g, database := leavingGate(t, sharded)
		c := g.dial(t, database)
		limitWait(t, c)
		age(t, g, c)
		ended := beginDrain(t, g)
		for _, b := range [][]byte{sendCommand(t, c, mysql.COM_INIT_DB, database), sendCommand(t, c, mysql.COM_QUERY, "DO 1")} {
			if b[0] != mysql.OK_HEADER {
				t.Errorf("sharded %v: got %q", sharded, b)
			}
		}
		if err := <-ended; err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}
}

func leavingGate(t *testing.T, sharded bool) (g *gate, database string) {
	o := gateOptions{configure: func(c *proxy.Config) { c.Quiet = leaveQuiet }}
	if sharded {
		return newShardedGate(t, servertest.First(t), 2, o).gate, "customer"
	}
	g = newGate(t, servertest.First(t), o)
	return g, g.database
}

const comResetConnection = 0x1f

func sendClose(t *testing.T, c *client.Conn, prepared uint32) {
	t.Helper()
	c.ResetSequence()
	if err := c.WritePacket(binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0, mysql.COM_STMT_CLOSE}, prepared)); err != nil {
		t.Fatal(err)
	}
}

// prepareSelect prepares a statement of one column and no parameter, and gives its id.
func prepareSelect(t *testing.T, c *client.Conn) uint32 {
	t.Helper()
	b := sendCommand(t, c, mysql.COM_STMT_PREPARE, "SELECT 1")
	if b[0] != mysql.OK_HEADER {
		t.Fatalf("got %q", b)
	}
	answerPacket(t, c) // the column; the client has no EOF behind it (CLIENT_DEPRECATE_EOF)
	return binary.LittleEndian.Uint32(b[1:])
}

// readToEnd reads the answer of one column that begins so: its rows, or where they are left to a cursor none.
func readToEnd(t *testing.T, c *client.Conn, first []byte) {
	t.Helper()
	if first[0] != 1 {
		t.Fatalf("got %q, want one column", first)
	}
	for b := answerPacket(t, c); b[0] != mysql.EOF_HEADER; b = answerPacket(t, c) {
		if b[0] == mysql.ERR_HEADER {
			t.Fatalf("got %q", b)
		}
	}
}

// heldConn keeps what is written while it holds, and sends it in one piece.
type heldConn struct {
	net.Conn
	hold bool
	held []byte
}

func (h *heldConn) Write(b []byte) (int, error) {
	if !h.hold {
		return h.Conn.Write(b)
	}
	h.held = append(h.held, b...)
	return len(b), nil
}

func (h *heldConn) flush() error {
	h.hold = false
	_, err := h.Conn.Write(h.held)
	return err
}

// dialHeld connects through a heldConn.
func (g *gate) dialHeld(t *testing.T, options func(*client.Conn) error) (*client.Conn, *heldConn) {
	t.Helper()
	held := &heldConn{}
	dialer := func(ctx context.Context, network, addr string) (_ net.Conn, err error) {
		held.Conn, err = (&net.Dialer{}).DialContext(ctx, network, addr)
		return held, err
	}
	c, err := client.ConnectWithDialer(t.Context(), "tcp", g.addr, gateUser, gatePassword, g.database, dialer, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, held
}

// A statement that came together with the one before it is served while seqgate drains,
// also where TLS or the compression has read both at once.
func TestDrainServesWhatHasCome(t *testing.T) {
	secure := func(c *client.Conn) error { c.UseSSL(true); return nil }
	compressed := func(c *client.Conn) error { return c.SetCapability(mysql.CLIENT_COMPRESS) }
	for _, tt := range []struct {
		name    string
		options []func(*client.Conn) error
	}{
		{"plain", nil},
		{"TLS", []func(*client.Conn) error{secure}},
		{"compressed", []func(*client.Conn) error{compressed}},
		{"compressed in TLS", []func(*client.Conn) error{secure, compressed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, _ := leavingGate(t, false)
			c, held := g.dialHeld(t, func(c *client.Conn) error {
				for _, set := range tt.options {
					if err := set(c); err != nil {
						return err
					}
				}
				return nil
			})
			limitWait(t, c)
			age(t, g, c)
			ended := beginDrain(t, g)
			held.hold = true
			const statements = 3
			for range statements {
				c.ResetSequence()
				if err := c.WritePacket(append([]byte{0, 0, 0, 0, mysql.COM_QUERY}, "DO 1"...)); err != nil {
					t.Fatal(err)
				}
			}
			if err := held.flush(); err != nil {
				t.Fatal(err)
			}
			for i := range statements {
				c.Sequence = 1 // of the answer to each
				if i > 0 {
					c.CompressedSequence = 0 // the client adds one as it goes on to the next compressed packet
				}
				if b := answerPacket(t, c); b[0] != mysql.OK_HEADER {
					t.Fatalf("statement %d is lost: %q", i+1, b)
				}
			}
			if err := <-ended; err != nil {
				t.Errorf("shutdown: %v", err)
			}
		})
	}
}

package proxy_test

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// prepareRows prepares a statement that has a result.
func (c *bulkClient) prepareRows(sql string) (stmt []byte) {
	c.Helper()
	c.send(append([]byte{protocol.COM_STMT_PREPARE}, sql...)...)
	ok := c.receive()
	if ok[0] != protocol.OK_HEADER {
		c.Fatalf("prepare %s: %q", sql, ok)
	}
	for range binary.LittleEndian.Uint16(ok[5:]) + binary.LittleEndian.Uint16(ok[7:]) {
		c.receive()
	}
	return ok[1:5]
}

// texts reads the answer to an execution: rows of one text column each.
func (c *bulkClient) texts() (got []string) {
	c.Helper()
	if first := c.receive(); first[0] == protocol.ERR_HEADER {
		c.Fatalf("%q", first)
	}
	c.receive() // the definition
	for {
		row := c.receive()
		if row[0] != 0 {
			return got
		}
		got = append(got, rowText(row))
	}
}

// rowText gives the text of a row of one column.
func rowText(row []byte) string {
	const head, null = 2, 1 << 2
	if row[1]&null != 0 {
		return "NULL"
	}
	return string(row[head+1:])
}

func wireGate(t *testing.T, s *servertest.Server) (*shardedGate, *bulkClient) {
	g := newShardedGate(t, s, 4, gateOptions{})
	c := dialBulk(t, g.addr, "customer", 0)
	for id := range 8 {
		c.query(fmt.Sprintf("INSERT INTO user (id, name) VALUES (%d, 'n%d')", id+1, id+1))
	}
	return g, c
}

// A client tells types once, though each shard may see the statement for the first time.
func TestRoutedTypesOnce(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		_, c := wireGate(t, s)
		read := c.prepareRows("SELECT name FROM user WHERE id = ?")
		for id := range 8 {
			command := executeCommand(read, 0, boundInt(int64(id+1)))
			if id > 0 {
				const bitmap, types = 11, 2
				command = append(append(command[:bitmap:bitmap], 0), command[bitmap+1+types:]...)
			}
			c.send(command...)
			if got, want := c.texts(), fmt.Sprintf("n%d", id+1); len(got) != 1 || got[0] != want {
				t.Errorf("user %d: %q", id+1, got)
			}
		}
	})
}

// A cursor is open on the shard that ran its statement, and rows are fetched from there.
func TestRoutedCursor(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := wireGate(t, s)
		exec(t, g.shards[3], "INSERT INTO child (cid, user_id, v) VALUES (1, 4, 'a'), (2, 4, 'b'), (3, 4, 'c')")
		read := c.prepareRows("SELECT v FROM child WHERE user_id = ? ORDER BY cid")
		shard := 0
		for i, db := range g.shards {
			if value[int](t, db, "SELECT COUNT(*) FROM user WHERE id = 4") == 1 {
				shard = i
			}
		}
		if shard != 3 {
			exec(t, g.shards[shard], "INSERT INTO child (cid, user_id, v) VALUES (1, 4, 'a'), (2, 4, 'b'), (3, 4, 'c')")
		}
		const readOnly = 1
		c.send(executeCommand(read, readOnly, boundInt(4))...)
		c.receive()
		c.receive()
		if end := c.receive(); end[0] != protocol.EOF_HEADER {
			t.Fatalf("no cursor: %q", end)
		}
		fetch := append(append([]byte{protocol.COM_STMT_FETCH}, read...), 2, 0, 0, 0)
		var got []string
		for len(got) < 3 {
			c.send(fetch...)
			for row := c.receive(); row[0] != protocol.EOF_HEADER; row = c.receive() {
				if row[0] == protocol.ERR_HEADER {
					t.Fatalf("%q", row)
				}
				got = append(got, rowText(row))
			}
		}
		if strings.Join(got, "") != "abc" {
			t.Errorf("fetched %q", got)
		}
		c.send(append([]byte{protocol.COM_STMT_RESET}, read...)...)
		if ok := c.receive(); ok[0] != protocol.OK_HEADER {
			t.Errorf("COM_STMT_RESET: %q", ok)
		}
		c.send(fetch...)
		if _, _, errno := okFields(c.receive()); errno != 1421 {
			t.Errorf("COM_STMT_FETCH without a cursor: %d, want 1421", errno)
		}
	})
}

// Values that are sent ahead reach the shard that executes the statement, whatever
// becomes of it.
func TestRoutedLongData(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		_, c := wireGate(t, s)
		ahead := func(stmt []byte, param byte, text string) {
			c.send(append(append(append([]byte{protocol.COM_STMT_SEND_LONG_DATA}, stmt...), param, 0), text...)...)
		}
		update := c.prepare("UPDATE user SET name = ? WHERE id = ?")
		insert := c.prepare("INSERT INTO user (id, name) VALUES (?, ?)")
		read := c.prepareRows("SELECT name FROM user WHERE name = ?")
		nothing := bound{typ: protocol.MYSQL_TYPE_VAR_STRING}
		ahead(update, 0, "long ")
		ahead(update, 0, "er'")
		if affected, _, errno := okFields(c.execute(update, nothing, boundInt(4))); affected != 1 || errno != 0 {
			t.Errorf("UPDATE: %d rows, error %d", affected, errno)
		}
		ahead(insert, 1, "long \\ new")
		if affected, _, errno := okFields(c.execute(insert, boundInt(50), nothing)); affected != 1 || errno != 0 {
			t.Errorf("INSERT: %d rows, error %d", affected, errno)
		}
		for _, want := range []string{"long er'", "long \\ new"} {
			ahead(read, 0, want)
			c.send(executeCommand(read, 0, nothing)...)
			if got := c.texts(); len(got) != 1 || got[0] != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		ahead(read, 0, "dropped")
		c.send(append([]byte{protocol.COM_STMT_RESET}, read...)...)
		c.receive()
		c.send(executeCommand(read, 0, boundText(protocol.MYSQL_TYPE_VAR_STRING, "n1"))...)
		if got := c.texts(); len(got) != 1 || got[0] != "n1" {
			t.Errorf("%q after COM_STMT_RESET", got)
		}
	})
}

// Commands that name no statement, or are malformed, fail as a server's, and the session
// goes on.
func TestRoutedStatementErrors(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := wireGate(t, s)
		native := dialBulk(t, g.addr, "customer:-40", 0)
		read := c.prepareRows("SELECT name FROM user WHERE id = ?")
		native.prepareRows("SELECT name FROM user WHERE id = ?")
		unknown := []byte{77, 0, 0, 0}
		both := func(name string, mine, its []byte) {
			c.send(mine...)
			native.send(its...)
			got, want := c.receive(), native.receive()
			if string(got) != string(want) {
				t.Errorf("%s: %q, natively %q", name, got, want)
			}
		}
		for name, code := range map[string]byte{"execute": protocol.COM_STMT_EXECUTE, "reset": protocol.COM_STMT_RESET, "fetch": protocol.COM_STMT_FETCH} {
			command := append(append([]byte{code}, unknown...), 0, 1, 0, 0, 0)
			if code == protocol.COM_STMT_RESET {
				command = command[:5]
			}
			if code == protocol.COM_STMT_FETCH {
				command = command[:9]
			}
			both(name+" of an unknown statement", command, command)
		}
		c.send(append(append([]byte{protocol.COM_STMT_EXECUTE}, read...), 0, 1, 0, 0, 0, 0, 1, 8)...)
		if _, _, errno := okFields(c.receive()); errno != 1835 {
			t.Errorf("a cut execution: %d, want 1835", errno)
		}
		c.send(append([]byte{protocol.COM_STMT_CLOSE}, read...)...)
		c.send(executeCommand(read, 0, boundInt(1))...)
		if _, _, errno := okFields(c.receive()); errno != 1243 {
			t.Errorf("a closed statement: %d, want 1243", errno)
		}
		c.send(append([]byte{protocol.COM_STMT_PREPARE}, "SELEC 1"...)...)
		if _, _, errno := okFields(c.receive()); errno != 1064 {
			t.Errorf("a wrong statement: %d, want 1064", errno)
		}
		if s.IsMariaDB() {
			insert := c.prepare("INSERT INTO user (id, name) VALUES (?, ?)")
			if _, _, errno := c.bulk(insert, bulkRow{70, "a"}, bulkRow{71, "b"}); errno != 1235 {
				t.Errorf("COM_STMT_BULK_EXECUTE: %d, want 1235", errno)
			}
		}
		again := c.prepareRows("SELECT name FROM user WHERE id = ?")
		c.send(0x1f)
		if ok := c.receive(); ok[0] != protocol.OK_HEADER {
			t.Fatalf("COM_RESET_CONNECTION: %q", ok)
		}
		c.send(executeCommand(again, 0, boundInt(1))...)
		if _, _, errno := okFields(c.receive()); errno != 1243 {
			t.Errorf("a statement after COM_RESET_CONNECTION: %d, want 1243", errno)
		}
		if got := c.query("SELECT 1"); got != "1" {
			t.Errorf("the session goes on with %q", got)
		}
	})
}

// A statement outlives the connections that it was prepared on. One that is under way
// when its connection ends may fail, and goes on with another.
func TestRoutedPreparedReconnect(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := wireGate(t, s)
		read := c.prepareRows("SELECT name FROM user WHERE id = ?")
		update := c.prepare("UPDATE user SET age = ? WHERE id = ?")
		for round := range 3 {
			for id := range int64(8) {
				await(t, "the statement", func() bool {
					_, _, errno := okFields(c.execute(update, boundInt(int64(round)), boundInt(id+1)))
					if errno != 0 && errno != 1158 {
						t.Fatalf("round %d, user %d: error %d", round, id+1, errno)
					}
					return errno == 0
				})
				c.send(executeCommand(read, 0, boundInt(id+1))...)
				if got, want := c.texts(), fmt.Sprintf("n%d", id+1); len(got) != 1 || got[0] != want {
					t.Errorf("round %d, user %d: %q", round, id+1, got)
				}
			}
			for _, db := range g.shards {
				endOthers(t, db)
			}
		}
	})
}

// A prepared statement is closed on no connection that the session has given back, to others, since it was prepared.
func TestRoutedCloseBehindLoss(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{configure: func(cfg *proxy.Config) { cfg.IdleBackends = 0 }})
		c := dialBulk(t, g.addr, "customer", 0)
		c.query("INSERT INTO user (id, name) VALUES (1, 'a'), (4, 'd')")
		read := c.prepareRows("SELECT name FROM user WHERE id = ?")
		for _, id := range []int64{1, 4} {
			c.send(executeCommand(read, 0, boundInt(id))...)
			if got := c.texts(); len(got) != 1 {
				t.Fatalf("rows %q", got)
			}
		}
		c.send(append([]byte{protocol.COM_QUERY}, "SELECT SLEEP(60) FROM user WHERE id = 1"...)...)
		g.awaitRunning(t, 0, "%SLEEP(60)%")
		endOthers(t, g.shards[0])
		if _, _, errno := okFields(c.receive()); errno != 1158 {
			t.Errorf("error %d of a statement whose server was lost, want 1158", errno)
		}
		c.send(append([]byte{protocol.COM_STMT_CLOSE}, read...)...)
		if got := c.query("SELECT name FROM user WHERE id = 4"); got != "d" {
			t.Errorf("the session goes on with %q", got)
		}
	})
}

// endOthers ends all other connections to a database.
func endOthers(t *testing.T, db *sql.DB) {
	t.Helper()
	c := conn(t, db)
	for _, id := range columnOf(t, c, "SELECT id FROM "+servertest.Processlist+" WHERE db = DATABASE() AND id <> CONNECTION_ID()") {
		if _, err := c.ExecContext(t.Context(), "KILL "+id); err != nil && errno(err) != 1094 { // it has ended already
			t.Fatal(err)
		}
	}
}

// The commands that have no answer are ignored when they are about no statement, as both servers do: the session goes
// on, and its transaction.
func TestRoutedSilentUnknown(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		for _, code := range []byte{protocol.COM_STMT_CLOSE, protocol.COM_STMT_SEND_LONG_DATA} {
			for _, body := range []string{"\x63\x00\x00\x00\x00\x00xyz", "\x63\x00\x00\x00\x00\x00"} {
				c := g.dial(t, "customer")
				for _, q := range []string{"BEGIN", "INSERT INTO user (id) VALUES (1)"} {
					if _, err := c.Execute(q); err != nil {
						t.Fatal(err)
					}
				}
				c.ResetSequence()
				if err := c.WritePacket(append([]byte{0, 0, 0, 0, code}, body...)); err != nil {
					t.Fatal(err)
				}
				if got := textOf(t, c, "SELECT COUNT(*) FROM user"); got != "1" {
					t.Errorf("after command %#x %q there are %s rows", code, body, got)
				}
				if _, err := c.Execute("ROLLBACK"); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

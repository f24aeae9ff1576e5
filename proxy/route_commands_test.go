package proxy_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
)

// dial connects to a gate in a protocol that tests can write commands in.
func (g *gate) dial(t *testing.T, database string) *client.Conn {
	t.Helper()
	c, err := client.Connect(g.addr, gateUser, gatePassword, database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// sendCommand sends a command and gives the first packet of its answer.
func sendCommand(t *testing.T, c *client.Conn, code byte, body string) []byte {
	t.Helper()
	c.ResetSequence()
	if err := c.WritePacket(append([]byte{0, 0, 0, 0, code}, body...)); err != nil {
		t.Fatal(err)
	}
	return answerPacket(t, c)
}

func answerPacket(t *testing.T, c *client.Conn) []byte {
	t.Helper()
	b, err := c.ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func textOf(t *testing.T, c *client.Conn, query string) string {
	t.Helper()
	r, err := c.Execute(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	v, err := r.GetString(0, 0)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// COM_RESET_CONNECTION: nothing of the session is left on any shard.
func TestRoutedReset(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	ids := usersOf(t, g)
	c := g.dial(t, "customer")
	const resetConnection = 0x1f
	look := func(id int) string {
		return "SELECT CONCAT(IFNULL(@x, 'none'), @@sql_mode = @@global.sql_mode, LAST_INSERT_ID()) FROM user WHERE id = " + strconv.Itoa(id)
	}
	for _, statement := range []string{"SET @x = 1, sql_mode = ''", "INSERT INTO user (name) VALUES ('x')", "BEGIN"} {
		if _, err := c.Execute(statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if got := textOf(t, c, look(id)); got[:2] != "10" {
			t.Errorf("before: %s", got)
		}
	}
	if got := sendCommand(t, c, resetConnection, ""); got[0] != mysql.OK_HEADER {
		t.Fatalf("the answer is %q", got)
	}
	for _, id := range ids {
		if got := textOf(t, c, look(id)); got != "none10" {
			t.Errorf("after: %s, want none10", got)
		}
	}
	if got := textOf(t, c, "SELECT DATABASE()"); got != "customer" {
		t.Errorf("the keyspace is %s", got)
	}
}

// COM_CHANGE_USER goes to the keyspace that it names, also between one shard and all.
func TestRoutedChangeUser(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	exec(t, g.shards[1], "INSERT INTO user (id, name) VALUES (4, 'd')")
	c := g.dial(t, "customer")
	for _, step := range []struct{ database, query, want string }{
		{"main", "SELECT DATABASE()", "main"},
		{"customer", "SELECT COUNT(*) FROM user", "1"},
		{"customer:-80", "SELECT COUNT(*) FROM user", "0"},
		{"customer", "SELECT name FROM user WHERE id = 4", "d"},
	} {
		if _, err := c.Execute("SET @x = 1"); err != nil {
			t.Fatal(err)
		}
		changeUser(t, c, gateUser, step.database)
		if got := textOf(t, c, step.query); got != step.want {
			t.Errorf("%s: %s gives %s, want %s", step.database, step.query, got, step.want)
		}
		if got := textOf(t, c, "SELECT IFNULL(@x, 'none')"); got != "none" {
			t.Errorf("%s: @x is %s", step.database, got)
		}
	}
}

// changeUser logs in again.
func changeUser(t *testing.T, c *client.Conn, user, database string) {
	t.Helper()
	const charset = "\x2d\x00"
	b := sendCommand(t, c, mysql.COM_CHANGE_USER, user+"\x00\x00"+database+"\x00"+charset+"mysql_native_password\x00")
	if b[0] != mysql.EOF_HEADER {
		t.Fatalf("the answer is %q, want a switch of the plugin", b)
	}
	plugin, salt := splitSwitch(b)
	proof := mysql.CalcCachingSha2Password(salt, []byte(gatePassword))
	if plugin == mysql.AUTH_NATIVE_PASSWORD {
		proof = mysql.CalcNativePassword(salt, []byte(gatePassword))
	}
	if err := c.WritePacket(append(make([]byte, 4), proof...)); err != nil {
		t.Fatal(err)
	}
	for b = answerPacket(t, c); b[0] == mysql.MORE_DATE_HEADER; b = answerPacket(t, c) {
	}
	if b[0] != mysql.OK_HEADER {
		t.Fatalf("the answer is %q", b)
	}
}

// splitSwitch gives the plugin and the salt of an AuthSwitchRequest.
func splitSwitch(b []byte) (plugin string, salt []byte) {
	i := slices.Index(b, 0)
	return string(b[1:i]), b[i+1 : i+21]
}

// COM_FIELD_LIST and COM_INIT_DB.
func TestRoutedOldCommands(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	c := g.dial(t, "main")
	if got := sendCommand(t, c, mysql.COM_INIT_DB, "customer"); got[0] != mysql.OK_HEADER {
		t.Fatalf("the answer is %q", got)
	}
	fields, err := c.FieldList("user", "")
	if err != nil || len(fields) != 4 || string(fields[1].Name) != "name" {
		t.Errorf("%d fields, %v", len(fields), err)
	}
	if got := sendCommand(t, c, mysql.COM_INIT_DB, "nowhere"); got[0] != mysql.ERR_HEADER {
		t.Errorf("the answer is %q", got)
	}
	if err := c.Ping(); err != nil {
		t.Error(err)
	}
}

// Prepared statements have to do with the session as texts have.
func TestRoutedPreparedVariables(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := usersOf(t, g)
		c := conn(t, g.open(t, "customer", ""))
		if got := value[string](t, c, "SELECT CONCAT(DATABASE(), ?)", "!"); got != "customer!" {
			t.Errorf("DATABASE() is %s", got)
		}
		if got := value[uint64](t, c, "SELECT CONNECTION_ID() + ?", 0); got < 1<<30 {
			t.Errorf("CONNECTION_ID() is %d", got)
		}
		if _, err := c.ExecContext(t.Context(), "SET @a = ?", "x"); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if got := value[string](t, c, "SELECT @a FROM user WHERE id = ?", id); got != "x" {
				t.Errorf("@a is %s", got)
			}
		}
		if got := value[int](t, c, "SELECT @b := ?", 8); got != 8 {
			t.Errorf("@b := 8 gives %d", got)
		}
		for _, id := range ids {
			if got := value[int](t, c, "SELECT @b FROM user WHERE id = ?", id); got != 8 {
				t.Errorf("@b is %d", got)
			}
		}
		if got := value[int](t, c, "SELECT GET_LOCK(?, 0)", g.database); got != 1 {
			t.Errorf("GET_LOCK gives %d", got)
		}
		if got := value[int](t, conn(t, g.open(t, "main", "")), "SELECT IS_FREE_LOCK(?)", g.database); got != 0 {
			t.Errorf("IS_FREE_LOCK gives %d", got)
		}
		if _, err := c.ExecContext(t.Context(), "UPDATE user SET n = n + ? WHERE id = ?", 1, ids[1]); err != nil {
			t.Fatal(err)
		}
		if got := value[int](t, c, "SELECT ROW_COUNT()"); got != 1 {
			t.Errorf("ROW_COUNT() after an execution is %d", got)
		}
		exec(t, c, "INSERT INTO user (name) VALUES ('x')")
		if _, err := c.ExecContext(t.Context(), "INSERT INTO child (user_id, v) VALUES (LAST_INSERT_ID(), ?)", "v"); err != nil {
			t.Error(err)
		}
	})
}

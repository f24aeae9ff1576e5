package proxy_test

import (
	"database/sql"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// What each user may do, in each of the ways in which a statement comes, and on a sharded keyspace as on others.
func TestRights(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		options := gateOptions{users: []proxy.User{
			{Name: gateUser, Password: gatePassword}, {Name: "reader", Password: gatePassword, Rights: proxy.RightsRead},
			{Name: "writer", Password: gatePassword, Rights: proxy.RightsWrite}, {Name: "admin", Password: gatePassword, Rights: proxy.RightsAdmin},
		}}
		t.Run("unsharded", func(t *testing.T) {
			g := newGate(t, s, options)
			createSequence(t, g.direct, "user_seq", 1, 100)
			testRights(t, g)
		})
		t.Run("sharded", func(t *testing.T) { testRights(t, newShardedGate(t, s, 2, options).gate) })
	})
}

// as gives a user's connections.
func (g *gate) as(t *testing.T, user, params string) *sql.DB {
	t.Helper()
	return openDSN(t, strings.Replace(g.dsn(params), gateUser+":", user+":", 1))
}

func testRights(t *testing.T, g *gate) {
	exec(t, g.direct, "CREATE TABLE r (id BIGINT PRIMARY KEY, v VARCHAR(20))")
	for _, tt := range []struct {
		needs     string
		statement string
	}{
		{"read", "SELECT COUNT(*) FROM r"},
		{"read", "SET NAMES utf8mb4"},
		{"read", "SELECT 'delete é'"}, // read as the session's character set has it
		{"write", "INSERT IGNORE INTO r VALUES (1, 'a')"},
		{"write", "DO NULL"},
		{"write", "SELECT * FROM r FOR UPDATE"},
		{"write", "SELECT NEXT VALUE FROM user_seq"},
		{"write", "/*!40000 DELETE */ FROM r"},
		{"admin", "CREATE TABLE IF NOT EXISTS x (a INT)"},
		{"admin", "DROP TABLE IF EXISTS x"},
	} {
		for rank, user := range []string{"reader", "writer", "admin", gateUser} {
			allowed := rank >= map[string]int{"read": 0, "write": 1, "admin": 2}[tt.needs]
			for _, params := range []string{"", "multiStatements=true"} {
				c := conn(t, g.as(t, user, params))
				if allowed {
					exec(t, c, tt.statement)
					continue
				}
				fails(t, c, 1227, "you need (at least one of) the "+tt.needs+" privilege(s) of seqgate", tt.statement)
				if params != "" {
					fails(t, c, 1227, "seqgate", "SELECT 1; "+tt.statement)
				}
				if _, err := c.PrepareContext(t.Context(), tt.statement); errno(err) != 1227 {
					t.Errorf("%s prepares %q: %v, want 1227", user, tt.statement, err)
				}
				exec(t, c, "SELECT 1") // the session goes on
			}
		}
	}
	if n := value[int](t, g.direct, "SELECT COUNT(*) FROM r"); n != 0 {
		t.Errorf("%d rows, want none behind the last DELETE", n)
	}
}

// A long statement is judged to its end, commands without a text too, and rights are those of the user of now.
func TestRightsOfCommands(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{users: []proxy.User{
		{Name: gateUser, Password: gatePassword}, {Name: "reader", Password: gatePassword, Rights: proxy.RightsRead},
	}})
	exec(t, g.direct, "CREATE TABLE r (id BIGINT PRIMARY KEY)")
	reader := conn(t, g.as(t, "reader", ""))
	fails(t, reader, 1227, "write", "SELECT * FROM r WHERE id <> '"+strings.Repeat("x", 200_000)+"' FOR UPDATE")
	c := g.dial(t, g.database)
	if b := sendCommand(t, c, mysql.COM_QUERY, "DELETE FROM r"); b[0] != mysql.OK_HEADER {
		t.Errorf("DELETE: %q", b)
	}
	changeUser(t, c, "reader", g.database)
	const comRefresh = 0x07
	for code, body := range map[byte]string{mysql.COM_QUERY: "DELETE FROM r", mysql.COM_STMT_PREPARE: "DELETE FROM r", comRefresh: "\x01"} {
		if b := sendCommand(t, c, code, body); b[0] != mysql.ERR_HEADER || binary.LittleEndian.Uint16(b[1:]) != 1227 {
			t.Errorf("command %#x of a reader: %q, want error 1227", code, b)
		}
	}
}

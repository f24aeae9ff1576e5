package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	protocol "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// A session with nothing to lose goes on after its server was away: the statement
// that met the loss fails, the next one works, with ids and in its database.
func TestReconnect(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)")
		createSequence(t, g.direct, "t_seq", 1000, 10)
		c := conn(t, g.open(t, "interpolateParams=true"))
		exec(t, c, "INSERT INTO t (v) VALUES (1)")
		lost := make(chan error, 1)
		go func() {
			_, err := c.ExecContext(context.Background(), "SELECT SLEEP(30)")
			lost <- err
		}()
		await(t, "the statement's begin", func() bool {
			return value[int](t, g.direct, "SELECT COUNT(*) FROM "+servertest.Processlist+" WHERE INFO LIKE 'SELECT SLEEP%'") == 1
		})
		s.Kill(t)
		if err := <-lost; errno(err) != 1158 || !strings.Contains(err.Error(), "Lost connection to MySQL server during query") {
			t.Errorf("the statement under way: got %v, want error 1158", err)
		}
		if _, err := c.ExecContext(t.Context(), "SELECT 1"); errno(err) != 1429 || !strings.Contains(err.Error(), "Can't connect to MySQL server on '"+s.Addr) {
			t.Errorf("while the server is away: got %v, want error 1429", err)
		}
		s.Start(t)
		exec(t, c, "INSERT INTO t (v) VALUES (2)")
		if got := value[string](t, c, "SELECT CONCAT(DATABASE(), ' ', COUNT(*), ' ', LAST_INSERT_ID()) FROM t"); !strings.HasPrefix(got, g.database+" 2 10") {
			t.Errorf("after the server's return: %s", got)
		}
		if got := value[int](t, g.direct, "SELECT COUNT(DISTINCT id) FROM t WHERE id >= 1000"); got != 2 {
			t.Errorf("%d rows with ids", got)
		}
	}, "--innodb-flush-log-at-trx-commit=1")
}

// A session that would lose something ends with its server, as without seqgate.
func TestNoReconnect(t *testing.T) {
	for name, lose := range map[string]string{
		"transaction":                    "BEGIN",
		"autocommit off":                 "SET autocommit = 0",
		"settings":                       "SET time_zone = '+03:00'",
		"temporary table":                "CREATE TEMPORARY TABLE mine (a INT)",
		"prepared":                       "",
		"prepared, then one that failed": "SELECT * FROM nosuch",
		"killed":                         "KILL",
	} {
		t.Run(name, func(t *testing.T) {
			servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
				g := newGate(t, s, gateOptions{})
				db := g.open(t, "interpolateParams=true")
				c, other := conn(t, db), conn(t, db)
				id := value[int64](t, c, "SELECT CONNECTION_ID()")
				kill := querier(g.direct)
				switch lose {
				case "", "SELECT * FROM nosuch":
					stmt, err := c.PrepareContext(t.Context(), "SELECT 1 FROM DUAL")
					if err != nil {
						t.Fatal(err)
					}
					defer stmt.Close()
					if lose == "" {
						break
					}
					if _, err := c.PrepareContext(t.Context(), lose); err == nil {
						t.Fatalf("%s was prepared", lose)
					}
				case "KILL":
					kill = other
				default:
					exec(t, c, lose)
				}
				if err := kill.QueryRowContext(t.Context(), fmt.Sprintf("KILL %d", id)).Err(); err != nil {
					t.Fatal(err)
				}
				await(t, "the session's end", func() bool {
					_, err := c.ExecContext(t.Context(), "DO 1")
					return err != nil && errno(err) == 65535 // no MySQL error: the connection has ended
				})
			})
		})
	}
}

// An idle session with nothing to lose does not notice that its server was away,
// and values in memory need no server.
func TestIdleReconnect(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		createSequence(t, g.direct, "s", 1, 100)
		c := conn(t, g.open(t, ""))
		if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != 1 {
			t.Fatalf("got %d", got)
		}
		id := value[int64](t, c, "SELECT CONNECTION_ID()")
		exec(t, g.direct, fmt.Sprintf("KILL %d", id))
		if got := value[int64](t, c, "SELECT NEXT VALUE FROM s"); got != 2 {
			t.Errorf("got %d, want 2", got)
		}
		var now int64
		await(t, "another connection", func() bool { // the kill is seen at once, or by a statement that fails
			err := c.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&now)
			if err != nil && errno(err) != 1158 {
				t.Fatal(err)
			}
			return err == nil && now != id
		})
	})
}

// Connections of sessions that ended are those of sessions that begin, without a
// trace of what was done on them.
func TestSessionsShareConnections(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.IdleBackends = 5 }})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)")
		createSequence(t, g.direct, "t_seq", 1000, 10)
		ids := make(map[int64]bool)
		const sessions = 30
		for i := range sessions {
			db := g.open(t, "interpolateParams=true")
			c := conn(t, db)
			var last int64
			var set sql.NullInt64
			if err := c.QueryRowContext(t.Context(), "SELECT LAST_INSERT_ID(), @a").Scan(&last, &set); err != nil {
				t.Fatal(err)
			}
			if last != 0 || set.Valid {
				t.Fatalf("session %d begins with LAST_INSERT_ID() %d and @a %v", i, last, set)
			}
			ids[value[int64](t, c, "SELECT CONNECTION_ID()")] = true
			exec(t, c, "SET @a = 1", "BEGIN", "INSERT INTO t (v) VALUES (1)")
			if got := value[int64](t, c, "SELECT GET_LOCK('l', 20)"); got != 1 {
				t.Fatalf("session %d does not get the lock of the one before", i)
			}
			_ = c.Close()
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if len(ids) > sessions/2 {
			t.Errorf("%d connections for %d sessions", len(ids), sessions)
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM t"); got != 0 {
			t.Errorf("%d rows of transactions that were not committed", got)
		}
	})
}

// What is left of a local file when its server is lost is not taken for commands.
func TestFileOfALostServer(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "CREATE TABLE f (a VARCHAR(100))", "SET GLOBAL local_infile = 1")
		c := rawClient(t, g.dsn(""), func(c *client.Conn) error { return c.SetCapability(protocol.CLIENT_LOCAL_FILES) })
		if b := answerOf(t, c, queryPacket(s, "LOAD DATA LOCAL INFILE 'x' INTO TABLE f")); b[4] != 0xfb {
			t.Fatalf("the server asks for no file: %q", b)
		}
		send(t, c, []byte{2, 0, 0, 2, 'a', '\n'})
		s.Kill(t)
		s.Start(t)
		drop := queryPacket(s, "DROP TABLE f") // a line of the file, as a client may have it
		_, _ = c.Write(append(drop, drop...))  // the session may have ended
		if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the session goes on")
		}
		if got := value[int](t, g.direct, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'f'"); got != 1 {
			t.Error("the rest of the file was executed")
		}
	})
}

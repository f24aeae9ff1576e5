package proxy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// restrictedUsers are the gate's own and one for each of the rights that take something away.
func restrictedUsers() []proxy.User {
	return []proxy.User{
		{Name: gateUser, Password: gatePassword}, {Name: "reader", Password: gatePassword, Rights: proxy.RightsRead},
		{Name: "writer", Password: gatePassword, Rights: proxy.RightsWrite},
	}
}

// Statements that are not what they seem: each has changed something at one of the servers, or locked it.
func TestRightsBypassed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{users: restrictedUsers()})
		exec(t, g.direct, "CREATE TABLE r (id BIGINT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO r VALUES (1, 'x')")
		createSequence(t, g.direct, "user_seq", 1, 100)
		file := filepath.Join(os.TempDir(), g.database+".txt")
		for user, statements := range map[string][]string{
			"reader": {
				"WITH x AS (SELECT 1) UPDATE (r) SET v = 'y'", "WITH x AS (SELECT 1) UPDATE (r, (SELECT 1 AS b) z) SET v = 'y'",
				"SELECT v FROM r WHERE 1.0FOR UPDATE", "SELECT v FROM r WHERE 1e1FOR UPDATE", "SELECT v FROM r WHERE \\NFOR UPDATE",
				"SELECT v, .5INTO OUTFILE '" + file + "' FROM r", "SELECT v, \\NINTO OUTFILE '" + file + "' FROM r",
				"SET @a=1, PASSWORD = PASSWORD('stolen')", "SET @a=1, PASSWORD FOR foo@localhost = PASSWORD('x')", "SET @a=1, DEFAULT ROLE NONE",
				"SET ROLE NONE, PASSWORD = PASSWORD('stolen')",
				"SET STATEMENT long_query_time=1.0FOR DELETE FROM r WHERE 'b' <> SUBSTRING('a' FROM 1 FOR (SELECT 1))",
				"SET STATEMENT long_query_time=LENGTH(SUBSTRING('5' FROM 1 FOR (SELECT 1))) FOR DELETE FROM r",
				"KILL USER app@localhost", "KILL 1",
			},
			"writer": {
				"SET STATEMENT long_query_time=LENGTH(SUBSTRING('5' FROM 1 FOR REPLACE('1','1','1'))) FOR DROP TABLE r",
				"CALL sys.execute_prepared_stmt('DROP TABLE `" + g.database + "`.r')", "KILL USER app@localhost",
				"UPDATE user_seq SET next_id = 1", "UPDATE r JOIN user_seq ON 1 SET next_id = 1", "DELETE FROM `user_seq`", "WITH x AS (SELECT 1) UPDATE user_seq SET next_id = 1",
				"REPLACE INTO user_seq VALUES (0, 1, 100)", "INSERT INTO " + g.database + ".user_seq VALUES (1, 1, 100)", "DELETE FROM main.seqgate_workers",
				"PREPARE s FROM 'UPDATE user_seq SET next_id = 1'", "USE " + g.database + "; UPDATE user_seq SET next_id = 1",
			},
		} {
			c := conn(t, g.as(t, user, "multiStatements=true"))
			for _, statement := range statements {
				fails(t, c, 1227, "of seqgate", statement)
				if st, err := c.PrepareContext(t.Context(), statement); err == nil || errno(err) != 1227 {
					t.Errorf("%s prepares %q: %v, want error 1227", user, statement, err)
					if st != nil {
						_ = st.Close()
					}
				}
			}
		}
		if n := value[int](t, g.direct, "SELECT COUNT(*) FROM r WHERE v = 'x'"); n != 1 {
			t.Errorf("%d rows are as they were, want 1", n)
		}
		c := conn(t, g.as(t, "writer", "multiStatements=true"))
		exec(t, c, "USE "+g.database+"; UPDATE r SET v = 'é'", "INSERT INTO r SELECT id + 1, v FROM r", "DELETE FROM r WHERE id IN (SELECT next_id FROM user_seq)")
	})
}

// What writes to the rows of a sequence from a sharded keyspace needs the right for it, too.
func TestRightsOfSequenceRowsSharded(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{users: restrictedUsers()})
	c := conn(t, g.as(t, "writer", ""))
	fails(t, c, 1227, "admin", "UPDATE user_seq SET next_id = 1")
	fails(t, c, 1227, "admin", "DELETE FROM seqgate_servers")
}

// A character set that a prepared statement changes within a text is none in which the rest was judged.
func TestRightsCharsetBehindExecute(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		for _, sharded := range []bool{false, true} {
			options := gateOptions{users: restrictedUsers()}
			var g *gate
			if sharded {
				g = newShardedGate(t, s, 2, options).gate
			} else {
				g = newGate(t, s, options)
				exec(t, g.direct, "CREATE TABLE r (id BIGINT PRIMARY KEY)", "INSERT INTO r VALUES (1)")
			}
			c := conn(t, g.as(t, "reader", "multiStatements=true"))
			if !sharded {
				exec(t, c, "PREPARE s FROM 'SET NAMES gbk'")
			}
			for _, text := range []string{"EXECUTE s; SELECT '\xbf\\'; DELETE FROM r; -- '", "SET NAMES gbk; SELECT '\xbf\\'; DELETE FROM r; -- '"} {
				fails(t, c, 1227, "admin", text)
			}
			if !sharded {
				if n := value[int](t, g.direct, "SELECT COUNT(*) FROM r"); n != 1 {
					t.Error("a reader has deleted the rows")
				}
			}
		}
	})
}

// Who may only read now, or is no user any more, does not run what was prepared before; a writer's queries go on.
func TestRightsOfPrepared(t *testing.T) {
	s := servertest.First(t)
	for _, sharded := range []bool{false, true} {
		for _, before := range []proxy.Rights{proxy.RightsUnset, proxy.RightsWrite} {
			for _, after := range []string{"demoted", "removed"} {
				options := gateOptions{users: []proxy.User{{Name: gateUser, Password: gatePassword, Rights: before}}}
				var g *gate
				if sharded {
					g = newShardedGate(t, s, 2, options).gate
				} else {
					g = newGate(t, s, options)
				}
				exec(t, g.direct, "CREATE TABLE r (id BIGINT PRIMARY KEY)")
				testDemoted(t, g, before, after)
			}
		}
	}
}

func testDemoted(t *testing.T, g *gate, before proxy.Rights, after string) {
	t.Helper()
	c := conn(t, g.open(t, ""))
	insert, err := c.PrepareContext(t.Context(), "INSERT INTO r VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	count, err := c.PrepareContext(t.Context(), "SELECT COUNT(*) FROM r WHERE id > ?")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, c, "PREPARE s FROM 'INSERT INTO r VALUES (2)'")
	to := []proxy.User{{Name: "other", Password: "other"}}
	if after == "demoted" {
		to = []proxy.User{{Name: gateUser, Password: gatePassword, Rights: proxy.RightsRead}}
	}
	if err := g.proxy.Change(proxy.Settings{Users: to}); err != nil {
		t.Fatal(err)
	}
	fails(t, c, 1227, "write", "INSERT INTO r VALUES (9)")
	if _, err := insert.ExecContext(t.Context(), 1); errno(err) != 1227 {
		t.Errorf("%q, %s: an INSERT prepared before: %v, want error 1227", before, after, err)
	}
	fails(t, c, 1227, "prepare", "EXECUTE s")
	var n int
	err = count.QueryRowContext(t.Context(), 0).Scan(&n)
	if before == proxy.RightsWrite && (err != nil || n != 0) {
		t.Errorf("%q, %s: a SELECT prepared before: %d rows, %v", before, after, n, err)
	}
	if before == proxy.RightsUnset && errno(err) != 1227 { // it was not judged
		t.Errorf("%q, %s: a SELECT prepared before: %v, want error 1227", before, after, err)
	}
	again, err := c.PrepareContext(t.Context(), "SELECT COUNT(*) FROM r WHERE id > ?")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.QueryRowContext(t.Context(), 0).Scan(&n); err != nil || n != 0 {
		t.Errorf("%q, %s: a SELECT prepared since: %d rows, %v", before, after, n, err)
	}
}

// One long statement of forms within forms is refused at once. It ended the process, by its stack.
func TestRightsOfNested(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{users: restrictedUsers()})
	c := g.dial(t, g.database)
	changeUser(t, c, "reader", g.database)
	text := append(bytes.Repeat([]byte("set statement for "), 15<<20/18), "foo"...)
	if b := sendCommand(t, c, mysql.COM_QUERY, string(text)); b[0] != mysql.ERR_HEADER {
		t.Errorf("%q", b)
	}
}

// Who may only read ends sessions of the same user alone.
func TestRightsOfKill(t *testing.T) {
	g := newGate(t, servertest.First(t), gateOptions{users: restrictedUsers()})
	reader, other, stranger := conn(t, g.as(t, "reader", "")), conn(t, g.as(t, "reader", "")), conn(t, g.direct)
	fails(t, reader, 1227, "write", "KILL "+value[string](t, stranger, "SELECT CONNECTION_ID()"))
	exec(t, stranger, "DO 1")
	exec(t, reader, "KILL QUERY "+value[string](t, other, "SELECT CONNECTION_ID()"))
	exec(t, conn(t, g.as(t, "writer", "")), "KILL "+value[string](t, stranger, "SELECT CONNECTION_ID()"))
	if _, err := stranger.ExecContext(t.Context(), "DO 1"); err == nil {
		t.Error("a writer has not ended a connection of the account's")
	}
}

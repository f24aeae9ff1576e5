package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// usersOf gives the ids of users that live on each shard of a gate, one of each.
func usersOf(t *testing.T, g *shardedGate) []int {
	t.Helper()
	ids := make([]int, len(g.shards))
	c := conn(t, g.open(t, "customer", ""))
	for id := 1; slices.Contains(ids, 0); id++ {
		exec(t, c, fmt.Sprintf("INSERT INTO user (id, name) VALUES (%d, 'u')", id))
		for i, db := range g.shards {
			if value[int](t, db, "SELECT COUNT(*) FROM user WHERE id = ?", id) == 1 && ids[i] == 0 {
				ids[i] = id
			}
		}
	}
	return ids
}

func refuses(t *testing.T, c execer, want uint16, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := c.ExecContext(t.Context(), statement); errno(err) != want {
			t.Errorf("%s: %v, want error %d", statement, err, want)
		}
	}
}

// A variable is on each shard what it is natively on one server, with its type and
// character set, whichever statement set it.
func TestRoutedVariables(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := usersOf(t, g)
		sets := []string{
			"SET @a = 5", "SET @a := -7, @b = 18446744073709551615", "SET @a = 1.50", "SET @a = 1e0 / 3", "SET @a = -0.1e0 - 0.2e0",
			"SET @a = CAST(5 AS DECIMAL(10, 0))", "SET @a = NULL", "SET @a = 'x''y\\\\z'", "SET @a = _latin1 X'e9'", "SET @a = X'00ff41'",
			"SET @a = _utf16 X'00410042'", "SET @a = _utf8mb4 'straße' COLLATE utf8mb4_bin", "SET @a = CONCAT('a', 1 + 1), @`b c` = 'd'",
			"SET @a = @b", "SET @a = (SELECT 42)", "SET @a = NOW() < 0", "SET @a = 1e308 * 1.5", "SET @a = ''", "SET @a = UUID() = ''",
			"SELECT 7, 'x' INTO @a, @b", "SET @A = -9223372036854775808", "SET @a = 0x7fffffffffffffff + 0",
		}
		const look = "SELECT CONCAT_WS('|', IFNULL(HEX(@a), 'null'), IFNULL(@a / 7, ''), IFNULL(CHARSET(@a), ''), IFNULL(COLLATION(@a), ''), IFNULL(HEX(@b), 'null'), IFNULL(HEX(@`b c`), '')) FROM user WHERE id = %d"
		native, routed := conn(t, s.Open(t, "mysql")), conn(t, g.open(t, "customer", ""))
		for _, set := range sets {
			exec(t, native, set)
			exec(t, routed, set)
			want := value[string](t, native, strings.Split(fmt.Sprintf(look, 1), " FROM ")[0])
			for _, id := range append(ids, ids[0]) {
				if got := value[string](t, routed, fmt.Sprintf(look, id)); got != want {
					t.Errorf("%s: the shard of user %d has %s, want %s", set, id, got, want)
				}
			}
		}
		for _, q := range []string{"@a", "@b", "@`b c`"} { // types, by what columns of them are
			exec(t, native, "SET @a = 1e0 / 3, @b = 1.50, @`b c` = 3000000000")
			exec(t, routed, "SET @a = 1e0 / 3, @b = 1.50, @`b c` = 3000000000")
			want := columnTypeOf(t, native, "SELECT "+q)
			for _, id := range ids {
				if got := columnTypeOf(t, routed, fmt.Sprintf("SELECT "+q+" FROM user WHERE id = %d", id)); got != want {
					t.Errorf("%s on the shard of user %d is a %s, want %s", q, id, got, want)
				}
			}
		}
	})
}

func columnTypeOf(t *testing.T, c *sql.Conn, query string) string {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	return types[0].DatabaseTypeName()
}

// System variables of the session follow it to each shard.
func TestRoutedSettings(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := usersOf(t, g)
		isolation := "@@transaction_isolation"
		if s.IsMariaDB() {
			isolation = "@@tx_isolation"
		}
		c := conn(t, g.open(t, "customer", ""))
		for _, test := range []struct{ set, look, want string }{
			{"SET sql_mode = 'ANSI_QUOTES'", "@@sql_mode", "ANSI_QUOTES"},
			{`SET @@session.sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')`, "@@sql_mode", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"},
			{`SET sql_mode = DEFAULT, @x = 1`, "@@sql_mode = @@global.sql_mode", "1"},
			{"SET NAMES latin1", "CONCAT(@@character_set_client, @@character_set_results, @@collation_connection)", "latin1latin1latin1_swedish_ci"},
			{"SET character_set_results = NULL, NAMES utf8mb4 COLLATE utf8mb4_bin", "CONCAT(@@character_set_client, @@collation_connection)", "utf8mb4utf8mb4_bin"},
			{"SET time_zone = '+05:00'", "@@time_zone", "+05:00"},
			{"SET timestamp = 1000000000.5", "UNIX_TIMESTAMP()", "1000000000"},
			{"SET timestamp = DEFAULT", "UNIX_TIMESTAMP() > 1000000001", "1"},
			{"SET long_query_time = 2.25, group_concat_max_len = 5000", "CONCAT(@@long_query_time, '|', @@group_concat_max_len)", "2.250000|5000"},
			{"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", isolation, "SERIALIZABLE"},
			{"SET SQL_SELECT_LIMIT = DEFAULT, autocommit = 0", "@@autocommit", "0"},
			{"SET autocommit = ON", "@@autocommit", "1"},
		} {
			exec(t, c, test.set)
			for _, id := range ids {
				if got := value[string](t, c, fmt.Sprintf("SELECT %s FROM user WHERE id = %d", test.look, id)); got != test.want {
					t.Errorf("%s: %s of the shard of user %d is %s, want %s", test.set, test.look, id, got, test.want)
				}
			}
		}
		refuses(t, c, 1193, "SET no_such_variable = 1")
		refuses(t, c, 1235, "SET GLOBAL max_connections = 10", "SET @@global.max_connections = 10", "SET PASSWORD = 'x'", "SET insert_id = 5",
			"SET @x = (SELECT COUNT(*) FROM user)", "SET @@tx_isolation = 'SERIALIZABLE'")
		refuses(t, c, 1064, "SET TRANSACTION ISOLATION LEVEL NONE")
	})
}

// SET TRANSACTION is of the next transaction, on each shard that it comes to.
func TestRoutedSetTransaction(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	ids := usersOf(t, g)
	c := conn(t, g.open(t, "customer", ""))
	write := func(id int) string { return fmt.Sprintf("UPDATE user SET age = 1 WHERE id = %d", id) }
	exec(t, c, "SET TRANSACTION READ ONLY", "BEGIN")
	for _, id := range ids {
		refuses(t, c, 1792, write(id))
	}
	refuses(t, c, 1568, "SET TRANSACTION READ WRITE")
	exec(t, c, "COMMIT", "BEGIN")
	for _, id := range ids {
		exec(t, c, write(id))
	}
	exec(t, c, "COMMIT", "SET TRANSACTION READ ONLY")
	refuses(t, c, 1792, write(ids[1]))
	exec(t, c, write(ids[0]))
}

// SET autocommit = 1 commits what is open, on all shards.
func TestRoutedAutocommit(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	ids := usersOf(t, g)
	c := conn(t, g.open(t, "customer", ""))
	exec(t, c, "SET autocommit = 0")
	for _, id := range ids {
		exec(t, c, fmt.Sprintf("UPDATE user SET age = 9 WHERE id = %d", id))
	}
	count := func() (n int) {
		for _, db := range g.shards {
			n += value[int](t, db, "SELECT COUNT(*) FROM user WHERE age = 9")
		}
		return n
	}
	if got := count(); got != 0 {
		t.Errorf("%d rows are seen before the commit", got)
	}
	exec(t, c, "SET autocommit = 0")
	if got := count(); got != 0 {
		t.Errorf("%d rows are seen after SET autocommit = 0", got)
	}
	exec(t, c, "SET @x = 1, autocommit = 1")
	if got := count(); got != len(ids) {
		t.Errorf("%d rows are seen after SET autocommit = 1, want %d", got, len(ids))
	}
}

// A session that sets variables again and again does not grow, and is right at its end.
func TestRoutedSettingsAreBounded(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	ids := usersOf(t, g)
	c := conn(t, g.open(t, "customer", ""))
	for i := range 300 {
		exec(t, c, fmt.Sprintf("SET @a = %d, @v%d = 'x'", i, i%250))
	}
	for _, id := range ids {
		if got := value[string](t, c, fmt.Sprintf("SELECT CONCAT(@a, @v0, @v249) FROM user WHERE id = %d", id)); got != "299xx" {
			t.Errorf("the shard of user %d has %s", id, got)
		}
	}
}

// The functions of a session give what they give on one server.
func TestRoutedSessionFunctions(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := usersOf(t, g)
		c := conn(t, g.open(t, "customer", "interpolateParams=true"))
		for query, want := range map[string]string{
			"SELECT DATABASE()": "customer", "SELECT CONCAT(SCHEMA(), '!')": "customer!",
			fmt.Sprintf("SELECT DATABASE() FROM user WHERE id = %d", ids[1]): "customer",
			"SELECT USER() LIKE '%@%'":                                       "1", "SELECT 1 FROM DUAL WHERE DATABASE() = 'customer'": "1",
		} {
			if got := value[string](t, c, query); got != want {
				t.Errorf("%s gives %s, want %s", query, got, want)
			}
		}
		rows, err := c.QueryContext(t.Context(), "SELECT DATABASE(), schema() AS s")
		if err != nil {
			t.Fatal(err)
		}
		if columns, err := rows.Columns(); err != nil || strings.Join(columns, ",") != "DATABASE(),s" {
			t.Errorf("columns %q, %v", columns, err)
		}
		_ = rows.Close()
		exec(t, c, fmt.Sprintf("UPDATE user SET n = n + 1 WHERE id IN (%d, %d)", ids[0], ids[1]))
		if got := value[int](t, c, "SELECT ROW_COUNT()"); got != 2 {
			t.Errorf("ROW_COUNT() after two shards is %d", got)
		}
		exec(t, c, fmt.Sprintf("UPDATE user SET n = n + 1 WHERE id = %d", ids[1]))
		if got := value[int](t, c, "SELECT ROW_COUNT()"); got != 1 {
			t.Errorf("ROW_COUNT() after one shard is %d", got)
		}
		if got := count(t, c, fmt.Sprintf("SELECT id FROM user WHERE id IN (%d, %d)", ids[0], ids[1])); got != 2 {
			t.Errorf("%d rows", got)
		}
		if got := value[int](t, c, "SELECT FOUND_ROWS()"); got != 2 {
			t.Errorf("FOUND_ROWS() after two shards is %d", got)
		}
		exec(t, c, fmt.Sprintf("UPDATE IGNORE user SET n = 'x' + 1 WHERE id = %d", ids[1]))
		if got := count(t, c, "SHOW WARNINGS"); got == 0 {
			t.Error("no warnings of the shard that ran the statement")
		}
		if got, direct := value[uint64](t, c, "SELECT CONNECTION_ID()"), g.proxy; got < 1<<30 {
			t.Errorf("CONNECTION_ID() is %d of %v", got, direct != nil)
		}
	})
}

func count(t *testing.T, c *sql.Conn, query string) (n int) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// LAST_INSERT_ID() goes with the session from shard to shard.
func TestRoutedLastInsertID(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := usersOf(t, g)
		exec(t, g.direct, "CREATE TABLE native (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "INSERT INTO native VALUES (77, 0)")
		c := conn(t, g.open(t, "customer", ""))
		same := func(want uint64) {
			t.Helper()
			for _, query := range []string{"SELECT LAST_INSERT_ID()", "SELECT @@identity", "SELECT @@session.last_insert_id",
				fmt.Sprintf("SELECT LAST_INSERT_ID() FROM user WHERE id = %d", ids[0]), fmt.Sprintf("SELECT LAST_INSERT_ID() FROM user WHERE id = %d", ids[1])} {
				if got := value[uint64](t, c, query); got != want {
					t.Errorf("%s gives %d, want %d", query, got, want)
				}
			}
		}
		same(0)
		for range 4 { // on one shard and the other
			exec(t, c, "INSERT INTO user (name) VALUES ('x')")
			id := value[uint64](t, c, "SELECT LAST_INSERT_ID()")
			same(id)
			exec(t, c, "INSERT INTO child (user_id, v) VALUES (LAST_INSERT_ID(), 'c')")
			if got := value[int](t, c, "SELECT COUNT(*) FROM child WHERE user_id = ?", id); got != 1 {
				t.Errorf("user %d has %d children", id, got)
			}
		}
		exec(t, c, fmt.Sprintf("UPDATE user SET n = LAST_INSERT_ID(n + 40) WHERE id = %d", ids[1]))
		same(40)
		exec(t, c, "SELECT LAST_INSERT_ID(6)")
		same(6)
		exec(t, c, "SET LAST_INSERT_ID = 9")
		same(9)
		exec(t, c, "USE main", "INSERT INTO native (v) VALUES (1)", "USE customer")
		same(78)
		refuses(t, c, 1235, "SELECT COUNT(*) FROM user WHERE id = LAST_INSERT_ID() - 78")
	})
}

// Locks are one server's for all sessions, whatever their keyspaces.
func TestRoutedLocks(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	name := "seqgate " + g.database
	a, b := conn(t, g.open(t, "customer", "interpolateParams=true")), conn(t, g.open(t, "main", "interpolateParams=true"))
	if got := value[int](t, a, "SELECT GET_LOCK(?, 0)", name); got != 1 {
		t.Fatalf("GET_LOCK gives %d", got)
	}
	if got := value[int](t, b, "SELECT GET_LOCK(?, 0)", name); got != 0 {
		t.Errorf("GET_LOCK of a second session gives %d", got)
	}
	exec(t, a, "USE main")
	if got := value[int](t, a, "SELECT RELEASE_LOCK(?)", name); got != 1 {
		t.Errorf("RELEASE_LOCK from another keyspace gives %d", got)
	}
	if got := value[int](t, b, "SELECT IS_FREE_LOCK(?)", name); got != 1 {
		t.Errorf("IS_FREE_LOCK gives %d", got)
	}
	exec(t, a, "USE customer", "DO GET_LOCK('x', 0)", "DO RELEASE_ALL_LOCKS()")
	refuses(t, a, 1235, "SELECT GET_LOCK('x', 0) FROM user WHERE id = 1", "UPDATE user SET n = GET_LOCK('x', 0) WHERE id = 1")
}

// USE and COM_INIT_DB go between keyspaces, and to other databases of an unsharded
// keyspace's server.
func TestRoutedUse(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	other := s.NewDatabase(t)
	exec(t, s.Open(t, other), "CREATE TABLE there (id INT)")
	exec(t, g.direct, "CREATE TABLE here (id INT)")
	c := conn(t, g.open(t, "customer", ""))
	database := func(want string) {
		t.Helper()
		if got := value[string](t, c, "SELECT DATABASE()"); got != want {
			t.Errorf("DATABASE() is %s, want %s", got, want)
		}
	}
	exec(t, c, "USE main", "INSERT INTO here VALUES (1)")
	database("main")
	exec(t, c, "USE "+other, "INSERT INTO there VALUES (1)")
	database(other)
	refuses(t, c, 1146, "INSERT INTO here VALUES (1)")
	exec(t, c, "USE customer", "INSERT INTO user (name) VALUES ('x')")
	database("customer")
	exec(t, c, "USE main", "INSERT INTO here VALUES (2)", "USE customer")
	refuses(t, c, 1049, "USE no_such_database")
	refuses(t, c, 1235, "USE `customer:-80`")
	database("customer")
	if got := value[string](t, conn(t, g.open(t, other, "")), "SELECT DATABASE()"); got != other {
		t.Errorf("a login with another database: DATABASE() is %s", got)
	}
}

// What is of one server's connection is refused in a sharded keyspace.
func TestRoutedRefusals(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	c := conn(t, g.open(t, "customer", ""))
	refuses(t, c, 1235, "LOCK TABLES user WRITE", "UNLOCK TABLES", "FLUSH TABLES", "CALL p()", "HANDLER user OPEN", "LOAD DATA INFILE 'x' INTO TABLE user",
		"XA START 'x'", "SET STATEMENT max_statement_time = 1 FOR SELECT 1", "CREATE PROCEDURE p() SELECT 1", "CREATE TRIGGER t BEFORE INSERT ON user FOR EACH ROW SET @x = 1",
		"GRANT ALL ON *.* TO u", "CREATE USER u", "DROP USER u", "SHUTDOWN", "CREATE TEMPORARY TABLE x (id INT)", "CREATE DATABASE x", "INSTALL PLUGIN x SONAME 'y'",
		"SELECT id FROM user INTO @x", "SELECT @x := id FROM user", "KILL CONNECTION_ID()", "BEGIN NOT ATOMIC SELECT 1; END")
	exec(t, c, "DO 1", "SELECT 1")
}

// An unsharded keyspace beside a sharded one is as without it.
func TestUnshardedBesideSharded(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.direct, "CREATE TABLE ua (id BIGINT PRIMARY KEY, v VARCHAR(32))", "CREATE PROCEDURE p(OUT x INT) SET x = 5, @y = 6")
		for _, login := range []string{"main", g.database, "customer"} {
			c := conn(t, g.open(t, login, "multiStatements=true"))
			if login == "customer" {
				exec(t, c, "USE main")
			}
			exec(t, c, "DELETE FROM ua", "INSERT INTO ua (v) VALUES ('a'), ('b')")
			first := value[int64](t, c, "SELECT LAST_INSERT_ID()")
			exec(t, c, "INSERT INTO ua (v) SELECT v FROM ua", "CREATE TEMPORARY TABLE tmp (id INT)", "INSERT INTO tmp VALUES (1)",
				"PREPARE s FROM 'INSERT INTO ua (v) VALUES (?)'", "SET @v = 'c'", "EXECUTE s USING @v", "DEALLOCATE PREPARE s",
				"LOCK TABLES ua WRITE", "UNLOCK TABLES", "BEGIN; INSERT INTO ua (v) VALUES ('d'); COMMIT", "CALL p(@z)")
			if got := value[int](t, c, "SELECT COUNT(*) FROM ua WHERE id >= ?", first); got != 6 {
				t.Errorf("%s: %d rows, want 6", login, got)
			}
			if got := value[int](t, c, "SELECT COUNT(*) FROM tmp"); got != 1 {
				t.Errorf("%s: %d rows in a temporary table", login, got)
			}
			exec(t, c, "USE customer")
			if got := value[string](t, c, "SELECT CONCAT(@v, @z, @y)"); got != "c56" {
				t.Errorf("%s: variables are %s in the other keyspace", login, got)
			}
			exec(t, c, "USE main")
			if got := value[int](t, c, "SELECT COUNT(*) FROM tmp"); got != 1 {
				t.Errorf("%s: %d rows in a temporary table, after USE", login, got)
			}
		}
	})
}

// Sequences are found from all keyspaces.
func TestRoutedSequences(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		last := int64(0)
		for _, query := range []string{"SELECT NEXT VALUE FROM user_seq", "SELECT NEXT 2 VALUES FROM main.user_seq", "SELECT NEXTVAL(user_seq)", "SELECT NEXTVAL(main.user_seq)"} {
			got := value[int64](t, c, query)
			if got <= last {
				t.Errorf("%s gives %d after %d", query, got, last)
			}
			last = got
		}
		exec(t, c, "CREATE SEQUENCE main.made START WITH 5")
		if got := value[int64](t, c, "SELECT NEXT VALUE FOR main.made"); got != 5 {
			t.Errorf("the first value of a new sequence is %d", got)
		}
		exec(t, c, "DROP SEQUENCE main.made")
		refuses(t, c, 1146, "SELECT NEXT VALUE FROM no_seq")
		if n := count(t, c, "SHOW SEQGATE SEQUENCES"); n == 0 {
			t.Error("SHOW SEQGATE SEQUENCES gives nothing")
		}
	})
}

// SHOW in a sharded keyspace.
func TestRoutedShow(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	c := conn(t, g.open(t, "customer", ""))
	for query, want := range map[string]int{"SHOW DATABASES": 3, "SHOW SCHEMAS LIKE 'cust%'": 1, "SHOW TABLES": 4, "SHOW TABLES FROM customer LIKE 'u%'": 1,
		"SHOW COLUMNS FROM user": 4, "SHOW CREATE TABLE customer.user": 1, "SHOW WARNINGS": 0, "SHOW VARIABLES LIKE 'autocommit'": 1, "DESCRIBE user": 4} {
		if got := count(t, c, query); got != want {
			t.Errorf("%s gives %d rows, want %d", query, got, want)
		}
	}
}

// KILL reaches a statement on whatever shard it runs.
func TestRoutedKill(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	ids := usersOf(t, g)
	var victim *sql.Conn
	var id uint64
	killer := conn(t, g.open(t, "customer", ""))
	for shard, user := range ids {
		eventually(t, func() bool {
			victim = conn(t, g.open(t, "customer", ""))
			id = value[uint64](t, victim, "SELECT CONNECTION_ID()")
			ended := make(chan error, 1)
			go func() {
				_, err := victim.ExecContext(context.WithoutCancel(t.Context()), fmt.Sprintf("UPDATE user SET n = SLEEP(20) WHERE id = %d", user))
				ended <- err
			}()
			g.awaitRunning(t, shard, "UPDATE user SET n = SLEEP(20)%")
			began := time.Now()
			exec(t, killer, fmt.Sprintf("KILL QUERY %d", id))
			err := <-ended
			if time.Since(began) > 2*time.Second {
				return false // the session's connection may have been cut off, as that of a frozen server is
			}
			if errno(err) != 1317 {
				t.Errorf("a killed statement ends with %v, want 1317", err)
			}
			exec(t, victim, "SELECT 1")
			return true
		}, "a KILL that does not take long")
	}
	exec(t, killer, fmt.Sprintf("KILL %d", id))
	if err := victim.PingContext(t.Context()); err == nil {
		_, err = victim.ExecContext(t.Context(), "SELECT 1")
		if err == nil {
			t.Error("a killed session goes on")
		}
	}
}

// Several statements in one text see what those before them did to the session.
func TestRoutedStatementsInOneText(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := usersOf(t, g)
		c := conn(t, g.open(t, "customer", "multiStatements=true"))
		text := fmt.Sprintf("SET @a = 1; SELECT CONCAT(@a, DATABASE()) FROM user WHERE id = %d; SELECT @b := 7 FROM user WHERE id = %[1]d; USE main;"+
			"SET sql_mode = 'ANSI_QUOTES'; SELECT CONCAT(@a, @b, DATABASE()) AS \"x\"; USE customer; SELECT @@sql_mode FROM \"user\" WHERE id = %d", ids[1], ids[0])
		rows, err := c.QueryContext(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []string
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				var v string
				if err := rows.Scan(&v); err != nil {
					t.Fatal(err)
				}
				got = append(got, v)
			}
		}
		if want := []string{"1customer", "7", "17main", "ANSI_QUOTES"}; rows.Err() != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v, want %q", got, rows.Err(), want)
		}
	})
}

// loseConns ends all connections of a gate's sessions to its servers.
func loseConns(t *testing.T, g *shardedGate) {
	t.Helper()
	databases := "'" + g.database + "'"
	for _, db := range g.shards {
		databases += ", '" + value[string](t, db, "SELECT DATABASE()") + "'"
	}
	const others = " FROM " + servertest.Processlist + " WHERE ID <> CONNECTION_ID() AND DB IN ("
	asker := conn(t, g.direct)
	await(t, "all connections to be idle", func() bool {
		return value[int](t, asker, "SELECT COUNT(*)"+others+databases+") AND COMMAND <> 'Sleep'") == 0
	})
	for _, id := range texts(t, asker, "SELECT ID"+others+databases+")") {
		if _, err := g.direct.Exec("KILL " + id); err != nil && errno(err) != 1094 {
			t.Fatal(err)
		}
	}
}

// A session outlives its connections when another one is as good, and tells of what is
// lost with one.
func TestRoutedLostConnections(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	ids := usersOf(t, g)
	read := func(c *sql.Conn, id int) (got string, err error) {
		err = c.QueryRowContext(t.Context(), fmt.Sprintf("SELECT CONCAT(@a, @@sql_mode, LAST_INSERT_ID()) FROM user WHERE id = %d", id)).Scan(&got)
		return got, err
	}
	c := conn(t, g.open(t, "customer", ""))
	exec(t, c, "SELECT LAST_INSERT_ID(44)", "SET @a = 'x', sql_mode = 'ANSI_QUOTES'")
	for _, id := range ids {
		if got, err := read(c, id); err != nil || got != "xANSI_QUOTES44" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	loseConns(t, g)
	told := 0
	for range 3 { // a statement that meets the loss may fail
		for _, id := range ids {
			got, err := read(c, id)
			switch {
			case err != nil:
				told++
			case got != "xANSI_QUOTES44":
				t.Errorf("after the loss: %q", got)
			}
		}
	}
	if told > len(ids) {
		t.Errorf("%d statements failed", told)
	}
}

// A lock that was lost with its connection is told of.
func TestRoutedLostLock(t *testing.T) {
	g := newShardedGate(t, servertest.First(t), 2, gateOptions{})
	c := conn(t, g.open(t, "customer", "interpolateParams=true"))
	exec(t, c, "SELECT 1")
	if got := value[int](t, c, "SELECT GET_LOCK(?, 0)", g.database); got != 1 {
		t.Fatalf("GET_LOCK gives %d", got)
	}
	loseConns(t, g)
	if _, err := c.ExecContext(t.Context(), "DO IS_FREE_LOCK('x')"); err == nil {
		t.Error("a lost lock is not told of")
	}
}

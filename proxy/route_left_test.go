package proxy_test

import (
	"fmt"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// What statements leave in the session: warnings, counts, variables, ids.

// SHOW WARNINGS has those of all shards, also once the statement is committed.
func TestRoutedWarningsOfWrites(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "INSERT INTO user (id, name) VALUES (1, 'x'), (2, 'y'), (3, 'z'), (4, 'a')", "SET sql_mode = ''")
		for _, begin := range []string{"DO 1", "BEGIN"} {
			for _, q := range []string{"UPDATE user SET age = 'abc'", "SELECT id, name + 0 FROM user", "INSERT IGNORE INTO user (id, age) VALUES (1, 1), (2, 1), (3, 1), (4, 1)"} {
				exec(t, c, begin)
				reportRows(t, c, q)
				n := reportRows(t, c, "SHOW WARNINGS")
				if n != 4 {
					t.Errorf("%s; %s: %d warnings, want 4", begin, q, n)
				}
			}
		}
	})
}

// What prepared statements set in an unsharded keyspace is set on all shards.
func TestRoutedPreparedSetsVariables(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.direct, "CREATE TABLE n (id INT PRIMARY KEY, v INT)", "INSERT INTO n VALUES (1, 1)", "CREATE PROCEDURE p(IN a INT, OUT b INT) SET b = a * 2")
		c := conn(t, g.open(t, "main", ""))
		for id := 1; id < 5; id++ {
			exec(t, c, fmt.Sprintf("INSERT INTO customer.user (id) VALUES (%d)", id))
		}
		for _, q := range []string{"UPDATE n SET v = (@a := ?)", "DO @a := ?", "INSERT INTO n VALUES (2, @a := ?)", "CALL p(?, @a)", "SELECT @a := ?", "SELECT ? INTO @a"} {
			exec(t, c, "USE main", "SET @a = 0")
			if got := value[int](t, c, "SELECT IFNULL(MAX(@a), 0) FROM customer.ref"); got != 0 { // others have @a now
				t.Fatal(got)
			}
			p, err := c.PrepareContext(t.Context(), q)
			if err != nil {
				t.Errorf("%s: %v", q, err)
				continue
			}
			if _, err := p.Exec(7); err != nil {
				t.Errorf("%s: %v", q, err)
			}
			_ = p.Close()
			want := value[int](t, c, "SELECT @a")
			exec(t, c, "USE customer")
			for id := 1; id < 5; id++ {
				if got := value[int](t, c, fmt.Sprintf("SELECT IFNULL(MAX(@a), -1) FROM user WHERE id = %d", id)); got != want || want == 0 {
					t.Errorf("%s: @a is %d in main, %d at user %d", q, want, got, id)
				}
			}
		}
	})
}

// ROW_COUNT() is -1 after an error, also one of seqgate's own.
func TestRoutedRowCountOfErrors(t *testing.T) {
	s := servertest.First(t)
	g := newShardedGate(t, s, 2, gateOptions{})
	c := conn(t, g.open(t, "customer", ""))
	exec(t, c, "INSERT INTO user (id, name) VALUES (1, 'x'), (2, 'y'), (3, 'z'), (4, 'a')")
	refuses(t, c, 1235, "SELECT a.id FROM user a JOIN user b ON a.name = b.name")
	if got := value[int](t, c, "SELECT ROW_COUNT()"); got != -1 {
		t.Errorf("after an error: %d, want -1", got)
	}
	exec(t, c, "UPDATE user SET n = 5 WHERE id = 1")
	refuses(t, c, 1235, "SELECT a.id FROM user a JOIN user b ON a.name = b.name")
	if got := value[int](t, c, "SELECT ROW_COUNT()"); got != -1 {
		t.Errorf("after an error: %d, want -1", got)
	}
}

// The id of a lock's holder, or of a process list, is that of CONNECTION_ID() beside it.
func TestRoutedIDOfLock(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "DO GET_LOCK('used', 1)")
		if value[int](t, c, "SELECT IS_USED_LOCK('used') = CONNECTION_ID()") != 1 {
			t.Error("the lock is another connection's")
		}
		list := "information_schema.PROCESSLIST"
		if !s.IsMariaDB() {
			list = "performance_schema.processlist" // can be read beside other tests' texts
		}
		if value[int](t, c, "SELECT COUNT(*) FROM "+list+" WHERE ID = CONNECTION_ID()") != 1 {
			t.Error("the process list has not this connection")
		}
	})
}

// The reports of maintenance statements have the rows of all shards.
func TestRoutedReports(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		for _, q := range []string{"ANALYZE TABLE user", "OPTIMIZE TABLE user", "ANALYZE TABLE user, child"} {
			want := 0
			for _, shard := range g.shards {
				want += reportRows(t, shard, q)
			}
			if got := reportRows(t, c, q); got != want || want == 0 {
				t.Errorf("%s: %d rows, want the %d of both shards", q, got, want)
			}
		}
		for _, q := range []string{"CHECK TABLE user", "CHECKSUM TABLE user", "REPAIR TABLE user"} {
			refuses(t, c, 1235, q)
		}
	})
}

// reportRows gives how many rows a statement answers with.
func reportRows(t *testing.T, c rowsQuerier, query string) (n int) {
	t.Helper()
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

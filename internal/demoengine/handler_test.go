//go:build !slim

package demoengine

import (
	"fmt"
	"strings"
	"testing"
)

func TestTransactionKeepsOthersWaiting(t *testing.T) {
	insertA := "INSERT INTO users VALUES (1, 'a')"
	for _, tc := range []struct {
		name       string
		statements []string
		end        func(t *testing.T, c *rawConn)
		want       int64 // rows that the waiting statement sees
	}{
		{"COMMIT", []string{"BEGIN", insertA}, query("COMMIT"), 1},
		{"ROLLBACK", []string{"BEGIN", insertA}, query("ROLLBACK"), 0},
		{"START TRANSACTION and DDL", []string{"START TRANSACTION", insertA}, query("CREATE TABLE t (a INT)"), 1},
		{"autocommit off", []string{"SET autocommit = 0", insertA}, query("COMMIT"), 1},
		{"read after a change with autocommit off", []string{"SET autocommit = 0", insertA, "SELECT * FROM users"}, query("COMMIT"), 1},
		{"autocommit on again", []string{"SET autocommit = 0", insertA}, query("SET autocommit = 1"), 1},
		{"row lock with autocommit off", []string{"SET autocommit = 0", "SELECT * FROM users FOR UPDATE"}, query("COMMIT"), 0},
		{"error inside the transaction", []string{"BEGIN", insertA, "INSERT INTO users VALUES (1, 'b')"}, query("COMMIT"), 1},
		{"disconnect", []string{"BEGIN", insertA}, func(t *testing.T, c *rawConn) { c.Close() }, 0},
		{"COM_RESET_CONNECTION", []string{"BEGIN", insertA}, func(t *testing.T, c *rawConn) { c.command(t, 0x1f, "") }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newEngine(t)
			holder := dialRaw(t, e)
			for _, s := range tc.statements {
				query(s)(t, holder)
			}
			if len(e.handler.clients) != 1 {
				t.Error("the transaction does not have the clients' turn")
			}
			waiter := connect(t, e, "root", "")
			seen := make(chan int64)
			go func() { seen <- queryInt(t, waiter, "SELECT COUNT(*) FROM users") }()
			tc.end(t, holder)
			if got := <-seen; got != tc.want {
				t.Errorf("rows seen afterwards: got %d, want %d", got, tc.want)
			}
			if tc.name == "COM_RESET_CONNECTION" {
				query("SELECT 1")(t, holder)
			}
		})
	}
}

func TestLockWaitTimeout(t *testing.T) {
	e := newEngine(t)
	holder, waiter := connect(t, e, "root", ""), connect(t, e, "root", "innodb_lock_wait_timeout=1")
	run(t, holder, "BEGIN", "INSERT INTO users VALUES (1, 'a')")
	if _, err := waiter.ExecContext(t.Context(), "INSERT INTO users VALUES (2, 'b')"); errorNumber(err) != 1205 {
		t.Errorf("insert during another connection's transaction: got %v, want error 1205", err)
	}
	run(t, waiter, "SET NAMES utf8mb4", "BEGIN") // they use no table
	run(t, holder, "COMMIT")
	if got := queryInt(t, waiter, "SELECT COUNT(*) FROM users"); got != 1 {
		t.Errorf("rows: got %d, want 1", got)
	}
}

// Nothing here may keep another connection waiting.
func TestNoTransactionNoWaiting(t *testing.T) {
	for _, statements := range [][]string{
		{"BEGIN"},
		{"BEGIN", "SELECT @@version_comment"},
		{"SET autocommit = 0", "SELECT * FROM users", "SHOW TABLES"},
		{"INSERT INTO users VALUES (1, 'a')", "INSERT INTO users VALUES (1, 'a')"},
		{"BEGIN", "SELECT * FROM users", "CREATE TABLE t (a INT)", "SELECT * FROM users"},
		{"BEGIN", "ROLLBACK", "SELECT * FROM users"},
		{"SELECT * FROM missing"},
		{"SELEC"},
	} {
		t.Run(strings.Join(statements, "; "), func(t *testing.T) {
			e := newEngine(t)
			other := dialRaw(t, e)
			for _, s := range statements {
				query(s)(t, other)
			}
			run(t, connect(t, e, "root", "innodb_lock_wait_timeout=1"), "INSERT INTO users VALUES (2, 'b')")
		})
	}
}

// What the engine leaves in a session after a failed statement must not come back with a later one.
func TestFailedStatementLeavesNoCopies(t *testing.T) {
	for _, statement := range []string{
		"INSERT INTO users VALUES (1, 'b')",
		"SELECT nosuch FROM users",
		"UPDATE users SET id = 9",
	} {
		e := newEngine(t)
		a, b := connect(t, e, "root", ""), connect(t, e, "root", "")
		run(t, b, "INSERT INTO users VALUES (1, 'a'), (2, 'b')")
		if _, err := a.ExecContext(t.Context(), statement); err == nil {
			t.Fatalf("%s: got no error", statement)
		}
		run(t, b, "INSERT INTO users VALUES (3, 'c')")
		run(t, a, "INSERT INTO users VALUES (4, 'd')")
		if got := queryInt(t, a, "SELECT COUNT(*) FROM users"); got != 4 {
			t.Errorf("rows after %q and two inserts: got %d, want 4", statement, got)
		}
	}
}

// A client may insert on one connection for each row that it reads on another.
func TestUnreadResultKeepsNobodyWaiting(t *testing.T) {
	e := newEngine(t)
	reader, writer := connect(t, e, "root", ""), connect(t, e, "root", "innodb_lock_wait_timeout=1")
	const rows = 2000 // 20 MB, more than the sockets hold
	values := make([]string, rows)
	for i := range values {
		values[i] = fmt.Sprintf("(%d, '%d')", i, i)
	}
	run(t, writer, "INSERT INTO users VALUES "+strings.Join(values, ","))
	result, err := reader.QueryContext(t.Context(), "SELECT id, name, REPEAT('x', 10000) FROM users")
	if err != nil {
		t.Fatal(err)
	}
	defer result.Close()
	run(t, writer, "INSERT INTO users VALUES (-1, 'a')")
	n := 0
	for ; result.Next(); n++ {
		var id int
		var name, filler string
		if err := result.Scan(&id, &name, &filler); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(id) != name || filler != strings.Repeat("x", 10000) {
			t.Fatalf("row %d: got name %q and filler %.10q of %d bytes", id, name, filler, len(filler))
		}
	}
	if err := result.Err(); err != nil || n != rows {
		t.Errorf("rows read: got %d and error %v, want %d", n, err, rows)
	}
}

func TestMultiStatements(t *testing.T) {
	e := newEngine(t)
	c := connect(t, e, "root", "multiStatements=true")
	run(t, c, "INSERT INTO users VALUES (1, 'a'); INSERT INTO users VALUES (2, 'b'); SELECT * FROM users")
	_, err := c.ExecContext(t.Context(), "INSERT INTO users VALUES (3, 'c'); INSERT INTO users VALUES (1, 'd'); INSERT INTO users VALUES (4, 'e')")
	if errorNumber(err) != 1062 {
		t.Errorf("three statements, the second a duplicate: got %v, want error 1062", err)
	}
	if got := queryInt(t, c, "SELECT SUM(id) FROM users"); got != 6 {
		t.Errorf("sum of ids: got %d, want 6: the statements before the failing one", got)
	}
}

func TestUsesTablesAndOnlyReads(t *testing.T) {
	for _, tc := range []struct {
		query         string
		tables, reads bool
	}{
		{"SELECT @@version_comment LIMIT 1", false, true},
		{"select 1 from t", true, true},
		{"SELECT\n*\nFROM t FOR\n UPDATE", true, false},
		{"select * from t lock in share mode", true, false},
		{"SELECT(1)", false, true},
		{"SET NAMES utf8mb4", false, true},
		{"set @a = (select max(id) from t)", true, true},
		{"BEGIN", false, false},
		{"start transaction", false, false},
		{"COMMIT;", false, false},
		{"SHOW TABLES", true, true},
		{"show  warnings", false, true},
		{"explain select * from t", true, true},
		{"INSERT INTO t VALUES (1)", true, false},
		{"/* hint */ SELECT 1", true, false},
		{"WITH a AS (SELECT 1) UPDATE t SET b = 1", true, false},
		{"", true, false},
		{"SELECT '" + strings.Repeat("x", 5000) + "'", true, false},
	} {
		if got := usesTables(tc.query); got != tc.tables {
			t.Errorf("usesTables(%.40q): got %t, want %t", tc.query, got, tc.tables)
		}
		if got := onlyReads(tc.query); got != tc.reads {
			t.Errorf("onlyReads(%.40q): got %t, want %t", tc.query, got, tc.reads)
		}
	}
}

// A client can read the answer to what the engine does not have.
func TestWhatTheEngineLacks(t *testing.T) {
	c := connect(t, newEngine(t), "root", "")
	for _, statement := range []string{"PREPARE s FROM 'SELECT 1'", " execute s", "DEALLOCATE PREPARE s"} {
		if _, err := c.ExecContext(t.Context(), statement); err == nil || !strings.Contains(err.Error(), "no PREPARE in SQL") {
			t.Errorf("%s: error %v", statement, err)
		}
	}
	if result, err := c.ExecContext(t.Context(), "DO LAST_INSERT_ID(7), 2"); err != nil {
		t.Error(err)
	} else if id, err := result.LastInsertId(); id != 7 || err != nil {
		t.Errorf("DO: got %d, %v", id, err)
	}
	var warnings int
	if err := c.QueryRowContext(t.Context(), "SELECT @@warning_count + @@error_count").Scan(&warnings); err != nil || warnings != 0 {
		t.Errorf("got %d warnings, error %v", warnings, err)
	}
}

package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// execQueryer is a connection that statements and questions go to.
type execQueryer interface {
	execer
	querier
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// SET insert_id is the first id of the next statement that gets one, and of no other.
func TestSetInsertID(t *testing.T) {
	t.Parallel()
	cases := [][]string{
		{"SET insert_id = 500", "INSERT INTO t (a) VALUES (1)", "INSERT INTO t (a) VALUES (2)"},
		{"SET INSERT_ID=500/*!*/", "INSERT INTO t (a) VALUES (1), (2), (3)", "INSERT INTO n (a) VALUES (1)"},
		{"SET insert_id = 500", "INSERT INTO n (a) VALUES (1)", "INSERT INTO n (a) VALUES (2)"},
		{"SET insert_id = 500", "UPDATE t SET a = 1", "INSERT INTO t (id, a) VALUES (100, 1)", "INSERT INTO t (id, a) VALUES (NULL, 2)", "INSERT INTO n (a) VALUES (2)"},
		{"SET insert_id = 500", "INSERT INTO t (id, a) VALUES (10, 1), (NULL, 2), (NULL, 3)"},
		{"SET insert_id = 500", "SET insert_id = 600", "INSERT INTO t SET a = 1"},
		{"SET insert_id = 500", "SET insert_id = 0", "INSERT INTO n SET a = 1"},
		{"SET insert_id = 500", "INSERT INTO t (a) SELECT 1 UNION ALL SELECT 2", "INSERT INTO n SET a = 1"},
		{"SET insert_id = 500", "INSERT INTO t (a) VALUES (1)", "SET insert_id = 500", "INSERT IGNORE INTO t (a) VALUES (2)", "INSERT INTO n SET a = 1"},
		{"SET insert_id = 500", "REPLACE INTO t (id, a) VALUES (0, 1)", "SET insert_id = 501", "REPLACE INTO t (a) VALUES (2)"},
		{"SET insert_id = 500", "INSERT INTO t (a) VALUES (LAST_INSERT_ID() + 3)", "INSERT INTO n SET a = 1"},
		{"INSERT INTO n (a) VALUES (7)", "SET insert_id = 500", "?INSERT INTO t (a) VALUES (LAST_INSERT_ID() + 3)", "INSERT INTO n SET a = 1"},
		{"SET @@insert_id = 500", "?INSERT INTO t (a) VALUES (5)", "?INSERT INTO t (id, a) VALUES (NULL, 6)"},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, column := range []string{"BIGINT AUTO_INCREMENT", "BIGINT"} {
			for i, statements := range cases {
				t.Run(fmt.Sprint(column, i), func(t *testing.T) {
					native, through := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))), conn(t, newGate(t, s, gateOptions{}).open(t, ""))
					createSequence(t, through, "t_seq", 1, 100)
					exec(t, native, "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)")
					exec(t, through, "CREATE TABLE t (id "+column+" PRIMARY KEY, a INT)")
					want, got := runSetInsertID(t, native, statements), runSetInsertID(t, through, statements)
					if want != got {
						t.Errorf("%s: got %s, natively %s", strings.Join(statements, "; "), got, want)
					}
				})
			}
		}
	})
}

func runSetInsertID(t *testing.T, c execQueryer, statements []string) string {
	t.Helper()
	exec(t, c, "CREATE TABLE n (id BIGINT PRIMARY KEY AUTO_INCREMENT, a INT)")
	var ids []int64
	for _, statement := range statements {
		statement, prepared := strings.CutPrefix(statement, "?")
		var result sql.Result
		var err error
		if prepared {
			stmt, prepareErr := c.PrepareContext(t.Context(), statement)
			if prepareErr != nil {
				t.Fatal(prepareErr)
			}
			defer stmt.Close()
			result, err = stmt.ExecContext(t.Context())
		} else {
			result, err = c.ExecContext(t.Context(), statement)
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		id, _ := result.LastInsertId()
		ids = append(ids, id)
	}
	return fmt.Sprint(ids, value[string](t, c, "SELECT CONCAT(LAST_INSERT_ID(), '; ', (SELECT COALESCE(GROUP_CONCAT(CONCAT(id, '/', a) ORDER BY id), '') FROM t), '; ', "+
		"(SELECT COALESCE(GROUP_CONCAT(id ORDER BY id), '') FROM n), '; ', @@insert_id)"))
}

// The sequence goes on above an id of SET insert_id, as above any that a client writes.
func TestSetInsertIDAdvances(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		c := conn(t, newGate(t, s, gateOptions{}).open(t, ""))
		exec(t, c, "CREATE TABLE t (id BIGINT PRIMARY KEY, a INT)")
		createSequence(t, c, "t_seq", 1, 100)
		exec(t, c, "SET insert_id = 50", "INSERT INTO t (a) VALUES (1), (2)", "INSERT INTO t (a) VALUES (3)")
		if got := value[string](t, c, "SELECT GROUP_CONCAT(id ORDER BY a) FROM t"); got != "50,51,52" {
			t.Errorf("ids %s", got)
		}
	})
}

// The ids of one statement lie apart as the session's auto_increment_increment says: clients work them out from the first.
func TestIncrement(t *testing.T) {
	t.Parallel()
	type step struct{ set, insert, want string }
	steps := []step{
		{"", "INSERT INTO t (a) VALUES (1), (2), (3)", "0,1,2"},
		{"SET auto_increment_increment = 5", "INSERT INTO t (a) VALUES (1), (2), (3)", "0,5,10"},
		{"SET NAMES utf8mb4", "INSERT INTO t (id, a) VALUES (NULL, 1), (0, 2)", "0,5"},
		{"", "INSERT INTO t (a) SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", "0,5,10"},
		{"", "INSERT INTO t (id, a) SELECT NULL, 1 UNION ALL SELECT NULL, 2", "0,5"},
		{"", "?INSERT INTO t (a, id) VALUES (1, ?), (2, ?), (3, NULL)", "0,5,10"},
		{"", "INSERT IGNORE INTO t (a) VALUES (1), (2), (3)", "0,5,10"},
		{"PREPARE p FROM 'INSERT INTO t (a) VALUES (1), (2)'", "EXECUTE p", "0,5"},
		{"", "INSERT INTO t (a) VALUES (1)", "0"},
		{"", "LOAD", "0,5,10"},
		{"SET SESSION auto_increment_increment = 1", "INSERT INTO t (a) VALUES (1), (2)", "0,1"},
		{"SET @@auto_increment_increment := 3", "REPLACE INTO t (a) VALUES (1), (2)", "0,3"},
	}
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, column := range []string{"BIGINT PRIMARY KEY", "BIGINT PRIMARY KEY AUTO_INCREMENT"} {
			c := conn(t, newGate(t, s, gateOptions{}).open(t, ""))
			exec(t, c, "CREATE TABLE t (id "+column+", a INT)")
			createSequence(t, c, "t_seq", 1, 1000)
			seen := make(map[string]bool)
			for _, tt := range steps {
				if tt.set != "" {
					exec(t, c, tt.set)
				}
				insert, prepared := strings.CutPrefix(tt.insert, "?")
				var args []any
				if prepared {
					args = []any{nil, nil}
				}
				if insert == "LOAD" {
					insert = "LOAD DATA LOCAL INFILE '" + readerFor(t, strings.NewReader("1\n2\n3\n")) + "' INTO TABLE t (a)"
				}
				result, err := c.ExecContext(t.Context(), insert, args...)
				if err != nil {
					t.Fatalf("%s: %v", insert, err)
				}
				first := value[int64](t, c, "SELECT LAST_INSERT_ID()")
				if id, _ := result.LastInsertId(); id != first && tt.insert != "LOAD" {
					t.Errorf("%s: insert id %d, LAST_INSERT_ID() %d", insert, id, first)
				}
				if got := value[string](t, c, fmt.Sprintf("SELECT GROUP_CONCAT(id - %d ORDER BY a) FROM t", first)); got != tt.want {
					t.Errorf("%s; %s: ids %s from the first, want %s", tt.set, tt.insert, got, tt.want)
				}
				for _, id := range strings.Split(value[string](t, c, "SELECT GROUP_CONCAT(id) FROM t"), ",") {
					if seen[id] {
						t.Errorf("%s: id %s twice", tt.insert, id)
					}
					seen[id] = true
				}
				exec(t, c, "DELETE FROM t")
			}
			exec(t, c, "SET auto_increment_increment = 60000")
			_, err := c.ExecContext(t.Context(), "INSERT INTO t (a) VALUES (1), (2)")
			checkErrno(t, err, 1235)
			exec(t, c, "INSERT INTO t (a) VALUES (1)")
		}
	})
}

// A session that sets nothing has the server's own increment.
func TestGlobalIncrement(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		exec(t, g.direct, "SET GLOBAL auto_increment_increment = 7", "CREATE TABLE t (id BIGINT PRIMARY KEY, a INT)")
		createSequence(t, g.direct, "t_seq", 1, 1000)
		for _, set := range []string{"", "SET @@sql_mode = @@sql_mode"} {
			c := conn(t, g.open(t, ""))
			if set != "" {
				exec(t, c, set)
			}
			exec(t, c, "INSERT INTO t (a) VALUES (1), (2), (3)")
			first := value[int64](t, c, "SELECT LAST_INSERT_ID()")
			if got := value[string](t, c, fmt.Sprintf("SELECT GROUP_CONCAT(id - %d ORDER BY id) FROM t WHERE id >= %[1]d", first)); got != "0,7,14" {
				t.Errorf("%q: ids %s from the first", set, got)
			}
		}
	})
}

// In front of shards it is the same.
func TestIncrementOfShards(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		_, c := newInsertGate(t, s, 2)
		for _, tt := range []struct {
			set  string
			step int64
		}{{"SET @x = 1", 1}, {"SET auto_increment_increment = 5", 5}, {"SET @y = 1", 5}, {"SET auto_increment_increment = 2", 2}} {
			exec(t, c, tt.set, "INSERT INTO user (name) VALUES ('a'), ('b'), ('c'), ('d')")
			first := value[int64](t, c, "SELECT LAST_INSERT_ID()")
			for i := range int64(4) {
				if got := value[string](t, c, fmt.Sprintf("SELECT name FROM user WHERE id = %d", first+i*tt.step)); got != string(rune('a'+i)) {
					t.Errorf("%s: row %d is %s", tt.set, i, got)
				}
			}
		}
	})
}

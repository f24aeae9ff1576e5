package proxy_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/vschema"
)

// prepareOf prepares a statement.
func prepareOf(t *testing.T, c *sql.Conn, query string) *sql.Stmt {
	t.Helper()
	p, err := c.PrepareContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return p
}

// setVSchema has a gate take another vschema.
func (g *shardedGate) setVSchema(t *testing.T, text string) {
	t.Helper()
	v, err := vschema.Load("vschema.json", []byte(text))
	if err == nil {
		err = g.proxy.SetVSchema(v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A prepared statement belongs to the keyspace that was the current one then, also where it is judged anew at each
// execution.
func TestRoutedPreparedKeyspace(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.direct, "CREATE TABLE user (id BIGINT PRIMARY KEY, name VARCHAR(64))", "INSERT INTO user VALUES (1, 'of main'), (2, 'of main')")
		for _, query := range []string{
			"SELECT name FROM user WHERE id = ?",
			"SELECT name FROM user WHERE id = ? AND LAST_INSERT_ID() >= 0", // planned at each execution
			"SELECT name FROM user WHERE id IN (?, -5)",                    // several shards
			"SELECT CONCAT(DATABASE()) FROM user WHERE id = ?",
		} {
			c := conn(t, g.open(t, "customer", ""))
			exec(t, c, "REPLACE INTO user (id, name) VALUES (1, 'customer')")
			p := prepareOf(t, c, query)
			for _, use := range []string{"USE customer", "USE main", "USE customer", "USE main"} {
				exec(t, c, use)
				var got string
				if err := p.QueryRow(1).Scan(&got); err != nil || got != "customer" {
					t.Errorf("%s; %s: %q, %v", use, query, got, err)
				}
				if in := value[string](t, c, "SELECT DATABASE()"); (in == "customer") != (use == "USE customer") {
					t.Errorf("after %s and an execution the keyspace is %s", use, in)
				}
			}
		}
	})
}

// So it does as to another database of an unsharded keyspace's server, also when it is prepared anew.
func TestRoutedPreparedDatabase(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		other := s.NewDatabase(t)
		exec(t, s.Open(t, other), "CREATE TABLE notes (id INT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO notes VALUES (1, 'other')")
		exec(t, g.direct, "CREATE TABLE notes (id INT PRIMARY KEY, v VARCHAR(20))", "INSERT INTO notes VALUES (1, 'main')")
		c := conn(t, g.open(t, "main", ""))
		exec(t, c, "USE `"+other+"`")
		read, remove := prepareOf(t, c, "SELECT v FROM notes WHERE id = ?"), prepareOf(t, c, "DELETE FROM notes WHERE id = ?")
		exec(t, c, "USE main")
		for _, vschemas := range []int{1, 2} {
			var got string
			if err := read.QueryRow(1).Scan(&got); err != nil || got != "other" {
				t.Errorf("with vschema %d: %q, %v", vschemas, got, err)
			}
			if got := value[string](t, c, "SELECT v FROM notes"); got != "main" {
				t.Errorf("with vschema %d another statement reads the row of %q", vschemas, got)
			}
			g.setVSchema(t, shardedVSchema)
		}
		if _, err := remove.Exec(1); err != nil {
			t.Fatal(err)
		}
		if n := value[int](t, g.direct, "SELECT COUNT(*) FROM notes"); n != 1 {
			t.Error("DELETE has deleted the row of main, not of the other database")
		}
	})
}

// A prepared USE, which MariaDB knows, has that server's effect: none, unless it is executed where it was prepared.
func TestRoutedPreparedUse(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		if !s.IsMariaDB() {
			t.Skip("MySQL does not prepare USE")
		}
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		for _, tt := range []struct{ use, from, want string }{
			{"customer", "main", "main"}, {"main", "main", "main"}, {"main", "customer", "main"}, {"customer", "customer", "customer"},
		} {
			exec(t, c, "USE customer")
			p := prepareOf(t, c, "USE "+tt.use)
			exec(t, c, "USE "+tt.from)
			if _, err := p.Exec(); err != nil {
				t.Fatal(err)
			}
			got := "main"
			if _, err := c.ExecContext(t.Context(), "SELECT id FROM ref"); err == nil { // which main has not
				got = "customer"
			}
			if got != tt.want {
				t.Errorf("USE %s, prepared in customer and executed in %s: the keyspace is %s, want %s", tt.use, tt.from, got, tt.want)
			}
		}
	})
}

// A statement whose table is not in the vschema any more fails at each execution, and runs again when that is back.
func TestRoutedPreparedWithoutTable(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		const user = `"user": {"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.user_seq"}},`
		g := newShardedGate(t, s, 2, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "INSERT INTO user (id, name) VALUES (1, 'x')")
		for _, query := range []string{
			"SELECT name FROM user WHERE id = ?", "SELECT name FROM user WHERE id IN (?, 2)", "SELECT name FROM user WHERE id = ? AND LAST_INSERT_ID() >= 0",
		} {
			p := prepareOf(t, c, query)
			g.setVSchema(t, strings.Replace(shardedVSchema, user, "", 1))
			var got string
			for range 3 {
				if err := p.QueryRow(1).Scan(&got); errno(err) != 1146 {
					t.Errorf("%s: %q, %v, want error 1146", query, got, err)
				}
			}
			g.setVSchema(t, shardedVSchema)
			if err := p.QueryRow(1).Scan(&got); err != nil || got != "x" {
				t.Errorf("%s, with the table again: %q, %v", query, got, err)
			}
		}
	})
}

// A COM_STMT_PREPARE leaves what the statement before left for ROW_COUNT() and FOUND_ROWS(), as a server's does.
func TestRoutedPreparedCounts(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		ids := g.onEach(t)
		other := s.NewDatabase(t)
		exec(t, s.Open(t, other), shardedTables[0])
		native, routed := conn(t, s.Open(t, other)), conn(t, g.open(t, "customer", ""))
		for _, of := range ids {
			for _, c := range []*sql.Conn{native, routed} {
				exec(t, c, fmt.Sprintf("INSERT INTO user (id) VALUES (%d), (%d)", of[0], of[1]))
			}
		}
		before := []string{"UPDATE user SET n = n + 1", "SELECT id FROM user"}
		for _, of := range ids {
			before = append(before, fmt.Sprintf("UPDATE user SET n = n + 1 WHERE id = %d", of[0]), fmt.Sprintf("SELECT id FROM user WHERE id = %d", of[0]))
		}
		for _, asks := range []string{"SELECT FOUND_ROWS()", "SELECT ROW_COUNT()"} {
			for _, q := range before {
				if asks == "SELECT FOUND_ROWS()" && !strings.HasPrefix(q, "SELECT") {
					continue // the servers differ in what it is then
				}
				var got [2]string
				for i, c := range []*sql.Conn{native, routed} {
					if strings.HasPrefix(q, "SELECT") {
						columnOf(t, c, q)
					} else {
						exec(t, c, q)
					}
					p := prepareOf(t, c, asks)
					if err := p.QueryRow().Scan(&got[i]); err != nil {
						t.Errorf("%s; prepared %s: %v", q, asks, err)
					}
					if err := p.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if got[0] != got[1] {
					t.Errorf("%s; prepared %s: %s, want %s", q, asks, got[1], got[0])
				}
			}
		}
	})
}

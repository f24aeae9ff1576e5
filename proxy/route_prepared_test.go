package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/vschema"
)

type rowsQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// columnOf gives the first column of a result as text; NULL is "NULL".
func columnOf(t testing.TB, db rowsQuerier, query string, args ...any) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	got := []string{}
	for rows.Next() {
		var v sql.NullString
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		if !v.Valid {
			v.String = "NULL"
		}
		got = append(got, v.String)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return got
}

// execArgs runs a prepared statement once, and gives what it affected and its insert id.
func execArgs(t testing.TB, db execer, query string, args ...any) (affected, id int64) {
	t.Helper()
	result, err := db.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if affected, err = result.RowsAffected(); err == nil {
		id, err = result.LastInsertId()
	}
	if err != nil {
		t.Fatal(err)
	}
	return affected, id
}

// With users 1 to 8 in four shards, prepared reads answer as one server does.
func TestRoutedPreparedReads(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		for id := range 8 {
			execArgs(t, c, "INSERT INTO user (id, name, age) VALUES (?, ?, ?)", id+1, fmt.Sprintf("n%d", id+1), 10*(id+1))
		}
		tests := []struct {
			query string
			args  []any
			want  []string
		}{
			{"SELECT name FROM user WHERE id = ?", []any{4}, []string{"n4"}},
			{"SELECT name FROM user WHERE id = ?", []any{uint64(5)}, []string{"n5"}},
			{"SELECT name FROM user WHERE id = ?", []any{"6"}, []string{"n6"}},
			{"SELECT name FROM user WHERE id = ?", []any{[]byte("7")}, []string{"n7"}},
			{"SELECT name FROM user WHERE id = ?", []any{8.0}, []string{"n8"}},
			{"SELECT name FROM user WHERE id = ?", []any{1.5}, []string{}},
			{"SELECT name FROM user WHERE id = ?", []any{-1}, []string{}},
			{"SELECT name FROM user WHERE id = ?", []any{nil}, []string{}},
			{"SELECT name FROM user WHERE id = ?", []any{uint64(1<<64 - 1)}, []string{}},
			{"SELECT name FROM user WHERE id IN (?, ?) ORDER BY id", []any{1, 4}, []string{"n1", "n4"}},
			{"SELECT name FROM user WHERE id IN (?, ?) ORDER BY id DESC", []any{3, 3}, []string{"n3"}},
			{"SELECT name FROM user WHERE age > ? ORDER BY age DESC LIMIT ?, ?", []any{20, 1, 2}, []string{"n7", "n6"}},
			{"SELECT name FROM user WHERE name LIKE ? ORDER BY name", []any{"%_2"}, []string{"n2"}},
			{"SELECT COUNT(*) FROM user WHERE age >= ?", []any{30}, []string{"6"}},
			{"SELECT SUM(age + ?) FROM user", []any{1}, []string{"368"}},
			{"SELECT AVG(age) FROM user WHERE id <> ?", []any{8}, []string{"40.0000"}},
			{"SELECT age DIV ?, COUNT(*) FROM user GROUP BY id ORDER BY id LIMIT 0", []any{20}, nil},
			{"SELECT u.name FROM user u JOIN child c ON c.user_id = u.id WHERE u.id = ? AND c.user_id = ?", []any{4, 4}, []string{}},
			{"SELECT customer.user.name FROM customer.user WHERE id = ?", []any{2}, []string{"n2"}},
			{"SELECT ?", []any{"local"}, []string{"local"}},
			{"SELECT name FROM user WHERE id = 3 AND age = ?", []any{30}, []string{"n3"}},
		}
		for _, test := range tests {
			if test.want == nil {
				continue
			}
			for range 2 {
				if got := columnOf(t, c, test.query, test.args...); !cmp.Equal(got, test.want) {
					t.Errorf("%s %v: got %v, want %v", test.query, test.args, got, test.want)
				}
			}
		}
	})
}

// A statement that stays prepared is executed on whichever shards its values say.
func TestRoutedPreparedStatement(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		prepare := func(query string) *sql.Stmt {
			stmt, err := c.PrepareContext(t.Context(), query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			t.Cleanup(func() { _ = stmt.Close() })
			return stmt
		}
		insert := prepare("INSERT INTO user (id, name) VALUES (?, ?), (?, ?)")
		result, err := insert.Exec(nil, "a'b\\c", 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := result.LastInsertId(); id != 1 {
			t.Errorf("insert id %d, want 1", id)
		}
		if _, err := insert.Exec(100, "héé", nil, []byte("x\xff\x00y")); err == nil {
			t.Error("bytes that are no text went into a VARCHAR")
		} else if errno(err) != 1366 {
			t.Errorf("bytes that are no text: %v, want 1366", err)
		}
		if _, err := insert.Exec(100, "héé", nil, "z"); err != nil {
			t.Fatal(err)
		}
		read := prepare("SELECT name FROM user WHERE id = ?")
		for range 2 {
			for id, want := range map[int]string{1: "a'b\\c", 100: "héé", 101: "z", 4: "z"} {
				var got string
				if err := read.QueryRow(id).Scan(&got); err != nil && id != 101 && id != 4 {
					t.Errorf("user %d: %v", id, err)
				} else if err == nil && got != want {
					t.Errorf("user %d: %q, want %q", id, got, want)
				}
			}
		}
		if got := columnOf(t, c, "SELECT name FROM user ORDER BY id"); len(got) != 4 {
			t.Errorf("users %q", got)
		}
		update := prepare("UPDATE user SET age = ? WHERE id = ?")
		if _, err := update.Exec(5, 100); err != nil {
			t.Fatal(err)
		}
		all := prepare("UPDATE user SET age = ? WHERE age IS NULL OR age <> ?")
		result, err = all.Exec(7, 7)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := result.RowsAffected(); n != 4 {
			t.Errorf("%d rows of all shards updated, want 4", n)
		}
		remove := prepare("DELETE FROM user WHERE id IN (?, ?)")
		if result, err = remove.Exec(100, 1); err != nil {
			t.Fatal(err)
		}
		if n, _ := result.RowsAffected(); n != 2 {
			t.Errorf("%d rows deleted, want 2", n)
		}
		tx, err := c.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for id := range 8 {
			if _, err := tx.Stmt(insert).Exec(1000+2*id, "t", 1001+2*id, "t"); err != nil {
				t.Fatal(err)
			}
		}
		if got := columnOf(t, tx, "SELECT COUNT(*) FROM user WHERE name = ?", "t"); got[0] != "16" {
			t.Errorf("%s rows within the transaction", got)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if got := columnOf(t, c, "SELECT COUNT(*) FROM user WHERE name = ?", "t"); got[0] != "0" {
			t.Errorf("%s rows after ROLLBACK", got)
		}
	})
}

// SQL's PREPARE is for statements that run on one connection whatever their values are.
func TestRoutedPrepareSQL(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		exec(t, g.direct, "CREATE TABLE ua (id BIGINT PRIMARY KEY, v VARCHAR(20))")
		exec(t, g.shards[1], "INSERT INTO user (id, name) VALUES (4, 'd')")
		c := conn(t, g.open(t, "customer", ""))
		exec(t, c, "SET @v = 'x', @text = 'SELECT name FROM customer.user WHERE id = 4'",
			"PREPARE a FROM 'SELECT CONCAT(?, 1)'", "PREPARE b FROM @text", "PREPARE c FROM 'INSERT INTO main.ua (v) VALUES (?)'", "EXECUTE c USING @v")
		if got := columnOf(t, c, "EXECUTE a USING @v"); !cmp.Equal(got, []string{"x1"}) {
			t.Errorf("a gives %q", got)
		}
		if got := value[int](t, c, "SELECT LAST_INSERT_ID()"); got != 1 {
			t.Errorf("LAST_INSERT_ID() is %d", got)
		}
		if got := columnOf(t, c, "EXECUTE b"); !cmp.Equal(got, []string{"d"}) {
			t.Errorf("b gives %q", got)
		}
		exec(t, c, "PREPARE b FROM 'SELECT 2'")
		if got := columnOf(t, c, "EXECUTE b"); !cmp.Equal(got, []string{"2"}) {
			t.Errorf("b gives %q when it was prepared anew", got)
		}
		exec(t, c, "DEALLOCATE PREPARE b")
		if got := value[string](t, g.direct, "SELECT v FROM ua WHERE id = 1"); got != "x" {
			t.Errorf("the row has %q", got)
		}
		for statement, want := range map[string]uint16{
			"EXECUTE b": 1243, "DEALLOCATE PREPARE b": 1243, "EXECUTE nobody": 1243, "PREPARE d FROM 'SELECT'": 1064,
			"PREPARE d FROM 'SELECT * FROM user WHERE id = ?'": 1235, "PREPARE d FROM 'SELECT * FROM user'": 1235,
			"PREPARE d FROM 'INSERT INTO user (name) VALUES (?)'": 1235, "PREPARE d FROM 'SET @x = ?'": 1235,
		} {
			if _, err := c.ExecContext(t.Context(), statement); errno(err) != want {
				t.Errorf("%s: %v, want %d", statement, err, want)
			}
		}
	})
}

// Functions of the session give in a prepared statement what they give in a text.
func TestRoutedPreparedSession(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		prepare := func(query string) func(args ...any) []string {
			stmt, err := c.PrepareContext(t.Context(), query)
			if err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			t.Cleanup(func() { _ = stmt.Close() })
			return func(args ...any) []string {
				t.Helper()
				var got string
				if err := stmt.QueryRow(args...).Scan(&got); err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				return []string{got}
			}
		}
		lastID, found := prepare("SELECT LAST_INSERT_ID() + ?"), prepare("SELECT FOUND_ROWS() * ?")
		variable, next, own := prepare("SELECT CONCAT(@v, ?)"), prepare("SELECT NEXT VALUE FROM main.t_seq"), prepare("SELECT name FROM user WHERE id = LAST_INSERT_ID() AND id > ?")
		for i := range 4 {
			_, id := execArgs(t, c, "INSERT INTO user (name) VALUES (?)", fmt.Sprint("n", i))
			if got := lastID(0); got[0] != fmt.Sprint(id) || id != int64(i+1) {
				t.Errorf("LAST_INSERT_ID() after %d is %s", id, got)
			}
			if got := own(0); got[0] != fmt.Sprint("n", i) {
				t.Errorf("the row of LAST_INSERT_ID() is %s", got)
			}
			columnOf(t, c, "SELECT id FROM user WHERE id >= ?", 0)
			if got := found(1); got[0] != fmt.Sprint(i+1) {
				t.Errorf("FOUND_ROWS() is %s, want %d", got, i+1)
			}
			exec(t, c, fmt.Sprintf("SET @v = 'v%d'", i))
			if got := variable("x"); got[0] != fmt.Sprintf("v%dx", i) {
				t.Errorf("@v is %s", got)
			}
			if got := next(); got[0] != fmt.Sprint(i+1) {
				t.Errorf("the next value is %s", got)
			}
		}
		execArgs(t, c, "SET @w = ?", 5)
		if got := columnOf(t, c, "SELECT name FROM user WHERE id = @w - ?", 2); !cmp.Equal(got, []string{"n2"}) {
			t.Errorf("by a variable: %q", got)
		}
		exec(t, c, "USE main")
		if got := columnOf(t, c, "SELECT DATABASE() FROM customer.user WHERE id = ?", 1); !cmp.Equal(got, []string{"main"}) {
			t.Errorf("DATABASE() is %q", got)
		}
	})
}

// Whether an id is open is decided at each execution, and each row goes to the shard of
// its id (reference cases C24, B31, B32).
func TestRoutedPreparedIDs(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{})
		c := conn(t, g.open(t, "customer", ""))
		one, err := c.PrepareContext(t.Context(), "INSERT INTO user (id, name) VALUES (?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		several, err := c.PrepareContext(t.Context(), "INSERT INTO customer.user (id, name) VALUES (?, 'x'), (?, 'y'), (?, 'z')")
		if err != nil {
			t.Fatal(err)
		}
		defer several.Close()
		tests := []struct {
			stmt *sql.Stmt
			args []any
			want int64
			ids  string
		}{
			{one, []any{nil, "a"}, 1, "1"},
			{one, []any{0, "b"}, 2, "2"},
			{one, []any{"0", "b"}, 3, "3"},
			{several, []any{nil, nil, nil}, 4, "4 5 6"},
			{several, []any{nil, 100, 0}, 101, "101 102 100"}, // an id of a row moves the sequence
		}
		seen := map[string]bool{}
		for _, test := range tests {
			result, err := test.stmt.Exec(test.args...)
			if err != nil {
				t.Fatalf("%v: %v", test.args, err)
			}
			if id, err := result.LastInsertId(); err != nil || id != test.want {
				t.Errorf("%v: insert id %d (%v), want %d", test.args, id, err, test.want)
			}
			for _, id := range strings.Fields(test.ids) {
				seen[id] = true
				if got := columnOf(t, c, "SELECT id FROM user WHERE id = ?", id); !cmp.Equal(got, []string{id}) {
					t.Errorf("%v: id %s: %v", test.args, id, got)
				}
			}
		}
		if got := columnOf(t, c, "SELECT COUNT(*) FROM user WHERE id > ?", 0); got[0] != fmt.Sprint(len(seen)) {
			t.Errorf("%s rows, want %d", got[0], len(seen))
		}
		// A row that fails undoes those of all shards.
		if _, err := several.Exec(1001, 1002, 1); errno(err) != 1062 {
			t.Errorf("a duplicate: %v", err)
		}
		if got := columnOf(t, c, "SELECT COUNT(*) FROM user WHERE id > ?", 1000); got[0] != "0" {
			t.Errorf("%s rows of a statement that failed", got[0])
		}
	})
}

// A statement stays what it was when it was prepared: in its keyspace, and by the vschema
// of its execution.
func TestRoutedPreparedStays(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 4, gateOptions{})
		exec(t, g.direct, "CREATE TABLE user (id BIGINT PRIMARY KEY, name VARCHAR(64))")
		c := conn(t, g.open(t, "customer", ""))
		insert, err := c.PrepareContext(t.Context(), "INSERT INTO user (id, name) VALUES (?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		defer insert.Close()
		read, err := c.PrepareContext(t.Context(), "SELECT name FROM user WHERE id = ?")
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		changes := []func(){
			func() { exec(t, c, "USE main") },
			func() { exec(t, c, "SET sql_mode = ''") },
			func() { exec(t, c, "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'") },
			func() { exec(t, c, "SET NAMES latin1"); exec(t, c, "SET NAMES utf8mb4") },
			func() {
				v, err := vschema.Load("vschema.json", []byte(shardedVSchema))
				if err != nil {
					t.Fatal(err)
				}
				if err := g.proxy.SetVSchema(v); err != nil {
					t.Fatal(err)
				}
			},
		}
		for i, change := range changes {
			change()
			for id := 10 * i; id < 10*i+4; id++ {
				name := fmt.Sprintf(`it's \%d`, id)
				if _, err := insert.Exec(id+1, name); err != nil {
					t.Fatalf("change %d: %v", i, err)
				}
				var got string
				if err := read.QueryRow(id + 1).Scan(&got); err != nil || got != name {
					t.Errorf("change %d: %q (%v), want %q", i, got, err, name)
				}
			}
		}
		quoted, err := c.PrepareContext(t.Context(), "SELECT `name` AS \"n\" FROM customer.user WHERE id IN (?, ?)")
		if err != nil {
			t.Fatal(err)
		}
		defer quoted.Close()
		exec(t, c, "SET sql_mode = ''")
		if _, err := quoted.Query(1, 2); errno(err) != 1615 {
			t.Errorf("a text that reads otherwise now: %v, want 1615", err)
		}
	})
}

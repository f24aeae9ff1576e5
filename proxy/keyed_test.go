package proxy_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
)

const keyedVSchema = `{"keyspaces": {"main": {"tables": {
	"messages": {"auto_increment": {"column": "seq_no", "sequence": "msg_seq", "key": "user_id"}},
	"msg_seq": {"type": "sequence"}
}}}}`

// newKeyedGate starts a seqgate with the keyed sequence msg_seq, and a table
// messages whose key column has the type given.
func newKeyedGate(t *testing.T, s *servertest.Server, keyType string) *gate {
	t.Helper()
	database := s.NewDatabase(t)
	pool, err := sequence.OpenPool(s.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	if err := keyed.Seed(t.Context(), pool, database, "msg_seq", 4, 1, 100); err != nil {
		t.Fatal(err)
	}
	exec(t, s.Open(t, database), "CREATE TABLE messages (user_id "+keyType+", seq_no BIGINT, body VARCHAR(20), PRIMARY KEY (user_id, seq_no))")
	open := func(table string) *keyed.Sequence {
		seq := keyed.Open(pool, sequence.Name{Keyspace: "main", Database: database, Table: table}, keyed.Config{})
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			if err := seq.Close(ctx); err != nil {
				t.Errorf("release the leases: %v", err)
			}
		})
		return seq
	}
	sequences := map[string]*keyed.Sequence{"msg_seq": open("msg_seq"), "plain_seq": open("plain_seq")}
	return newGate(t, s, gateOptions{database: database, vschema: keyedVSchema,
		keyed: func(name sequence.Name) (*keyed.Sequence, error) { return sequences[name.Table], nil }})
}

// Each key counts by itself, however the rows and keys are written.
func TestKeyedInserts(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "BIGINT")
		db := g.open(t, "multiStatements=true")
		c := conn(t, db)
		exec(t, c,
			"INSERT INTO messages (user_id, body) VALUES (7, 'a'), (8, 'b'), (7, 'c')",
			"INSERT INTO messages SET body = 'd', user_id = '07'",
			"INSERT INTO messages VALUES (8, NULL, 'e'), (9, 50, 'f'), (9, 0, 'g')",
			"INSERT INTO messages (body, user_id) VALUES ('h', 8); INSERT INTO messages (body, user_id) VALUES ('i', 8)")
		for _, st := range []struct {
			query string
			args  []any
		}{
			{"INSERT INTO messages (user_id, body) VALUES (?, ?), (8, 'k')", []any{7, "j"}},
			{"INSERT INTO messages VALUES (?, ?, 'l'), (?, 60, 'm')", []any{"7", nil, 7}},
		} {
			stmt, err := c.PrepareContext(t.Context(), st.query)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stmt.ExecContext(t.Context(), st.args...); err != nil {
				t.Fatalf("%s: %v", st.query, err)
			}
			_ = stmt.Close()
		}
		const want = "7:1a 7:2c 7:3d 7:4j 7:5l 7:60m 8:1b 8:2e 8:3h 8:4i 8:5k 9:1g 9:50f"
		if got := value[string](t, c, "SELECT GROUP_CONCAT(CONCAT(user_id, ':', seq_no, body) ORDER BY user_id, seq_no SEPARATOR ' ') FROM messages"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := value[int](t, c, "SELECT LAST_INSERT_ID()"); got != 5 {
			t.Errorf("LAST_INSERT_ID() is %d, want 5: the first value of the last INSERT", got)
		}
	})
}

// Texts that a column takes for equal have one counter.
func TestKeyedTexts(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "VARCHAR(10) CHARACTER SET utf8mb4")
		c := conn(t, g.open(t, ""))
		exec(t, c, "INSERT INTO messages (user_id, body) VALUES ('Ann', '1'), ('ANN', '2'), ('änn', '3'), ('ann ', '4'), (42, '5'), ('42', '6')",
			"SET NAMES latin1", "INSERT INTO messages (user_id, body) VALUES ('\xc4nn', '7')")
		if got := value[string](t, c, "SELECT GROUP_CONCAT(seq_no ORDER BY body) FROM messages"); got != "1,2,3,4,1,2,5" {
			t.Errorf("got values %s, want 1,2,3,4,1,2,5", got)
		}
	})
}

// The bytes of a binary key count, in whichever character set a client writes them.
func TestKeyedBytes(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "BINARY(4)")
		c := conn(t, g.open(t, ""))
		exec(t, c, "INSERT INTO messages (user_id, body) VALUES ('\xc3\xa9', '1'), (0xC3A9, '2'), (X'C3A90000', '3')",
			"SET NAMES latin1", "INSERT INTO messages (user_id, body) VALUES ('\xc3\xa9', '4')")
		if got := value[string](t, c, "SELECT GROUP_CONCAT(seq_no ORDER BY body) FROM messages"); got != "1,2,3,4" {
			t.Errorf("got values %s, want 1,2,3,4", got)
		}
	})
}

// What leaves the key to the server is refused before it writes a row.
func TestKeyedRefused(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "VARCHAR(5)")
		c := conn(t, g.open(t, ""))
		for _, query := range []string{
			"INSERT INTO messages (body) VALUES ('x')",
			"INSERT INTO messages (user_id, body) VALUES (NULL, 'x')",
			"INSERT INTO messages (user_id, body) VALUES (DEFAULT, 'x')",
			"INSERT INTO messages (user_id, body) VALUES (CONCAT('a', 'b'), 'x')",
			"INSERT INTO messages (user_id, body) VALUES (0x37, 'x')",
			"INSERT INTO messages (user_id, body) VALUES (X'37', 'x')",
			"INSERT IGNORE INTO messages (user_id, body) VALUES ('a', 'x')",
			"INSERT INTO messages (user_id, body) VALUES ('a', 'x') ON DUPLICATE KEY UPDATE body = 'y'",
		} {
			if _, err := c.ExecContext(t.Context(), query); errno(err) != 1235 {
				t.Errorf("%s: got %v, want error 1235", query, err)
			}
		}
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO messages (user_id, body) VALUES (?, 'x')")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		if _, err := c.ExecContext(t.Context(), "INSERT INTO messages (user_id, body) VALUES ('longer', 'x')"); errno(err) != 1406 {
			t.Errorf("a key longer than its column: got %v, want the server's error 1406", err)
		}
		for _, key := range []any{nil, 1.5} {
			if _, err := stmt.ExecContext(t.Context(), key); errno(err) != 1235 {
				t.Errorf("key %v: got %v, want error 1235", key, err)
			}
		}
		exec(t, c, "SET sql_mode = ''")
		if _, err := c.ExecContext(t.Context(), "INSERT INTO messages (user_id, body) VALUES ('longer', 'x')"); errno(err) != 1235 {
			t.Errorf("a key that may be cut off: got %v, want error 1235", err)
		}
		if got := value[int](t, c, "SELECT COUNT(*) FROM messages"); got != 0 {
			t.Errorf("%d rows were written", got)
		}
	})
}

// Values may be asked for directly.
func TestNextValueForKey(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newKeyedGate(t, s, "BIGINT")
		c := conn(t, g.open(t, ""))
		for _, step := range []struct {
			query string
			want  int
		}{
			{"SELECT NEXT VALUE FROM msg_seq FOR KEY 'a'", 1},
			{"SELECT NEXT 5 VALUES FROM msg_seq FOR KEY 'A'", 2},
			{"SELECT NEXT VALUE FOR msg_seq FOR KEY 'b'", 1},
			{"SELECT NEXT VALUE FROM msg_seq FOR KEY 'a'", 7},
		} {
			if got := value[int](t, c, step.query); got != step.want {
				t.Errorf("%s: got %d, want %d", step.query, got, step.want)
			}
		}
		stmt, err := c.PrepareContext(t.Context(), "SELECT NEXT ? VALUES FROM msg_seq FOR KEY ?")
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for _, want := range []int{8, 11} {
			var got int
			if err := stmt.QueryRowContext(t.Context(), 3, "a").Scan(&got); err != nil || got != want {
				t.Errorf("prepared: got %d, %v, want %d", got, err, want)
			}
		}
		if _, err := c.ExecContext(t.Context(), "SELECT NEXT VALUE FROM msg_seq"); errno(err) != 1347 || !strings.Contains(err.Error(), "FOR KEY") {
			t.Errorf("a keyed sequence without a key: got %v, want error 1347 that names FOR KEY", err)
		}
		createSequence(t, c, "plain_seq", 1, 10)
		if _, err := c.ExecContext(t.Context(), "SELECT NEXT VALUE FROM plain_seq FOR KEY 'a'"); errno(err) != 1347 {
			t.Errorf("a plain sequence with a key: got %v, want error 1347", err)
		}
		if err := stmt.QueryRowContext(t.Context(), 1, nil).Scan(new(int)); errno(err) != 1210 {
			t.Errorf("no key: got %v, want error 1210", err)
		}
	})
}

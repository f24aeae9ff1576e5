package proxy_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/internal/servertest"
)

// brokenInserts are what no server takes: unreadable for seqgate, or read and filled by it.
var brokenInserts = []string{
	"INSERT INTO user VALUES ('a'", "INSERT INTO user VALUES 'a'", "INSERT INTO user (,name) VALUES ('a')", "INSERT INTO user",
	"INSERT INTO user (name) VALUES", "INSERT INTO user (name) VALUES ('a') SELECT 1", "INSERT INTO user (name VALUES ('a')",
	"INSERT INTO user (name) VALUES ('a'),", "INSERT INTO user SET", "INSERT INTO user SET name",
	"INSERT INTO user (name) VALUES ('a' 'b' c)", "INSERT INTO user (name) VALUES (1 +)", "INSERT INTO user (name) VALUES (1 + , 2)",
	"INSERT INTO user (name) VALUES ('a'), ('b' OR OR 1), ('c')", "REPLACE INTO user (name) VALUES (upper('a')",
	"INSERT INTO user (id, name) VALUES (NULL, 1 1)", "INSERT INTO user (id, name) VALUES (0, ')\\'', (1)", "INSERT user SET name = SELECT 1",
	"INSERT INTO user (name) VALUES ('a') ON DUPLICATE KEY UPDATE", "INSERT INTO user (name) VALUES ('a') ON DUPLICATE KEY name = 1",
	"INSERT INTO user (name) VALUES (1) /*!40000", "INSERT INTO user (name) SELECT 'a' FROM WHERE", "INSERT INTO user (name) VALUES ('a') RETURNING", "INSERT INTO user (name) VALUES (`a)",
}

// refusal gives what a server says of a statement; empty for success.
func refusal(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Error()
	}
	if err != nil {
		return "no error of a server: " + err.Error()
	}
	return ""
}

// checkRefused compares what both sides say of statements, as text and prepared.
func checkRefused(t *testing.T, native, through *sql.Conn, statements []string) {
	t.Helper()
	for _, statement := range statements {
		_, want := native.ExecContext(t.Context(), statement)
		_, got := through.ExecContext(t.Context(), statement)
		if errno(want) != 1064 {
			t.Errorf("%q is no syntax error: %v", statement, want)
		}
		if diff := cmp.Diff(refusal(want), refusal(got)); diff != "" {
			t.Errorf("text %q (-native +seqgate):\n%s", statement, diff)
		}
		_, want = native.PrepareContext(t.Context(), statement)
		_, got = through.PrepareContext(t.Context(), statement)
		if diff := cmp.Diff(refusal(want), refusal(got)); diff != "" {
			t.Errorf("prepared %q (-native +seqgate):\n%s", statement, diff)
		}
	}
}

const userTable = "CREATE TABLE user (id BIGINT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20))"

// A syntax error in an INSERT that needs ids is the server's own, of the client's text.
func TestSyntaxErrorsOfInserts(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		native, through := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), ""))), conn(t, g.open(t, ""))
		exec(t, native, userTable)
		exec(t, through, userTable)
		createSequence(t, g.direct, "user_seq", firstID, 10)
		checkRefused(t, native, through, brokenInserts)
		exec(t, through, "INSERT INTO user (name) VALUES ('a');\x00") // as some clients end a text, and both servers take it
		if id := value[int64](t, through, "SELECT id FROM user"); id < firstID {
			t.Errorf("id %d, want one of the sequence", id)
		}
		// What the server takes, and seqgate cannot fill, is refused as before.
		for _, statement := range []string{"INSERT INTO user (id, name) VALUES (1 + 1, 'a')", "INSERT INTO user (id, name) SELECT id + 0, name FROM user LIMIT 0"} {
			if _, err := through.ExecContext(t.Context(), statement); errno(err) != 1235 && err != nil {
				t.Errorf("%s: %v, want error 1235 or none", statement, err)
			}
		}
	})
}

// The same in front of shards.
func TestSyntaxErrorsOfShardedInserts(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{})
		native := conn(t, openDSN(t, nativeDSN(s, s.NewDatabase(t), "")))
		exec(t, native, userTable)
		checkRefused(t, native, conn(t, g.open(t, "customer", "")), brokenInserts)
	})
}

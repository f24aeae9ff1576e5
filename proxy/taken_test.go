package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

// takenGate is a seqgate that holds ids from 1 on in memory, some of which are written past it.
func takenGate(t *testing.T, s *servertest.Server, column string, first, last int) (*gate, *sql.Conn) {
	t.Helper()
	g := newGate(t, s, gateOptions{})
	c := conn(t, g.open(t, ""))
	exec(t, c, "CREATE TABLE t (id "+column+", a INT, u INT UNIQUE)")
	createSequence(t, c, "t_seq", 1, 1000)
	exec(t, c, "INSERT INTO t (a) VALUES (0)")
	rows := make([]string, 0, last-first+1)
	for id := first; id <= last; id++ {
		rows = append(rows, fmt.Sprintf("(%d, -1)", id))
	}
	exec(t, g.direct, "INSERT INTO t (id, a) VALUES "+strings.Join(rows, ", "))
	return g, c
}

// Explicit ids inside a block in memory, written past this seqgate, cost no error where the statement can be run again.
func TestIDsTaken(t *testing.T) {
	t.Parallel()
	type run func(ctx context.Context, c *sql.Conn, i int) error
	text := func(format string) run {
		return func(ctx context.Context, c *sql.Conn, i int) error {
			_, err := c.ExecContext(ctx, fmt.Sprintf(format, i))
			return err
		}
	}
	prepared := func(query string, args ...any) run {
		var stmt *sql.Stmt
		return func(ctx context.Context, c *sql.Conn, i int) (err error) {
			if stmt == nil {
				if stmt, err = c.PrepareContext(ctx, query); err != nil {
					return err
				}
			}
			_, err = stmt.ExecContext(ctx, append([]any{i}, args...)...)
			return err
		}
	}
	for _, column := range []string{"BIGINT PRIMARY KEY", "BIGINT PRIMARY KEY AUTO_INCREMENT"} {
		for _, tt := range []struct {
			name   string
			rows   int
			errors int // at most
			insert func() run
		}{
			{"text", 1, 0, func() run { return text("INSERT INTO t (a) VALUES (%d)") }},
			{"text of many rows", 3, 0, func() run {
				return text("INSERT INTO t (id, a) VALUES (NULL, %d), (0, 5), (DEFAULT, UNIX_TIMESTAMP() > 1)")
			}},
			{"set", 1, 0, func() run { return text("INSERT INTO t SET a = %d") }},
			{"prepared", 1, 0, func() run { return prepared("INSERT INTO t (a) VALUES (?)") }},
			{"prepared, many rows", 3, 0, func() run { return prepared("INSERT INTO t (a, id) VALUES (?, ?), (2, NULL), (2, ?)", nil, nil) }},
			{"text with a user variable", 1, 1, func() run { return text("INSERT INTO t (a) VALUES (@x := %d)") }},
			{"query", 1, 1, func() run { return text("INSERT INTO t (a) SELECT %d") }},
			{"unknown function", 1, 1, func() run { return text("INSERT INTO t (a) VALUES (LEAST(%d, 7))") }},
		} {
			t.Run(tt.name+" "+column, func(t *testing.T) {
				servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
					_, c := takenGate(t, s, column, 5, 700)
					insert, failed := tt.insert(), 0
					const runs = 20
					for i := range runs {
						switch err := insert(t.Context(), c, i); {
						case errno(err) == 1062:
							failed++
						case err != nil:
							t.Fatal(err)
						}
					}
					if failed > tt.errors {
						t.Errorf("%d INSERTs failed, want %d at most", failed, tt.errors)
					}
					if got, want := value[int](t, c, "SELECT COUNT(*) FROM t WHERE a >= 0"), 1+(runs-failed)*tt.rows; got != want {
						t.Errorf("%d rows, want %d", got, want)
					}
				})
			})
		}
	}
}

// What the client sees of a statement that was run again is that of the second run.
func TestIDsTakenAnswer(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		_, c := takenGate(t, s, "BIGINT PRIMARY KEY", 2, 500)
		result, err := c.ExecContext(t.Context(), "INSERT INTO t (a, u) VALUES (1, 1), (2, 2)")
		if err != nil {
			t.Fatal(err)
		}
		id, _ := result.LastInsertId()
		if got := value[string](t, c, "SELECT CONCAT(LAST_INSERT_ID(), ' ', @@warning_count)"); got != "501 0" || id != 501 {
			t.Errorf("got %s, insert id %d", got, id)
		}
		if got := value[string](t, c, "SELECT GROUP_CONCAT(id ORDER BY u) FROM t WHERE u > 0"); got != "501,502" {
			t.Errorf("ids %s", got)
		}
		// A duplicate of another key stays one, and skips nothing, though its value is one of the ids.
		_, err = c.ExecContext(t.Context(), "INSERT INTO t (a, u) VALUES (3, 3), (3, 3)")
		checkErrno(t, err, 1062)
		exec(t, c, "INSERT INTO t (a, u) VALUES (4, 507)")
		_, err = c.ExecContext(t.Context(), "INSERT INTO t (a, u) VALUES (5, 506), (5, 507)")
		checkErrno(t, err, 1062)
		exec(t, c, "INSERT INTO t (a, u) VALUES (6, 600)")
		if got := value[int](t, c, "SELECT id FROM t WHERE u = 600"); got != 508 {
			t.Errorf("then id %d, want 508", got)
		}
	})
}

// A statement is not run again where somebody could see that.
func TestIDsTakenOnce(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := takenGate(t, s, "BIGINT PRIMARY KEY", 2, 500)
		exec(t, g.direct, "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @seen = COALESCE(@seen, 0) + 1")
		exec(t, c, "SET @seen = 0")
		_, err := c.ExecContext(t.Context(), "INSERT INTO t (a) VALUES (1)")
		checkErrno(t, err, 1062)
		if got := value[int](t, c, "SELECT @seen"); got != 1 {
			t.Errorf("the trigger ran %d times", got)
		}
		exec(t, c, "INSERT INTO t (a) VALUES (2)")
		if got := value[int](t, c, "SELECT id FROM t WHERE a = 2"); got != 501 {
			t.Errorf("then id %d, want 501", got)
		}
	})
}

// INSERT IGNORE and ON DUPLICATE KEY UPDATE have no error that tells; the memory is skipped behind them.
func TestIDsTakenWithoutError(t *testing.T) {
	t.Parallel()
	for _, insert := range []string{
		"INSERT IGNORE INTO t (a) VALUES (7)",
		"INSERT INTO t (a) VALUES (7) ON DUPLICATE KEY UPDATE a = a",
		"REPLACE INTO t (a) VALUES (7)",
	} {
		t.Run(insert, func(t *testing.T) {
			servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
				_, c := takenGate(t, s, "BIGINT PRIMARY KEY", 2, 900)
				tries := 0
				eventually(t, func() bool {
					tries++
					exec(t, c, insert)
					return value[int](t, c, "SELECT COUNT(*) FROM t WHERE id > 900") > 0
				}, "the ids that are in the table are skipped")
				if tries > 600 {
					t.Errorf("only after %d INSERTs", tries)
				}
			})
		})
	}
}

// UPDATE may move a row to an id in memory.
func TestIDsTakenByUpdate(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := takenGate(t, s, "BIGINT PRIMARY KEY", 2000, 2010)
		exec(t, c, "UPDATE t SET id = id - 1990 WHERE id >= 2000")
		for range 30 {
			exec(t, c, "INSERT INTO t (a) VALUES (1)")
		}
		if !g.logged("was in the table already") {
			t.Error("nothing is logged")
		}
	})
}

// In front of shards the memory is skipped too.
func TestIDsTakenOfShards(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g, c := newInsertGate(t, s, 2)
		exec(t, c, "INSERT INTO user (name) VALUES ('first')")
		next := value[int](t, c, "SELECT MAX(id) FROM user") + 1
		for _, shard := range g.shards {
			for i := range 5 {
				exec(t, shard, fmt.Sprintf("INSERT INTO user (id, name) VALUES (%d, 'taken')", next+i))
			}
		}
		failed := 0
		for range 10 {
			if _, err := c.ExecContext(t.Context(), "INSERT INTO user (name) VALUES ('a')"); err != nil {
				checkErrno(t, err, 1062)
				failed++
			}
			if _, err := c.ExecContext(t.Context(), "INSERT INTO user (name) VALUES ('a'), ('b'), ('c')"); err != nil {
				checkErrno(t, err, 1062)
				failed++
			}
		}
		if failed > 2 {
			t.Errorf("%d INSERTs failed", failed)
		}
	})
}

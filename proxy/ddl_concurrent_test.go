package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// Tables that are made anew, swapped or rebuilt past seqgate while rows go in: each row that goes in has an id of the
// sequence. An error is one that says so, or that says to repeat the statement.
func TestNoRowPassesWhileTablesChange(t *testing.T) {
	t.Parallel()
	const create = " (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)"
	for _, test := range []struct {
		name, vschema string
		before, loop  []string
	}{
		{"dropped and made anew", "", nil, []string{"DROP TABLE t", "CREATE TABLE t" + create}},
		{"dropped and made anew, by the vschema", `{"keyspaces": {"main": {"tables": {
			"t_seq": {"type": "sequence"}, "t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}}}}}`,
			nil, []string{"DROP TABLE t", "CREATE TABLE t" + create}},
		{"swapped", "", []string{"CREATE TABLE u" + create},
			[]string{"RENAME TABLE t TO x, u TO t, x TO u"}},
		{"rebuilt", "", nil, []string{"ALTER TABLE t FORCE, ALGORITHM=COPY"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			servertest.Each(t, func(t *testing.T, s *servertest.Server) {
				g := newGate(t, s, gateOptions{vschema: test.vschema})
				createSequence(t, g.direct, "t_seq", firstFilled, 1000)
				exec(t, g.direct, append([]string{"CREATE TABLE t" + create}, test.before...)...)
				tried := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
				stop := whileLooping(t, g.direct, tried, test.loop...)
				defer stop()
				insertFor(t, g, time.Second, tried)
			})
		})
	}
}

// firstFilled is the first id of the tests' sequences: what is less is the server's own.
const firstFilled = 1_000_000

// whileLooping runs statements over and over until stop is called. In between one of the two clients, in turn, can try a whole
// statement, and no other: else a slow machine gets no row in.
func whileLooping(t *testing.T, db *sql.DB, tried [2]chan struct{}, statements ...string) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			for _, statement := range statements {
				if _, err := db.ExecContext(context.WithoutCancel(ctx), statement); err != nil {
					t.Errorf("%s: %v", statement, err)
					return
				}
			}
			for range 2 { // the first may have begun before
				select {
				case <-tried[i%2]:
				case <-ctx.Done():
				}
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// insertFor inserts rows into t for a while, as text and prepared, and until some went in. Each client says when it has tried.
func insertFor(t *testing.T, g *gate, d time.Duration, tried [2]chan struct{}) {
	var clients sync.WaitGroup
	for i, args := range [][]any{nil, {1}} {
		db, text := g.open(t, ""), "INSERT INTO t (a) VALUES (1)"
		if args != nil {
			text = "INSERT INTO t (a) VALUES (?)"
		}
		clients.Go(func() {
			in, limit := 0, time.Now().Add(time.Minute)
			defer close(tried[i])
			for began := time.Now(); (time.Since(began) < d || in < 3) && time.Now().Before(limit); {
				result, err := db.ExecContext(t.Context(), text, args...)
				select {
				case tried[i] <- struct{}{}:
				default:
				}
				switch errno(err) {
				case 0:
					in++
				case 1146, 1158, 1412, 1615: // 1158 on a slow machine: no answer within 5 s
					continue
				default:
					t.Errorf("%s: %v", text, err)
					return
				}
				if id, err := result.LastInsertId(); err != nil || id < firstFilled {
					t.Errorf("%s: id %d, %v; want one of the sequence", text, id, err)
					return
				}
			}
			if in < 3 {
				t.Errorf("%s: %d rows went in within a minute, want 3", text, in)
			}
		})
	}
	clients.Wait()
}

// Looks at tables that are cut by KILL QUERY are repeated: no table seems to lack its columns, or its sequence.
func TestKilledLooks(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		for _, vschema := range []string{"", `{"keyspaces": {"main": {"tables": {
			"t_seq": {"type": "sequence"}, "t": {"auto_increment": {"column": "id", "sequence": "t_seq"}}}}}}`} {
			g := newGate(t, s, gateOptions{vschema: vschema})
			createSequence(t, g.direct, "t_seq", firstFilled, 1000)
			exec(t, g.direct, "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)")
			ctx, cancel := context.WithCancel(t.Context())
			var killer sync.WaitGroup
			killer.Go(func() {
				for ctx.Err() == nil {
					killLooks(ctx, t, g)
				}
			})
			c := conn(t, g.open(t, ""))
			for began := time.Now(); time.Since(began) < time.Second; {
				exec(t, c, "CREATE TABLE IF NOT EXISTS other (a INT)") // what is known of tables is forgotten
				result, err := c.ExecContext(t.Context(), "INSERT INTO t (a) VALUES (1)")
				if e := errno(err); e == 1412 || e == 1158 {
					continue
				}
				if err != nil {
					t.Errorf("with vschema %q: %v", vschema, err)
					break
				}
				if id, err := result.LastInsertId(); err != nil || id < firstFilled {
					t.Errorf("with vschema %q: id %d, %v; want one of the sequence", vschema, id, err)
					break
				}
			}
			cancel()
			killer.Wait()
		}
	})
}

// killLooks cuts all questions about tables that are under way for a gate.
func killLooks(ctx context.Context, t *testing.T, g *gate) {
	rows, err := g.direct.QueryContext(ctx, "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ? AND ID <> CONNECTION_ID() AND"+
		" (INFO LIKE '%information_schema%' OR INFO LIKE 'SHOW COLUMNS%')", g.database)
	if errors.Is(err, context.Canceled) {
		return
	}
	if err != nil {
		t.Errorf("list the questions: %v", err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return // the list ends with the test
		}
		_, err := g.direct.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", id))
		if e := errno(err); e != 0 && e != 1094 && ctx.Err() == nil {
			t.Errorf("kill a question: %v", err)
		}
	}
}

// A table that got its sequence while it was taken for one without: the first row's answer tells, so that the second has
// its id.
func TestAnswerTellsOfSequence(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{})
		c := conn(t, g.open(t, ""))
		for i := range 20 {
			table := fmt.Sprintf("t%d", i)
			exec(t, g.direct, "CREATE TABLE "+table+" (a INT)")
			exec(t, c, "INSERT INTO "+table+" (a) VALUES (1)")
			createSequence(t, g.direct, table+"_seq", firstFilled, 1000)
			exec(t, g.direct, "ALTER TABLE "+table+" ADD COLUMN id BIGINT AUTO_INCREMENT PRIMARY KEY")
			first, second := inserted(t, c, "INSERT INTO "+table+" (a) VALUES (2)"), inserted(t, c, "INSERT INTO "+table+" (a) VALUES (3)")
			if second < firstFilled {
				t.Fatalf("the second row has id %d, want one of the sequence", second)
			}
			if first >= firstFilled {
				continue // it was looked at again before that
			}
			if !g.logged("an INSERT passed without ids of its sequence") {
				t.Error("the log does not tell of the row that passed")
			}
			return
		}
		t.Error("no table was known for long enough")
	})
}

// inserted runs an INSERT and gives its insert id.
func inserted(t *testing.T, db execer, text string, args ...any) int64 {
	t.Helper()
	result, err := db.ExecContext(t.Context(), text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	id, err := result.LastInsertId()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A table without a column for the id beside a sequence, a view and a table that is not there yet are not taken for what
// they were a while ago.
func TestTablesInDoubtAreLookedAtAnew(t *testing.T) {
	t.Parallel()
	const create = "CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, a INT)"
	for _, test := range []struct {
		name, table   string
		before, after []string // natively
		first, second uint16   // errors of the INSERT before and after
	}{
		{"got its id", "t", []string{"CREATE TABLE t (a INT)"}, []string{"DROP TABLE t", create}, 0, 0},
		{"made", "t", nil, []string{create}, 1146, 0},
		{"view", "v", []string{"CREATE TABLE plain (a INT)", create, "CREATE VIEW v AS SELECT a FROM plain"},
			[]string{"CREATE OR REPLACE VIEW v AS SELECT a FROM t"}, 0, 1235},
		{"view of another", "w", []string{"CREATE TABLE plain (a INT)", create, "CREATE VIEW v AS SELECT a FROM plain", "CREATE VIEW w AS SELECT a FROM v"},
			[]string{"CREATE OR REPLACE VIEW v AS SELECT a FROM t"}, 0, 1235},
		{"had its id", "t", []string{create}, []string{"ALTER TABLE t MODIFY id BIGINT, DROP PRIMARY KEY"}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
				for _, args := range [][]any{nil, {1}} {
					g := newGate(t, s, gateOptions{})
					createSequence(t, g.direct, "t_seq", firstFilled, 1000)
					exec(t, g.direct, test.before...)
					c, text := conn(t, g.open(t, "")), "INSERT INTO "+test.table+" (a) VALUES (1)"
					if args != nil {
						text = "INSERT INTO " + test.table + " (a) VALUES (?)"
					}
					_, err := c.ExecContext(t.Context(), text, args...)
					if errno(err) != test.first {
						t.Fatalf("%s: %v, want error %d", text, err, test.first)
					}
					exec(t, g.direct, test.after...)
					if test.second == 1235 {
						time.Sleep(100 * time.Millisecond) // a view is known for half of that
					}
					result, err := c.ExecContext(t.Context(), text, args...)
					for errno(err) == 1615 { // looked at anew between the driver's PREPARE and its execution
						result, err = c.ExecContext(t.Context(), text, args...)
					}
					if errno(err) != test.second {
						t.Fatalf("%s: %v, want error %d", text, err, test.second)
					}
					if err != nil || test.name == "had its id" {
						continue
					}
					if id, err := result.LastInsertId(); err != nil || id < firstFilled {
						t.Errorf("%s: id %d, %v; want one of the sequence", text, id, err)
					}
				}
			})
		})
	}
}

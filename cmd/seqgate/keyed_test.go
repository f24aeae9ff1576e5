package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// keyedTable makes a table whose rows are counted by user, and gives the configuration file of seqgates that share its
// sequence.
func keyedTable(t *testing.T, s *servertest.Server) (direct *sql.DB, database, config string) {
	t.Helper()
	database = s.NewDatabase(t)
	direct = s.Open(t, database)
	run1(t, direct, "CREATE TABLE messages (user_id BIGINT, seq_no BIGINT, body VARCHAR(20), PRIMARY KEY (user_id, seq_no))")
	vschema := writeFile(t, "v.json", `{"keyspaces": {"main": {"tables": {
		"messages": {"auto_increment": {"column": "seq_no", "sequence": "msg_seq", "key": "user_id"}},
		"msg_seq": {"type": "sequence"}}}}}`)
	config = writeFile(t, "c.yaml", fmt.Sprintf(`
listen: 127.0.0.1:0
vschema: %s
keyspaces: {main: {shards: {"-": %q}}}
sequences: {lease: 1s}
`, vschema, s.DSN(database)))
	if err := run(t.Context(), []string{"init", "--config", config}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	return direct, database, config
}

// Seqgates that share a keyed sequence ask each other: clients get their values from whichever they are connected to, also
// after one was killed.
func TestKeyedSequenceOfTwoProcesses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		direct, _, config := keyedTable(t, s)
		a, b := start(t, "serve", "--config", config), start(t, "serve", "--config", config)
		dbs := []*sql.DB{openClient(t, s.User, s.Password, a.addr, "main"), openClient(t, s.User, s.Password, b.addr, "main")}
		const users, each = 40, 10
		var all sync.WaitGroup
		for i, db := range dbs {
			for user := range users {
				all.Go(func() {
					for n := range each {
						query := fmt.Sprintf("INSERT INTO messages (user_id, body) VALUES (%d, 'from %d'), (%d, '%d')", user, i, (user+1)%users, n)
						if _, err := db.ExecContext(t.Context(), query); err != nil {
							t.Errorf("through %d: %v", i, err)
							return
						}
					}
				})
			}
		}
		all.Wait()
		const want = 2 * 2 * users * each // rows of an INSERT, seqgates
		if got := query1[int](t, direct, "SELECT COUNT(*) FROM messages"); got != want {
			t.Errorf("got %d rows, want %d", got, want)
		}
		if got := query1[int](t, direct, "SELECT MAX(n) FROM (SELECT MAX(seq_no) - COUNT(*) n FROM messages GROUP BY user_id) x"); got != 0 {
			t.Errorf("a user's values have %d gaps, want none without a crash", got)
		}

		b.signal(t, syscall.SIGKILL)
		<-b.ended
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var failed atomic.Int64
		for user := range users {
			all.Go(func() {
				if _, err := dbs[0].ExecContext(ctx, fmt.Sprintf("INSERT INTO messages (user_id, body) VALUES (%d, 'after')", user)); err != nil {
					failed.Add(1)
					t.Logf("user %d: %v", user, err)
				}
			})
		}
		all.Wait()
		if n := failed.Load(); n > 0 {
			t.Errorf("%d of %d users got no value after the other seqgate was killed", n, users)
		}
		if got := query1[int](t, direct, "SELECT COUNT(*) FROM messages m WHERE body = 'after' AND seq_no <= (SELECT MAX(seq_no) FROM messages o WHERE o.user_id = m.user_id AND body <> 'after')"); got != 0 {
			t.Errorf("%d users' values went backwards", got)
		}
	})
}

// check tells what is wrong with a keyed sequence.
func TestCheckKeyed(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		direct, _, config := keyedTable(t, s)
		check := func(want string, fails bool) {
			t.Helper()
			var out strings.Builder
			err := run(t.Context(), []string{"check", "--config", config}, &out, io.Discard)
			if (err != nil) != fails || !strings.Contains(out.String(), want) {
				t.Errorf("got %v and\n%swant an error: %v, and %q", err, out.String(), fails, want)
			}
		}
		check("ok: main.msg_seq: counts by key", false)
		run1(t, direct, "ALTER TABLE messages CHANGE user_id usr_id BIGINT")
		check(`the key column user_id is missing: did you mean "usr_id"?`, true)
		run1(t, direct, "ALTER TABLE messages CHANGE usr_id user_id DOUBLE")
		check("the key column user_id is a double", true)
		run1(t, direct, "DROP TABLE msg_seq")
		check("msg_seq does not exist", true)
	})
}

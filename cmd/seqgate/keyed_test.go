package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
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
sequences: {lease: 2s}
`, vschema, s.DSN(database)))
	if err := run(t.Context(), []string{"init", "--config", config}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	return direct, database, config
}

// keyedPair is two seqgates that share a keyed sequence, with a client of each.
type keyedPair struct {
	direct *sql.DB
	gates  [2]*process
	dbs    [2]*sql.DB
}

func newKeyedPair(t *testing.T, s *servertest.Server) *keyedPair {
	t.Helper()
	direct, _, config := keyedTable(t, s)
	p := &keyedPair{direct: direct}
	for i := range p.gates {
		p.gates[i] = start(t, "serve", "--config", config)
		p.dbs[i] = openClient(t, s.User, s.Password, p.gates[i].addr, "main")
	}
	return p
}

// fill inserts rows of all users through both, and gives the most gaps that a user's values have.
func (p *keyedPair) fill(t *testing.T, users int) (gaps int) {
	t.Helper()
	const each = 10
	var all sync.WaitGroup
	for i, db := range p.dbs {
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
	want := 2 * 2 * users * each // rows of an INSERT, seqgates
	if got := query1[int](t, p.direct, "SELECT COUNT(*) FROM messages"); got != want {
		t.Errorf("got %d rows, want %d", got, want)
	}
	return query1[int](t, p.direct, "SELECT MAX(n) FROM (SELECT MAX(seq_no) - COUNT(*) n FROM messages GROUP BY user_id) x")
}

// Seqgates that share a keyed sequence ask each other: clients get their values from whichever they are connected to, also
// after one was killed.
func TestKeyedSequenceOfTwoProcesses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const users = 40
		pair := newKeyedPair(t, s)
		gaps := pair.fill(t, users)
		for tries := 1; gaps > 0 && tries < 3; tries++ { // one that stalls for a second is asked in vain, or loses its lease: that leaves gaps
			t.Logf("a user's values have %d gaps", gaps)
			pair = newKeyedPair(t, s)
			gaps = pair.fill(t, users)
		}
		if gaps > 0 {
			t.Errorf("a user's values have %d gaps, want none without a crash", gaps)
		}

		var all sync.WaitGroup
		direct, dbs, b := pair.direct, pair.dbs, pair.gates[1]
		b.signal(t, syscall.SIGKILL)
		<-b.Ended
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

// When the password of the first user changes, seqgates that have reloaded ask each other with the new one.
func TestKeyedSequenceAfterPasswordChange(t *testing.T) {
	_, _, config := keyedTable(t, servertest.First(t))
	base, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write := func(password string) {
		t.Helper()
		users := fmt.Sprintf("users: [{name: app, password: %s}]\n", password)
		if err := os.WriteFile(config, append([]byte(users), base...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	gates := []*process{start(t, "serve", "--config", config), start(t, "serve", "--config", config)}
	insert := func(password string) {
		t.Helper()
		for i, g := range gates {
			db := openClient(t, "app", password, g.addr, "main")
			for user := range 40 {
				query := fmt.Sprintf("INSERT INTO messages (user_id, body) VALUES (%d, 'b')", user)
				if _, err := db.ExecContext(t.Context(), query); err != nil {
					t.Fatalf("through %d, user %d: %v", i, user, err)
				}
			}
		}
	}
	insert("first")
	write("second")
	for _, g := range gates {
		g.signal(t, syscall.SIGHUP)
		awaitThat(t, "the reload", func() bool { return g.Logged("configuration loaded") })
	}
	insert("second")
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

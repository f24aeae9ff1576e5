package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
)

// waiting gives how many statements wait for a shard.
func (g *gate) waiting() (n int64) {
	for _, b := range g.proxy.Traffic().Backends {
		n += b.Waiting
	}
	return n
}

// Clients that insert all the time wait while a shard is paused, and go on without an error and without an id that is lost or given
// twice: in front of one server, and of shards.
func TestPause(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		t.Run("one server", func(t *testing.T) {
			g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.PauseTimeout = time.Minute }})
			exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
			createSequence(t, g.direct, "t_seq", 1, 100)
			testPause(t, g, g.open(t, ""), "main", "INSERT INTO t (v) VALUES (1)", []*sql.DB{g.direct}, "t")
		})
		t.Run("shards", func(t *testing.T) {
			g := newShardedGate(t, s, 2, gateOptions{configure: func(c *proxy.Config) { c.PauseTimeout = time.Minute }})
			testPause(t, g.gate, g.open(t, "customer", ""), "customer:-80", "INSERT INTO user (name) VALUES ('a')", g.shards, "user")
		})
	})
}

func testPause(t *testing.T, g *gate, db *sql.DB, shard, insert string, at []*sql.DB, table string) {
	const clients = 4
	shown := conn(t, g.open(t, ""))
	var running sync.WaitGroup
	stop := make(chan struct{})
	var mu sync.Mutex
	given := map[int64]bool{}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(given)
	}
	for range clients {
		c := conn(t, db)
		running.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				result, err := c.ExecContext(t.Context(), insert)
				if err != nil {
					t.Error(err)
					return
				}
				id, err := result.LastInsertId()
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if given[id] {
					t.Errorf("the id %d was given twice", id)
				}
				given[id] = true
				mu.Unlock()
			}
		})
	}
	await(t, "the first rows", func() bool { return count() > 50 })
	if !g.proxy.Pause(shard) {
		t.Error("the shard was not found")
	}
	await(t, "all clients to wait", func() bool { return g.waiting() == clients })
	paused := count()
	for range 20 { // with nobody running, nothing comes
		texts(t, shown, "SHOW SEQGATE STATUS")
	}
	if got := count(); got != paused {
		t.Errorf("%d statements ran while all wait", got-paused)
	}
	killAll(t, at[0]) // as the change of a primary does
	await(t, "the ends of the connections", func() bool { return g.proxy.EndedConns(shard) == clients })
	g.proxy.Resume(shard)
	await(t, "rows after it", func() bool { return count() > paused+50 })
	close(stop)
	running.Wait()
	var rows int
	for _, shard := range at {
		rows += value[int](t, shard, "SELECT COUNT(*) FROM "+table)
	}
	if rows != count() {
		t.Errorf("%d rows of %d ids", rows, count())
	}
}

// killAll ends all other connections with the default database of db.
func killAll(t *testing.T, db *sql.DB) {
	t.Helper()
	c := conn(t, db)
	for _, id := range texts(t, c, "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()") {
		if _, err := c.ExecContext(t.Context(), "KILL "+id); err != nil && errno(err) != 1094 { // it has gone meanwhile
			t.Error(err)
		}
	}
}

// A transaction that has a part on a paused shard goes on; others wait, for so long only, and stay as they are.
func TestPauseTimeout(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{configure: func(c *proxy.Config) { c.PauseTimeout = 20 * time.Millisecond }})
		db := g.open(t, "customer", "")
		inside, outside, scattered := conn(t, db), conn(t, db), conn(t, db)
		id := map[string]int64{} // a user of each shard
		for n := int64(1); len(id) < 2; n++ {
			exec(t, outside, fmt.Sprintf("INSERT INTO user (id, name) VALUES (%d, 'a')", 5000+n))
			for i, shard := range g.shards {
				if value[int](t, shard, "SELECT COUNT(*) FROM user WHERE id = ?", 5000+n) == 1 {
					id[g.layout.Name(i)] = 5000 + n
				}
			}
		}
		exec(t, inside, "BEGIN", fmt.Sprintf("UPDATE user SET n = 1 WHERE id = %d", id["-80"]))
		exec(t, outside, "BEGIN", fmt.Sprintf("UPDATE user SET n = 1 WHERE id = %d", id["80-"]))
		g.proxy.Pause("customer:-80")
		const text = "'customer:-80' is paused"
		fails(t, outside, 1205, text, fmt.Sprintf("UPDATE user SET n = 2 WHERE id = %d", id["-80"]))
		fails(t, scattered, 1205, text, "UPDATE user SET age = 1")
		exec(t, outside, fmt.Sprintf("UPDATE user SET n = 3 WHERE id = %d", id["80-"]), "COMMIT")
		exec(t, inside, fmt.Sprintf("UPDATE user SET n = 3 WHERE id = %d", id["-80"]), "COMMIT")
		fails(t, inside, 1205, text, fmt.Sprintf("UPDATE user SET n = 4 WHERE id = %d", id["-80"]))
		g.proxy.Resume("customer:-80")
		if got := texts(t, scattered, "SELECT n FROM user WHERE n > 0"); strings.Join(got, " ") != "3 3" {
			t.Errorf("got %v", got)
		}
	})
}

// In front of one server a session goes on after the error; what operators look with does not wait, and neither does a transaction.
func TestPauseTimeoutOfOneServer(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.PauseTimeout = 20 * time.Millisecond }})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
		c, inside := conn(t, g.open(t, "")), conn(t, g.open(t, ""))
		stmt, err := c.PrepareContext(t.Context(), "INSERT INTO t VALUES (?)")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stmt.Close() }()
		exec(t, inside, "BEGIN", "INSERT INTO t VALUES (1)")
		for _, missing := range []string{"nosuch", "main:-80", "main:", ""} {
			if g.proxy.Pause(missing) || g.proxy.Resume(missing) {
				t.Errorf("%v was found", missing)
			}
		}
		g.proxy.Pause("main")
		g.proxy.Pause("main") // changes nothing
		fails(t, c, 1205, "'main' is paused", "SELECT 1")
		fails(t, c, 1205, "'main' is paused", "SELECT '"+strings.Repeat("x", 1<<20)+"'")
		if _, err := stmt.ExecContext(t.Context(), 2); errno(err) != 1205 {
			t.Errorf("a prepared statement: %v", err)
		}
		if got := texts(t, c, "SHOW SEQGATE STATUS LIKE 'Sessions'"); len(got) != 1 {
			t.Errorf("status: %v", got)
		}
		exec(t, inside, "INSERT INTO t VALUES (3)", "COMMIT")
		if err := openDSN(t, g.dsn("")).PingContext(t.Context()); errno(err) != 1205 {
			t.Errorf("login: %v", err)
		}
		g.proxy.Resume("main:-")
		g.proxy.Resume("main:-") // changes nothing
		if _, err := stmt.ExecContext(t.Context(), 2); err != nil {
			t.Errorf("after it: %v", err)
		}
		if got := strings.Join(texts(t, c, "SELECT id FROM t ORDER BY id"), " "); got != "1 2 3" {
			t.Errorf("got %s", got)
		}
		for _, line := range []string{`msg="shard paused: new statements and logins wait for it" keyspace=main `, `msg="shard resumed" keyspace=main `} {
			if n := strings.Count(g.logText(), line); n != 1 {
				t.Errorf("%d lines of the log say %s", n, line)
			}
		}
	})
}

// Values that were sent ahead of an execution that is refused are forgotten: another one does not get them twice.
func TestPauseSentAhead(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.PauseTimeout = 20 * time.Millisecond }})
		exec(t, g.direct, "CREATE TABLE plain (id BIGINT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB)", "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, b LONGBLOB)")
		createSequence(t, g.direct, "t_seq", 1000, 10)
		for _, table := range []string{"plain", "t"} {
			stmt, err := conn(t, g.open(t, "maxAllowedPacket=8192")).PrepareContext(t.Context(), "INSERT INTO "+table+" (id, b) VALUES (?, ?)")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = stmt.Close() }()
			value1 := []byte(strings.Repeat("x", 5000))
			g.proxy.Pause("main")
			if _, err := stmt.ExecContext(t.Context(), nil, value1); errno(err) != 1205 {
				t.Errorf("%s: got %v, want error 1205", table, err)
			}
			g.proxy.Resume("main")
			if _, err := stmt.ExecContext(t.Context(), nil, value1); err != nil {
				t.Errorf("%s: %v", table, err)
			}
			if got := value[int](t, g.direct, "SELECT LENGTH(b) FROM "+table); got != len(value1) {
				t.Errorf("%s: the value has %d bytes, want %d", table, got, len(value1))
			}
		}
	})
}

// Logins wait also where the server judges them.
func TestPausePassThrough(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{passThrough: true, configure: func(c *proxy.Config) { c.PauseTimeout = time.Minute }})
		g.proxy.Pause("main")
		db := openDSN(t, fmt.Sprintf("%s:%s@tcp(%s)/%s", s.User, s.Password, g.addr, g.database))
		done := make(chan error, 1)
		go func() { done <- db.PingContext(t.Context()) }()
		await(t, "the login to wait", func() bool { return g.waiting() == 1 })
		g.proxy.Resume("main")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What any shard can answer does not wait for one, and neither do logins: of the shard that a session has logged into, and for
// new sessions.
func TestPauseAnyShard(t *testing.T) {
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newShardedGate(t, s, 2, gateOptions{configure: func(c *proxy.Config) { c.PauseTimeout = 20 * time.Millisecond }})
		for _, shard := range []string{"customer:-80", "customer:80-"} {
			before := conn(t, g.open(t, "customer", ""))
			texts(t, before, "SELECT 1")
			g.proxy.Pause(shard)
			for name, c := range map[string]*sql.Conn{"before": before, "after": conn(t, g.open(t, "customer", ""))} {
				if got := texts(t, c, "SELECT 1+1"); strings.Join(got, "") != "2" {
					t.Errorf("%s, a session from %s: got %v", shard, name, got)
				}
			}
			g.proxy.Resume(shard)
		}
		g.proxy.Pause("customer") // both
		if err := g.open(t, "customer", "").PingContext(t.Context()); errno(err) != 1205 {
			t.Errorf("a login while both are paused: %v", err)
		}
	})
}

// What waits for a paused shard never runs once its client has left or it was killed: a client that gave up has perhaps
// repeated it.
func TestPauseForgetsWhoLeft(t *testing.T) {
	t.Parallel()
	servertest.AtOnce(t, func(t *testing.T, s *servertest.Server) {
		g := newGate(t, s, gateOptions{configure: func(c *proxy.Config) { c.PauseTimeout = time.Minute }})
		exec(t, g.direct, "CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT)")
		createSequence(t, g.direct, "t_seq", 1000, 10)
		other := conn(t, g.open(t, ""))
		value[uint64](t, other, "SELECT CONNECTION_ID()")
		for name, end := range map[string]func(id uint64, leave func()){
			"left":       func(_ uint64, leave func()) { leave() },
			"KILL":       func(id uint64, _ func()) { exec(t, other, fmt.Sprintf("KILL %d", id)) },
			"KILL QUERY": func(id uint64, _ func()) { exec(t, other, fmt.Sprintf("KILL QUERY %d", id)) },
		} {
			c := conn(t, g.open(t, ""))
			id := value[uint64](t, c, "SELECT CONNECTION_ID()")
			ctx, leave := context.WithCancel(t.Context())
			g.proxy.Pause("main")
			done := make(chan error, 1)
			go func() {
				_, err := c.ExecContext(ctx, "INSERT INTO t VALUES ()")
				done <- err
			}()
			await(t, name+": it waits", func() bool { return g.waiting() == 1 })
			end(id, leave)
			err := <-done
			await(t, name+": nobody waits", func() bool { return g.waiting() == 0 })
			if name == "KILL QUERY" && errno(err) != 1317 || err == nil {
				t.Errorf("%s: %v", name, err)
			}
			g.proxy.Resume("main")
			leave()
			if n := value[int](t, conn(t, g.open(t, "")), "SELECT COUNT(*) FROM t"); n != 0 {
				t.Errorf("%s: %d rows went in", name, n)
			}
		}
	})
}

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/sequence/worker"
)

func TestCheckGenerators(t *testing.T) {
	soon := time.Now().AddDate(-8, 0, 0).UTC()
	text := fmt.Sprintf(`{"keyspaces": {"main": {"generators": {
		"flake": {"type": "snowflake", "params": {"layout": "twitter", "worker": 7, "zone": 1}},
		"none": {"type": "snowflake", "params": {"layout": "js53"}},
		"soon": {"type": "snowflake", "params": {"unit": "1s", "epoch": %q, "bits": {"time": 28, "worker": 22, "sequence": 13}, "worker": 1}},
		"other": {"type": "snowflake", "params": {"layout": "js53", "worker": 3}},
		"tag": {"type": "leaf", "params": {"biz_tag": "order"}},
		"tag2": {"type": "leaf", "params": {"biz_tag": "nope"}},
		"u": {"type": "uuid7"}
	}, "tables": {
		"a": {"auto_increment": {"column": "id", "generator": "flake"}},
		"b": {"auto_increment": {"column": "id", "generator": "flake"}},
		"c": {"auto_increment": {"column": "id", "generator": "u"}},
		"d": {"auto_increment": {"column": "id", "generator": "u"}},
		"e": {"auto_increment": {"column": "no", "generator": "tag"}}
	}}}}`, soon.Format(time.DateOnly))
	ends := soon.Truncate(24 * time.Hour).Add(time.Second << 28)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, text, leafTable, "INSERT INTO leaf_alloc VALUES ('order', 5001, 2000)",
			"CREATE TABLE a (id BIGINT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)", "CREATE TABLE c (id CHAR(36) PRIMARY KEY)",
			"CREATE TABLE d (id CHAR(30) PRIMARY KEY)", "CREATE TABLE e (id BIGINT PRIMARY KEY)")
		out, err := p.run(checkCommand)
		if exitCode(err) != 1 {
			t.Errorf("exit code %d (%v), want 1", exitCode(err), err)
		}
		for _, want := range []string{
			"ok: generator main.flake: snowflake twitter (41 bits of 1ms since 2010-11-04, 5 zone, 5 worker, 12 sequence), zone 1, worker 7: the last ids are of 2080-07-10\n",
			"note: generator main.none: the table seqgate_workers does not exist: the first seqgate makes it, or seqgate init\n",
			"ok: generator main.none: snowflake js53 (41 bits of 1ms since 2025-01-01, 5 worker, 7 sequence), zone 0, worker ids from table main.seqgate_workers: the last ids are of ",
			`warning: generator main.soon: layout "soon" gives its last id at ` + ends.Format("2006-01-02"),
			"ok: generator main.soon: snowflake soon (28 bits of 1s since " + soon.Format(time.DateOnly) + ", 22 worker, 13 sequence), zone 0, worker 1: the last ids are of " + ends.Format(time.DateOnly),
			"error: generator main.other: another generator with the same bits, epoch and zone has its worker id from table main.seqgate_workers, this one from worker_id 3",
			"ok: generator main.tag: leaf: max_id 5001, step 2000\n",
			`error: generator main.tag2: the table leaf_alloc has no row with biz_tag "nope"`,
			"ok: generator main.u: uuid7\n",
			"ok: main.a.id: filled from generator main.flake\n",
			"error: main.b.id: cannot be filled from generator flake: a int holds ids up to 2147483647, and layout twitter gives ids up to 9223372036854775807: make it a BIGINT",
			"ok: main.c.id: filled from generator main.u\n",
			"error: main.d.id: cannot be filled from generator u: a char(30) holds no uuid7: make it CHAR(36)",
			"error: main.e: the auto_increment column no is missing",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("no line %q in\n%s", want, out)
			}
		}
	})
}

const servedGenerators = `{"keyspaces": {"main": {
	"generators": {
		"flake": {"type": "snowflake", "params": {"layout": "twitter"}},
		"tag": {"type": "leaf", "params": {"biz_tag": "order"}},
		"tiny": {"type": "tinyid", "params": {"biz_type": "order"}},
		"counter": {"type": "redis", "params": {"url_env": "TEST_COUNTER", "key": "ids", "step": 10, "guard": "guard"}},
		"daily": {"type": "redis", "params": {"url_env": "TEST_COUNTER", "key": "daily", "step": 10, "guard": "daily_guard", "time_prefix": "day", "digits": 6}},
		"u": {"type": "uuid"}
	},
	"tables": {
		"guard": {"type": "sequence"},
		"daily_guard": {"type": "sequence"},
		"of_daily": {"auto_increment": {"column": "id", "generator": "daily"}},
		"of_flake": {"auto_increment": {"column": "id", "generator": "flake"}},
		"of_tag": {"auto_increment": {"column": "id", "generator": "tag"}},
		"of_tiny": {"auto_increment": {"column": "id", "generator": "tiny"}},
		"of_counter": {"auto_increment": {"column": "id", "generator": "counter"}},
		"of_u": {"auto_increment": {"column": "id", "generator": "u"}}
	}}}}`

// What check says of a counter behind a date, its guard and its column.
func TestCheckDated(t *testing.T) {
	addr := servertest.StartRedis(t)
	text := fmt.Sprintf(`{"keyspaces": {"main": {"generators": {
		"daily": {"type": "redis", "params": {"url": "redis://%[1]s", "key": "d", "guard": "dg", "time_prefix": "day", "digits": 6}},
		"hourly": {"type": "redis", "params": {"url": "redis://%[1]s", "key": "h", "guard": "hg", "time_prefix": "hour", "digits": 2}}
	}, "tables": {
		"dg": {"type": "sequence"}, "hg": {"type": "sequence"},
		"a": {"auto_increment": {"column": "id", "generator": "daily"}},
		"b": {"auto_increment": {"column": "id", "generator": "hourly"}}
	}}}}`, addr)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, text, "CREATE TABLE a (id DECIMAL(14) PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY)")
		t.Setenv("SEQGATE_SEQUENCES_FAILOVER_SKIP", "100")
		out, _ := p.run(checkCommand)
		for _, want := range []string{
			"generator main.daily: the Redis counter d:" + time.Now().UTC().Format("2006"),
			"error: generator main.hourly: failover_skip of its guard main.hg is 100, more than one hour has with 2 digits",
			"ok: main.a.id: filled from generator main.daily\n",
			"error: main.b.id: cannot be filled from generator hourly: a int holds ids up to 2147483647, and those of the hour with 2 digits go up to 999912312399",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("no line %q in\n%s", want, out)
			}
		}
	})
}

// Two processes fill tables from all kinds of generators, while one of them is killed and started again, and the Redis
// loses its counter.
func TestServeGenerators(t *testing.T) {
	addr := servertest.StartRedis(t)
	t.Setenv("TEST_COUNTER", "redis://"+addr+"/1")
	counter := redis.NewClient(&redis.Options{Addr: addr, DB: 1})
	t.Cleanup(func() { _ = counter.Close() })
	day := func() int64 {
		now := time.Now().UTC()
		return int64(now.Year()*10000 + int(now.Month())*100 + now.Day())
	}
	today := day()
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, servedGenerators, leafTable, tinyidTable, "ALTER TABLE tiny_id_info ADD version BIGINT NOT NULL DEFAULT 0, ADD update_time TIMESTAMP NULL",
			"INSERT INTO leaf_alloc VALUES ('order', 1, 10)", "INSERT INTO tiny_id_info (biz_type, max_id, step) VALUES ('order', 1, 10)")
		tables := map[string]string{"of_flake": "BIGINT", "of_tag": "BIGINT", "of_tiny": "BIGINT", "of_counter": "BIGINT", "of_daily": "BIGINT", "of_u": "CHAR(36)"}
		for name, typ := range tables {
			p.exec("CREATE TABLE " + name + " (id " + typ + " PRIMARY KEY, n INT)")
		}
		p.exec("INSERT INTO of_counter VALUES (5000, 0)")
		if out, err := p.run(initCommand); err != nil {
			t.Fatalf("init: %v\n%s", err, out)
		}
		startOne := func() (*process, *sql.DB) {
			one := start(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, p.from...)...)
			return one, openClient(t, s.User, s.Password, one.addr, "main")
		}
		insert := func(db *sql.DB) {
			var all sync.WaitGroup
			for name := range tables {
				all.Go(func() {
					for n := range 20 {
						if _, err := db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO %s (n) VALUES (%d), (%d), (%d)", name, n, n, n)); err != nil {
							t.Errorf("%s: %v", name, err)
							return
						}
					}
				})
			}
			all.Wait()
		}
		first, db := startOne()
		_, other := startOne()
		insert(db)
		insert(other)
		first.signal(t, syscall.SIGKILL)
		first.exited(t)
		if err := counter.FlushDB(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		_, db = startOne()
		insert(db)
		insert(other)
		for name := range tables {
			want := 240
			if name == "of_counter" {
				want++
			}
			var n int
			if err := p.db.QueryRow("SELECT COUNT(*) FROM " + name).Scan(&n); err != nil || n != want {
				t.Errorf("%s has %d rows, %v; want %d", name, n, err, want)
			}
		}
		workersOf(t, p.db)
		var earliest, last int64
		if err := p.db.QueryRow("SELECT MIN(id) DIV 1000000, MAX(id) DIV 1000000 FROM of_daily").Scan(&earliest, &last); err != nil || earliest < today || last > day() {
			t.Errorf("ids of the days %d to %d, %v; want those from %d to %d", earliest, last, err, today, day())
		}
	})
}

// workersOf wants the ids of of_flake to be of three workers: that of the process that was killed is not free yet.
func workersOf(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.Query("SELECT id FROM of_flake")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	layout, _ := snowflake.Preset("twitter")
	counts := map[int64]int{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		d, err := layout.Decode(id)
		if err != nil {
			t.Fatal(err)
		}
		counts[d.Worker]++
	}
	if got := slices.Sorted(maps.Values(counts)); rows.Err() != nil || !slices.Equal(got, []int{60, 60, 120}) {
		t.Errorf("ids by worker: %v, %v; want 60, 60 and 120 of three", counts, rows.Err())
	}
}

const leasedGenerator = `{"keyspaces": {"main": {"generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter"}}},
	"tables": {"t": {"auto_increment": {"column": "id", "generator": "flake"}}}}}}`

// A host whose clock differs from the database's does not start: here it is the clock of seqgate's sessions there.
func TestServeClockDiffers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, leasedGenerator, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)")
		for _, off := range []time.Duration{-time.Hour, time.Minute} {
			dsn, err := mysql.ParseDSN(s.DSN(p.name))
			if err != nil {
				t.Fatal(err)
			}
			dsn.Params = map[string]string{"timestamp": fmt.Sprint(time.Now().Add(off).Unix())}
			text := fmt.Sprintf("keyspaces: {main: {shards: {\"-\": %q}}}\nvschema: %s\n", dsn.FormatDSN(), writeFile(t, "vschema.json", leasedGenerator))
			p.from = []string{"--config", writeFile(t, "seqgate.yaml", text)}
			err = serveFails(t, p.from...)
			if !errors.Is(err, worker.ErrClock) || !strings.Contains(err.Error(), "set the clocks right (NTP)") {
				t.Errorf("serve with a database whose clock is %v ahead: %v, want %v", off, err, worker.ErrClock)
			}
			if out, err := p.run(initCommand); err != nil {
				t.Fatalf("init: %v, %s", err, out)
			}
			if out, err := p.run(checkCommand); exitCode(err) != 1 || !strings.Contains(out, "error: generator main.flake: worker ids of time41-worker10-sequence12-1ms-since-1288834974657: this host's clock says ") {
				t.Errorf("check: %v, %s", err, out)
			}
		}
	})
}

// serveFails gives the error of a seqgate that does not start. One that is not served for leaseWait starts, and finds out
// later: it is ended and started again.
func serveFails(t *testing.T, args ...string) error {
	t.Helper()
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), io.Discard, io.Discard)
		cancel()
		if err != nil {
			return err
		}
	}
	t.Fatal("serve starts, three times")
	return nil
}

// Leases as an operator meets them: init makes the table, check tells who has which worker id, a clean stop ends the lease.
func TestServeLeases(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		untilHandedBack(t, func() bool { return serveLeases(t, s) })
	})
}

func serveLeases(t *testing.T, s *servertest.Server) (handedBack bool) {
	t.Helper()
	p := newPlace(t, s, leasedGenerator, "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)")
	for _, want := range []string{"CREATE TABLE IF NOT EXISTS ", "-- main.seqgate_workers: nothing to do"} {
		if out, err := p.run(initCommand); err != nil || !strings.Contains(out, want) {
			t.Fatalf("init: %v, %s\nwant %q", err, out, want)
		}
	}
	check := func(want string) bool {
		out, err := p.run(checkCommand)
		if err != nil {
			t.Fatalf("check: %v, %s", err, out)
		}
		return strings.Contains(out, "ok: generator main.flake: "+want)
	}
	if !check("0 of 32 worker ids are taken") {
		t.Error("worker ids are taken before the start")
	}
	one := start(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, p.from...)...)
	awaitThat(t, "a worker id", func() bool { return check("1 of 32 worker ids are taken") }) // the lease may come after the start
	if err := run(t.Context(), append([]string{"serve", "--listen", one.addr}, p.from...), io.Discard, io.Discard); err == nil {
		t.Error("two serve at one address")
	}
	if !check("1 of 32 worker ids are taken") {
		t.Error("a start that fails takes a worker id")
	}
	db := openClient(t, s.User, s.Password, one.addr, "main")
	if _, err := db.Exec("INSERT INTO t (n) VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	var worker, from, left string
	if err := db.QueryRow("SHOW SEQGATE GENERATORS").Scan(skip(6, &worker, &from, &left, 17)...); err != nil ||
		worker == "" || from != "table main.seqgate_workers" || left == "" {
		t.Errorf("SHOW SEQGATE GENERATORS: worker %q from %q, %q ms left, %v", worker, from, left, err)
	}
	one.signal(t, syscall.SIGTERM)
	one.exited(t)
	if !one.handedBack() {
		return false
	}
	var holder string
	if err := p.db.QueryRow("SELECT holder FROM seqgate_workers WHERE worker_id = ?", worker).Scan(&holder); err != nil || holder != "" {
		t.Errorf("after a clean stop the holder is %q, %v", holder, err)
	}
	return true
}

// skip gives what to scan a row of that many columns into, of which those at first and after it matter.
func skip(first int, dest ...any) []any {
	n := dest[len(dest)-1].(int)
	all := make([]any, n)
	for i := range all {
		all[i] = new(string)
	}
	copy(all[first:], dest[:len(dest)-1])
	return all
}

// A static worker id that others lease, or beside a layout with the same ids, is told by check.
func TestCheckStatic(t *testing.T) {
	const text = `{"keyspaces": {"main": {"generators": {"flake": {"type": "snowflake", "params": {"layout": "js53", "worker": 3}}}}}}`
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPlace(t, s, text)
		if _, err := p.db.Exec(worker.CreateTableSQL(p.name)); err != nil {
			t.Fatal(err)
		}
		lease := func(set string, id int) {
			t.Helper()
			if _, err := p.db.Exec("REPLACE INTO seqgate_workers VALUES (?, ?, 'a', 'elsewhere', UTC_TIMESTAMP() + INTERVAL 1 HOUR, UTC_TIMESTAMP() + INTERVAL 1 HOUR, '1970-01-01', UTC_TIMESTAMP(), 0)", set, id); err != nil {
				t.Fatal(err)
			}
		}
		const set = "time41-worker5-sequence7-1ms-since-1735689600000"
		lease(set, 2)
		if out, err := p.run(checkCommand); err != nil || !strings.Contains(out, "ok: generator main.flake: ") {
			t.Errorf("another worker id is leased: %v, %s", err, out)
		}
		lease(set, 3)
		want := "error: generator main.flake: worker id 3 is static here, and elsewhere leases it from table main.seqgate_workers until "
		if out, err := p.run(checkCommand); exitCode(err) != 1 || !strings.Contains(out, want) {
			t.Errorf("the worker id is leased: %v, no %q in %s", err, want, out)
		}
		lease("time41-worker6-sequence6-1ms-since-1735689600000", 0)
		want = "time41-worker6-sequence6-1ms-since-1735689600000 gives ids that may be the same, up to "
		if out, err := p.run(checkCommand); exitCode(err) != 1 || !strings.Contains(out, want) {
			t.Errorf("a layout with the same ids is leased: %v, no %q in %s", err, want, out)
		}
	})
}

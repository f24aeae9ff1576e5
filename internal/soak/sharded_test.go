package soak

import (
	"cmp"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/testgate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// Cases C30 to C32 of the list of cases: 32 sessions with 1000 INSERTs each. A tenth of them shows the same.
var shardedInserts = flag.Int("sharded.inserts", 100, "INSERTs of each of 32 sessions into shards; 8 sessions more make an eighth as many of 100 rows")

const (
	singleSessions = 32
	multiSessions  = 8
	multiRows      = 100
	shardedStep    = 200 // ids that a seqgate reserves at once
)

var shardNames = []string{"-40", "40-80", "80-c0", "c0-"}

const shardedVSchema = `{"keyspaces": {"main": {"tables": {"user_seq": {"type": "sequence"}}},
	"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {"user": {
		"column_vindexes": [{"column": "id", "name": "hash"}], "auto_increment": {"column": "id", "sequence": "main.user_seq"}}}}}}`

const shardedConfig = `
listen: 127.0.0.1:0
users: [{name: app, password: app}]
vschema: %s
default_keyspace: customer
keyspaces:
  main: {shards: {"-": %q}}
  customer: {shards: {%s}}
sequences: {max_step: %d, timeout: 30s}
tls: {backend: disabled}
`

// shardedCluster is a table in four shards, its sequence beside them, and seqgates in front.
type shardedCluster struct {
	binary, config string
	main           *sql.DB
	shards         []*sql.DB
	processes      []*testgate.Process // the latest of each place
	mu             sync.Mutex          // guards processes
}

func newShardedCluster(t *testing.T, s *servertest.Server, binary string, gates int) *shardedCluster {
	t.Helper()
	main := s.NewDatabase(t)
	c := &shardedCluster{binary: binary, main: s.Open(t, main)}
	for _, statement := range []string{sequence.CreateTableSQL(main, "user_seq"), sequence.InsertRowSQL(main, "user_seq", 1, shardedStep)} {
		mustExec(t, c.main, statement)
	}
	var dsns []string
	for _, name := range shardNames {
		database := s.NewDatabase(t)
		db := s.Open(t, database)
		mustExec(t, db, "CREATE TABLE user (id BIGINT PRIMARY KEY, client INT, number INT, pos INT)")
		c.shards = append(c.shards, db)
		dsns = append(dsns, fmt.Sprintf("%q: %q", name, s.DSN(database)))
	}
	dir := t.TempDir()
	c.config = filepath.Join(dir, "seqgate.yaml")
	write(t, filepath.Join(dir, "vschema.json"), shardedVSchema)
	write(t, c.config, fmt.Sprintf(shardedConfig, filepath.Join(dir, "vschema.json"), s.DSN(main), strings.Join(dsns, ", "), shardedStep))
	for i := range gates {
		c.processes = append(c.processes, nil)
		c.start(t, i)
	}
	return c
}

func mustExec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start starts the seqgate of a place.
func (c *shardedCluster) start(t *testing.T, place int) {
	t.Helper()
	p, err := testgate.Start(fmt.Sprint(place), c.binary, "serve", "--config", c.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes[place] = p
}

func (c *shardedCluster) process(place int) *testgate.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.processes[place]
}

// A shardedSession inserts one statement after the other, and connects anew after each that failed.
type shardedSession struct {
	*shardedCluster
	client, place int
	rows, calls   int
	made          []Call
	before        string // the process that it was connected to
}

// run makes the session's INSERTs; each is told of.
func (s *shardedSession) run(done *atomic.Int64) {
	var conn *sql.DB
	for n := range s.calls {
		if conn == nil {
			conn = s.connect()
		}
		call := Call{Client: s.client, Number: n, Process: s.before, N: int64(s.rows)}
		result, err := conn.Exec("INSERT INTO user (client, number, pos) VALUES " + s.values(n))
		if err != nil {
			call.Outcome, call.Error = Lost, err.Error()
			_ = conn.Close()
			conn = nil
		} else {
			call.First, err = result.LastInsertId()
			if err != nil {
				call.Error = err.Error()
			}
		}
		s.made = append(s.made, call)
		done.Add(1)
	}
	if conn != nil {
		_ = conn.Close()
	}
}

// connect gives a pool of one connection, to the latest process of the session's place once that answers. After
// [recoveryTimeout] it is left to the statement to fail.
func (s *shardedSession) connect() (db *sql.DB) {
	await(func() bool {
		if db != nil {
			_ = db.Close()
		}
		p := s.process(s.place)
		s.before = p.Name + " at " + p.Addr
		db = s.open(p.Addr)
		return db.Ping() == nil
	})
	return db
}

// await waits for a condition, [recoveryTimeout] at most, and reports whether it came true.
func await(condition func() bool) bool {
	for end := time.Now().Add(recoveryTimeout); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func (s *shardedSession) open(addr string) *sql.DB {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.DBName = "app", "app", "tcp", addr, "customer"
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		panic(err) // of a configuration that is wrong in this file
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db
}

func (s *shardedSession) values(number int) string {
	all := make([]string, s.rows)
	for i := range all {
		all[i] = fmt.Sprintf("(%d, %d, %d)", s.client, number, i)
	}
	return strings.Join(all, ", ")
}

// load runs all sessions, and during at a third of their statements.
func (c *shardedCluster) load(during func()) (calls []Call) {
	var running sync.WaitGroup
	var done atomic.Int64
	var all []*shardedSession
	total := 0
	for i := range singleSessions + multiSessions {
		s := &shardedSession{shardedCluster: c, client: i + 1, place: i % len(c.processes), rows: 1, calls: *shardedInserts}
		if i >= singleSessions {
			s.rows, s.calls = multiRows, max(1, *shardedInserts/8)
		}
		total += s.calls
		all = append(all, s)
		running.Go(func() { s.run(&done) })
	}
	if during != nil {
		for done.Load() < int64(total/3) { // they all are done sometime, failed or not
			time.Sleep(5 * time.Millisecond)
		}
		during()
	}
	running.Wait()
	for _, s := range all {
		calls = append(calls, s.made...)
	}
	return calls
}

// rows reads the table of all shards, and judges where each row is.
func (c *shardedCluster) rows(t *testing.T) (all []Row) {
	t.Helper()
	hash, err := vschema.NewVindex("hash", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := vschema.NewShards(shardNames)
	if err != nil {
		t.Fatal(err)
	}
	for i, db := range c.shards {
		found, err := db.QueryContext(t.Context(), "SELECT id, client, number, pos FROM user")
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for found.Next() {
			var r Row
			if err := found.Scan(&r.ID, &r.Client, &r.Number, &r.Pos); err != nil {
				t.Fatal(err)
			}
			id, err := hash.Map(nil, []vschema.Value{vschema.Int(r.ID)})
			if err != nil {
				t.Fatal(err)
			}
			if at := layout.Find(id); at != i {
				t.Errorf("%v is in shard %s, want %s", r, shardNames[i], shardNames[at])
			}
			all = append(all, r)
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// name is what a call and its rows have in common.
type name struct{ client, number int }

// rowsByCall reads the rows of each call, in the order of the statement.
func (c *shardedCluster) rowsByCall(t *testing.T) map[name][]Row {
	t.Helper()
	all := make(map[name][]Row)
	ids := make(map[int64]Row)
	for _, r := range c.rows(t) {
		if other, twice := ids[r.ID]; twice {
			t.Errorf("id %d was given twice: %v, %v", r.ID, other, r)
		}
		ids[r.ID] = r
		n := name{r.Client, r.Number}
		all[n] = append(all[n], r)
	}
	for _, rows := range all {
		slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Pos, b.Pos) })
	}
	return all
}

// check judges the calls by the rows: ids were told as they are, and increase in each session; those of one statement
// follow one another.
func (c *shardedCluster) check(t *testing.T, calls []Call) {
	t.Helper()
	rows := c.rowsByCall(t)
	last := make(map[string]int64) // of each session at one process
	failed := 0
	for _, call := range calls {
		if call.Outcome != Done {
			failed++
			continue
		}
		call.checkRows(t, rows[name{call.Client, call.Number}])
		session := fmt.Sprint(call.Client, call.Process)
		if call.First <= last[session] {
			t.Errorf("%v after id %d in the same session", call, last[session])
		}
		last[session] = call.last()
	}
	t.Logf("%d statements, %d of them failed", len(calls), failed)
}

// checkRows checks that the rows of a call that was acknowledged have the ids that its client was told of.
func (c Call) checkRows(t *testing.T, rows []Row) {
	t.Helper()
	if int64(len(rows)) != c.N {
		t.Errorf("%d rows of %v are there, want %d", len(rows), c, c.N)
	}
	for i, r := range rows {
		if r.ID != c.First+int64(i) {
			t.Errorf("row %d of %v has id %d, want %d", i, c, r.ID, c.First+int64(i))
			return
		}
	}
}

// half gives the calls that have some of their rows and not all.
func (c *shardedCluster) half(t *testing.T, calls []Call) (some []Call) {
	t.Helper()
	rows := c.rowsByCall(t)
	for _, call := range calls {
		if n := int64(len(rows[name{call.Client, call.Number}])); n != 0 && n != call.N {
			some = append(some, call)
		}
	}
	return some
}

// checkLost checks that a seqgate that was killed lost no more than two segments of ids, the one in use and the next:
// beside these are those of statements that failed, and what was left of segments that were too short for a statement.
func (c *shardedCluster) checkLost(t *testing.T, calls []Call, kills int64) {
	t.Helper()
	var next, given, failed int64
	if err := c.main.QueryRowContext(t.Context(), "SELECT next_id FROM user_seq").Scan(&next); err != nil {
		t.Fatal(err)
	}
	for _, call := range calls {
		if call.Outcome == Done {
			given += call.N
		} else {
			failed += call.N
		}
	}
	segments := next/shardedStep + 1
	lost, most := next-1-given, (kills+int64(len(c.processes)))*2*shardedStep+failed+segments*2*(multiRows-1)
	if lost > most {
		t.Errorf("%d ids were lost, want at most %d", lost, most)
	}
}

// Ids of INSERTs into shards are given once, in order in each session, and without a gap in each statement: C30 by one
// seqgate, C31 by two on one sequence, C32 by two of which one is killed.
func TestSharded(t *testing.T) {
	binary := testgate.Build(t)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		t.Run("one seqgate", func(t *testing.T) { testShardedIDs(t, newShardedCluster(t, s, binary, 1)) })
		t.Run("two seqgates", func(t *testing.T) { testShardedIDs(t, newShardedCluster(t, s, binary, 2)) })
		t.Run("kill", func(t *testing.T) { testShardedKill(t, newShardedCluster(t, s, binary, 2)) })
	})
}

func testShardedIDs(t *testing.T, c *shardedCluster) {
	calls := c.load(nil)
	for _, call := range calls {
		if call.Outcome != Done {
			t.Fatalf("%v failed", call)
		}
	}
	c.check(t, calls)
	if half := c.half(t, calls); len(half) > 0 {
		t.Errorf("half written: %v", half)
	}
}

// testShardedKill kills a seqgate and starts it again: it gives no id twice and loses no more than it had reserved.
func testShardedKill(t *testing.T, c *shardedCluster) {
	calls := c.load(func() {
		c.process(0).Kill()
		c.start(t, 0)
	})
	c.check(t, calls)
	c.checkLost(t, calls, 1)
}

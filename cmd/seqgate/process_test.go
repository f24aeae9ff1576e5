package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/testgate"
)

// binary builds seqgate once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("seqgate-test-%d", os.Getpid()))
	servertest.AtEnd(func() { _ = os.Remove(path) }) // 100 MB
	out, err := servertest.GoCommand("build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build seqgate: %w\n%s", err, out)
	}
	return path, nil
})

// process is a running seqgate.
type process struct {
	*testgate.Process
	addr string // the first that it listens on
}

// start runs seqgate until it is ready; it is killed at the test's end.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p, err := testgate.Start(strings.Join(args, " "), path, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return &process{p, p.Addr}
}

// adminAddr gives the admin address.
func (p *process) adminAddr(t *testing.T) string {
	t.Helper()
	if p.Admin() == "" {
		t.Fatal("no admin address in the log")
	}
	return p.Admin()
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exited waits for the process to end and gives its exit code, -1 for a signal.
func (p *process) exited(t *testing.T) int {
	t.Helper()
	select {
	case <-p.Ended:
		return p.State().ExitCode()
	case <-time.After(testgate.EndTimeout):
		t.Fatal("seqgate has not ended in time")
		return 0
	}
}

func openClient(t *testing.T, user, password, addr, database string) *sql.DB {
	t.Helper()
	return openClientTLS(t, user, password, addr, database, "")
}

// openSecureClient is openClient with TLS.
func openSecureClient(t *testing.T, user, password, addr, database string) *sql.DB {
	t.Helper()
	return openClientTLS(t, user, password, addr, database, "skip-verify")
}

func openClientTLS(t *testing.T, user, password, addr, database, tls string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.TLSConfig = tls
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", addr, user, password, database
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run1(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func query1[T any](t *testing.T, db *sql.DB, query string) T {
	t.Helper()
	var v T
	if err := db.QueryRowContext(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

const processCache = 50

// sequencedTable makes a table with a sequence in a fresh database, and gives the
// arguments of a seqgate in front of it.
func sequencedTable(t *testing.T, s *servertest.Server) (direct *sql.DB, database string, args []string) {
	t.Helper()
	database = s.NewDatabase(t)
	direct = s.Open(t, database)
	run1(t, direct, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)",
		"CREATE TABLE t_seq (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
		fmt.Sprintf("INSERT INTO t_seq VALUES (0, 1, %d)", processCache))
	return direct, database, []string{"serve", "--upstream", s.DSN(database), "--listen", "127.0.0.1:0"}
}

// load inserts from several connections until stopped; every id must be new.
type load struct {
	stop chan struct{}
	done sync.WaitGroup
	seen sync.Map
	acks atomic.Int64
}

func startLoad(t *testing.T, db *sql.DB) *load {
	l := &load{stop: make(chan struct{})}
	for range 4 {
		l.done.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				default:
				}
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				r, err := db.ExecContext(ctx, "INSERT INTO t (v) VALUES (1)")
				cancel()
				if err != nil {
					continue
				}
				id, err := r.LastInsertId()
				if _, twice := l.seen.LoadOrStore(id, true); twice || err != nil || id == 0 {
					t.Errorf("id %d (%v) was acknowledged before", id, err)
				}
				l.acks.Add(1)
			}
		})
	}
	return l
}

func (l *load) await(t *testing.T, n int64) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for l.acks.Load() < n {
		if time.Now().After(deadline) {
			t.Fatalf("%d inserts after 30 s, want %d", l.acks.Load(), n)
		}
		time.Sleep(time.Millisecond)
	}
}

// Killed with -9 under load and started again, seqgate gives no id twice, and
// leaves a gap of at most what it had reserved.
func TestKilledUnderLoad(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		const maxStep = 10 * processCache
		t.Setenv("SEQGATE_SEQUENCES_MAX_STEP", strconv.Itoa(maxStep))
		direct, database, args := sequencedTable(t, s)
		all := make(map[int64]bool)
		for range 3 {
			p := start(t, args...)
			l := startLoad(t, openClient(t, s.User, s.Password, p.addr, database))
			l.await(t, 300)
			p.signal(t, syscall.SIGKILL)
			<-p.Ended
			close(l.stop)
			l.done.Wait()
			l.seen.Range(func(id, _ any) bool {
				if all[id.(int64)] {
					t.Errorf("id %d was given before and after the kill", id)
				}
				all[id.(int64)] = true
				return true
			})
			used, next := query1[int64](t, direct, "SELECT MAX(id) FROM t"), query1[int64](t, direct, "SELECT next_id FROM t_seq")
			// Two segments in memory, and one on its way.
			if gap := next - 1 - used; gap < 0 || gap > 3*maxStep {
				t.Errorf("next_id is %d and the last id %d", next, used)
			}
		}
		if rows := query1[int](t, direct, "SELECT COUNT(*) FROM t"); rows < len(all) {
			t.Errorf("%d rows for %d acknowledged ids", rows, len(all))
		}
	})
}

// handedBack reports whether a seqgate that has ended gave back its unused ids and worker ids.
func (p *process) handedBack() bool {
	return !p.Logged("unused ids not handed back") && !p.Logged("leases of worker ids not ended")
}

// untilHandedBack repeats what looks at rows after a stop: a seqgate leaves them as they are when it is not served for
// handBackTimeout, which a busy machine has happen, but not three times.
func untilHandedBack(t *testing.T, try func() (handedBack bool)) {
	t.Helper()
	for range 3 {
		if try() {
			return
		}
	}
	t.Error("unused ids were not handed back, three times")
}

// SIGTERM ends seqgate with code 0, in time, and unused ids go back.
func TestTerminated(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		untilHandedBack(t, func() bool {
			direct, database, args := sequencedTable(t, s)
			p := start(t, args...)
			db := openClient(t, s.User, s.Password, p.addr, database)
			run1(t, db, "INSERT INTO t (v) VALUES (1), (2), (3)")
			begun := time.Now()
			p.signal(t, syscall.SIGTERM)
			if code := p.exited(t); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			if d := time.Since(begun); d > 9*time.Second { // less than the drain_timeout of 10 s
				t.Errorf("it took %v", d)
			}
			if !p.handedBack() {
				return false
			}
			if next := query1[int64](t, direct, "SELECT next_id FROM t_seq"); next != 4 {
				t.Errorf("next_id is %d after a clean stop, want 4: the unused ids were not handed back", next)
			}
			return true
		})
	})
}

// A second signal ends a seqgate at once that waits for a transaction.
func TestTerminatedTwice(t *testing.T) {
	s := servertest.First(t)
	_, database, args := sequencedTable(t, s)
	t.Setenv("SEQGATE_DRAIN_TIMEOUT", "1h")
	p := start(t, args...)
	tx, err := openClient(t, s.User, s.Password, p.addr, database).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() // its connection is gone
	p.signal(t, syscall.SIGTERM)
	for deadline := time.Now().Add(20 * time.Second); !p.Logged("msg=stopping"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("seqgate does not stop")
		}
	}
	p.signal(t, syscall.SIGTERM)
	if code := p.exited(t); code != -1 {
		t.Errorf("exit code %d, want the signal's end", code)
	}
}

// A stop is in order also when the server was gone before.
func TestTerminatedWithoutServer(t *testing.T) {
	t.Parallel()
	servertest.Private(t, func(t *testing.T, s *servertest.Server) {
		_, database, args := sequencedTable(t, s)
		p := start(t, args...)
		run1(t, openClient(t, s.User, s.Password, p.addr, database), "INSERT INTO t (v) VALUES (1)")
		s.Kill(t)
		p.signal(t, syscall.SIGTERM)
		if code := p.exited(t); code != 0 {
			t.Errorf("exit code %d, want 0", code)
		}
	})
}

// The demo is what the README says.
func TestDemo(t *testing.T) {
	p := start(t, "demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	db := openClient(t, "root", "", p.addr, "main")
	var group sync.WaitGroup
	var ids sync.Map
	for w := range 8 {
		group.Go(func() {
			for range 25 {
				r, err := db.ExecContext(context.Background(), "INSERT INTO users (name) VALUES (?), ('second')", fmt.Sprint("user ", w))
				if err != nil {
					t.Error(err)
					return
				}
				id, _ := r.LastInsertId()
				if _, twice := ids.LoadOrStore(id, true); twice || id == 0 {
					t.Errorf("id %d twice", id)
				}
			}
		})
	}
	group.Wait()
	if got := query1[int](t, db, "SELECT COUNT(DISTINCT id) FROM users"); got != 400 {
		t.Errorf("%d users, want 400", got)
	}
	if id := query1[int64](t, db, "SELECT NEXT VALUE FROM orders_seq"); id < 1_000_001 {
		t.Errorf("next value %d", id)
	}
	if _, page := ask(t, p.adminAddr(t), "/", ""); !strings.Contains(page, "main.users_seq") || !strings.Contains(page, "401 since the start") {
		t.Errorf("the status page does not tell of the ids:\n%s", page)
	}
	if _, err := db.Exec("CREATE SEQUENCE s"); err == nil {
		t.Error("CREATE SEQUENCE works: tell so in the README")
	}
	p.signal(t, syscall.SIGTERM)
	if code := p.exited(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// The demo's sharded keyspace is what the README says.
func TestDemoSharded(t *testing.T) {
	p := start(t, "demo", "--listen", "127.0.0.1:0")
	db := openClient(t, "root", "", p.addr, "customer")
	r, err := db.Exec("INSERT INTO orders (user_id, item) VALUES (1, 'tea'), (4, 'salt'), (2, 'rice')")
	if err != nil {
		t.Fatal(err)
	}
	id, _ := r.LastInsertId()
	if n, _ := r.RowsAffected(); n != 3 || id != 1_000_001 {
		t.Errorf("insert id %d, %d rows, want 1000001 and 3", id, n)
	}
	for name, want := range map[string]string{"customer": "1000001,1000002,1000003", "customer:-80": "1000001,1000003", "customer:80-": "1000002"} {
		if got := texts(t, openClient(t, "root", "", p.addr, name), "SELECT id FROM orders ORDER BY id"); got != want {
			t.Errorf("ids in %s: %s, want %s", name, got, want)
		}
	}
	for query, want := range map[string]string{
		"SELECT item FROM orders ORDER BY item":                          "rice,salt,tea",
		"SELECT item FROM orders ORDER BY user_id DESC LIMIT 2":          "salt,rice",
		"SELECT CONCAT(item, 1) FROM orders GROUP BY item ORDER BY item": "rice1,salt1,tea1",
		"SELECT DISTINCT user_id FROM orders ORDER BY user_id":           "1,2,4",
		"SELECT MIN(item) FROM orders":                                   "rice",
	} {
		if got := texts(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := query1[string](t, db, "SELECT item FROM orders WHERE user_id = 4"); got != "salt" {
		t.Errorf("the order of user 4 is of %q, want salt", got)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("INSERT INTO orders (user_id, item) VALUES (4, 'oil')"); err != nil {
		t.Error(err)
	}
	if _, err := tx.Exec("INSERT INTO orders (user_id, item) VALUES (1, 'milk')"); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
	if got := query1[int](t, db, "SELECT COUNT(*) FROM orders"); got != 5 {
		t.Errorf("%d orders, want 5", got)
	}
}

// texts reads the rows of one column.
func texts(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(all, ",")
}

// A wrong call and wrong files end with code 2, and say why.
func TestExitCodes(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("listen: 1\nkeyspaces: {main: {shards: {\"-\": nonsense}}}\nlissten: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"version"}, 0, nil},
		{[]string{"--help"}, 0, nil},
		{nil, 2, []string{"no command"}},
		{[]string{"srve"}, 2, []string{"srve"}},
		{[]string{"serve", "--config", bad}, 2, []string{bad + ":1", bad + ":2", bad + ":3", "listen"}},
		{[]string{"check", "--config", "/nonexistent.yaml"}, 2, []string{"/nonexistent.yaml"}},
	} {
		out, err := exec.Command(path, tt.args...).CombinedOutput()
		code := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if code != tt.code {
			t.Errorf("seqgate %v: exit code %d, want %d\n%s", tt.args, code, tt.code, out)
		}
		for _, text := range tt.says {
			if !strings.Contains(string(out), text) {
				t.Errorf("seqgate %v does not say %q:\n%s", tt.args, text, out)
			}
		}
	}
}

// Listed users' sessions follow each other on warm connections, as the file says.
func TestWarmConnections(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		_, database, _ := sequencedTable(t, s)
		file := filepath.Join(t.TempDir(), "seqgate.yaml")
		text := fmt.Sprintf("listen: 127.0.0.1:0\nusers: [{name: u, password: p}]\nkeyspaces: {main: {shards: {\"-\": %q}}}\n", s.DSN(database))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := start(t, "serve", "--config", file)
		threads := make(map[int64]bool)
		const sessions = 20
		for range sessions {
			db := openClient(t, "u", "p", p.addr, "main")
			threads[query1[int64](t, db, "SELECT CONNECTION_ID()")] = true
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if len(threads) > sessions/2 {
			t.Errorf("%d sessions had %d connections", sessions, len(threads))
		}
	})
}

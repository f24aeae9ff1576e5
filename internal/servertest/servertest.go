// Package servertest starts and stops real MySQL-compatible servers for tests.
//
// Two servers are known: "mariadb", the mariadbd found on this machine, and "mysql97", a MySQL 9.7 that a starter script
// runs. [Each] hands a test the servers that all tests share, [Private] servers of the test's own that it may kill or
// freeze. A server never outlives the process that started it, even one killed with -9: see reaper.
//
// The environment decides what is used:
//
//   - SEQGATE_TEST_DSN: a go-sql-driver DSN of an existing server, shared in MariaDB's place under the name "dsn". Its
//     user needs all privileges; the database it names is not used.
//   - SEQGATE_TEST_MYSQL97: the path of the MySQL 9.7 starter script (start NAME PORT [OPTION...], stop|kill|pid|drop
//     NAME; users root without a password and app/app). Without it the mysql97 subtests are skipped.
//   - SEQGATE_TEST_SERVERS: running servers to share instead of starting some, as NAME=DSN pairs separated by commas:
//     "mariadb=app:app@tcp(127.0.0.1:20001)/,mysql97=app:app@tcp(127.0.0.1:20002)/". The names are those above; a DSN
//     holds no comma; a name left out is started as without the variable. The program in ./run sets it for a whole
//     `go test ./...`, whose packages are one process each.
package servertest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"
)

// Server is a running server and a user of it that has all privileges.
type Server struct {
	Name     string // "mariadb", "mysql97" or "dsn"
	Addr     string // host:port, or the socket's path for a "dsn" server reached by one
	User     string
	Password string
	Version  string // what SELECT VERSION() answers, as "10.11.6-MariaDB-0+deb12u1" or "9.7.0"

	config *mysql.Config // how to reach it, without a database
	engine engine        // nil for a server that this process did not start
	owned  bool          // private to one test
}

// Processlist is the table of all connections, for the FROM of a query on either server. On MySQL
// information_schema.PROCESSLIST is none to use here: it cannot be read (error 3854) while any connection runs a text that
// is no UTF-8, and the servers are shared.
const Processlist = "/*M!100000 information_schema.PROCESSLIST *//*!80022 performance_schema.processlist */"

// Each runs f in one subtest per shared server, named after the server, one after the other. The servers start on first use
// and serve every test of this process, so f must leave global variables and other tests' databases alone; [Private] is for
// the rest. A server that this machine lacks is skipped with the reason.
func Each(t *testing.T, f func(t *testing.T, s *Server)) {
	t.Helper()
	for _, name := range sharedNames() {
		eachOn(t, name, f)
	}
}

// AtOnce is [Each] on all servers at the same time: for tests that wait more than they compute, and share nothing between
// the servers.
func AtOnce(t *testing.T, f func(t *testing.T, s *Server)) {
	t.Helper()
	var wg sync.WaitGroup
	for _, name := range sharedNames() {
		wg.Go(func() { eachOn(t, name, f) })
	}
	wg.Wait()
}

func eachOn(t *testing.T, name string, f func(t *testing.T, s *Server)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		s, err := shared(name)
		skipOrFail(t, err)
		f(t, s)
	})
}

// Private is like [Each] with servers of the test's own, which it may kill, stop, freeze and reconfigure. They start with
// the given further server options and are gone at the end of the subtest. A "dsn" server has no private twin: MariaDB
// stands in for it.
func Private(t *testing.T, f func(t *testing.T, s *Server), options ...string) {
	t.Helper()
	for _, name := range []string{nameMariaDB, nameMySQL97} {
		t.Run(name, func(t *testing.T) {
			s, err := launch(name, options...)
			skipOrFail(t, err)
			s.owned = true
			t.Cleanup(func() { check(t, s, "drop", s.engine.drop()) })
			f(t, s)
		})
	}
}

// Main is the body of a package's TestMain: it runs the tests, stops the servers that [Each] started, fails the package
// when goroutines are left over (opts name those to ignore), and exits.
func Main(m *testing.M, opts ...goleak.Option) {
	goleak.VerifyTestMain(stopping{m, opts}, opts...)
}

// AtEnd has f run behind the last test of the package.
func AtEnd(f func()) {
	ends.Lock()
	defer ends.Unlock()
	ends.all = append(ends.all, f)
}

// ends are the functions of AtEnd.
var ends struct {
	sync.Mutex
	all []func()
}

// stopping is a test run that stops the shared servers after its last test, and leaves goroutines that are about to end
// time for it.
type stopping struct {
	m    *testing.M
	opts []goleak.Option
}

func (s stopping) Run() int {
	code := s.m.Run()
	for _, end := range ends.all {
		end()
	}
	if err := StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	for begun := time.Now(); code == 0 && time.Since(begun) < 30*time.Second && goleak.Find(s.opts...) != nil; { // waits by itself
	}
	return code
}

// IsMariaDB reports whether the server is a MariaDB, else it is a MySQL.
func (s *Server) IsMariaDB() bool { return strings.Contains(s.Version, "MariaDB") }

// DSN returns the go-sql-driver data source name of s with db as the default database ("" for none).
func (s *Server) DSN(db string) string {
	c := s.config.Clone()
	c.DBName = db
	return c.FormatDSN()
}

// Open returns a pool of connections to db ("" for no default database), closed at the end of the test.
func (s *Server) Open(tb testing.TB, db string) *sql.DB {
	tb.Helper()
	pool, err := s.open(db)
	if err != nil {
		tb.Fatalf("open %s: %v", s.Name, err)
	}
	tb.Cleanup(func() { _ = pool.Close() })
	return pool
}

func (s *Server) open(db string) (*sql.DB, error) { return sql.Open("mysql", s.DSN(db)) }

// NewDatabase creates a database of a name no other test has and drops it at the end of the test.
func (s *Server) NewDatabase(tb testing.TB) string {
	tb.Helper()
	name := "test_" + randomName()
	check(tb, s, "create database", s.exec("CREATE DATABASE "+name))
	if !s.owned {
		tb.Cleanup(func() { check(tb, s, "drop database", s.exec("DROP DATABASE "+name)) })
	}
	return name
}

// exec runs one statement on a connection of its own.
func (s *Server) exec(query string) error {
	pool, err := s.open("")
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err = pool.ExecContext(ctx, query)
	return err
}

// identify asks the server for its version, which also proves that its user may log in.
func (s *Server) identify() error {
	pool, err := s.open("")
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return pool.QueryRowContext(ctx, "SELECT VERSION()").Scan(&s.Version)
}

// randomName returns 12 hexadecimal digits: enough that processes sharing a server do not meet.
func randomName() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand.Read
	return hex.EncodeToString(b[:])
}

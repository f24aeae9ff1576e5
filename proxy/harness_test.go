package proxy_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/proxy/backend"
	"github.com/seqgate/seqgate/proxy/catalog"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/keyed"
	"github.com/seqgate/seqgate/vschema"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// gate is a seqgate in front of one database of a real server.
type gate struct {
	addr      string
	server    *servertest.Server
	database  string
	direct    *sql.DB // to the server itself
	sequences *sequence.Registry
	proxy     *proxy.Server
	log       *testWriter
}

type gateOptions struct {
	passThrough bool // clients log in with their own accounts
	vschema     string
	strategy    string // of refills; for_update when empty
	via         string // the address at which sessions reach the server; its own when empty
	users       []proxy.User
	more        map[string]*catalog.Keyspace // beside main
	tlsMode     backend.TLSMode
	database    string
	sequence    sequence.Config
	onExplicit  catalog.ExplicitPolicy // advance when empty
	keyed       func(sequence.Name) (*keyed.Sequence, error)
	timeout     time.Duration       // for stalled clients and servers; the defaults when 0
	configure   func(*proxy.Config) // sets what else a test needs
}

const gateUser, gatePassword = "app", "app"

// newGate starts a seqgate for a fresh database, and stops it at the test's end.
func newGate(t testing.TB, s *servertest.Server, o gateOptions) *gate {
	t.Helper()
	if o.database == "" {
		o.database = s.NewDatabase(t)
	}
	g := &gate{server: s, database: o.database, direct: s.Open(t, o.database)}
	pool := s.Open(t, o.database)
	if o.strategy == "" {
		o.strategy = sequence.StrategyForUpdate
	}
	refills, err := sequence.OpenPool(s.DSN(o.database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = refills.Close() })
	if o.sequence.Timeout == 0 {
		o.sequence.Timeout = 30 * time.Second // an attempt that hangs has time for another one
	}
	g.log = newTestWriter(t)
	log := slog.New(slog.NewTextHandler(g.log, nil))
	o.sequence.Logger = log
	g.sequences = sequence.NewRegistry(func(sequence.Name) (sequence.Settings, error) {
		store, err := sequence.NewStore(o.strategy, refills)
		return sequence.Settings{Store: store}, err
	}, o.sequence)
	dsn, err := mysql.ParseDSN(s.DSN(o.database))
	if err != nil {
		t.Fatal(err)
	}
	users := o.users
	if users == nil && !o.passThrough {
		users = []proxy.User{{Name: gateUser, Password: gatePassword}}
	}
	cfg := proxy.Config{
		Keyspaces: map[string]*catalog.Keyspace{"main": {
			Name: "main", Database: o.database, DB: pool,
			Backend: &backend.Backend{Network: dsn.Net, Addr: cmp.Or(o.via, dsn.Addr), User: dsn.User, Password: dsn.Passwd, TLS: o.tlsMode},
		}},
		Default: "main", Users: users, Sequences: g.sequences, Keyed: o.keyed, Logger: log,
		ReadTimeout: o.timeout, WriteTimeout: o.timeout,
		TLS: testCertificate(t), RSA: testKey(),
	}
	maps.Copy(cfg.Keyspaces, o.more)
	if o.onExplicit != "" {
		cfg.OnExplicitID = func(string, string) catalog.ExplicitPolicy { return o.onExplicit }
	}
	if o.vschema != "" {
		if cfg.VSchema, err = vschema.Load("vschema.json", []byte(o.vschema)); err != nil {
			t.Fatal(err)
		}
	}
	if o.configure != nil {
		o.configure(&cfg)
	}
	if g.proxy, err = proxy.New(cfg); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.addr = l.Addr().String()
	served := make(chan error, 1)
	go func() { served <- g.proxy.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := g.proxy.Shutdown(ctx); err != nil {
			t.Errorf("shut the proxy down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := g.sequences.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Logf("close sequences: %v", err)
		}
	})
	return g
}

// testWriter writes a log to a test, and keeps it.
type testWriter struct {
	tb   testing.TB
	mu   sync.Mutex
	over bool // the test has ended, and takes no more: a table may be described in the background
	text strings.Builder
}

func newTestWriter(tb testing.TB) *testWriter {
	w := &testWriter{tb: tb}
	tb.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
	})
	return w
}

func (w *testWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.tb.Logf("%s", b)
	}
	return w.text.Write(b)
}

// logged reports whether a text stands in the gate's log.
func (g *gate) logged(text string) bool {
	g.log.mu.Lock()
	defer g.log.mu.Unlock()
	return strings.Contains(g.log.text.String(), text)
}

var testKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func testCertificate(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// dsn is how a client reaches the gate.
func (g *gate) dsn(params string) string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s?%s", gateUser, gatePassword, g.addr, g.database, params)
}

// open gives a client of the gate, closed at the test's end.
func (g *gate) open(t testing.TB, params string) *sql.DB {
	t.Helper()
	return openDSN(t, g.dsn(params))
}

func openDSN(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// conn gives one connection through db.
func conn(t testing.TB, db *sql.DB) *sql.Conn {
	t.Helper()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func exec(t testing.TB, db execer, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// value gives the only value of a query.
func value[T any](t testing.TB, db querier, query string, args ...any) T {
	t.Helper()
	var v T
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// createSequence makes a sequence table as Vitess has them.
func createSequence(t testing.TB, db execer, name string, next, cache int64) {
	t.Helper()
	exec(t, db, "CREATE TABLE "+name+" (id INT PRIMARY KEY, next_id BIGINT, cache BIGINT) COMMENT 'vitess_sequence'",
		fmt.Sprintf("INSERT INTO %s VALUES (0, %d, %d)", name, next, cache))
}

// errno gives the number of a MySQL error, 0 for none.
func errno(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	if err != nil {
		return 65535
	}
	return 0
}

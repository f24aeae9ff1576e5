package soak

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/testgate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// tables are filled from the sequence of their name and "_seq". Each has a strategy of its own for its row, but for the
// last, on whose row each gate uses another. The caches are small, so that there are many refills. But for the first, a
// table takes an id twice, so that both calls that were given it are seen.
var tables = []struct {
	name, column, refill string
	cache                int64
	ordered              bool
}{
	{"locked", "BIGINT PRIMARY KEY", sequence.StrategyForUpdate, 3, false},
	{"swapped", "BIGINT AUTO_INCREMENT, KEY (id)", sequence.StrategyCAS, 5, false},
	{"incremented", "BIGINT AUTO_INCREMENT, KEY (id)", sequence.StrategyIncrement, 8, false},
	{"mixed", "BIGINT AUTO_INCREMENT, KEY (id)", "", 5, false},
	{"ordered", "BIGINT PRIMARY KEY", sequence.StrategyIncrement, 5, true},
}

// settings are those of the gates.
var settings = []struct {
	refill  string
	maxStep int64
}{
	{sequence.StrategyForUpdate, 10},
	{sequence.StrategyCAS, 30},
	{sequence.StrategyIncrement, 120},
}

// Limits of a gate in time.
const (
	idTimeout    = 2 * time.Second // sequences.timeout
	drainTimeout = 2 * time.Second
)

// config is a gate's file.
const config = `
listen: 127.0.0.1:0
users: [{name: app, password: app}]
keyspaces: {main: {shards: {"-": %q}}}
sequences: {refill: %s, max_step: %d, timeout: %v, overrides: {%s}}
drain_timeout: %v
tls: {backend: disabled} # so that connections can be cut at chosen statements
`

// cluster is a server with tables in a database, and gates in front of it.
type cluster struct {
	binary string // seqgate
	server *servertest.Server
	direct *sql.DB // to the server itself
	gates  []*gate
	began  time.Time
}

// newCluster makes the tables in a new database, and starts a gate for each of settings.
func newCluster(t *testing.T, s *servertest.Server, binary string) *cluster {
	t.Helper()
	database := s.NewDatabase(t)
	c := &cluster{binary: binary, server: s, direct: s.Open(t, database), began: time.Now()}
	var overrides []string
	for _, table := range tables {
		c.exec(t, fmt.Sprintf("CREATE TABLE %s (id %s, client INT, number INT, pos INT)", table.name, table.column),
			sequence.CreateTableSQL(database, table.name+"_seq"), sequence.InsertRowSQL(database, table.name+"_seq", 1, table.cache))
		if table.refill != "" {
			overrides = append(overrides, fmt.Sprintf("main.%s_seq: {refill: %s, ordered: %v}", table.name, table.refill, table.ordered))
		}
	}
	for _, set := range settings {
		c.addGate(t, database, set.refill, set.maxStep, overrides)
	}
	return c
}

func (c *cluster) addGate(t *testing.T, database, refill string, maxStep int64, overrides []string) {
	t.Helper()
	g := &gate{
		number: len(c.gates) + 1, binary: c.binary, config: filepath.Join(t.TempDir(), "seqgate.yaml"),
		network: sequencetest.NewProxy(t, c.server.Addr), block: max(maxStep, mostRows) + mostCache - 1,
	}
	dsn, err := mysql.ParseDSN(c.server.DSN(database))
	if err != nil {
		t.Fatal(err)
	}
	dsn.Addr = g.network.Addr()
	text := fmt.Sprintf(config, dsn.FormatDSN(), refill, maxStep, idTimeout, strings.Join(overrides, ", "), drainTimeout)
	if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.process().Kill() })
	c.gates = append(c.gates, g)
}

// since is the time since the round's beginning.
func (c *cluster) since() time.Duration { return time.Since(c.began) }

func (c *cluster) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := c.direct.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// nextID reads a sequence's row.
func (c *cluster) nextID(t *testing.T, table string) (n int64) {
	t.Helper()
	if err := c.direct.QueryRowContext(t.Context(), "SELECT next_id FROM "+table+"_seq WHERE id = 0").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// awaitNextID returns when the sequence's next_id is above n.
func (c *cluster) awaitNextID(t *testing.T, table string, n int64) {
	t.Helper()
	for begun := time.Now(); c.nextID(t, table) <= n; time.Sleep(time.Millisecond) {
		if time.Since(begun) > recoveryTimeout {
			t.Fatalf("next_id of %s is not above %d after %v", table, n, recoveryTimeout)
		}
	}
}

// rows reads a table.
func (c *cluster) rows(t *testing.T, table string) (rows []Row) {
	t.Helper()
	found, err := c.direct.QueryContext(t.Context(), "SELECT id, client, number, pos FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		r := Row{Sequence: table}
		if err := found.Scan(&r.ID, &r.Client, &r.Number, &r.Pos); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// gate is a place in the cluster that one process after another fills.
type gate struct {
	number         int
	binary, config string
	network        *sequencetest.Proxy              // between its processes and the server
	block          int64                            // the largest block its processes reserve
	now            atomic.Pointer[testgate.Process] // the latest one, which may have ended
	all            []*testgate.Process
}

func (g *gate) process() *testgate.Process { return g.now.Load() }

// start starts the next process and returns when it is ready.
func (g *gate) start() error {
	p, err := testgate.Start(fmt.Sprintf("%d.%d", g.number, len(g.all)+1), g.binary, "serve", "--config", g.config)
	if err != nil {
		return fmt.Errorf("start gate %d: %w", g.number, err)
	}
	g.all = append(g.all, p)
	g.now.Store(p)
	return nil
}

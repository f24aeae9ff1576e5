package chaos

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/internal/soak"
	"github.com/seqgate/seqgate/internal/testgate"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/vschema"
)

// table is one that ids fill. Its rows have the name of their call in them, and padding so that disks have to grow. No key
// of it is unique, so that an id that is given twice is seen twice.
type table struct {
	name     string
	sharded  bool
	sequence string // or generator, with its keyspace
	gate     int    // the only one that fills it; 0: all
}

// tables of the cluster. Each gate has one for itself, whose sequence can be set back: a gate raises a sequence above what it
// was given itself, and of ids given to others it cannot know.
var tables = []table{
	{"plain", false, "main.plain_seq", 0},
	{"pieces", true, "main.pieces_seq", 0},
	{"flakes", true, flake, 0},
	{"own1", false, "main.own1_seq", 1},
	{"own2", false, "main.own2_seq", 2},
	{"own3", false, "main.own3_seq", 3},
}

const (
	flake   = "main.flake" // the generator of tables[2]
	padding = 400          // bytes of each row
	cache   = 8            // ids reserved at once at first
)

func (t table) qualified() string {
	if t.sharded {
		return "customer." + t.name
	}
	return "main." + t.name
}

// gateSettings are in what the gates differ.
var gateSettings = []struct{ refill, transactions string }{
	{sequence.StrategyForUpdate, "in_order"},
	{sequence.StrategyCAS, "xa"},
	{sequence.StrategyIncrement, "in_order"},
}

const gateConfig = `
listen: 127.0.0.1:0
admin: {listen: %q}
users: [{name: app, password: app}]
vschema: %s
default_keyspace: main
keyspaces:
  main: {shards: {"-": %q}}
  customer: {shards: {"-80": %q, "80-": %q}}
transactions: %s
sequences: {refill: %s, max_step: 60, timeout: 2s}
worker_ids: {lease: 4s, quarantine: 1s}
drain_timeout: 2s
tls: {backend: disabled} # so that packets can be cut anywhere
`

func vschemaText() string {
	var main, customer []string
	for _, t := range tables {
		source := fmt.Sprintf(`"sequence": %q`, t.sequence)
		if t.sequence == flake {
			source = fmt.Sprintf(`"generator": %q`, flake)
		} else {
			main = append(main, fmt.Sprintf(`"%s_seq": {"type": "sequence"}`, t.name))
		}
		fill := fmt.Sprintf(`"auto_increment": {"column": "id", %s}`, source)
		if t.sharded {
			customer = append(customer, fmt.Sprintf(`%q: {"column_vindexes": [{"column": "id", "name": "hash"}], %s}`, t.name, fill))
		} else {
			main = append(main, fmt.Sprintf(`%q: {%s}`, t.name, fill))
		}
	}
	return fmt.Sprintf(`{"keyspaces": {
		"main": {"generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter", "zone": 1}}}, "tables": {%s}},
		"customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {%s}}}}`,
		strings.Join(main, ", "), strings.Join(customer, ", "))
}

// cluster is three servers, of which the first has the sequences and the others are shards, with gates in front.
type cluster struct {
	servers  []*server
	gates    []*gate
	database string // of this round, on each server
	began    time.Time

	mu     sync.Mutex
	faults []Fault
	kinds  map[string]int // how many faults there were of each
	hung   []string       // the logs, with all stacks, of the processes that did not answer
}

// server is one with its disk.
type server struct {
	*servertest.Server
	number int
	disk   *servertest.Disk // nil: it cannot be filled up
	admin  *sql.DB          // by a user whom nothing is forbidden
}

func (c *cluster) main() *server { return c.servers[0] }

// since is the time since the round's beginning.
func (c *cluster) since() time.Duration { return time.Since(c.began) }

func newCluster(t *testing.T, servers []*server, binary string, seed uint64) *cluster {
	t.Helper()
	c := &cluster{servers: servers, database: fmt.Sprintf("chaos_%d", seed), began: time.Now(), kinds: map[string]int{}}
	for _, s := range servers {
		c.prepare(t, s)
	}
	for i := range gateSettings {
		c.addGate(t, i, binary)
	}
	return c
}

// prepare makes a server's tables, and the user of the gates, who has no more rights than it needs: servers that are
// read-only refuse it then.
func (c *cluster) prepare(t *testing.T, s *server) {
	t.Helper()
	statements := []string{"CREATE DATABASE " + c.database,
		"CREATE USER IF NOT EXISTS gate@'%' IDENTIFIED BY 'gate'",
		"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON " + c.database + ".* TO gate@'%'"}
	if !s.IsMariaDB() {
		statements = append(statements, "GRANT XA_RECOVER_ADMIN ON *.* TO gate@'%'")
	}
	for _, table := range tables {
		if table.sharded == (s == c.main()) {
			continue
		}
		statements = append(statements, fmt.Sprintf("CREATE TABLE %s.%s (id BIGINT NOT NULL, client INT, number INT, pos INT, pad CHAR(%d) NOT NULL DEFAULT 'x', KEY (id))",
			c.database, table.name, padding/2))
	}
	if s == c.main() {
		for _, table := range tables {
			if table.sequence != flake {
				statements = append(statements, sequence.CreateTableSQL(c.database, table.name+"_seq"),
					sequence.InsertRowSQL(c.database, table.name+"_seq", 1, cache))
			}
		}
	}
	for _, statement := range statements {
		if _, err := s.admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	t.Cleanup(func() { c.drop(t, s) })
}

// drop makes room on the disk for the next round.
func (c *cluster) drop(t *testing.T, s *server) {
	if t.Failed() {
		return // there is none, and a transaction that is prepared would hold this up
	}
	const lockWaitTimeout = 1205 // transactions of the gates may still be rolled back
	var failed *mysql.MySQLError
	for begun := time.Now(); ; {
		_, err := s.admin.ExecContext(context.Background(), "DROP DATABASE "+c.database)
		if err == nil {
			return
		}
		if !errors.As(err, &failed) || failed.Number != lockWaitTimeout || time.Since(begun) > decideTimeout {
			t.Errorf("drop the database of server %d: %v", s.number, err)
			return
		}
	}
}

// gate is a place in the cluster that one process after another fills.
type gate struct {
	number         int
	xa             bool
	binary, config string
	clock          string // the file that says how far its clock is ahead
	metrics        string // its address
	servers        []*relay
	clients        *relay
	now            atomic.Pointer[testgate.Process] // the latest one, which may have ended
	all            []*testgate.Process
}

func (c *cluster) addGate(t *testing.T, i int, binary string) {
	t.Helper()
	dir := t.TempDir()
	g := &gate{number: i + 1, xa: gateSettings[i].transactions == "xa", binary: binary, config: filepath.Join(dir, "seqgate.yaml"),
		clock: filepath.Join(dir, "clock"), metrics: servertest.FreeAddr(t)}
	var dsns []any
	for _, s := range c.servers {
		r := newRelay(t, s.Addr)
		g.servers = append(g.servers, r)
		dsns = append(dsns, fmt.Sprintf("gate:gate@tcp(%s)/%s", r.addr, c.database))
	}
	schema := filepath.Join(dir, "vschema.json")
	write(t, schema, vschemaText())
	args := append([]any{g.metrics, schema}, dsns...)
	write(t, g.config, fmt.Sprintf(gateConfig, append(args, gateSettings[i].transactions, gateSettings[i].refill)...))
	if err := g.setClock(0); err != nil {
		t.Fatal(err)
	}
	if i == 0 {
		ctx, cancel := context.WithTimeout(t.Context(), testgate.EndTimeout)
		defer cancel()
		initialize := exec.CommandContext(ctx, binary, "init", "--config", g.config)
		initialize.Env = append(initialize.Environ(), clockVariable+"="+g.clock)
		if out, err := initialize.CombinedOutput(); err != nil {
			t.Fatalf("seqgate init: %v\n%s", err, out)
		}
	}
	g.clients = newRelay(t, "127.0.0.1:1")
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.process().Kill() })
	c.gates = append(c.gates, g)
}

func (g *gate) process() *testgate.Process { return g.now.Load() }

// start starts the next process and returns when it is ready.
func (g *gate) start() error {
	p, err := testgate.Start(fmt.Sprintf("%d.%d", g.number, len(g.all)+1),
		"env", clockVariable+"="+g.clock, g.binary, "serve", "--config", g.config)
	if err != nil {
		return fmt.Errorf("start gate %d: %w", g.number, err)
	}
	g.all = append(g.all, p)
	g.clients.lead(p.Addr)
	g.now.Store(p)
	return nil
}

// links are all networks of a gate.
func (g *gate) links() []*relay { return append(g.servers[:len(g.servers):len(g.servers)], g.clients) }

// nextID reads a sequence's row.
func (c *cluster) nextID(ctx context.Context, table string) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = c.main().admin.QueryRowContext(ctx, fmt.Sprintf("SELECT next_id FROM %s.%s_seq WHERE id = 0", c.database, table)).Scan(&n)
	return n, err
}

// awaitNextID returns when the sequence's next_id is above n, or at the end of ctx.
func (c *cluster) awaitNextID(ctx context.Context, table string, n int64) (int64, error) {
	for {
		now, err := c.nextID(ctx, table)
		if err == nil && now > n {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("next_id of %s is not above %d (%w, %w)", table, n, ctx.Err(), err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// collect reads all rows and sequences into h.
func (c *cluster) collect(t *testing.T, h *History) {
	t.Helper()
	h.Sequences = map[string]soak.Sequence{}
	for _, table := range tables {
		if table.sequence != flake {
			end, err := c.nextID(t.Context(), table.name)
			if err != nil {
				t.Fatal(err)
			}
			h.Sequences[table.name] = soak.Sequence{Begin: 1, End: end}
		}
		if !table.sharded {
			h.Rows = append(h.Rows, c.rows(t, c.main(), table)...)
			continue
		}
		for shard, s := range c.servers[1:] {
			for _, row := range c.rows(t, s, table) {
				h.Rows = append(h.Rows, row)
				h.Placed = append(h.Placed, Placed{Row: row, Shard: shard, Want: home(t, row.ID)})
			}
		}
	}
}

func (c *cluster) rows(t *testing.T, s *server, table table) (rows []soak.Row) {
	t.Helper()
	found, err := s.admin.QueryContext(t.Context(), fmt.Sprintf("SELECT id, client, number, pos FROM %s.%s", c.database, table.name))
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		r := soak.Row{Sequence: table.name}
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

// home returns the shard of an id.
func home(t *testing.T, id int64) int {
	t.Helper()
	hash, err := vschema.NewVindex("hash", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := vschema.NewShards([]string{"-80", "80-"})
	if err != nil {
		t.Fatal(err)
	}
	key, err := hash.Map(nil, []vschema.Value{vschema.Int(id)})
	if err != nil {
		t.Fatal(err)
	}
	return layout.Find(key)
}

// connector gives connections to a gate as a client has them.
func connector(addr string) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", addr, "app", "app", "main"
	cfg.Logger = &mysql.NopLogger{}
	return cfg
}

package soak

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	"github.com/seqgate/seqgate/sequence/sequencetest"
	"github.com/seqgate/seqgate/vschema"
)

// profile says what a cluster is and what its clients do.
type profile struct {
	tables     []table
	shards     []string   // of the keyspace customer, whose tables are the sharded ones; nil: there is none
	gates      []settings // of each seqgate
	config     string     // further keys of their file
	user       string     // as whom they log in, with no more rights than needed; "": as the server's own user
	cache      int64      // of the sequences at first
	statements bool       // their connections to the server can be cut at chosen statements
	bytes      bool       // there are faulty networks before servers and clients
	bounded    bool       // it is known how many ids each fault may lose

	timeout  time.Duration // sequences.timeout
	clients  int
	rows     int64         // of one INSERT at most, and ids of one NEXT n VALUES
	recovery time.Duration // in which all is back after the last fault
}

// settings are those of a seqgate.
type settings struct {
	refill       string
	maxStep      int64
	transactions string
}

// table is one that ids fill, from the sequence main.<name>_seq if no other source is named. Its rows have the name of their call
// in them.
type table struct {
	name      string
	column    string // type and keys of the id
	sharded   bool
	generator string // "main.flake"; "": a sequence
	gate      int    // the only one that fills it; 0: all
	refill    string // of its sequence; "": that of each gate
	ordered   bool
}

// What takes an id twice, so that both calls that were given it are seen. counted is filled without a vschema, too.
const (
	anyID   = "BIGINT NOT NULL, KEY (id)"
	counted = "BIGINT AUTO_INCREMENT, KEY (id)"
)

func (t table) into() string {
	if t.sharded {
		return "customer." + t.name
	}
	return t.name
}

func (t table) source() string {
	if t.generator != "" {
		return t.generator
	}
	return t.name + "_seq"
}

// vschema is "" where the convention does: t is filled from t_seq.
func (p profile) vschema() string {
	needed := false
	tables := map[bool][]string{}
	for _, t := range p.tables {
		source := fmt.Sprintf(`"sequence": "main.%s_seq"`, t.name)
		if t.generator != "" {
			source = fmt.Sprintf(`"generator": %q`, t.generator)
		} else {
			tables[false] = append(tables[false], fmt.Sprintf(`"%s_seq": {"type": "sequence"}`, t.name))
		}
		vindex := ""
		if t.sharded {
			vindex = `"column_vindexes": [{"column": "id", "name": "hash"}], `
		}
		needed = needed || t.sharded || t.generator != ""
		tables[t.sharded] = append(tables[t.sharded], fmt.Sprintf(`%q: {%s"auto_increment": {"column": "id", %s}}`, t.name, vindex, source))
	}
	if !needed {
		return ""
	}
	customer := ""
	if p.shards != nil {
		customer = fmt.Sprintf(`, "customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}, "tables": {%s}}`, strings.Join(tables[true], ", "))
	}
	return fmt.Sprintf(`{"keyspaces": {"main": {"generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter", "zone": 1}}}, "tables": {%s}}%s}}`,
		strings.Join(tables[false], ", "), customer)
}

// cluster is servers with databases, the first of which has the sequences and the others are shards, and gates in front of them.
type cluster struct {
	profile
	binary    string // seqgate
	servers   []*server
	databases []database
	gates     []*gate
	began     time.Time

	mu     sync.Mutex
	faults []Fault
	kinds  map[string]int // how many faults there were of each
	hung   []string       // the logs, with all stacks, of the processes that did not answer
	calls  []Call         // of clients that faults needed

	probes atomic.Int64 // such clients
}

type database struct {
	*server
	name string
}

// server is one with its disk.
type server struct {
	*servertest.Server
	number int
	disk   *servertest.Disk // nil: it cannot be filled up
	filled bool             // it has been, since it was started, and so it may end
	admin  *sql.DB          // by a user whom nothing is forbidden
}

// open opens pools whose statements all come to an end: those on tables that a transaction has locks of would wait for a day,
// as long as it is prepared.
func open(t *testing.T, private ...*servertest.Server) (servers []*server) {
	t.Helper()
	for i, s := range private {
		config, err := mysql.ParseDSN(s.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		config.ReadTimeout, config.WriteTimeout = 2*patience, 2*patience
		config.Params = map[string]string{"lock_wait_timeout": lockTimeout, "innodb_lock_wait_timeout": lockTimeout}
		servers = append(servers, &server{Server: s, number: i + 1, admin: pool(t, config)})
	}
	return servers
}

func pool(t *testing.T, config *mysql.Config) *sql.DB {
	t.Helper()
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func newCluster(t *testing.T, p profile, servers []*server, binary string) *cluster {
	t.Helper()
	c := &cluster{profile: p, binary: binary, servers: servers, began: time.Now(), kinds: map[string]int{}}
	t.Cleanup(func() { c.logIfFailed(t) })
	for i := range 1 + len(p.shards) {
		s := servers[i%len(servers)]
		c.databases = append(c.databases, database{s, s.NewDatabase(t)})
		c.prepare(t, i)
	}
	for i := range p.gates {
		c.addGate(t, i)
	}
	return c
}

// since is the time since the round's beginning.
func (c *cluster) since() time.Duration { return time.Since(c.began) }

func (c *cluster) main() database { return c.databases[0] }

// prepare makes a database's tables, and the user of the gates.
func (c *cluster) prepare(t *testing.T, i int) {
	t.Helper()
	d := c.databases[i]
	var statements []string
	if c.user != "" {
		statements = append(statements, "CREATE USER IF NOT EXISTS gate@'%' IDENTIFIED BY 'gate'",
			"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON "+d.name+".* TO gate@'%'")
		if !d.IsMariaDB() {
			statements = append(statements, "GRANT XA_RECOVER_ADMIN ON *.* TO gate@'%'")
		}
		t.Cleanup(func() { d.drop(t) }) // its server is the test's own, whose disk has room for one round
	}
	for _, table := range c.tables {
		if i == 0 && table.generator == "" {
			statements = append(statements, sequence.CreateTableSQL(d.name, table.name+"_seq"), sequence.InsertRowSQL(d.name, table.name+"_seq", 1, c.cache))
		}
		if table.sharded == (i > 0) {
			statements = append(statements, fmt.Sprintf("CREATE TABLE %s.%s (id %s, client INT, number INT, pos INT, pad CHAR(200) NOT NULL DEFAULT 'x')",
				d.name, table.name, table.column))
		}
	}
	d.exec(t, statements...)
}

func (d database) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := d.admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// drop makes room on the disk for the next round.
func (d database) drop(t *testing.T) {
	if t.Failed() {
		return // there is none, and a transaction that is prepared would hold this up
	}
	const lockWaitTimeout = 1205 // transactions of the gates may still be rolled back
	var failed *mysql.MySQLError
	for begun := time.Now(); ; {
		_, err := d.admin.ExecContext(context.Background(), "DROP DATABASE "+d.name)
		if err == nil {
			return
		}
		if !errors.As(err, &failed) || failed.Number != lockWaitTimeout || time.Since(begun) > decideTimeout {
			t.Errorf("drop the database of server %d: %v", d.number, err)
			return
		}
	}
}

// gate is a place in the cluster that one process after another fills.
type gate struct {
	number     int
	xa         bool
	block      int64 // the largest block its processes reserve
	command    func(ctx context.Context, args ...string) *exec.Cmd
	clock      string              // the file that says how far its clock is ahead
	statements *sequencetest.Proxy // between its processes and the server; nil: there is none
	networks   []*relay            // before each server and before its clients; nil: there are none
	now        atomic.Pointer[testgate.Process]
	all        []*testgate.Process // the latest of which may have ended
}

func (c *cluster) addGate(t *testing.T, i int) {
	t.Helper()
	dir, set := t.TempDir(), c.profile.gates[i]
	g := &gate{number: i + 1, xa: set.transactions == "xa", block: max(set.maxStep, c.rows) + mostCache - 1, clock: filepath.Join(dir, "clock")}
	config := filepath.Join(dir, "seqgate.yaml")
	g.command = func(ctx context.Context, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, c.binary, append(args, "--config", config)...)
		cmd.Env = append(cmd.Environ(), clockVariable+"="+g.clock)
		return cmd
	}
	text := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: {listen: 127.0.0.1:0}\nusers: [{name: app, password: app}]\ndefault_keyspace: main\n%s\nkeyspaces:\n", c.config)
	for i, d := range c.databases {
		dsn := c.dsn(t, g, d)
		switch i {
		case 0:
			text += fmt.Sprintf("  main: {shards: {%q: %q}}\n", "-", dsn)
		case 1:
			text += fmt.Sprintf("  customer:\n    shards:\n      %q: %q\n", c.shards[0], dsn)
		default:
			text += fmt.Sprintf("      %q: %q\n", c.shards[i-1], dsn)
		}
	}
	var overrides []string
	for _, table := range c.tables {
		if table.refill != "" {
			overrides = append(overrides, fmt.Sprintf("main.%s_seq: {refill: %s, ordered: %v}", table.name, table.refill, table.ordered))
		}
	}
	text += fmt.Sprintf("sequences: {refill: %s, max_step: %d, timeout: %v, overrides: {%s}}\ntransactions: %s\n", set.refill, set.maxStep, c.timeout,
		strings.Join(overrides, ", "), set.transactions)
	schema := c.vschema()
	if schema != "" {
		write(t, filepath.Join(dir, "vschema.json"), schema)
		text += "vschema: vschema.json\n"
	}
	write(t, config, text)
	if err := g.setClock(0); err != nil {
		t.Fatal(err)
	}
	if i == 0 && schema != "" {
		if out, err := g.command(t.Context(), "init").CombinedOutput(); err != nil {
			t.Fatalf("seqgate init: %v\n%s", err, out)
		}
	}
	if c.bytes {
		g.networks = append(g.networks, newRelay(t, "127.0.0.1:1"))
	}
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.process().Kill() })
	c.gates = append(c.gates, g)
}

// dsn is that of the gate, with the network that is between.
func (c *cluster) dsn(t *testing.T, g *gate, d database) string {
	t.Helper()
	dsn, err := mysql.ParseDSN(d.DSN(d.name))
	if err != nil {
		t.Fatal(err)
	}
	if c.user != "" {
		dsn.User, dsn.Passwd = c.user, c.user
	}
	if c.bytes {
		g.networks = append(g.networks, newRelay(t, d.Addr))
		dsn.Addr = g.networks[len(g.networks)-1].addr
	} else if c.statements {
		if g.statements == nil {
			g.statements = sequencetest.NewProxy(t, d.Addr)
		}
		dsn.Addr = g.statements.Addr()
	}
	return dsn.FormatDSN()
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (g *gate) process() *testgate.Process { return g.now.Load() }

// start starts the next process and returns when it is ready.
func (g *gate) start() error {
	p, err := testgate.StartCommand(fmt.Sprintf("%d.%d", g.number, len(g.all)+1), g.command(context.Background(), "serve"))
	if err != nil {
		return fmt.Errorf("start gate %d: %w", g.number, err)
	}
	g.all = append(g.all, p)
	if g.networks != nil {
		g.networks[len(g.networks)-1].lead(p.Addr)
	}
	g.now.Store(p)
	return nil
}

// nextID reads a sequence's row.
func (c *cluster) nextID(ctx context.Context, table string) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = c.main().admin.QueryRowContext(ctx, fmt.Sprintf("SELECT next_id FROM %s.%s_seq WHERE id = 0", c.main().name, table)).Scan(&n)
	return n, err
}

// collect reads all rows and sequences into h.
func (c *cluster) collect(t *testing.T, h *History) {
	t.Helper()
	h.Sequences = map[string]Sequence{}
	for _, table := range c.tables {
		if table.generator == "" {
			end, err := c.nextID(t.Context(), table.name)
			if err != nil {
				t.Fatal(err)
			}
			h.Sequences[table.name] = Sequence{Begin: 1, End: end, Ordered: table.ordered}
		}
		for i, d := range c.databases {
			if table.sharded == (i > 0) {
				h.Rows = append(h.Rows, c.read(t, table, d, i-1)...)
			}
		}
	}
}

// read reads the rows of a table in a database, that of a shard or, for -1, of none.
func (c *cluster) read(t *testing.T, table table, d database, shard int) (rows []Row) {
	t.Helper()
	found, err := d.admin.QueryContext(t.Context(), fmt.Sprintf("SELECT id, client, number, pos FROM %s.%s", d.name, table.name))
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		r := Row{Sequence: table.name, Shard: shard, Want: -1}
		if err := found.Scan(&r.ID, &r.Client, &r.Number, &r.Pos); err != nil {
			t.Fatal(err)
		}
		if table.sharded {
			r.Want = home(t, c.shards, r.ID)
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// home returns the shard of an id.
func home(t *testing.T, shards []string, id int64) int {
	t.Helper()
	hash, err := vschema.NewVindex("hash", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := vschema.NewShards(shards)
	if err != nil {
		t.Fatal(err)
	}
	key, err := hash.Map(nil, []vschema.Value{vschema.Int(id)})
	if err != nil {
		t.Fatal(err)
	}
	return layout.Find(key)
}

// felt matches the errors in a log by which a gate tells of a fault that it goes on from by itself: worker ids that cannot be
// leased, and a server that is gone in the second phase of a COMMIT.
var felt = regexp.MustCompile(`msg="worker id: |msg="generators have no worker ids yet;|recovery (does it|decides)"`)

// stop stops the gates, of which none may have ended before by itself, and whose logs must tell of no bug.
func (c *cluster) stop(t *testing.T) {
	t.Helper()
	for _, g := range c.gates {
		if err := g.process().Stop(); err != nil {
			t.Error(err)
		}
		for _, fault := range g.unasked() {
			t.Error(fault)
		}
		for _, p := range g.all {
			if bugs := slices.DeleteFunc(p.Bugs(), felt.MatchString); len(bugs) > 0 {
				_, behind, _ := strings.Cut(p.Log(), bugs[0])
				t.Errorf("process %s logged %s%s", p.Name, bugs[0], behind[:min(len(behind), 4000)])
			}
		}
	}
}

// unasked tells of the processes that ended without a fault that ends one. Such a process may have been killed or stopped later.
func (g *gate) unasked() (faults []string) {
	for _, p := range g.all {
		if p.EndedByItself() {
			log := p.Log()
			faults = append(faults, fmt.Sprintf("process %s ended by itself with %v; the end of its log: %s", p.Name, p.State(), log[max(0, len(log)-4000):]))
		}
	}
	return faults
}

// logIfFailed shows the faults of a round that failed.
func (c *cluster) logIfFailed(t *testing.T) {
	if !t.Failed() {
		return
	}
	for _, f := range c.faults {
		t.Log(f)
	}
	for _, stacks := range c.hung {
		t.Log(stacks)
	}
}

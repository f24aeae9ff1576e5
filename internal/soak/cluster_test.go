package soak

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/seqgate/seqgate/internal/servertest"
	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/sequencetest"
)

// tables are filled from the sequence of their name and "_seq". Each has a strategy of its own for its row, but for the
// last, on whose row each gate uses another. The caches are small, so that there are many refills. But for the first, a
// table takes an id twice, so that both calls that were given it are seen.
var tables = []struct {
	name, column, refill string
	cache                int64
}{
	{"locked", "BIGINT PRIMARY KEY", sequence.StrategyForUpdate, 3},
	{"swapped", "BIGINT AUTO_INCREMENT, KEY (id)", sequence.StrategyCAS, 5},
	{"incremented", "BIGINT AUTO_INCREMENT, KEY (id)", sequence.StrategyIncrement, 8},
	{"mixed", "BIGINT AUTO_INCREMENT, KEY (id)", "", 5},
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
	endTimeout   = 30 * time.Second // from SIGTERM to the process's end, on a busy machine
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
			overrides = append(overrides, fmt.Sprintf("main.%s_seq: {refill: %s}", table.name, table.refill))
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
	t.Cleanup(func() { g.process().kill() })
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
	network        *sequencetest.Proxy     // between its processes and the server
	block          int64                   // the largest block its processes reserve
	now            atomic.Pointer[process] // the latest one, which may have ended
	all            []*process
}

func (g *gate) process() *process { return g.now.Load() }

// start starts the next process and returns when it is ready.
func (g *gate) start() error {
	p, err := startProcess(fmt.Sprintf("%d.%d", g.number, len(g.all)+1), g.binary, "serve", "--config", g.config)
	if err != nil {
		return fmt.Errorf("start gate %d: %w", g.number, err)
	}
	g.all = append(g.all, p)
	g.now.Store(p)
	return nil
}

// process is a seqgate.
type process struct {
	name  string
	addr  string // where it listens, which no process did before it
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended

	mu    sync.Mutex
	lines []string // the last ones of its log, and all that tell of a bug
}

func startProcess(name, binary string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it does not outlive the test, whatever ends that
	log, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go p.read(log, ready)
	select {
	case p.addr = <-ready:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("it ended with %v: %s", p.cmd.ProcessState, p.log())
	case <-time.After(endTimeout):
		p.kill()
		return nil, fmt.Errorf("not ready in %v: %s", endTimeout, p.log())
	}
}

// read reads the log to its end, and then collects the process.
func (p *process) read(log io.Reader, ready chan<- string) {
	defer close(p.ended)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		p.keep(lines.Text())
		if _, addr, ok := strings.Cut(lines.Text(), "msg=ready addr="); ok {
			ready <- addr
		}
	}
	_ = p.cmd.Wait() // ProcessState tells how it ended
}

// bug matches the lines of a log that no fault explains.
var bug = regexp.MustCompile(`level=ERROR|panic|DATA RACE`)

// keptLines is how much of a log is kept after a line that tells of a bug, which is its stack, and at the end.
const keptLines = 60

func (p *process) keep(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
	if n := len(p.lines) - keptLines; n > 0 && !slices.ContainsFunc(p.lines[:n], bug.MatchString) {
		p.lines = p.lines[n:]
	}
}

// log returns what was kept of the log.
func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// signal sends s to p, if that runs.
func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to process %s: %w", s, p.name, err)
	}
	return nil
}

// kill ends p at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails when it has ended
	<-p.ended
}

// stop ends p in order. One that has ended must have done so in order too.
func (p *process) stop() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(endTimeout):
		return fmt.Errorf("process %s has not ended %v after SIGTERM; its log:\n%s", p.name, endTimeout, p.log())
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("process %s ended with %v, want code 0; its log:\n%s", p.name, p.cmd.ProcessState, p.log())
	}
	return nil
}

// build builds seqgate without the demo's engine, with the race detector when this test has it.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seqgate")
	args := []string{"build", "-tags", "slim", "-o", path}
	if hasRaceDetector() {
		args = append(args, "-race")
	}
	out, err := exec.CommandContext(t.Context(), "go", append(args, "github.com/seqgate/seqgate/cmd/seqgate")...).CombinedOutput()
	if err != nil {
		t.Fatalf("build seqgate: %v\n%s", err, out)
	}
	return path
}

func hasRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

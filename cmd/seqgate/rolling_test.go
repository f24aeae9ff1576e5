package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// haproxy balances clients over seqgates, whose readiness it asks at their admin addresses.
type haproxy struct {
	addr, stats string
}

const haproxyConfig = `
defaults
  mode tcp
  timeout connect 5s
  timeout client 5m
  timeout server 5m
  timeout check 5s
  option redispatch
  retries 3
frontend mysql
  bind %s
  default_backend seqgates
backend seqgates
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 100ms fall 1 rise 1
  server a %s port %s
  server b %s port %s
frontend stats
  mode http
  bind %s
  stats enable
  stats uri /stats
`

// freeAddr gives an address that nobody listens on.
func freeAddr(t *testing.T) (addr, port string) {
	t.Helper()
	addr = servertest.FreeAddr(t)
	_, port, _ = net.SplitHostPort(addr)
	return addr, port
}

func haproxyPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("haproxy is not installed: run scripts/test-deps")
	}
	t.Skip("haproxy is not installed: run scripts/test-deps")
	return ""
}

// rolled is one of the seqgates behind an HAProxy.
type rolled struct {
	*process
	args          []string
	listen, admin string // addresses
	check         string
}

func (r *rolled) start(t *testing.T) { r.process = start(t, r.args...) }

// startHAProxy runs HAProxy in front of two seqgates until both are up.
func startHAProxy(t *testing.T, a, b *rolled) *haproxy {
	t.Helper()
	h := &haproxy{}
	h.addr, _ = freeAddr(t)
	h.stats, _ = freeAddr(t)
	runHAProxy(t, fmt.Sprintf(haproxyConfig, h.addr, a.listen, a.check, b.listen, b.check, h.stats))
	h.await(t, "a", "UP")
	h.await(t, "b", "UP")
	return h
}

func runHAProxy(t *testing.T, config string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(haproxyPath(t), "-db", "-f", path)
	out := &testLog{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Log(out)
		}
	})
}

// testLog keeps what a program writes.
type testLog struct {
	mu   sync.Mutex
	text []byte
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	return len(p), nil
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// await waits until HAProxy holds a server for up or down.
func (h *haproxy) await(t *testing.T, server, want string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = h.status(server); got == want {
			return
		}
	}
	t.Fatalf("HAProxy has server %s as %q after 20 s, want %q", server, got, want)
}

// status gives what HAProxy holds of a server, "" when it cannot be asked yet.
func (h *haproxy) status(server string) string {
	r, err := http.Get("http://" + h.stats + "/stats;json")
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}
	var all [][]struct {
		Field struct{ Name string }
		Value struct{ Value any }
	}
	if json.Unmarshal(body, &all) != nil {
		return ""
	}
	for _, fields := range all {
		values := map[string]any{}
		for _, f := range fields {
			values[f.Field.Name] = f.Value.Value
		}
		if values["pxname"] == "seqgates" && values["svname"] == server {
			return fmt.Sprint(values["status"])
		}
	}
	return ""
}

// pooled is clients with the pool of database/sql, which retries by itself what was
// not sent, and nothing else.
type pooled struct {
	stop    chan struct{}
	done    sync.WaitGroup
	seen    sync.Map
	count   atomic.Int64
	failed  atomic.Int64
	reports chan error
}

func (p *pooled) report(what string, err error) {
	if err == nil {
		p.count.Add(1)
		return
	}
	p.failed.Add(1)
	select {
	case p.reports <- fmt.Errorf("%s: %w", what, err):
	default: // some tell enough
	}
}

// noteID notes the id of an INSERT, which nobody else may have got.
func (p *pooled) noteID(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	id, err := r.LastInsertId()
	if _, twice := p.seen.LoadOrStore(id, true); err == nil && (twice || id == 0) {
		err = fmt.Errorf("id %d was given before", id)
	}
	return err
}

// transaction inserts two rows and commits.
func (p *pooled) transaction(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit there is nothing to roll back
	for range 2 {
		if err := p.noteID(tx.ExecContext(ctx, "INSERT INTO t (v) VALUES (2)")); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (p *pooled) run(db *sql.DB, do ...func(context.Context) error) {
	for i := 0; ; i++ {
		select {
		case <-p.stop:
			return
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		p.report(fmt.Sprint("case ", i%len(do)), do[i%len(do)](ctx))
		cancel()
	}
}

// startPooled runs three clients over each pool.
func startPooled(pools ...*sql.DB) *pooled {
	p := &pooled{stop: make(chan struct{}), reports: make(chan error, 20)}
	for i, db := range pools {
		p.startClients(db, i)
	}
	return p
}

func (p *pooled) startClients(db *sql.DB, number int) {
	insert := func(ctx context.Context) error { return p.noteID(db.ExecContext(ctx, "INSERT INTO t (v) VALUES (1)")) }
	prepared := func(ctx context.Context) error {
		return p.noteID(db.ExecContext(ctx, "INSERT INTO t (v) VALUES (?)", 3))
	}
	read := func(ctx context.Context) error {
		var n int
		return db.QueryRowContext(ctx, "SELECT COUNT(*) FROM t WHERE id = ?", 1).Scan(&n)
	}
	transaction := func(ctx context.Context) error { return p.transaction(ctx, db) }
	pause := func(context.Context) error {
		time.Sleep(3 * time.Millisecond) // a client that thinks
		return nil
	}
	for i := range 3 {
		if (i+number)%2 == 0 {
			p.done.Go(func() { p.run(db, insert, prepared, read, transaction) })
		} else {
			p.done.Go(func() { p.run(db, insert, pause, transaction, pause, prepared, pause) })
		}
	}
}

// Two seqgates behind HAProxy are restarted in turn, several times, under load from a
// pools of connections, without TLS and with it: no statement fails, and no id is given
// twice.
func TestRollingRestart(t *testing.T) {
	haproxyPath(t)
	s := servertest.First(t)
	direct, database, _ := sequencedTable(t, s)
	t.Setenv("SEQGATE_LAMEDUCK_PERIOD", "3s") // more than one check of HAProxy's, and than a login on a busy machine
	var gates [2]*rolled
	for i := range gates {
		g := &rolled{}
		g.listen, _ = freeAddr(t)
		g.admin, g.check = freeAddr(t)
		path := filepath.Join(t.TempDir(), "seqgate.yaml")
		config := fmt.Sprintf("listen: %s\nadmin: {listen: %s}\nusers: [{name: app, password: app}]\nkeyspaces: {%s: {shards: {\"-\": %q}}}\n",
			g.listen, g.admin, database, s.DSN(database))
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		g.args = []string{"serve", "--config", path}
		g.start(t)
		gates[i] = g
	}
	h := startHAProxy(t, gates[0], gates[1])
	plain, secure := openClient(t, "app", "app", h.addr, database), openSecureClient(t, "app", "app", h.addr, database)
	plain.SetMaxIdleConns(3)
	secure.SetMaxIdleConns(3)
	p := startPooled(plain, secure)
	const rounds = 2
	for i := range 2 * rounds {
		g, name := gates[i%2], string('a'+rune(i%2))
		before := p.count.Load()
		g.signal(t, syscall.SIGTERM)
		if code := g.exited(t); code != 0 {
			t.Errorf("seqgate %s ended with code %d", name, code)
		}
		if g.Logged("cut off") {
			t.Errorf("seqgate %s cut sessions off", name)
		}
		g.start(t)
		h.await(t, name, "UP")
		if p.count.Load() == before {
			t.Errorf("no statement ran while seqgate %s was restarted", name)
		}
	}
	close(p.stop)
	p.done.Wait()
	close(p.reports)
	// An answer and the end of its connection leave together, but for a machine that stalls for the 0.2 s after which Linux
	// sends what is held back. That costs the statement that its client sends in between, and must stay rare.
	stalled := p.failed.Load() <= 1+p.count.Load()/5000
	for err := range p.reports {
		if stalled && strings.Contains(err.Error(), "Error 1053 ") {
			t.Log(err)
			continue
		}
		t.Errorf("%v; %d of %d failed", err, p.failed.Load(), p.failed.Load()+p.count.Load())
	}
	if got, want := query1[int](t, direct, "SELECT COUNT(*) FROM t"), syncMapLen(&p.seen); got != want {
		t.Errorf("%d rows in the table, and %d ids", got, want)
	}
	t.Logf("%d statements and transactions", p.count.Load())
}

func syncMapLen(m *sync.Map) int {
	n := 0
	m.Range(func(_, _ any) bool { n++; return true })
	return n
}

package steady

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/servertest"
)

// startTimeout is how long a seqgate may take to be ready, and to end.
const startTimeout = 30 * time.Second

// config is the gate's file. Blocks stay small, so that refills go on through the run.
const config = `
listen: 127.0.0.1:0
admin: {listen: %q}
worker_id: 1
vschema: vschema.json
users: [{name: app, password: app}]
keyspaces: {main: {shards: {"-": %q}}}
sequences: {max_step: 1000}
`

const vschema = `{"keyspaces": {"main": {
  "generators": {"flake": {"type": "snowflake", "params": {"layout": "twitter", "zone": 1}}},
  "tables": {
    "filled_seq": {"type": "sequence"}, "free_seq": {"type": "sequence"},
    "filled": {"auto_increment": {"column": "id", "sequence": "filled_seq"}},
    "flaked": {"auto_increment": {"column": "id", "generator": "flake"}}
  }}}}`

// gate is a running seqgate.
type gate struct {
	cmd         *exec.Cmd
	addr, admin string
	ended       chan struct{}
}

// build builds seqgate as it is released, without the race detector.
func build(t *testing.T) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "seqgate")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "slim", "-o", binary, "github.com/seqgate/seqgate/cmd/seqgate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build seqgate: %v\n%s", err, out)
	}
	return binary
}

// startGate runs seqgate in front of a database.
func startGate(t *testing.T, binary, dsn string) *gate {
	t.Helper()
	dir, admin := t.TempDir(), servertest.FreeAddr(t)
	file := filepath.Join(dir, "seqgate.yaml")
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "vschema.json"), []byte(vschema), 0o600),
		os.WriteFile(file, fmt.Appendf(nil, config, admin, dsn), 0o600)); err != nil {
		t.Fatal(err)
	}
	g := &gate{cmd: exec.Command(binary, "serve", "--config", file), admin: admin, ended: make(chan struct{})}
	g.cmd.Env = append(os.Environ(), "SEQGATE_LOG_FORMAT=text")
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it does not outlive the test, whatever ends that
	log, err := g.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go g.read(t, log, ready)
	t.Cleanup(func() { g.stop(t) })
	select {
	case g.addr = <-ready:
	case <-g.ended:
		t.Fatalf("seqgate ended with %v", g.cmd.ProcessState)
	case <-time.After(startTimeout):
		t.Fatalf("seqgate is not ready after %v", startTimeout)
	}
	return g
}

// read reads the log to its end, which it collects the process at. Nothing is wrong in a steady run: warnings fail it, but
// for those of a database that was slow, as on a busy machine.
func (g *gate) read(t *testing.T, log io.Reader, ready chan<- string) {
	defer close(g.ended)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if _, addr, ok := strings.Cut(lines.Text(), "msg=ready addr="); ok {
			ready <- addr
		}
		switch text := lines.Text(); {
		case slow.MatchString(text):
			t.Logf("seqgate logged: %s", text)
		case wrong.MatchString(text):
			t.Errorf("seqgate logged: %s", text)
		}
	}
	_ = g.cmd.Wait() // ProcessState tells how it ended
}

var (
	wrong = regexp.MustCompile(`level=(WARN|ERROR)|panic|fatal`)
	slow  = regexp.MustCompile(`level=WARN msg="(the database of a sequence gives no ids;|unused ids not handed back)`)
)

// stop ends the process in order.
func (g *gate) stop(t *testing.T) {
	_ = g.cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended: see below
	select {
	case <-g.ended:
	case <-time.After(startTimeout):
		_ = g.cmd.Process.Kill()
		<-g.ended
	}
	if !g.cmd.ProcessState.Success() {
		t.Errorf("seqgate ended with %v", g.cmd.ProcessState)
	}
}

// sample reads what the process is like now.
func (g *gate) sample() (s Sample, err error) {
	proc := filepath.Join("/proc", strconv.Itoa(g.cmd.Process.Pid))
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return s, err
	}
	statm, err := os.ReadFile(filepath.Join(proc, "statm"))
	if err != nil {
		return s, err
	}
	var total, resident int64
	if _, err := fmt.Sscan(string(statm), &total, &resident); err != nil {
		return s, fmt.Errorf("read %s/statm: %w", proc, err)
	}
	heap, err := g.metrics("go_gc_heap_live_bytes", "go_goroutines")
	if err != nil {
		return s, err
	}
	s.RSS, s.Descriptors = resident*int64(os.Getpagesize()), len(files)
	s.Heap, s.Goroutines = int64(heap[0]), int(heap[1])
	return s, nil
}

// metrics asks for the values of metrics without labels.
func (g *gate) metrics(names ...string) ([]float64, error) {
	client := http.Client{Timeout: startTimeout}
	answer, err := client.Get("http://" + g.admin + "/metrics")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	found := map[string]float64{}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			found[name] = f
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	values := make([]float64, len(names))
	for i, name := range names {
		value, ok := found[name]
		if !ok {
			return nil, fmt.Errorf("the metrics have no %s", name)
		}
		values[i] = value
	}
	return values, nil
}

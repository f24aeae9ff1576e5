// Package gateprocess builds seqgate and runs it as a process of its own, for tests that kill it, freeze it and read its log.
package gateprocess

import (
	"bufio"
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
	"syscall"
	"testing"
	"time"
)

// EndTimeout is how long a start may take until it is ready, and a stop until the process has ended, on a busy machine.
const EndTimeout = 30 * time.Second

// Process is a seqgate.
type Process struct {
	Name  string
	Addr  string // where it listens, as its log says
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended

	mu    sync.Mutex
	lines []string // the last ones of its log, and all that tell of a bug
}

// Start starts the program binary with args, and returns when its log says that it is ready. It does not outlive the test.
func Start(name, binary string, args ...string) (*Process, error) {
	p := &Process{Name: name, cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "SEQGATE_LOG_FORMAT=text")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
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
	case p.Addr = <-ready:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("it ended with %v: %s", p.cmd.ProcessState, p.Log())
	case <-time.After(EndTimeout):
		p.Kill()
		return nil, fmt.Errorf("not ready in %v: %s", EndTimeout, p.Log())
	}
}

// read reads the log to its end, and then collects the process.
func (p *Process) read(log io.Reader, ready chan<- string) {
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
var bug = regexp.MustCompile(`level=ERROR|panic|DATA RACE|SIGQUIT`)

// keptLines is how much of a log is kept after a line that tells of a bug, which is its stack, and at the end.
const keptLines = 60

func (p *Process) keep(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
	if n := len(p.lines) - keptLines; n > 0 && !slices.ContainsFunc(p.lines[:n], bug.MatchString) {
		p.lines = p.lines[n:]
	}
}

// Log returns the end of the log, and all of it behind a line that tells of a bug.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// Bugs returns the lines of the log that tell of a bug: an error of its own, a panic or a data race. What follows them in the
// log is their stack.
func (p *Process) Bugs() (found []string) {
	for line := range strings.Lines(p.Log()) {
		if bug.MatchString(line) {
			found = append(found, line)
		}
	}
	return found
}

// Signal sends s to p, if that runs.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to process %s: %w", s, p.Name, err)
	}
	return nil
}

// Kill ends p at once.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails when it has ended
	<-p.ended
}

// Dump ends p, which hangs, and returns its log, which tells where each goroutine is.
func (p *Process) Dump() string {
	if err := p.Signal(syscall.SIGQUIT); err != nil {
		return err.Error()
	}
	select {
	case <-p.ended:
	case <-time.After(EndTimeout):
		p.Kill()
	}
	return p.Log()
}

// Stop ends p in order. One that has ended must have done so in order too.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(EndTimeout):
		return fmt.Errorf("process %s has not ended %v after SIGTERM; its log:\n%s", p.Name, EndTimeout, p.Dump())
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("process %s ended with %v, want code 0; its log:\n%s", p.Name, p.cmd.ProcessState, p.Log())
	}
	return nil
}

// Build builds seqgate without the demo's engine and with further flags of go build, with the race detector when this test
// has it, and returns the path of the program.
func Build(tb testing.TB, flags ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "seqgate")
	args := append([]string{"build", "-tags", "slim", "-o", path}, flags...)
	if HasRaceDetector() {
		args = append(args, "-race")
	}
	out, err := exec.CommandContext(tb.Context(), "go", append(args, "github.com/seqgate/seqgate/cmd/seqgate")...).CombinedOutput()
	if err != nil {
		tb.Fatalf("build seqgate: %v\n%s", err, out)
	}
	return path
}

// HasRaceDetector reports whether this test was built with -race.
func HasRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

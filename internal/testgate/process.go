// Package testgate runs seqgates as processes of their own, for tests that kill them, freeze them and read their logs. It is
// the one place that knows how a seqgate is built for a test, and how its log says that it is ready.
package testgate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// EndTimeout is how long a start may take until it is ready, and a stop until the process has ended, on a busy machine.
const EndTimeout = 2 * time.Minute

// Process is a seqgate, or another program that says when it is ready as a seqgate does.
type Process struct {
	Name  string
	Addr  string        // where it listens, as its log says; the first of several
	Ended chan struct{} // closed when it has ended, and its log was read to the end
	cmd   *exec.Cmd

	ending atomic.Bool // its test has begun to end it
	alone  bool        // see EndedByItself; set before Ended is closed

	mu    sync.Mutex
	lines []string // the last ones of its log, and all behind one that tells of a bug
	addrs []string // where it listens
	admin string   // the address of the metrics and the status page
}

// Start starts a seqgate with args, and returns when its log says that it is ready. It does not outlive the test.
func Start(name, binary string, args ...string) (*Process, error) {
	return StartCommand(name, exec.Command(binary, args...))
}

// StartCommand is Start of a command that is prepared, whose Stderr is the log.
func StartCommand(name string, cmd *exec.Cmd) (*Process, error) {
	p := &Process{Name: name, cmd: cmd, Ended: make(chan struct{})}
	cmd.Env = append(cmd.Environ(), "SEQGATE_LOG_FORMAT=text")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	go p.read(log, sync.OnceFunc(func() { close(ready) }))
	select {
	case <-ready:
		p.Addr = p.Addrs()[0]
		return p, nil
	case <-p.Ended:
		return nil, fmt.Errorf("it ended with %v: %s", cmd.ProcessState, p.Log())
	case <-time.After(EndTimeout):
		p.Kill()
		return nil, fmt.Errorf("not ready in %v: %s", EndTimeout, p.Log())
	}
}

// read reads the log to its end, and then collects the process.
func (p *Process) read(log io.Reader, ready func()) {
	defer close(p.Ended)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		p.keep(lines.Text())
		if strings.Contains(lines.Text(), readyMessage) {
			ready()
		}
	}
	_ = p.cmd.Wait() // ProcessState tells how it ended
	p.alone = !p.ending.Load()
}

// readyMessage is how a log says that clients can connect, and where.
const readyMessage = "msg=ready addr="

// bug matches the lines of a log that no fault explains.
var bug = regexp.MustCompile(`level=ERROR|panic|fatal error|DATA RACE|SIGQUIT`)

// keptLines is how much of a log is kept, when no line of it tells of a bug: more than a test looks back.
const keptLines = 5000

func (p *Process) keep(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
	if addr, ok := behind(line, readyMessage); ok {
		p.addrs = append(p.addrs, addr)
	}
	if addr, ok := behind(line, "msg=admin addr="); ok && p.admin == "" {
		p.admin = addr
	}
	if len(p.lines) > keptLines && !bug.MatchString(p.lines[0]) {
		p.lines = p.lines[1:]
	}
}

// Log returns the log, of a long one the end.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// Logged reports whether a text is in the log.
func (p *Process) Logged(text string) bool { return strings.Contains(p.Log(), text) }

// Addrs returns the addresses that p listens on, so far.
func (p *Process) Addrs() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.addrs)
}

// Admin returns the address of the metrics and the status page; "" when there is none.
func (p *Process) Admin() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.admin
}

// behind returns what is behind a text in a line, up to the next space.
func behind(line, text string) (value string, ok bool) {
	_, value, ok = strings.Cut(line, text)
	return strings.Fields(value + " -")[0], ok
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

// Pid returns the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// State returns how p, which must have ended, has done so.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// EndedByItself reports whether p has ended though its test neither killed nor stopped it.
func (p *Process) EndedByItself() bool {
	select {
	case <-p.Ended:
		return p.alone
	default:
		return false
	}
}

// Signal sends s to p, if that runs.
func (p *Process) Signal(s os.Signal) error {
	if s != syscall.SIGSTOP && s != syscall.SIGCONT {
		p.ending.Store(true)
	}
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to process %s: %w", s, p.Name, err)
	}
	return nil
}

// Kill ends p at once.
func (p *Process) Kill() {
	p.ending.Store(true)
	_ = p.cmd.Process.Kill() // fails when it has ended
	<-p.Ended
}

// Dump ends p, which hangs, and returns its log, which tells where each goroutine is.
func (p *Process) Dump() string {
	if err := p.Signal(syscall.SIGQUIT); err != nil {
		return err.Error()
	}
	select {
	case <-p.Ended:
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
	case <-p.Ended:
	case <-time.After(EndTimeout):
		return fmt.Errorf("process %s has not ended %v after SIGTERM; its log:\n%s", p.Name, EndTimeout, p.Dump())
	}
	if !p.State().Success() {
		return fmt.Errorf("process %s ended with %v, want code 0; its log:\n%s", p.Name, p.State(), p.Log())
	}
	return nil
}

// Usage is what a process holds.
type Usage struct {
	Resident, Heap          int64 // bytes: of memory, and of the objects that the latest garbage collection, if any, found in use
	Goroutines, Descriptors int64
}

// Usage asks p's metrics and the system.
func (p *Process) Usage() (u Usage, err error) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Pid()))
	if err != nil {
		return u, err
	}
	client := http.Client{Timeout: EndTimeout}
	defer client.CloseIdleConnections()
	answer, err := client.Get("http://" + p.Admin() + "/metrics")
	if err != nil {
		return u, err
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
	u = Usage{int64(found["process_resident_memory_bytes"]), int64(found["go_gc_heap_live_bytes"]), int64(found["go_goroutines"]), int64(len(files))}
	if _, heap := found["go_gc_heap_live_bytes"]; u.Resident == 0 || u.Goroutines == 0 || !heap { // it is 0 until the first collection
		return u, errors.Join(lines.Err(), fmt.Errorf("the metrics of process %s tell of no memory, no heap, or no goroutines: %+v", p.Name, u))
	}
	return u, lines.Err()
}

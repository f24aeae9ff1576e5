package leasesoak

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// process is one life of a process that gives ids.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when it has ended, and all that it told was read

	given  atomic.Int64 // events that told of ids
	killed atomic.Bool

	mu      sync.Mutex
	failure string       // the last error that it told of
	stderr  bytes.Buffer // what it says when it ends because of an error
	bad     error        // what it told that cannot be
}

// startProcess starts a process whose events go to a judge.
func startProcess(name string, cfg childConfig, judge *Checker) (*process, error) {
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it does not outlive the test, whatever ends that
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(out, judge)
	return p, nil
}

func (p *process) read(out io.Reader, judge *Checker) {
	defer close(p.ended)
	var last error // of a line: only the last one may be cut, of a process that was killed
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.fail(last)
		var e Event
		if e, last = ParseEvent(lines.Bytes()); last == nil {
			p.note(e)
			judge.Add(p.name, e)
		}
	}
	if !p.killed.Load() {
		p.fail(last)
	}
	_ = p.cmd.Wait() // ProcessState tells how it ended
}

func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bad = errors.Join(p.bad, err)
}

func (p *process) note(e Event) {
	switch e.Kind {
	case Give:
		p.given.Add(1)
	case Fail:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.failure = e.Text
	}
}

func (p *process) lastFailure() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// say writes a line to the process. It has read all that is in the pipe, or will when it goes on.
func (p *process) say(line string) error {
	_, err := io.WriteString(p.stdin, line+"\n")
	if err != nil {
		return fmt.Errorf("process %s: %w; %s", p.name, err, p.problem())
	}
	return nil
}

// problem says what the process had to say when it ended.
func (p *process) problem() string {
	select {
	case <-p.ended:
		return fmt.Sprintf("it ended with %v: %s", p.cmd.ProcessState, p.stderr.String())
	default:
		return "it runs"
	}
}

func (p *process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("send %v to process %s: %w; %s", s, p.name, err, p.problem())
	}
	return nil
}

// kill is kill -9.
func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // fails when it has ended
	<-p.ended
}

// stopTime is how long a process may take to end when it is told to.
const stopTime = 30 * time.Second

// stop has the process give its worker id back and end.
func (p *process) stop() error {
	_ = p.stdin.Close() // fails when it has ended, which is seen below
	select {
	case <-p.ended:
	case <-time.After(stopTime):
		p.kill()
		return fmt.Errorf("process %s has not ended after %v", p.name, stopTime)
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("process %s: %s", p.name, p.problem())
	}
	return nil
}

// verdict returns what is wrong with what the process told, after its end.
func (p *process) verdict() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bad != nil {
		return fmt.Errorf("process %s: %w", p.name, p.bad)
	}
	return nil
}

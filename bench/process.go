package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// start runs cmd until it prints a line that ready matches, and returns the address in it and a
// function that ends the process.
func start(cmd *exec.Cmd, ready *regexp.Regexp) (addr string, stop func() error, err error) {
	output, w := io.Pipe()
	p, err := begin(cmd, w)
	if err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(output)
	var said []string
	for lines.Scan() {
		if m := ready.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return m[1], p.end, nil
		}
		said = append(said, lines.Text())
	}
	return "", nil, fmt.Errorf("it ended without saying that it is ready: %w\n%s", errors.Join(p.wait(), lines.Err()), strings.Join(said, "\n"))
}

// startAt runs cmd until a server greets connections at addr, and returns a function that ends the process.
func startAt(ctx context.Context, cmd *exec.Cmd, addr string) (stop func() error, err error) {
	said := &output{}
	p, err := begin(cmd, said)
	if err != nil {
		return nil, err
	}
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !greeted(addr) {
		select {
		case <-poll.C:
		case <-p.ended:
			return nil, fmt.Errorf("it ended before it answered: %w\n%s", p.err, said)
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), p.end())
		}
	}
	return p.end, nil
}

// greeted reports whether somebody listens at addr who has a server that greets.
func greeted(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	header := make([]byte, 5) // a packet's header, and the protocol's version
	_, err = io.ReadFull(conn, header)
	return err == nil && header[4] == 10
}

// freeAddr returns an address of loopback that nobody listens at.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// process is a child that runs.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended chan struct{} // closed when it is over
	err   error         // set by then
}

// begin runs cmd, with what it prints going to out, which is closed at its end if it can be.
func begin(cmd *exec.Cmd, out io.Writer) (*process, error) {
	cmd.Stdout, cmd.Stderr = out, out
	stdin, err := cmd.StdinPipe() // its end is the relay's sign to end
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it does not outlive the benchmark, whatever ends that
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		if c, ok := out.(io.Closer); ok {
			c.Close()
		}
		close(p.ended)
	}()
	return p, nil
}

// wait returns how the process ended, when it has.
func (p *process) wait() error {
	<-p.ended
	return p.err
}

// end ends the process.
func (p *process) end() error {
	if err := p.stdin.Close(); err != nil {
		return err
	}
	_ = p.cmd.Cancel() // fails when the process is over already
	err := p.wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && (!exit.Exited() || exit.ExitCode() == 128+int(syscall.SIGTERM)) {
		return nil // our signal, which HAProxy passes on as a status
	}
	return err
}

// output keeps the first part of what a process prints.
type output struct {
	mu   sync.Mutex
	text []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := 4096 - len(o.text); room > 0 {
		o.text = append(o.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

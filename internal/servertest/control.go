package servertest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// engine is one server's processes and files. All its methods return when the thing is done: start when the server
// answers, stop and kill when its process is gone, drop when its files are gone too.
type engine interface {
	start() error
	stop() error
	kill() error
	pid() (int, error)
	drop() error
}

// Kill ends the private server s at once, as a crash would (kill -9). Its data stays for [Server.Start].
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	check(tb, s, "kill", s.private().kill())
}

// Stop shuts the private server s down in order.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	check(tb, s, "stop", s.private().stop())
}

// Start starts the private server s again, on the same port and data, and returns when it answers.
func (s *Server) Start(tb testing.TB) {
	tb.Helper()
	check(tb, s, "start", s.private().start())
}

// Freeze halts the private server s without ending it (SIGSTOP): its connections stay open and nothing answers.
func (s *Server) Freeze(tb testing.TB) {
	tb.Helper()
	check(tb, s, "freeze", signal(s.private(), syscall.SIGSTOP))
	pid, err := s.private().pid()
	if err == nil {
		err = awaitStopped(pid)
	}
	check(tb, s, "freeze", err)
}

// awaitStopped returns when all threads of a process have halted: a signal reaches them one after the other.
func awaitStopped(pid int) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		stopped, err := isStopped(pid)
		if stopped || err != nil {
			return err
		}
	}
	return errors.New("its threads go on")
}

func isStopped(pid int) (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false, err
	}
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // it has ended
			continue
		}
		if err != nil {
			return false, err
		}
		state := stat[bytes.LastIndexByte(stat, ')')+1:] // behind the name, which may hold anything
		if !bytes.HasPrefix(state, []byte(" T")) && !bytes.HasPrefix(state, []byte(" Z")) {
			return false, nil
		}
	}
	return true, nil
}

// Thaw lets the private server s go on after [Server.Freeze].
func (s *Server) Thaw(tb testing.TB) {
	tb.Helper()
	check(tb, s, "thaw", signal(s.private(), syscall.SIGCONT))
}

// private returns the engine of a server that its test may control; for a shared one, an engine that refuses.
func (s *Server) private() engine {
	if !s.owned {
		return refusing{}
	}
	return s.engine
}

func signal(e engine, sig syscall.Signal) error {
	pid, err := e.pid()
	if err != nil {
		return err
	}
	return syscall.Kill(pid, sig)
}

// errShared refuses to disturb a server that other tests use.
var errShared = errors.New("the server is shared; use servertest.Private")

// refusing is the engine of a shared server as a test sees it.
type refusing struct{}

func (refusing) start() error      { return errShared }
func (refusing) stop() error       { return errShared }
func (refusing) kill() error       { return errShared }
func (refusing) pid() (int, error) { return 0, errShared }
func (refusing) drop() error       { return errShared }

// missingError says why this machine cannot run a server; tests skip with it.
type missingError string

func (e missingError) Error() string { return string(e) }

func skipOrFail(t *testing.T, err error) {
	t.Helper()
	var missing missingError
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func check(tb testing.TB, s *Server, act string, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(fmt.Errorf("%s %s: %w", act, s.Name, err))
	}
}

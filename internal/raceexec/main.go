// Command raceexec runs a test binary for go test -exec, and runs it once more if nothing but Go's race detector fails:
//
//	go test -race -exec "/path/of/raceexec LOG" ./...
//
// ThreadSanitizer, which -race is built on, checks its own state, and ends the process when that is not as it should be
// ("ThreadSanitizer: CHECK failed"). That says nothing of the code under test, unlike a data race, a failed test or
// anything else, which end the run as they would without this program. The file LOG tells of each second run, since go
// test shows nothing of packages that pass.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// What lines begin with. The first is how ThreadSanitizer ends a process whose state it finds broken (LLVM's
// sanitizer_common/sanitizer_termination.cpp), the others are failures that are the tests' own.
var (
	detectorFailed = []byte("ThreadSanitizer: CHECK failed: ")
	ownFailures    = [][]byte{[]byte("--- FAIL"), []byte("panic: "), []byte("fatal error: "), []byte("WARNING: DATA RACE")}
)

// outputDelay is how long processes that a test binary has left may keep its output open, as go test has it for those
// that it runs itself.
const outputDelay = time.Minute

func main() {
	os.Exit(run(os.Args[1:], os.Stdout))
}

// run gives the exit code: the test binary's own, 1 when it or the log fails, 2 for usage. Go test has both outputs in
// one, and so has this.
func run(args []string, out io.Writer) int {
	if len(args) < 2 {
		fmt.Fprintln(out, "usage: raceexec LOG TESTBINARY [ARG...]")
		return 2
	}
	code, detector := attempt(args[1:], out)
	if code == 0 || !detector {
		return code
	}
	told := fmt.Sprintf("%s: the race detector itself failed, no test did; all were run once more\n", args[1])
	fmt.Fprint(out, told)
	if err := note(args[0], told); err != nil {
		fmt.Fprintln(out, err)
		return 1
	}
	code, _ = attempt(args[1:], out)
	return code
}

func note(log, text string) error {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// attempt runs the test binary once, and reports whether it said that the detector failed, and nothing else that did.
func attempt(args []string, to io.Writer) (code int, detector bool) {
	out := lines{to: to}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = os.Stdin, &out, &out, outputDelay
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT, syscall.SIGTERM) // SIGQUIT is what go test sends at its time limit
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(to, err)
		return 1, false
	}
	asked := false // to end
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			asked = true
			_ = cmd.Process.Signal(sig) // fails only when it has ended, which comes next
		case err := <-ended:
			return exitCode(err, to), out.detector && !out.failed && !asked
		}
	}
}

func exitCode(err error, out io.Writer) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	}
	fmt.Fprintln(out, err) // a signal has ended it, or its output was not read whole
	return 1
}

// lines passes output on at once, and looks at what its lines begin with.
type lines struct {
	to               io.Writer
	begun            []byte // of the line under way, as much as detectorFailed has
	detector, failed bool
}

func (l *lines) Write(b []byte) (int, error) {
	for rest, whole := b, true; whole; {
		var line []byte
		line, rest, whole = bytes.Cut(rest, []byte("\n"))
		l.begun = append(l.begun, line[:min(len(line), len(detectorFailed)-len(l.begun))]...)
		l.detector = l.detector || bytes.Equal(l.begun, detectorFailed)
		for _, failure := range ownFailures {
			l.failed = l.failed || bytes.HasPrefix(bytes.TrimLeft(l.begun, " "), failure)
		}
		if whole {
			l.begun = l.begun[:0]
		}
	}
	return l.to.Write(b)
}

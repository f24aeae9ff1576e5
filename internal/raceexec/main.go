// Command raceexec runs a test binary for go test -exec, and runs it once more if Go's race detector itself fails:
//
//	go test -race -exec /path/of/raceexec ./...
//
// ThreadSanitizer, which -race is built on, checks its own state, and ends the process when that is not as it should be
// ("ThreadSanitizer: CHECK failed"). That says nothing of the code under test, unlike a data race, a failed test or
// anything else, which end the run as they would without this program.
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

// detectorFailed begins the line that ThreadSanitizer ends a process with when it finds its own state broken (LLVM's
// sanitizer_common/sanitizer_termination.cpp).
const detectorFailed = "ThreadSanitizer: CHECK failed: "

// outputDelay is how long processes that a test binary has left may keep its output open, as go test has it for those
// that it runs itself.
const outputDelay = time.Minute

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run gives the exit code: the test binary's own, 1 when it cannot be run, 2 for usage.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(stderr, "usage: raceexec TESTBINARY [ARG...]")
		return 2
	}
	code, detector := attempt(args, stdout, stderr)
	if code != 0 && detector {
		fmt.Fprintln(stderr, "raceexec: the race detector failed, no test did: all of them once more")
		code, _ = attempt(args, stdout, stderr)
	}
	return code
}

// attempt runs the test binary once, and reports whether it said that the detector failed.
func attempt(args []string, stdout, stderr io.Writer) (code int, detector bool) {
	out, errs := lines{to: stdout}, lines{to: stderr}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = os.Stdin, &out, &errs, outputDelay
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGQUIT, syscall.SIGTERM) // SIGQUIT is what go test sends at its time limit
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(stderr, err)
		return 1, false
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			_ = cmd.Process.Signal(sig) // fails only when it has ended, which comes next
		case err := <-ended:
			return exitCode(err, stderr), out.detector || errs.detector
		}
	}
}

func exitCode(err error, stderr io.Writer) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	}
	fmt.Fprintln(stderr, err) // a signal has ended it, or its output was not read whole
	return 1
}

// lines passes output on at once, and looks for the line of a failed detector in it.
type lines struct {
	to       io.Writer
	begun    []byte // of the line under way, at most as much as detectorFailed has
	detector bool
}

func (l *lines) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		l.begun = append(l.begun, line[:min(len(line), len(detectorFailed)-len(l.begun))]...)
		l.detector = l.detector || string(l.begun) == detectorFailed
		if rest = after; whole {
			l.begun = l.begun[:0]
		}
	}
	return l.to.Write(b)
}

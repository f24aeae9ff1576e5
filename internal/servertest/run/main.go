// Command run starts the servers that tests share, runs a command with SEQGATE_TEST_SERVERS naming them, and stops them:
//
//	run go test -race ./...
//
// Every package's tests are a process of their own; this way they share one MariaDB and one MySQL instead of starting
// their own. The command's exit code is passed on.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/seqgate/seqgate/internal/servertest"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit code: the command's own, 1 when servers or the command cannot be started or stopped, 2 for usage.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(stderr, "usage: run COMMAND [ARG...]")
		return 2
	}
	// From here on a signal ends the command, and this program goes on to stop the servers.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	servers, missing, err := servertest.StartShared()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	for _, reason := range missing {
		fmt.Fprintln(stderr, "tests on one server will be skipped:", reason)
	}
	code, err := command(args, servers, signals, stdout, stderr)
	if err := errors.Join(err, servertest.StopShared()); err != nil {
		fmt.Fprintln(stderr, err)
		return max(code, 1)
	}
	return code
}

// command runs args with the servers in its environment, passes signals on to it and returns its exit code.
func command(args []string, servers string, signals <-chan os.Signal, stdout, stderr io.Writer) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "SEQGATE_TEST_SERVERS="+servers)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			_ = cmd.Process.Signal(sig) // fails only when the command is over, which done tells next
		case err := <-done:
			return exitCode(err)
		}
	}
}

func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode(), nil
	default: // ended by a signal, or its output could not be copied
		return 1, err
	}
}

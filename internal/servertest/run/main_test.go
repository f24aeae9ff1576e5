package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seqgate/seqgate/internal/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestRunHandsServersToTheCommand(t *testing.T) {
	servers, _, err := servertest.StartShared()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	code, err := command([]string{"sh", "-c", `echo "$SEQGATE_TEST_SERVERS"; exit 7`}, servers, nil, &out, &errs)
	if err != nil || code != 7 {
		t.Errorf("exit code %d, error %v (stderr %q), want the command's 7", code, err, errs.String())
	}
	if got := strings.TrimSpace(out.String()); got != servers {
		t.Errorf("SEQGATE_TEST_SERVERS in the command: %q, want %q", got, servers)
	}
}

func TestSignalEndsTheCommand(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGTERM
	var out strings.Builder
	code, err := command([]string{"sleep", "600"}, "", signals, &out, &out)
	if err == nil || code == 0 {
		t.Errorf("exit code %d, error %v, want a command ended by a signal", code, err)
	}
}

func TestUsage(t *testing.T) {
	var out, errs strings.Builder
	if code := run(nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), "usage") {
		t.Errorf("exit code %d, stderr %q, want 2 and the usage", code, errs.String())
	}
}

func TestCommandThatDoesNotExist(t *testing.T) {
	var out strings.Builder
	if code, err := command([]string{"/no/such/command"}, "", nil, &out, &out); err == nil || code == 0 {
		t.Errorf("exit code %d, error %v, want both", code, err)
	}
}

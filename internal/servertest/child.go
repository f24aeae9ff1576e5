package servertest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// lacks ends a test whose server this machine does not have: it is skipped with the reason. In CI it fails, where a test
// that nobody runs would not be missed.
func lacks(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv("CI") == "true" {
		tb.Fatalf("%s (CI=true: no test is skipped for that)", reason)
	}
	tb.Skip(reason)
}

// newFolder returns a folder for the files of a child process. The process's reaper removes it.
func newFolder(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := os.MkdirTemp(memoryDir(), "seqgate-"+name+"-")
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// startChild starts a server whose files are in dir, and returns when answers says so. It ends with the test, or with this
// process, however that ends.
func startChild(tb testing.TB, dir string, cmd *exec.Cmd, answers func() error) {
	tb.Helper()
	r, err := newReaper(reapMariaDB, dir)
	if err != nil {
		tb.Fatal(errors.Join(err, os.RemoveAll(dir)))
	}
	tb.Cleanup(func() {
		if err := r.finish(); err != nil {
			tb.Error(err)
		}
		if cmd.Process != nil {
			_ = cmd.Wait() // it tells that it was killed
		}
	})
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close() // the child has its own
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // ctrl-C ends the tests, the reaper ends the server
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(r.note(cmd.Process.Pid), awaitChild(answers)); err != nil {
		text, _ := os.ReadFile(log.Name())
		tb.Fatalf("%s: %v; its log:\n%s", cmd.Path, err, text)
	}
}

func awaitChild(answers func() error) error {
	err := errors.New("not asked")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = answers(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("no answer in %v: %w", patience, err)
}

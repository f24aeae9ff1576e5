package servertest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// reaper is a shell that outlives this process by a moment to clean up after it. It holds the reading end of a pipe, and
// the kernel closes the writing end however this process ends, so a server is not left behind by a panic, a test
// timeout, ctrl-C or kill -9. It is a session of its own: what is sent to our process group does not reach it.
type reaper struct {
	pipe *os.File
	cmd  *exec.Cmd
}

// newReaper starts a shell that runs script, which finds args in $1, $2 and so on, and reads lines from the pipe to its
// end before it cleans up.
func newReaper(script string, args ...string) (*reaper, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, "reaper"}, args...)...)
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("start reaper: %w", err)
	}
	return &reaper{pipe: w, cmd: cmd}, nil
}

// note tells the reaper of a process to see to; 0 for none any more.
func (r *reaper) note(pid int) error {
	line := "\n"
	if pid != 0 {
		line = fmt.Sprintf("%d\n", pid)
	}
	_, err := io.WriteString(r.pipe, line)
	return err
}

// finish lets the reaper clean up now and returns when it has.
func (r *reaper) finish() error {
	if err := r.pipe.Close(); err != nil {
		return err
	}
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	return nil
}

package servertest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// envHelper makes this test binary a process that holds one server of each name and does not end.
const envHelper = "SEQGATE_SERVERTEST_HELPER"

// holdServers starts the servers there are, prints one line with their process ids, and waits to be killed.
func holdServers() {
	var pids []string
	for _, name := range []string{nameMariaDB, nameMySQL97} {
		s, err := launch(name)
		if err != nil {
			continue
		}
		if pid, err := s.engine.pid(); err == nil {
			pids = append(pids, strconv.Itoa(pid))
		}
	}
	fmt.Println(strings.Join(pids, " "))
	select {}
}

// A test process that is killed with -9 leaves no server behind.
func TestNoServerOutlivesAKilledProcess(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), envHelper+"=1")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			var pids []int
			for _, field := range strings.Fields(line) {
				pid, err := strconv.Atoi(field)
				if err != nil {
					t.Fatal(err)
				}
				pids = append(pids, pid)
			}
			if len(pids) == 0 {
				t.Skip("no server on this machine")
			}
			wantGone(t, pids)
		})
	}
}

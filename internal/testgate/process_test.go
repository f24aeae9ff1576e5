package testgate

import (
	"fmt"
	"os/exec"
	"testing"
)

// ready is how a log begins.
const ready = `echo "msg=admin addr=127.0.0.1:2 x=y" >&2; echo "msg=ready addr=127.0.0.1:1 tls=on" >&2; `

func startShell(t *testing.T, script string) (p *Process, goOn func()) {
	t.Helper()
	// The signal is minded before the shell says that it is ready.
	cmd := exec.Command("sh", "-c", "trap 'exit 0' TERM; "+ready+script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err = StartCommand("1", cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p, func() { _ = in.Close() } // it may have ended
}

func TestEndedByItself(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(p *Process, goOn func()) error
		want bool
	}{
		{"by itself", func(p *Process, goOn func()) error { goOn(); <-p.Ended; return nil }, true},
		{"by itself, and stopped too late", func(p *Process, goOn func()) error { goOn(); <-p.Ended; return p.Stop() }, true},
		{"by itself, and killed too late", func(p *Process, goOn func()) error { goOn(); <-p.Ended; p.Kill(); return nil }, true},
		{"killed", func(p *Process, _ func()) error { p.Kill(); return nil }, false},
		{"stopped", func(p *Process, _ func()) error { return p.Stop() }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, goOn := startShell(t, "read line; exit 0")
			if p.EndedByItself() {
				t.Fatal("it runs")
			}
			if err := tt.end(p, goOn); err != nil {
				t.Fatal(err)
			}
			if got := p.EndedByItself(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// The addresses are known however long the log becomes.
func TestLongLog(t *testing.T) {
	p, goOn := startShell(t, fmt.Sprintf("read line; seq %d >&2", 2*keptLines))
	goOn()
	<-p.Ended
	if p.Logged("msg=ready") {
		t.Error("the log was not cut")
	}
	if p.Admin() != "127.0.0.1:2" || len(p.Addrs()) != 1 || p.Addrs()[0] != "127.0.0.1:1" {
		t.Errorf("admin address %q, addresses %q", p.Admin(), p.Addrs())
	}
}

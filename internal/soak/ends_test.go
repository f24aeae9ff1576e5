package soak

import (
	"context"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// A process that ended without a fault that ends one fails the round, also when a fault found it so and started the next.
func TestProcessEnds(t *testing.T) {
	script := `echo "msg=ready addr=127.0.0.1:1" >&2; trap 'exit 0' TERM; read line; exit 0`
	var line io.Closer
	g := &gate{number: 1, command: func(ctx context.Context, _ ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "sh", "-c", script)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		line = in
		return cmd
	}}
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.process().Kill() })
	first := line
	for range 2 {
		if _, err := killGate(t.Context(), nil, g, rand.New(rand.NewPCG(1, 1))); err != nil {
			t.Fatal(err)
		}
	}
	if faults := g.unasked(); len(faults) > 0 {
		t.Errorf("processes that were killed: %q", faults)
	}
	_ = first.Close() // its process is gone
	_ = line.Close()
	<-g.process().Ended
	if _, err := restartGate(t.Context(), nil, g, nil); err != nil {
		t.Fatal(err)
	}
	if faults := g.unasked(); len(faults) != 1 || !strings.Contains(faults[0], "process 1.3 ended by itself with exit status 0") {
		t.Errorf("got %q, want process 1.3", faults)
	}
}

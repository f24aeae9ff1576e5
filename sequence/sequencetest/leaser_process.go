package sequencetest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/worker"
)

// holderVariable has a test binary be a process that holds a worker id, for the lease of leaseVariable.
const (
	holderVariable = "SEQGATE_TEST_HOLDER"
	leaseVariable  = "SEQGATE_TEST_HOLDER_LEASE"
)

// HolderMain is to be called first thing in TestMain by packages that run [TestLeaser] with a Spec. In a process that the
// suite has started, which is this test binary too, it holds a worker id from the leaser that open makes of the Spec, writes
// the ids that it is given, one every millisecond, and what goes wrong, until its standard input ends; and exits.
func HolderMain(open func(spec string) (worker.Leaser, error)) {
	spec, ok := os.LookupEnv(holderVariable)
	if !ok {
		return
	}
	if err := holdForTest(spec, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func holdForTest(spec string, open func(spec string) (worker.Leaser, error)) error {
	l, err := open(spec)
	if err != nil {
		return err
	}
	lease, err := time.ParseDuration(os.Getenv(leaseVariable))
	if err != nil {
		return err
	}
	h, err := worker.Open(l, "test", HolderLayout(), 0, holderConfig(lease))
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // there is nothing but the end to come
		close(ended)
	}()
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-ended:
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			return h.Close(ctx)
		case <-pace.C:
			if err := giveForTest(h); err != nil {
				return err
			}
		}
	}
}

func giveForTest(h *worker.Holder) error {
	run, err := h.Next(context.Background(), 1)
	if err != nil {
		_, err = fmt.Println("error", err)
		return err
	}
	_, err = fmt.Println("id", run.First)
	return err
}

// process is a holder in a process of its own.
type process struct {
	cmd *exec.Cmd
	end func() // closes its standard input

	mu     sync.Mutex
	ids    []int64
	errors []string
	done   chan struct{}
}

// start starts a process that holds a worker id for leases of that length. It is killed at the end of the test, if it is still there.
func (h LeaserHarness) start(tb testing.TB, lease time.Duration) *process {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderVariable+"="+h.Spec, leaseVariable+"="+lease.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p := &process{cmd: cmd, end: func() { _ = in.Close() }, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.read(lines.Text())
		}
		_ = cmd.Wait() // killed ones fail
	}()
	tb.Cleanup(p.kill)
	return p
}

func (p *process) read(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text, ok := strings.CutPrefix(line, "id "); ok {
		id, err := strconv.ParseInt(text, 10, 64)
		if err == nil { // else the line was cut when the process was killed
			p.ids = append(p.ids, id)
		}
		return
	}
	p.errors = append(p.errors, line)
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone
	<-p.done
}

// stop has the process close its holder and exit.
func (p *process) stop() {
	p.end()
	<-p.done
}

func (p *process) signal(tb testing.TB, s syscall.Signal) {
	tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		tb.Fatal(err)
	}
}

func (p *process) given() []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.ids)
}

func (p *process) failures() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

// waitForIDs waits for n ids more than there are.
func (p *process) waitForIDs(tb testing.TB, n int) {
	tb.Helper()
	n += len(p.given())
	waitUntil(tb, func() bool { return len(p.given()) >= n })
}

// union checks that no id was given twice.
func union(tb testing.TB, all []*process) {
	tb.Helper()
	var ids IDs
	for _, p := range all {
		given := p.given()
		if !slices.IsSorted(given) {
			tb.Errorf("a process gave ids that do not increase")
		}
		for _, id := range given {
			_ = ids.Take(func() (sequence.Range, error) { return sequence.Range{First: id, N: 1}, nil }) // which cannot fail
		}
	}
	ids.NoDuplicates(tb)
	tb.Logf("%d processes gave %d ids", len(all), ids.Count())
}

func workerOf(tb testing.TB, id int64) int64 {
	tb.Helper()
	d, err := HolderLayout().Decode(id)
	if err != nil {
		tb.Fatal(err)
	}
	return d.Worker
}

func (h LeaserHarness) needsProcesses(t *testing.T) {
	t.Helper()
	if h.Spec == "" {
		t.Skip("a set in the memory of one process")
	}
}

// testHolderProcesses starts 16 processes at once from nothing: each gets one of the 16 worker ids.
func testHolderProcesses(t *testing.T, h LeaserHarness) {
	h.needsProcesses(t)
	var all []*process
	for range 16 {
		all = append(all, h.start(t, longLease))
	}
	seen := map[int64]bool{}
	for _, p := range all {
		p.waitForIDs(t, 10)
		seen[workerOf(t, p.given()[0])] = true
	}
	if len(seen) != 16 {
		t.Errorf("16 processes have %d worker ids: %v", len(seen), seen)
	}
	for _, p := range all {
		p.end()
	}
	for _, p := range all {
		p.stop()
	}
	union(t, all)
}

// testHolderKilled kills processes and starts others, more than there are worker ids in the time: these wait for quarantines.
func testHolderKilled(t *testing.T, h LeaserHarness) {
	h.needsProcesses(t)
	var all []*process
	for range 4 {
		var round []*process
		for range 2 {
			round = append(round, h.start(t, shortLease))
		}
		for _, p := range round {
			p.waitForIDs(t, 50)
		}
		for _, p := range round {
			p.kill()
		}
		all = append(all, round...)
	}
	union(t, all)
}

// testHolderFrozen freezes a process until its lease is over and another has its worker id, and wakes it: it gives no more
// ids of that lease, and goes on when the worker id is its again.
func testHolderFrozen(t *testing.T, h LeaserHarness) {
	h.needsProcesses(t)
	frozen := h.start(t, shortLease)
	frozen.waitForIDs(t, 50)
	frozen.signal(t, syscall.SIGSTOP)
	other := h.start(t, steadyLease)
	other.waitForIDs(t, 50)
	failures, first := len(frozen.failures()), other.given()[0]
	frozen.signal(t, syscall.SIGCONT)
	waitUntil(t, func() bool { return len(frozen.failures()) > failures+1 || slices.Max(frozen.given()) >= first })
	if last := slices.Max(frozen.given()); last >= first { // one below was given before, or reserved for it
		t.Fatalf("the process gave %d after its lease, while another had the worker id from %d on", last, first)
	}
	if got := strings.Join(frozen.failures(), "\n"); !strings.Contains(got, "lease is over") && !strings.Contains(got, "are taken") {
		t.Errorf("got the errors %s, want one that tells that the lease is over", got)
	}
	other.waitForIDs(t, 10)
	other.stop()
	frozen.waitForIDs(t, 10)
	frozen.stop()
	given, last := frozen.given(), slices.Max(other.given())
	if after := given[len(given)-1]; after <= last {
		t.Errorf("after the other holder's %d came %d", last, after)
	}
	union(t, []*process{frozen, other})
}

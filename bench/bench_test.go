package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/bench/internal/report"
	"github.com/seqgate/seqgate/internal/servertest"
)

// The benchmark starts its own program as the relay, which is this test binary here.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == relayCommand {
		if err := relay(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	servertest.Main(m)
}

// A short run against direct and relay measures everything and finds every row that it inserted.
func TestRun(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		var out, log strings.Builder
		file := filepath.Join(t.TempDir(), "report.md")
		err := run(t.Context(), []string{"--server", s.DSN(""), "--targets", "relay", "--rounds", "2", "--slice", "20ms",
			"--conns", "1,3", "--idle", "3", "--out", file}, &out, &log)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range workloads {
			for _, conns := range []int{1, 3} {
				cells := strings.Split(report.Line(out.String(), fmt.Sprintf("| %s | %d |", w.name, conns)), " | ")
				if len(cells) != 7 || cells[2] == "0" || cells[3] == "0.00" {
					t.Errorf("%s at %d connections: got row %q, want 7 cells with a rate and a ratio", w.name, conns, cells)
				}
			}
		}
		if !strings.Contains(out.String(), "## "+s.Version) || !strings.Contains(out.String(), "Memory per idle session: relay ") {
			t.Errorf("report lacks the server's version or the memory per session:\n%s", out.String())
		}
		if written, err := os.ReadFile(file); err != nil || string(written) != out.String() {
			t.Errorf("--out file: got %d bytes and error %v, want the %d bytes of stdout", len(written), err, out.Len())
		}
	})
}

// Through a seqgate in front of two shards what is inserted is there, too.
func TestRunSharded(t *testing.T) {
	var out, log strings.Builder
	err := run(t.Context(), []string{"--server", servertest.First(t).DSN(""), "--targets", "seqgate", "--rounds", "3", "--slice", "20ms",
		"--conns", "2", "--idle", "0", "--only", "^sharded"}, &out, &log)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range shardedLoads {
		cells := strings.Split(report.Line(out.String(), fmt.Sprintf("| sharded %s | 2 |", name)), " | ")
		if len(cells) != 7 || cells[3] == "0.00" {
			t.Errorf("%s: got row %q, want 7 cells with a ratio", name, cells)
		}
	}
}

func TestRelay(t *testing.T) {
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	go func() { // answers, once the client has ended its half, with what it has read
		conn, err := upstream.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		all, _ := io.ReadAll(conn)
		_, _ = conn.Write(append([]byte("got "), all...))
	}()
	cmd := exec.CommandContext(t.Context(), os.Args[0], relayCommand, upstream.Addr().String())
	addr, stop, err := start(cmd, relayReady)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); string(got) != "got hello" || err != nil {
		t.Errorf("through the relay: got %q and error %v, want %q", got, err, "got hello")
	}
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	_, _, err := start(exec.CommandContext(t.Context(), "sh", "-c", "echo why >&2; exit 3"), seqgateReady)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "why") {
		t.Errorf("got %v, want the exit status and what the process said", err)
	}
}

func TestSeqgateReady(t *testing.T) {
	for line, want := range map[string]string{
		"time=2026-01-02T03:04:05Z level=INFO msg=ready addr=127.0.0.1:3307":                "127.0.0.1:3307",
		`time=2026-01-02T03:04:05Z level=INFO msg="seqgate is ready" addr="[::1]:3307" x=1`: "[::1]:3307",
		"level=INFO msg=starting addr=127.0.0.1:3307":                                       "",
		"level=INFO msg=already addr=127.0.0.1:3307":                                        "",
	} {
		var got string
		if m := seqgateReady.FindStringSubmatch(line); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("address in %q: got %q, want %q", line, got, want)
		}
	}
}

func TestParseCPUTime(t *testing.T) {
	got, err := parseCPUTime([]byte("42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 123 45 6 7 20 0 9 0 5000\n"))
	if want := 1680 * time.Millisecond; got != want || err != nil {
		t.Errorf("got %v and error %v, want %v", got, err, want)
	}
	for _, stat := range []string{"", "42 (a) S 1", "42 (a) S 1 42 42 0 -1 4194560 100 0 0 0 x 45"} {
		if _, err := parseCPUTime([]byte(stat)); err == nil {
			t.Errorf("parseCPUTime(%q): got no error", stat)
		}
	}
}

func TestPercentile(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = ms(i + 1)
	}
	for _, tc := range []struct {
		values []time.Duration
		p      int
		want   time.Duration
	}{{nil, 99, 0}, {hundred[:1], 50, ms(1)}, {hundred[:2], 50, ms(1)}, {hundred, 50, ms(50)}, {hundred, 99, ms(99)}} {
		if got := percentile(tc.values, tc.p); got != tc.want {
			t.Errorf("p%d of %d values: got %v, want %v", tc.p, len(tc.values), got, tc.want)
		}
	}
}

// Ratios are taken within a round: here every round has its own speed.
func TestRow(t *testing.T) {
	r := result{workload: "w", conns: 8}
	for _, speed := range []int{100, 1000, 10} {
		r.rounds = append(r.rounds, round{
			direct:     {Queries: 2 * speed, Elapsed: time.Second, P50: 100 * time.Microsecond, P99: 2 * time.Millisecond},
			viaRelay:   {Queries: speed, Elapsed: time.Second, P50: 200 * time.Microsecond, P99: 3 * time.Millisecond, CPU: time.Duration(speed) * 30 * time.Microsecond},
			viaSeqgate: {Queries: speed, Elapsed: 2 * time.Second, P50: 300 * time.Microsecond, P99: 4 * time.Millisecond, CPU: time.Duration(speed) * 45 * time.Microsecond},
		})
	}
	got := r.row([]string{direct, viaRelay, viaSeqgate})
	want := "| w | 8 | 200 | 0.50 | 0.25 | 0.50 | 100/200/300 | 2000/3000/4000 | 30.0/45.0 |"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := len(columns([]string{direct, viaRelay, viaSeqgate})), strings.Count(want, "|")-1; got != want {
		t.Errorf("columns: got %d, want %d", got, want)
	}
}

func TestParseFlags(t *testing.T) {
	for _, tc := range []struct {
		args string
		want string // in the error
	}{
		{"--conns 1,0", `"0" is no positive number`},
		{"--conns x", `"x" is no positive number`},
		{"--targets vtgate", `"vtgate" is neither`},
		{"--only (", "missing closing"},
		{"--rounds 0", "must be positive"},
		{"relay", "unexpected argument"},
	} {
		_, err := parseFlags(strings.Fields(tc.args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got error %v, want one with %q", tc.args, err, tc.want)
		}
	}
	cfg, err := parseFlags(strings.Fields("--conns 2,4 --targets seqgate,relay --only INSERT"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{direct, viaSeqgate, viaRelay}, cfg.targets); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2, 4}, cfg.conns); diff != "" {
		t.Errorf("connections (-want +got):\n%s", diff)
	}
}

// Each round starts with the next target, and every connection takes part.
func TestRoundsRotate(t *testing.T) {
	var order []string
	l := &load{workload: &workload{}, conns: 1, ready: map[string][]operation{}, done: map[string]int{}}
	for _, name := range []string{"a", "b", "c"} {
		l.targets = append(l.targets, &target{name: name})
		l.ready[name] = []operation{func() error { order = append(order, name); return nil }}
	}
	if _, err := l.rounds(t.Context(), 3, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(order, "")
	if want := "abc" + "abc" + "bca" + "cab"; got != want {
		t.Errorf("order, the warm-up first: got %s, want %s", got, want)
	}
}

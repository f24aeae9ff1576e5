// Command bench measures what seqgate costs: the same statements sent directly to a server, through
// a plain TCP relay, and through seqgate, in turn, so that a busy machine disturbs all three alike.
//
//	go run ./bench [flags]
//
//	go run ./bench --peers all [flags]
//
// measures it beside its peers, and how each grows, with tables and figures for docs/internals/benchmarks.md.
//
// It starts the servers that the tests use (MariaDB, and MySQL 9.7 where SEQGATE_TEST_MYSQL97 names its
// starter, or the one in SEQGATE_TEST_DSN) or uses the one given by --server, builds seqgate, and
// prints Markdown tables. Client, hop and server share the machine; ratios between targets of one
// round are what to read, and no absolute number. It needs Linux: CPU times and memory come from
// /proc.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 2 && args[0] == relayCommand {
		return relay(args[1], os.Stdin, stdout)
	}
	cfg, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	if cfg.comparison.asked() {
		return compare(ctx, cfg, stdout, stderr)
	}
	report, err := measureAll(ctx, cfg, stderr)
	if err != nil {
		return err
	}
	if cfg.out != "" {
		if err := os.WriteFile(cfg.out, []byte(report), 0o644); err != nil {
			return err
		}
	}
	_, err = io.WriteString(stdout, report)
	return err
}

// config is what the flags say.
type config struct {
	rounds  int
	slice   time.Duration
	conns   []int
	idle    int
	only    *regexp.Regexp
	server  string // name of a test server, a DSN, or "" for all test servers
	targets []string
	seqgate string // path of a binary; "" to build one
	tags    string
	out     string
	most    int // the largest size of a curve; 0: all

	comparison comparison
}

func parseFlags(args []string, stderr io.Writer) (*config, error) {
	cfg := &config{conns: []int{1, 8, 32}, targets: []string{direct, viaRelay, viaSeqgate}}
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&cfg.rounds, "rounds", 11, "measure each target this many `times`")
	fs.DurationVar(&cfg.slice, "slice", 300*time.Millisecond, "`time` of one measurement")
	fs.IntVar(&cfg.idle, "idle", 500, "idle `sessions` to measure memory with; 0 leaves it out")
	fs.StringVar(&cfg.server, "server", "", "mariadb, mysql97 or the `DSN` of a server to use (default: those of the tests, all there are)")
	fs.StringVar(&cfg.seqgate, "seqgate", "", "`path` of a seqgate binary (default: build one)")
	fs.StringVar(&cfg.tags, "tags", "slim", "build `tags` for seqgate; slim leaves out the demo's engine")
	fs.StringVar(&cfg.out, "out", "", "also write the report to this `file`")
	cfg.comparison.flags(fs)
	fs.IntVar(&cfg.most, "most", 0, "with --peers: the largest `size` of a curve (default: all)")
	quick := fs.Bool("quick", false, "a rougher run in under two minutes: 5 rounds of 120 ms")
	fs.Func("conns", "`numbers` of connections (default 1,8,32)", func(s string) (err error) {
		cfg.conns, err = parseInts(s)
		return err
	})
	fs.Func("only", "run only workloads whose name matches this `regexp`", func(s string) (err error) {
		cfg.only, err = regexp.Compile(s)
		return err
	})
	fs.Func("targets", "what to measure besides direct, a `list` of relay and seqgate (default both)", func(s string) (err error) {
		cfg.targets, err = parseTargets(s)
		return err
	})
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if *quick {
		cfg.rounds, cfg.slice = 5, 120*time.Millisecond
	}
	if cfg.comparison.asked() && !isSet(fs, "rounds") && !isSet(fs, "slice") && !*quick {
		cfg.rounds, cfg.slice = 7, 200*time.Millisecond
	}
	if cfg.rounds < 1 || cfg.slice <= 0 {
		return nil, errors.New("--rounds and --slice must be positive")
	}
	return cfg, nil
}

func isSet(fs *flag.FlagSet, name string) (set bool) {
	fs.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

func parseInts(list string) ([]int, error) {
	var numbers []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no positive number", s)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// parseTargets puts direct first: the ratios are to it.
func parseTargets(list string) ([]string, error) {
	targets := []string{direct}
	for s := range strings.SplitSeq(list, ",") {
		switch s {
		case direct:
		case viaRelay, viaSeqgate:
			targets = append(targets, s)
		default:
			return nil, fmt.Errorf("%q is neither relay nor seqgate", s)
		}
	}
	return targets, nil
}

// Command keys measures what the primary key costs in InnoDB: the same rows, loaded into tables that differ in their key
// only, in slices that take turns, so that a busy machine disturbs all tables alike.
//
//	go run ./bench/keys [-rows 1000000] [-server mariadb|mysql97|DSN] [-buffer-pool 128M,4G]
//
// It starts the servers that the tests use, or uses the one given, in a database of its own, by a user who may create that,
// flush tables and set variables. Several writers insert each table, each with a generator of its own, as several seqgates
// would. It prints a Markdown table for each size of the buffer pool; a page that is not there has to be read, and random
// keys need all of them. Ratios are medians of the slices' own ratios: read these, and no absolute number.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/seqgate/seqgate/bench/internal/report"
	"github.com/seqgate/seqgate/bench/internal/servers"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "keys:", err)
		os.Exit(1)
	}
}

// parts is how many parts a table is loaded in.
const parts = 10

// config is what the flags say.
type config struct {
	rows, single   int // of each table: loaded, and then inserted one by one
	statement      int // rows of a statement
	writers        int
	server         string
	pools          []int64 // bytes; 0: as the server has it
	poolsWereGiven bool
}

func parseFlags(args []string, stderr io.Writer) (*config, error) {
	cfg := &config{pools: []int64{128 << 20, 4 << 30}}
	fs := flag.NewFlagSet("keys", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&cfg.rows, "rows", 1_000_000, "`rows` to load into each table")
	fs.IntVar(&cfg.single, "single", 10_000, "`rows` to insert one by one after that")
	fs.IntVar(&cfg.statement, "statement", 1000, "`rows` of a statement of the load")
	fs.IntVar(&cfg.writers, "writers", 8, "`number` of connections that insert at once, each with its own generator")
	fs.StringVar(&cfg.server, "server", "", "mariadb, mysql97 or the `DSN` of a server to use (default: those of the tests, all there are)")
	fs.Func("buffer-pool", "`sizes` of the buffer pool to set, as 128M,4G, with a large redo log; 0 leaves both as they are (default 128M,4G; with a DSN 0)", func(s string) (err error) {
		cfg.poolsWereGiven = true
		cfg.pools, err = parseSizes(s)
		return err
	})
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if strings.Contains(cfg.server, "/") && !cfg.poolsWereGiven {
		cfg.pools = []int64{0} // somebody else's server
	}
	switch {
	case fs.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case cfg.statement < 1 || cfg.statement > maxStatement:
		return nil, fmt.Errorf("-statement must be 1 to %d", maxStatement)
	case cfg.writers < 1 || cfg.writers > maxWriters:
		return nil, fmt.Errorf("-writers must be 1 to %d", maxWriters)
	case cfg.rows < parts*cfg.statement || cfg.rows%(parts*cfg.statement) != 0:
		return nil, fmt.Errorf("-rows must be a multiple of %d: %d slices of whole statements", parts*cfg.statement, parts)
	case cfg.single < parts || cfg.single%parts != 0:
		return nil, fmt.Errorf("-single must be a multiple of %d", parts)
	}
	return cfg, nil
}

// parseSizes reads a list of bytes, with M or G for mebibytes and gibibytes.
func parseSizes(list string) ([]int64, error) {
	var sizes []int64
	for s := range strings.SplitSeq(list, ",") {
		digits := strings.TrimRight(s, "MG")
		n, err := strconv.ParseInt(digits, 10, 32)
		unit, ok := map[string]int64{"": 1, "M": 1 << 20, "G": 1 << 30}[s[len(digits):]]
		if err != nil || !ok || n < 0 {
			return nil, fmt.Errorf("%q is no size such as 128M or 4G", s)
		}
		sizes = append(sizes, n*unit)
	}
	return sizes, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	cfg, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	head := report.Machine()
	dsns, stop, err := servers.Start(cfg.server, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := io.WriteString(stdout, head+cfg.describe()); err != nil {
		return err
	}
	for _, dsn := range dsns {
		for _, pool := range cfg.pools {
			part, err := measureServer(ctx, cfg, dsn, pool, stderr)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(stdout, part); err != nil {
				return err
			}
		}
	}
	return nil
}

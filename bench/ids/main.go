// Command ids measures what an id costs in process: seqgate's snowflakes beside those of other libraries and beside
// UUIDs, in slices that take turns, so that a busy machine disturbs all of them alike.
//
//	go run ./bench/ids [-rounds 15] [-slice 100ms] [-goroutines 1,2]
//
// It prints a Markdown table. Ratios are medians of the rounds' own ratios: read these, and no absolute number but the time
// of processors, which other work on the machine does not change much. It is of all goroutines together.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seqgate/seqgate/bench/internal/report"
)

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "ids:", err)
		os.Exit(1)
	}
}

// config is what the flags say.
type config struct {
	rounds     int
	slice      time.Duration
	goroutines []int
}

func parseFlags(args []string, stderr io.Writer) (*config, error) {
	cfg := &config{goroutines: []int{1, 2}}
	fs := flag.NewFlagSet("ids", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&cfg.rounds, "rounds", 15, "measure each generator this many `times`")
	fs.DurationVar(&cfg.slice, "slice", 100*time.Millisecond, "`time` of one measurement")
	fs.Func("goroutines", "`numbers` of goroutines that share a generator (default 1,2)", func(s string) error {
		cfg.goroutines = nil
		for field := range strings.SplitSeq(s, ",") {
			n, err := strconv.Atoi(field)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is no positive number", field)
			}
			cfg.goroutines = append(cfg.goroutines, n)
		}
		return nil
	})
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case fs.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	case cfg.rounds < 1 || cfg.slice <= 0:
		return nil, errors.New("-rounds and -slice must be positive")
	}
	return cfg, nil
}

func run(args []string, stdout, stderr io.Writer) error {
	cfg, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	head := report.Machine()
	results, err := measure(cfg)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s- %d rounds of %v, generators in turn; goroutines share a generator\n\n%s",
		head, cfg.rounds, cfg.slice, table(cfg, results))
	return err
}

// table has a row for each generator, with the ratios to the two peers whose layout does not cap them.
func table(cfg *config, results []result) string {
	head := []string{"generator", "ids a call", "allocations a call"}
	for _, n := range cfg.goroutines {
		unit := fmt.Sprintf("%d goroutines", n)
		if n == 1 {
			unit = "1 goroutine"
		}
		head = append(head, unit+": ns an id", "CPU ns", "M ids/s", "of "+wideBwmarrin, "of "+wideSonyflake)
	}
	var rows [][]string
	for _, r := range results {
		row := []string{r.name, fmt.Sprint(r.block), fmt.Sprintf("%.2f", r.allocations)}
		for i := range cfg.goroutines {
			rate := report.Median(r.rates[i])
			row = append(row, number(1e9/rate), number(1e9*report.Median(r.cpu[i])), number(rate/1e6))
			for _, peer := range []string{wideBwmarrin, wideSonyflake} {
				cell := ""
				if !r.capped {
					cell = number(ratio(r.rates[i], find(results, peer).rates[i]))
				}
				row = append(row, cell)
			}
		}
		rows = append(rows, row)
	}
	return report.Table(head, rows)
}

// number has three digits, as many as the measurement is good for.
func number(f float64) string {
	switch {
	case f >= 99.95:
		return fmt.Sprintf("%.0f", f)
	case f >= 9.995:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// ratio is the median of the rounds' own ratios.
func ratio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return report.Median(ratios)
}

func find(results []result, name string) result {
	for _, r := range results {
		if r.name == name {
			return r
		}
	}
	return result{}
}

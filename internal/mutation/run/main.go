// Command run makes each mutation of package mutation in turn and shows that its test fails then:
//
//	run [-only REGEXP] [-limit TIME]
//
// The working directory is the module's root, whose files stay as they are: mutations reach the compiler as an overlay. A
// test has to pass without the mutation, and with it to fail: a mutation that does not compile, a test that was skipped
// or that did not end proves nothing. Exit code 1 when a mutation survives or proves nothing.
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
	"text/tabwriter"
	"time"

	"github.com/seqgate/seqgate/internal/mutation"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	only := flags.String("only", "", "mutations whose names match this `regexp`")
	limit := flags.Duration("limit", 2*time.Minute, "how long a test may take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "seqgate-mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := tester{dir: dir, limit: *limit, built: map[string]string{}, clean: map[string]error{}}
	table := tabwriter.NewWriter(stdout, 44, 0, 2, ' ', 0)
	tried, uncaught := 0, 0
	for _, group := range mutation.All() {
		for _, m := range group.Mutations {
			if !chosen.MatchString(m.Name) {
				continue
			}
			began := time.Now()
			err := t.try(ctx, m)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			tried++
			result := "caught by " + m.Test
			if err != nil {
				uncaught++
				result = err.Error()
			}
			fmt.Fprintf(table, "%s\t%.1fs\t%s\n", m.Name, time.Since(began).Seconds(), result)
			if err := table.Flush(); err != nil {
				return err
			}
		}
	}
	if tried == 0 {
		return fmt.Errorf("no mutation has a name that matches %q", *only)
	}
	fmt.Fprintf(stdout, "%d mutations, %d caught\n", tried, tried-uncaught)
	if uncaught > 0 {
		return errors.New("some were not caught")
	}
	return nil
}

// Command seqgate is a proxy that speaks the MySQL protocol and gives every row
// a globally unique id. See the README for what it does and how it is run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "seqgate:", err)
	}
	os.Exit(exitCode(err))
}

const usage = `seqgate: globally unique ids for MySQL, filled in by a proxy

  seqgate demo  [--listen ADDR]                      try it: an embedded engine behind a real seqgate
  seqgate serve --config FILE                        the proxy
  seqgate serve --upstream DSN [--listen ADDR]       the proxy in front of one server, without a file
  seqgate init  --config FILE [--dry-run] [TABLE...] make and seed missing sequence tables
  seqgate check --config FILE                        validate the files, and the servers' tables against them
  seqgate seq   list|next|set|reset|import ...       look at sequences, and operate them by hand
  seqgate decode ID [--layout NAME] [--json]         explain a generated id
  seqgate version

A DSN is user:password@tcp(host:port)/database. Each command explains its flags with -h.
`

// command is a verb of the command line.
type command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

var commands = map[string]command{
	"serve":  runServe,
	"demo":   runDemo,
	"init":   runInit,
	"check":  runCheck,
	"seq":    runSeq,
	"decode": runDecode,
	"version": func(_ context.Context, _ []string, stdout, _ io.Writer) error {
		_, err := fmt.Fprintln(stdout, "seqgate", version())
		return err
	},
}

// run runs one command; exitCode tells what its error means.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usagef("no command given\n\n%s", usage)
	}
	switch args[0] {
	case "help", "-h", "--help":
		_, err := fmt.Fprint(stdout, usage)
		return err
	}
	c, ok := commands[args[0]]
	if !ok {
		return usagef("unknown command %q\n\n%s", args[0], usage)
	}
	return c(ctx, args[1:], stdout, stderr)
}

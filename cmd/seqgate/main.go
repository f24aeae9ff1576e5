// Command seqgate is a proxy that speaks the MySQL protocol and gives every row
// a globally unique id. See the README for what it does and how it is run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/seqgate/seqgate/vschema"
)

func main() {
	err := run(untilSignal(), os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "seqgate:", err)
	}
	os.Exit(exitCode(err))
}

// untilSignal gives a context that ends with the first SIGINT or SIGTERM. The
// process's own handling is off before anybody can see that end, so that a
// second signal ends the process at once and is never lost.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		cancel()
	}()
	return ctx
}

const usage = `seqgate: globally unique ids for MySQL, filled in by a proxy

  seqgate demo  [--listen ADDR]                      try it: an embedded engine behind a real seqgate
  seqgate serve --config FILE                        the proxy
  seqgate serve --upstream DSN [--listen ADDR]       the proxy in front of one server, without a file
  seqgate init  --config FILE [--dry-run] [TABLE...] make and seed missing sequence tables
  seqgate check --config FILE                        validate the files, and the servers' tables against them
  seqgate explain --config FILE SQL                  what seqgate would make of a statement
  seqgate seq   list|next|set|reset|import ...       look at sequences, and operate them by hand
  seqgate decode ID [--layout NAME] [--json]         explain a generated id
  seqgate status [--config FILE] [--json]            how a running seqgate stands, its servers and its sequences
  seqgate sessions [--config FILE] [--json]          its clients
  seqgate kill ID [--query]                          end a client's session, or what it runs
  seqgate reload [--config FILE]                     have it read its configuration again
  seqgate health [--config FILE]                     whether a running seqgate takes clients
  seqgate completion bash|zsh|fish                   what completes commands and flags in a shell
  seqgate man                                        the manual page
  seqgate version

A DSN is user:password@tcp(host:port)/database. Each command explains its flags with -h.
`

// command is a verb of the command line.
type command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// allCommands are the verbs. It is no variable, since some of them ask the others for their help.
func allCommands() map[string]command {
	return map[string]command{
		"serve":      runServe,
		"demo":       runDemo,
		"init":       runInit,
		"check":      runCheck,
		"seq":        runSeq,
		"decode":     runDecode,
		"explain":    runExplain,
		"status":     runStatus,
		"sessions":   runSessions,
		"reload":     runReload,
		"kill":       runKill,
		"health":     runHealth,
		"completion": runCompletion,
		"man":        runMan,
		"version":    runVersion,
	}
}

// unknownCommand says which one was meant where a known one is near; else what there is. group is "seq " of its commands.
func unknownCommand(group, name string, known []string, usage string) error {
	if advice := vschema.Suggest(name, known); strings.HasPrefix(advice, "did you mean") {
		return usagef("unknown command %q: %s", group+name, advice)
	}
	return usagef("unknown command %q\n\n%s", group+name, usage)
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
	c, ok := allCommands()[args[0]]
	if !ok {
		return unknownCommand("", args[0], slices.Collect(maps.Keys(allCommands())), usage)
	}
	return c(ctx, args[1:], stdout, stderr)
}

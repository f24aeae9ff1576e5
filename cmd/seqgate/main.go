// Command seqgate is a proxy that speaks the MySQL protocol and gives every row
// a globally unique id. See the README for what it does and how it is run.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/vschema"
)

// release is the version that who builds gives: -ldflags "-X main.release=v1.2.3". Packages do, whose sources come
// without the repository.
var release string

func main() {
	app.Release = release
	err := run(untilSignal(), os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "seqgate:", err)
	}
	os.Exit(exitCode(err))
}

// exitCode is 0 for success and asked-for help, 2 for a wrong call and wrong files, 1 for everything else.
func exitCode(err error) int {
	var usage ops.UsageError
	var files vschema.Errors
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage), errors.As(err, &files):
		return 2
	}
	return 1
}

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. The
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

// Command vtcombo builds Vitess's program of that name, unless it is built already, and prints its path.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/seqgate/seqgate/bench/internal/vitess"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	path, err := vitess.Build(ctx, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vtcombo:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

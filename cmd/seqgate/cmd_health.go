package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

const healthAbout = `Asks a running seqgate whether it takes clients, for the health checks of
containers and services: exit code 0 if it does, 1 if not. It asks at the admin
address of the configuration, or at ADDR. Where the configuration has no admin
address, or nobody listens there, it connects to the first address of listen
and waits for the greeting that clients get. Whatever else of the configuration
is wrong, since it was edited, is no matter of the running seqgate's and does
not count.`

// healthTimeout is how long an answer may take, unless a flag says otherwise.
const healthTimeout = 3 * time.Second

func newHealth() *cobra.Command {
	var from adminSource
	var live bool
	cmd := &cobra.Command{
		Use: "health --config FILE | --admin ADDR [--live] [--timeout TIME]", Short: "Tell whether a running seqgate takes clients", Long: healthAbout, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkTimeout(from.timeout); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), from.timeout)
			defer cancel()
			if err := from.health(ctx, live); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "ok")
			return err
		},
	}
	cmd.Flags().StringVar(&from.file, "config", "", "the configuration `FILE` of the seqgate (or SEQGATE_CONFIG)")
	cmd.Flags().StringVar(&from.addr, "admin", "", "the admin `ADDR` of the seqgate, host:port, unix:/path or https://host:port, instead of a file")
	cmd.Flags().BoolVar(&live, "live", false, "ask whether it lives, also while it stops and takes no more clients")
	cmd.Flags().DurationVar(&from.timeout, "timeout", healthTimeout, "the `TIME` that the answer may take")
	return cmd
}

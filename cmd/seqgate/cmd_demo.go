//go:build !slim

package main

import (
	"github.com/seqgate/seqgate/internal/config"
	"github.com/spf13/cobra"
)

func newDemo() *cobra.Command {
	var listen, admin string
	cmd := &cobra.Command{
		Use: "demo [--listen ADDR] [--admin ADDR]", Short: "Try it: embedded engines behind a real seqgate",
		Long: `Runs seqgate in front of embedded MySQL-compatible engines, with example tables
in an unsharded and a sharded keyspace.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo(cmd.Context(), listen, admin, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&listen, "listen", config.Default().Listen[0], "`ADDR` to listen on, host:port")
	cmd.Flags().StringVar(&admin, "admin", "", "`ADDR` of the status page, host:port; none by default")
	return cmd
}

package main

import (
	"fmt"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/spf13/cobra"
)

var checkAbout = fmt.Sprintf(`Validates the configuration and the vschema, and lists everything wrong in them
by file and line (exit code 2). Then compares the servers' tables with them, on
every shard: what would make INSERTs fail, ids repeat or rows not be found is
an error (exit code 1), a server that cannot be reached, or answers nothing for
%v, a warning, or with --strict an error. It changes nothing.`, 2*ops.Silence)

func newCheck() *cobra.Command {
	var from source
	var strict bool
	cmd := &cobra.Command{
		Use: "check --config FILE | --upstream DSN [--strict]", Short: "Validate the files, and the servers' tables against them", Long: checkAbout,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return from.withCluster(cmd.Context(), func(c *ops.Cluster) error { return c.Check(cmd.Context(), strict, cmd.OutOrStdout()) })
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().BoolVar(&strict, "strict", false, "a server that cannot be reached is an error, not a warning")
	return cmd
}

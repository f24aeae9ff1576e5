package main

import (
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/spf13/cobra"
)

const seqResetAbout = `Sets the next_id of the sequence NAME to the first id above those in use in the
columns that it fills, above MAX(column) and the AUTO_INCREMENT counter. It
raises next_id freely; to lower it takes --force, and no seqgate (and no
Vitess) that uses the sequence may run then: each holds ids in memory that
would be given again. A sequence that counts by key is raised as by seqgate
init, and never lowered.`

func newSeqReset() *cobra.Command {
	var r ops.RowChange
	cmd := &cobra.Command{
		Use: "reset --config FILE | --upstream DSN NAME [--force] [--dry-run]", Short: "Set next_id to the first id above those in use", Long: seqResetAbout,
		Args: arguments(1, 1, "give the sequence's NAME"),
	}
	from := rowChangeFlags(&r, cmd.Flags(), "also lower next_id; ids repeat if any seqgate runs that uses the sequence")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return from.withCluster(cmd.Context(), func(c *ops.Cluster) error {
			r.Cluster, r.Out = c, cmd.OutOrStdout()
			return r.Reset(cmd.Context(), args[0])
		})
	}
	return cmd
}

package main

import (
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/spf13/cobra"
)

const seqListAbout = `Lists every sequence: those that the vschema names, or those of the convention
and other tables with a sequence's comment. Shows what its row holds, the
columns that it fills, the largest id in each, and the share of the column's
type that next_id has passed; and what is wrong. KIND is row for those with one
row; the NEXT_ID of one that lies in stripes is the smallest of them, and one
that counts by key has none. It changes nothing.`

func newSeqList() *cobra.Command {
	var from source
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list --config FILE | --upstream DSN [--json]", Short: "List every sequence: where it stands, what it fills, what is wrong", Long: seqListAbout,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return from.withCluster(cmd.Context(), func(c *ops.Cluster) error { return c.List(cmd.Context(), asJSON, cmd.OutOrStdout()) })
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON list for programs; ids are numbers up to 2^63-1")
	return cmd
}

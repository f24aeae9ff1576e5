package main

import (
	"errors"
	"fmt"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/sequence"
	"github.com/spf13/cobra"
)

const seqNextAbout = `Reserves N ids, 1 unless said, in the row of the sequence NAME, and prints the
first and the last of them on one line. They belong to whoever ran the command.
The block is of exactly N ids, whatever the sequence's cache, and comes from
the row, past what running seqgates hold in memory: their next ids may be
smaller, and are never the same.`

func newSeqNext() *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use: "next --config FILE | --upstream DSN NAME [N]", Short: "Reserve N ids (1) and print the first and the last", Long: seqNextAbout,
		Args: arguments(1, 2, "give the sequence's NAME, and how many ids"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			n := int64(1)
			if len(args) == 2 {
				if n, err = countArgument("N", args[1]); err != nil {
					return err
				}
			}
			if n > sequence.MaxN {
				return ops.Usagef("N %d: ask for at most %d ids at once", n, int64(sequence.MaxN))
			}
			return from.withCluster(cmd.Context(), func(c *ops.Cluster) error {
				name := c.Table(args[0])
				reserved, err := c.Reserve(cmd.Context(), name, n)
				if errors.Is(err, sequence.ErrNoTable) {
					return c.NoTable(name)
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), reserved.First, reserved.Last())
				return err
			})
		},
	}
	from.flags(cmd.Flags())
	return cmd
}

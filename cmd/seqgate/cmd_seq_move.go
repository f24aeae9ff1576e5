package main

import (
	"fmt"
	"strconv"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/spf13/cobra"
)

const seqMoveAbout = `Moves a stripe of a sequence that lies on several servers to another of them,
while seqgates use it. Both servers must answer. A move that failed half-way is
ended by calling it again.`

func newSeqMove() *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use: "move --config FILE | --upstream DSN NAME STRIPE SERVER", Short: "Move a stripe to another server", Long: seqMoveAbout,
		Args: arguments(3, 3, "give the sequence's NAME, the STRIPE's number and the SERVER's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			stripe, err := strconv.Atoi(args[1])
			if err != nil {
				return ops.Usagef("STRIPE %q: write its number, as seqgate seq stripes shows it", args[1])
			}
			return from.withCluster(cmd.Context(), func(c *ops.Cluster) error {
				return c.WithStriped(args[0], func(s ops.StripedSequence) error {
					if err := s.Move(cmd.Context(), stripe, args[2]); err != nil {
						return err
					}
					_, err := fmt.Fprintf(cmd.OutOrStdout(), "stripe %d is on %s\n", stripe, args[2])
					return err
				})
			})
		},
	}
	from.flags(cmd.Flags())
	return cmd
}

package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/sequence"
	"github.com/spf13/cobra"
)

const seqStripesAbout = `Lists the stripes of a sequence that lies on several servers
(sequences.overrides, stores): which server has each, and where it stands. A
move that did not come to its end shows the server that is to get the stripe.
It changes nothing.`

func newSeqStripes() *cobra.Command {
	var from source
	cmd := &cobra.Command{
		Use: "stripes --config FILE | --upstream DSN NAME", Short: "Show the stripes of a sequence that lies on several servers", Long: seqStripesAbout,
		Args: arguments(1, 1, "give the sequence's NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return from.withCluster(cmd.Context(), func(c *ops.Cluster) error {
				return c.WithStriped(args[0], func(s ops.StripedSequence) error {
					stripes, err := s.Stripes(cmd.Context(), s.Database, s.Name.Table)
					return errors.Join(printStripes(cmd.OutOrStdout(), stripes), err)
				})
			})
		},
	}
	from.flags(cmd.Flags())
	return cmd
}

func printStripes(w io.Writer, stripes []sequence.Stripe) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STRIPE\tSERVER\tNEXT\tNEXT_ID\tCACHE\tMOVES TO")
	for _, s := range stripes {
		to := s.MovedTo
		if to == "" {
			to = "-"
		}
		fmt.Fprintf(t, "%d\t%s\t%d\t%d\t%d\t%s\n", s.Number, s.Server, s.Next, s.NextID, s.Cache, to)
	}
	return t.Flush()
}

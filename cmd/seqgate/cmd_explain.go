package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

const explainAbout = `Shows what seqgate would make of a statement: how many ids it takes and from
where, which shards it goes to, and the text that each server gets. Nothing of
it runs, and no id is taken: :id1, :id2 stand for the ids. Tables are looked up
at the servers, with the accounts of the configuration. A ? makes it a
statement that a driver prepares. The statement SHOW SEQGATE PLAN FOR '...'
shows the same in a client's session.`

func newExplain() *cobra.Command {
	var from source
	var database string
	cmd := &cobra.Command{
		Use: "explain --config FILE | --upstream DSN [--database NAME] SQL", Short: "Show what seqgate would make of a statement", Long: explainAbout,
		Args: arguments(1, 1, "give one statement, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := from.load()
			if err != nil {
				return err
			}
			plan, err := showPlan(cmd.Context(), cfg, cmp.Or(database, cfg.DefaultKeyspace), args[0])
			if err != nil {
				return err
			}
			return printPlan(cmd.OutOrStdout(), plan)
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().StringVar(&database, "database", "", "the `NAME` of the current keyspace, default_keyspace unless said")
	return cmd
}

func printPlan(w io.Writer, plan []planLine) error {
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range plan {
		if _, err := fmt.Fprintf(lines, "%s\t%s\n", line.about, line.says); err != nil {
			return err
		}
	}
	return lines.Flush()
}

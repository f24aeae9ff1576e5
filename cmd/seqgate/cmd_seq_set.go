package main

import (
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const seqSetAbout = `Sets the next_id of the sequence NAME to NEXT_ID, its cache to N, or both.
next_id is only raised, and only to an id above those in use in the columns
that the sequence fills and within their types and MAXVALUE, unless --force. Of
a sequence that counts by key, all keys are raised to NEXT_ID, and those above
it stay.

Running seqgates (and Vitess) hold blocks of ids in memory: they go on with
those, and meet the new next_id and cache at their next refill. So lowering is
dangerous: ids that one of them has or gave are given again by others, until it
refills and raises next_id above its own. Stop them all before.`

func newSeqSet() *cobra.Command {
	var r ops.RowChange
	var cache count
	cmd := &cobra.Command{
		Use:   "set --config FILE | --upstream DSN NAME [NEXT_ID]\n        [--cache N] [--force] [--dry-run]",
		Short: "Set next_id, cache or both", Long: seqSetAbout,
		Args: arguments(1, 2, "give the sequence's NAME and what to set"),
	}
	from := rowChangeFlags(&r, cmd.Flags(), "also lower next_id, or set it among the ids in use or past the column's type: ids may repeat")
	cmd.Flags().Var(&cache, "cache", "`N` ids that are reserved at once at least, from 1")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		want := ops.WantedRow{Cache: int64(cache), Force: r.Force}
		if len(args) == 2 {
			if want.Next, err = countArgument("NEXT_ID", args[1]); err != nil {
				return err
			}
		} else if want.Cache == 0 {
			return ops.Usagef("nothing to set: give NEXT_ID, --cache N or both")
		}
		return from.withCluster(cmd.Context(), func(c *ops.Cluster) error {
			r.Cluster, r.Out = c, cmd.OutOrStdout()
			return r.Set(cmd.Context(), args[0], want)
		})
	}
	return cmd
}

// rowChangeFlags adds what set and reset have in common.
func rowChangeFlags(r *ops.RowChange, fs *pflag.FlagSet, force string) *source {
	from := &source{}
	from.flags(fs)
	fs.BoolVar(&r.Force, "force", false, force)
	fs.BoolVar(&r.DryRun, "dry-run", false, "print the SQL and run none of it")
	return from
}

package main

import (
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/sequence"
	"github.com/spf13/cobra"
)

const seqImportAbout = `Takes sequences over from another system: makes the sequence NAME if it is
missing and raises it above what the system has given under KEY, plus the
margin, and above the ids in use in what the sequence fills. It never lowers
anything; a second call does no harm. SYSTEM is one of

  leaf            KEY is a biz_tag of the table leaf_alloc: next_id = max_id,
                  cache = step
  tinyid          KEY is a biz_type of the table tiny_id_info:
                  next_id = max_id + 1, cache = step
  auto_increment  KEY is a table: next_id = AUTO_INCREMENT, at least
                  MAX(id) + 1. Also for Flickr's ticket servers
  idgo            KEY is a key's table: next_id = id + 1 + 2000, as idgo gives
                  up to 2000 ids more than its table says
  redis           KEY is a counter of INCR: next_id = its value + 1

SOURCE is a DSN, user:password@tcp(host:port)/database, or
redis://user:password@host:port/number. Give --from once for each server that
gives ids under the same key, as with auto_increment_offset or tinyid's
remainder: the largest counts.

Stop what takes ids from the old system first. If it cannot be, give a margin
of more ids than the system gives until it is stopped; import again when it is.
A Redis that lost its latest writes (appendfsync everysec) needs a margin too.`

func newSeqImport() *cobra.Command {
	var from source
	var i ops.Importer
	cache := count(sequence.DefaultCache)
	cmd := &cobra.Command{
		Use:   "import SYSTEM --from SOURCE --config FILE | --upstream DSN\n        [--margin N] [--cache N] [--dry-run] NAME=KEY ...",
		Short: "Take over from Leaf, tinyid, idgo, Redis or AUTO_INCREMENT", Long: seqImportAbout,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := i.Parse(args); err != nil {
				return err
			}
			i.Out, i.Cache = cmd.OutOrStdout(), int64(cache)
			return from.withCluster(cmd.Context(), func(c *ops.Cluster) error {
				i.Cluster = c
				seeds, err := i.Seeds(cmd.Context())
				if err != nil {
					return err
				}
				return i.Run(cmd.Context(), seeds)
			})
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().Func("from", "the `SOURCE` to read, a server of the old system; may be given several times", func(text string) error {
		i.Sources = append(i.Sources, text)
		return nil
	})
	cmd.Flags().Int64Var(&i.Margin, "margin", 0, "`N` ids to leave out above what the old system has given")
	cmd.Flags().Var(&cache, "cache", "`N` ids that a new sequence reserves at once, if the old system does not say")
	cmd.Flags().BoolVar(&i.DryRun, "dry-run", false, "print the SQL and run none of it; the old system is read all the same")
	return cmd
}

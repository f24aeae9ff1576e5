package main

import (
	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/sequence"
	"github.com/spf13/cobra"
)

const initAbout = `Makes the sequence tables that are missing, each with its row, and raises
next_id above the ids in use: above MAX(column) and the AUTO_INCREMENT counter,
of all shards. It never lowers anything; a second call has nothing to do. Of a
sequence that counts by key it reads the largest value of every key, and raises
the sections that are behind.

With a vschema, these are the sequences that it names. Without one, those of
all tables t that have a t_seq beside them, and a new t_seq for each TABLE.
Rows that reach the servers past seqgate meanwhile may take ids that the
sequence gives later: run it before clients use seqgate, or again when they all
do, and after rows were restored. A sequence for which a shard would have to
answer that is away stays as it is; the others are made. A sequence whose
stripes lie on several servers is made when all answer; later, the stripes of
those that answer are raised.

A row that is missing in a table that is there, and a table that is known to
have been used, are not made anew: processes that run may hold ids of them in
memory, which would be given twice. With --stopped they are: say so when all
that use the sequence have ended.

Where generators of type snowflake lease their worker ids in a table, it makes
that table, too.`

func newInit() *cobra.Command {
	var from source
	var s ops.Seeder
	cache := count(sequence.DefaultCache)
	cmd := &cobra.Command{
		Use:   "init --config FILE | --upstream DSN [--cache N]\n        [--dry-run] [--stopped] [TABLE ...]",
		Short: "Make and seed the sequence tables that are missing", Long: initAbout,
		RunE: func(cmd *cobra.Command, tables []string) error {
			s.Out = cmd.OutOrStdout()
			return from.withCluster(cmd.Context(), func(c *ops.Cluster) error {
				s.Cluster = c
				return s.Init(cmd.Context(), tables, int64(cache))
			})
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().Var(&cache, "cache", "`N` ids that a new sequence reserves at once, from 1")
	cmd.Flags().BoolVar(&s.DryRun, "dry-run", false, "print the SQL and run none of it; rows of stripes and sections are told in comments")
	cmd.Flags().BoolVar(&s.Stopped, "stopped", false, "all processes that use the sequences have ended: make rows and tables anew that are gone")
	return cmd
}

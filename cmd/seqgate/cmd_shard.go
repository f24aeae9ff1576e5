package main

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

const shardAbout = `Pauses and resumes a shard of a running seqgate, so that its primary can be
changed without an error to clients. SHARD is keyspace:shard, as in
customer:-80, or a keyspace for all its shards.

They ask at the admin address of the configuration, or at ADDR, from the same
machine. Where several seqgates run, pause and resume each.`

const pauseAbout = `Has new statements and logins wait for a shard until it is resumed, each for
timeouts.pause at most; then it fails with error 1205. Statements under way and
open transactions go on, and ids that are in memory stay. seqgate status shows
how many wait.`

const resumeAbout = `Has statements and logins that wait for a shard go on.`

func newShard() *cobra.Command {
	cmd := &cobra.Command{Use: "shard", Short: "Pause and resume a shard, to change its primary", Long: shardAbout}
	cmd.AddCommand(newShardChange("pause", "Have new statements wait for a shard", pauseAbout, "paused"),
		newShardChange("resume", "Have statements go on that wait for a shard", resumeAbout, "resumed"))
	return cmd
}

func newShardChange(verb, short, about, done string) *cobra.Command {
	var from adminSource
	cmd := &cobra.Command{
		Use: verb + " SHARD --config FILE | --admin ADDR [--timeout TIME]", Short: short, Long: about,
		Args: arguments(1, 1, "write one shard, such as customer:-80, or a keyspace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked := url.Values{"shard": args}
			if _, err := from.ask(cmd.Context(), http.MethodPost, "/-/"+verb+"?"+asked.Encode(), nil); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is %s\n", args[0], done)
			return err
		},
	}
	from.flags(cmd.Flags())
	return cmd
}

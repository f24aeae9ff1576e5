package main

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"
)

const killAbout = `Ends the session of a client of a running seqgate, or with --query what it
runs. ID is the one that seqgate sessions shows, which is the connection id of
the client's greeting. A session that the server does not end is cut off. It
asks at the admin address of the configuration, or at ADDR, from the same
machine.`

func newKill() *cobra.Command {
	var from adminSource
	var query bool
	cmd := &cobra.Command{
		Use: "kill ID [--query] --config FILE | --admin ADDR [--timeout TIME]", Short: "End a client's session, or what it runs", Long: killAbout,
		Args: arguments(1, 1, "write the id of one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := countArgument("ID", args[0])
			if err != nil {
				return err
			}
			page, what := "/-/kill?id="+strconv.FormatInt(id, 10), "session %d was ended\n"
			if query {
				page, what = page+"&query", "what session %d ran, if anything, was ended\n"
			}
			if _, err := from.ask(cmd.Context(), http.MethodPost, page, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), what, id)
			return err
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().BoolVar(&query, "query", false, "end what the session runs, and leave the session")
	return cmd
}

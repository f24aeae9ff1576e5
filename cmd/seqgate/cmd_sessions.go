package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/spf13/cobra"
)

const sessionsAbout = `Lists the clients of a running seqgate, and what their servers say that they
do; nothing of what their statements say. It asks at the admin address of the
configuration, or at ADDR.`

func newSessions() *cobra.Command {
	return newAsking("sessions", "List the clients of a running seqgate", sessionsAbout, http.MethodGet, "/sessions.json", printSessions)
}

func printSessions(w io.Writer, r admin.SessionsReport) error {
	t := table(w, "ID", "USER", "HOST", "KEYSPACE", "DATABASE", "COMMAND", "SECONDS", "STATE", "PINNED")
	for _, s := range r.Sessions {
		pinned := "no"
		if s.Pinned {
			pinned = "yes"
		}
		row(t, s.ID, s.User, s.Host, s.Keyspace, s.Database, s.Command, s.Seconds, s.State, pinned)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := r.Total - len(r.Sessions); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	if r.Problem == "" {
		return nil
	}
	return printProblems(w, []string{r.Problem})
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/spf13/cobra"
)

const reloadAbout = `Has a running seqgate read its configuration again, and the files that it
names, as SIGHUP does, and prints which keys count now and which need a
restart. A configuration with mistakes changes nothing. It asks at the admin
address of the configuration, or at ADDR, from the same machine.`

func newReload() *cobra.Command {
	return newAsking("reload", "Have a running seqgate read its configuration again", reloadAbout, http.MethodPost, "/-/reload", printReload)
}

func printReload(w io.Writer, r admin.ReloadReport) error {
	var lines []string
	if len(r.Reloaded) > 0 {
		lines = append(lines, "reloaded: "+strings.Join(r.Reloaded, ", "))
	}
	if len(r.NeedsRestart) > 0 {
		lines = append(lines, "needs a restart: "+strings.Join(r.NeedsRestart, ", "))
	}
	_, err := fmt.Fprintln(w, cmp.Or(strings.Join(lines, "\n"), "nothing has changed"))
	return err
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/seqgate/seqgate/proxy/admin"
)

const (
	statusAbout = `Shows how a running seqgate stands: whether it takes clients, how its servers answer, and how many ids its sequences have in
memory. It asks at the admin address of the configuration, or at ADDR.`
	sessionsAbout = `Lists the clients of a running seqgate, and what their servers say that they do; nothing of what their statements say. It asks
at the admin address of the configuration, or at ADDR.`
	reloadAbout = `Has a running seqgate read its configuration again, and the files that it names, as SIGHUP does, and prints which keys count
now and which need a restart. A configuration with mistakes changes nothing. It asks at the admin address of the configuration,
or at ADDR, from the same machine.`
	killAbout = `Ends the session of a client of a running seqgate, or with --query what it runs. ID is the one that seqgate sessions shows, which
is the connection id of the client's greeting. A session that the server does not end is cut off. It asks at the admin address
of the configuration, or at ADDR, from the same machine.`
)

// newAsking makes a command without arguments, whose answer is JSON that show prints as text.
func newAsking[T any](name, short, about, method, page string, show func(io.Writer, T) error) *cobra.Command {
	var from adminSource
	var asJSON bool
	cmd := &cobra.Command{
		Use: name + " --config FILE | --admin ADDR [--json] [--timeout TIME]", Short: short, Long: about, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var read T
			answer, err := from.ask(cmd.Context(), method, page, &read)
			if err != nil {
				return err
			}
			if asJSON {
				_, err = cmd.OutOrStdout().Write(answer)
				return err
			}
			return show(cmd.OutOrStdout(), read)
		},
	}
	from.flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as it is, for programs")
	return cmd
}

func newStatus() *cobra.Command {
	return newAsking("status", "Show how a running seqgate stands: servers, sequences", statusAbout, http.MethodGet, "/status.json",
		func(w io.Writer, r admin.StatusReport) error { return printStatus(w, r, time.Now()) })
}

func newSessions() *cobra.Command {
	return newAsking("sessions", "List the clients of a running seqgate", sessionsAbout, http.MethodGet, "/sessions.json", printSessions)
}

func newReload() *cobra.Command {
	return newAsking("reload", "Have a running seqgate read its configuration again", reloadAbout, http.MethodPost, "/-/reload", printReload)
}

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

// table starts a table with these columns.
func table(w io.Writer, columns ...string) *tabwriter.Writer {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(columns, "\t"))
	return t
}

// row prints cells; an empty one is a dash, and clients' and servers' texts cannot move the cursor.
func row(w io.Writer, cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, cmp.Or(strings.ReplaceAll(printableText(fmt.Sprint(c)), "\n", "\uFFFD"), "-"))
	}
	fmt.Fprintln(w)
}

// printableText puts U+FFFD in the place of what a terminal would obey.
func printableText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

func printStatus(w io.Writer, r admin.StatusReport, now time.Time) error {
	state := "ready"
	switch {
	case !r.Ready:
		state = "takes no new clients: " + r.Problem
	case r.Problem != "":
		state = "ready, but the " + r.Problem
	}
	limit := ""
	if r.Limit > 0 {
		limit = fmt.Sprintf(" of %d", r.Limit)
	}
	fmt.Fprintf(w, "seqgate %s: %s\nup for %s, %d sessions%s, %d pinned\n", r.Version, printableText(state), ago(now, r.Started), r.Sessions, limit, r.Pinned)
	var problems []string
	for _, print := range []func(io.Writer, admin.StatusReport, time.Time) ([]string, error){printServers, printSequences, printKeyed} {
		more, err := print(w, r, now)
		if err != nil {
			return err
		}
		problems = append(problems, more...)
	}
	return printProblems(w, problems)
}

// printProblems prints what is wrong below a table.
func printProblems(w io.Writer, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nproblems:\n  %s\n", strings.ReplaceAll(printableText(strings.Join(problems, "\n")), "\n", "\n  "))
	return err
}

func printServers(w io.Writer, r admin.StatusReport, now time.Time) (problems []string, err error) {
	if len(r.Servers) == 0 {
		return nil, nil
	}
	t := table(w, "\nSERVER", "STATE", "FOR", "ANSWERS_IN", "ADDRESS", "VERSION")
	for _, s := range r.Servers {
		name, took := s.Keyspace, ""
		if s.Shard != "-" {
			name += ":" + s.Shard
		}
		if s.LatencyMS > 0 {
			took = fmt.Sprintf("%.1f ms", s.LatencyMS)
		}
		row(t, name, s.State, ago(now, s.Since), took, s.Address, s.Version)
		if s.LastError != "" {
			problems = append(problems, name+": "+s.LastError)
		}
	}
	return problems, t.Flush()
}

func printSequences(w io.Writer, r admin.StatusReport, now time.Time) (problems []string, err error) {
	if len(r.Sequences) == 0 {
		return nil, nil
	}
	t := table(w, "\nSEQUENCE", "STRATEGY", "NEXT_ID", "IN_MEMORY", "IDS_PER_S", "RUNWAY", "WAITING", "REFILLS", "FAILURES")
	for _, s := range r.Sequences {
		row(t, s.Sequence, s.Strategy, nextText(s), s.Remaining, fmt.Sprintf("%.1f", s.Rate), runwayText(s), s.Waiting, s.Refills, s.Failures)
		problems = append(problems, troubleOf(s.Sequence, s.AwaySince, s.LastError, now)...)
	}
	return problems, t.Flush()
}

func printKeyed(w io.Writer, r admin.StatusReport, now time.Time) (problems []string, err error) {
	if len(r.Keyed) == 0 {
		return nil, nil
	}
	t := table(w, "\nKEYED", "SECTIONS_HELD", "KEYS_IN_MEMORY", "ASKED_OF_OTHERS", "FAILURES")
	for _, s := range r.Keyed {
		row(t, s.Sequence, fmt.Sprintf("%d of %d", s.Held, s.Sections), s.Keys, s.Forwards, s.Failures)
		problems = append(problems, troubleOf(s.Sequence, s.AwaySince, s.LastError, now)...)
	}
	return problems, t.Flush()
}

// nextText is the next id from memory, "" while there is none.
func nextText(s admin.SequenceState) string {
	if s.Remaining == 0 {
		return ""
	}
	return strconv.FormatInt(s.NextID, 10)
}

// troubleOf says since when a sequence gets no ids, and what failed last.
func troubleOf(name string, away time.Time, lastError string, now time.Time) []string {
	if !away.IsZero() {
		return []string{fmt.Sprintf("%s: no ids from the database for %s: %s", name, ago(now, away), lastError)}
	}
	if lastError != "" {
		return []string{name + ": last error: " + lastError}
	}
	return nil
}

// runwayText is how long the ids in memory last; ordered sequences keep none.
func runwayText(s admin.SequenceState) string {
	const long = 365 * 24 * time.Hour
	switch d := time.Duration(s.Runway * float64(time.Second)); {
	case s.Ordered || s.Refills == 0:
		return ""
	case s.Runway >= long.Seconds():
		return "over a year"
	default:
		return d.Truncate(time.Second).String()
	}
}

// ago is how long something has been so, "" where it is not known.
func ago(now, since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return max(now.Sub(since), 0).Truncate(time.Second).String()
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

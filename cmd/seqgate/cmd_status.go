package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/seqgate/seqgate/proxy/admin"
	"github.com/spf13/cobra"
)

const statusAbout = `Shows how a running seqgate stands: whether it takes clients, how its servers
answer, and how many ids its sequences have in memory. It asks at the admin
address of the configuration, or at ADDR.`

func newStatus() *cobra.Command {
	return newAsking("status", "Show how a running seqgate stands: servers, sequences", statusAbout, http.MethodGet, "/status.json",
		func(w io.Writer, r admin.StatusReport) error { return printStatus(w, r, time.Now()) })
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
		state := s.State
		if !s.Paused.IsZero() {
			state += ", paused"
			problems = append(problems, fmt.Sprintf("%s: paused for %s, %d waiting", name, ago(now, s.Paused), s.Waiting))
		}
		row(t, name, state, ago(now, s.Since), took, s.Address, s.Version)
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

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

const decodeAbout = `Takes a snowflake id apart into time, zone, worker id and sequence. An id does not say by which layout it was made:
without --layout it is explained by each known layout in which its time lies between the layout's epoch and tomorrow
(exit code 1 when there is none). ID is decimal, or hexadecimal after 0x.`

// runDecode is `seqgate decode`.
func runDecode(_ context.Context, args []string, stdout, _ io.Writer) error {
	fs := newFlags("decode", "ID [--layout NAME] [--json]", decodeAbout, stdout)
	layout := fs.String("layout", "", "explain the id by this `LAYOUT` only: "+strings.Join(layoutNames(), ", "))
	asJSON := fs.Bool("json", false, "print JSON")
	rest, err := parseArgs(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("give one ID: see seqgate decode --help")
	}
	id, err := parseID(rest[0])
	if err != nil {
		return err
	}
	list, err := explain(id, *layout, time.Now())
	if err != nil {
		return err
	}
	if *asJSON {
		return printExplainedJSON(stdout, id, list)
	}
	return printExplained(stdout, list)
}

func layoutNames() []string {
	var names []string
	for _, l := range snowflake.Presets() {
		names = append(names, l.Name)
	}
	return names
}

// parseID reads a decimal or 0x number. Leading zeros mean nothing.
func parseID(text string) (int64, error) {
	digits, base := text, 10
	if hex, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		digits, base = hex, 16
	}
	id, err := strconv.ParseInt(digits, base, 64)
	if err != nil || id < 1 {
		return 0, usagef("%q is not an id: write a number from 1 to 2^63-1, decimal or after 0x", text)
	}
	return id, nil
}

// explained is an id as one layout sees it.
type explained struct {
	Layout   string    `json:"layout"`
	Time     time.Time `json:"time"`
	Zone     *int64    `json:"zone,omitempty"` // nil in a layout without
	Worker   int64     `json:"worker"`
	Sequence int64     `json:"sequence"`
}

// explain decodes an id by the layout with this name, or by all that are plausible when it is empty.
func explain(id int64, name string, now time.Time) ([]explained, error) {
	decoded := snowflake.Explain(id, now)
	if name != "" {
		l, ok := snowflake.Preset(name)
		if !ok {
			return nil, usagef("no layout %q: there are %s", name, strings.Join(layoutNames(), ", "))
		}
		d, err := l.Decode(id)
		if err != nil {
			return nil, err
		}
		decoded = []snowflake.Decoded{d}
	}
	if len(decoded) == 0 {
		return nil, fmt.Errorf("no known layout gives %d a time between its epoch and tomorrow: it may be a sequence's, or of a layout of its own", id)
	}
	var list []explained
	for _, d := range decoded {
		e := explained{Layout: d.Layout, Time: d.Time, Worker: d.Worker, Sequence: d.Sequence}
		if l, _ := snowflake.Preset(d.Layout); l.Bits(snowflake.Zone) > 0 {
			e.Zone = &d.Zone
		}
		list = append(list, e)
	}
	return list, nil
}

// printExplainedJSON prints the id as a string: many readers of JSON hold numbers as floats, of 53 bits.
func printExplainedJSON(w io.Writer, id int64, list []explained) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		ID      int64       `json:"id,string"`
		Layouts []explained `json:"layouts"`
	}{id, list})
}

func printExplained(w io.Writer, list []explained) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LAYOUT\tTIME\tZONE\tWORKER\tSEQUENCE")
	for _, e := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\n", e.Layout, e.Time.Format(time.RFC3339Nano), orDash(e.Zone), e.Worker, e.Sequence)
	}
	return t.Flush()
}

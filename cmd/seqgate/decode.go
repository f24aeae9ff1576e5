package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seqgate/seqgate/internal/config"

	"github.com/seqgate/seqgate/proxy/generate"
	"github.com/seqgate/seqgate/sequence/snowflake"
	"github.com/seqgate/seqgate/vschema"
)

const decodeAbout = `Takes a snowflake id apart into time, zone, worker id and sequence. An id does not say by which layout it was made:
without --layout it is explained by each known layout in which its time lies between the layout's epoch and tomorrow
(exit code 1 when there is none), and with --config or --vschema by those of the generators too. ID is decimal, or hexadecimal after 0x.`

func newDecode() *cobra.Command {
	var layout, file, schema string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "decode ID [--config FILE | --vschema FILE | --layout NAME] [--json]", Short: "Explain a generated id", Long: decodeAbout,
		Args: arguments(1, 1, "give one ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID(args[0])
			if err != nil {
				return err
			}
			generators, err := declaredGenerators(file, schema, layout)
			if err != nil {
				return err
			}
			list, err := explain(id, layout, generators, time.Now())
			if err != nil {
				return err
			}
			if asJSON {
				return printExplainedJSON(cmd.OutOrStdout(), id, list)
			}
			return printExplained(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().StringVar(&layout, "layout", "", "explain the id by this `LAYOUT` only: "+strings.Join(layoutNames(), ", "))
	cmd.Flags().StringVar(&file, "config", "", "explain the id by the generators of this configuration `FILE`'s vschema too")
	cmd.Flags().StringVar(&schema, "vschema", "", "explain the id by the generators of this vschema `FILE` too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// declaredGenerators gives the generators of a configuration's or a vschema's file, of which one may be given.
func declaredGenerators(file, schema, layout string) (all []*vschema.Generator, err error) {
	var v *vschema.VSchema
	switch {
	case file != "" && schema != "", (file != "" || schema != "") && layout != "":
		return nil, usagef("give one of --config, --vschema and --layout")
	case file != "":
		cfg, err := loader(os.Getenv).Load(file)
		if err != nil {
			return nil, err
		}
		v = cfg.VSchema
	case schema != "":
		if v, _, err = config.ReadVSchema(schema); err != nil {
			return nil, err
		}
	}
	if v == nil {
		return nil, nil
	}
	for _, k := range v.Keyspaces() {
		all = append(all, k.Generators()...)
	}
	return all, nil
}

func layoutNames() []string {
	var names []string
	for _, l := range snowflake.Presets() {
		names = append(names, l.Name)
	}
	return names
}

// parseID is [generate.ParseID] for an argument.
func parseID(text string) (int64, error) {
	id, ok := generate.ParseID(text)
	if !ok {
		return 0, usagef("%q is not an id: write a number from 1 to 2^63-1, decimal or after 0x", text)
	}
	return id, nil
}

// explained is an id as one layout sees it.
type explained struct {
	Layout    string    `json:"layout"`
	Generator string    `json:"generator,omitempty"` // of the vschema
	Time      time.Time `json:"time"`
	Zone      *int64    `json:"zone,omitempty"` // nil in a layout without
	Worker    int64     `json:"worker"`
	Sequence  int64     `json:"sequence"`
}

// explain decodes an id by the layout with this name, or by all that are plausible when it is empty.
func explain(id int64, name string, generators []*vschema.Generator, now time.Time) (list []explained, err error) {
	decoded, err := generate.Explain(id, generators, now)
	if err != nil {
		return nil, err
	}
	if name != "" {
		l, ok := snowflake.Preset(name)
		if !ok {
			return nil, usagef("no layout %q: there are %s", name, strings.Join(layoutNames(), ", "))
		}
		d, err := l.Decode(id)
		if err != nil {
			return nil, err
		}
		decoded = []generate.Explained{{Layout: l, Decoded: d}}
	}
	if len(decoded) == 0 {
		return nil, fmt.Errorf("no known layout gives %d a time between its epoch and tomorrow: it may be a sequence's, or of a layout of its own, which --vschema would name", id)
	}
	for _, d := range decoded {
		e := explained{Layout: d.Layout.Name, Generator: d.Generator, Time: d.Time.UTC(), Worker: d.Worker, Sequence: d.Sequence}
		if d.Layout.Bits(snowflake.Zone) > 0 {
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

// printExplained prints a table, which has a column for generators if one may have made the id.
func printExplained(w io.Writer, list []explained) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	named := slices.ContainsFunc(list, func(e explained) bool { return e.Generator != "" })
	heading := "LAYOUT\tTIME\tZONE\tWORKER\tSEQUENCE"
	if named {
		heading += "\tGENERATOR"
	}
	fmt.Fprintln(t, heading)
	for _, e := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d", e.Layout, e.Time.Format(time.RFC3339Nano), orDash(e.Zone), e.Worker, e.Sequence)
		if named {
			fmt.Fprintf(t, "\t%s", cmp.Or(e.Generator, "-"))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

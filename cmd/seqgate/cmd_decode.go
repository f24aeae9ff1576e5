package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/spf13/cobra"
)

const decodeAbout = `Takes a snowflake id apart into time, zone, worker id and sequence. An id does
not say by which layout it was made: without --layout it is explained by each
known layout in which its time lies between the layout's epoch and tomorrow
(exit code 1 when there is none), and with --config or --vschema by those of
the generators too. ID is decimal, or hexadecimal after 0x.`

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
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d", e.Layout, e.Time.Format(time.RFC3339Nano), ops.OrDash(e.Zone), e.Worker, e.Sequence)
		if named {
			fmt.Fprintf(t, "\t%s", cmp.Or(e.Generator, "-"))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

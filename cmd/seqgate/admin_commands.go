package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
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

// printProblems prints what is wrong below a table.
func printProblems(w io.Writer, problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nproblems:\n  %s\n", strings.ReplaceAll(printableText(strings.Join(problems, "\n")), "\n", "\n  "))
	return err
}

// ago is how long something has been so, "" where it is not known.
func ago(now, since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return max(now.Sub(since), 0).Truncate(time.Second).String()
}

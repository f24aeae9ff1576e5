package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seqgate/seqgate/internal/ops"
	"github.com/seqgate/seqgate/vschema"
)

// run runs one command; exitCode tells what its error means.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := newRoot()
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(twoDashes(root, args))
	var unknown error // command that is to be explained, of which cobra says nothing
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.HasSubCommands() {
			unknown = noArgs(cmd, cmd.Flags().Args())
		}
		if unknown == nil {
			help(cmd, args)
		}
	})
	return cmp.Or(root.ExecuteContext(ctx), unknown)
}

// newRoot makes the command line anew for each call: flags are read into it.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use: "seqgate", Short: "globally unique ids for MySQL, filled in by a proxy",
		Long: `seqgate: globally unique ids for MySQL, filled in by a proxy.

A DSN is user:password@tcp(host:port)/database.`,
		Example: `  seqgate demo                   an embedded engine, nothing to install
  seqgate serve --config FILE    the proxy
  seqgate serve --upstream DSN   the proxy for one server, without a file
  seqgate init --config FILE     make and seed the sequence tables`,
		SilenceErrors: true, SilenceUsage: true,
	}
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"The proxy:", []*cobra.Command{newDemo(), newServe()}},
		{"Sequences and ids:", []*cobra.Command{newInit(), newCheck(), newSeq(), newExplain(), newDecode()}},
		{"A running seqgate:", []*cobra.Command{newStatus(), newSessions(), newKill(), newShard(), newReload(), newHealth()}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(newMan(), newVersion())
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultCompletionCmd()
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(strings.NewReplacer("{{if .Runnable}}", "{{if not .HasSubCommands}}",
		".FlagUsages", ".FlagUsagesWrapped 80").Replace(root.UsageTemplate()))
	complete(root)
	return root
}

// newHelp makes the command help, for which an unknown command is an error; cobra's own explains the root then.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Explain a command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = noArgs(cmd, rest)
			}
			if err != nil {
				return err
			}
			return cmd.Help()
		},
	}
}

// complete sets what all commands have in common.
func complete(c *cobra.Command) {
	c.DisableFlagsInUseLine = true
	if c.HasSubCommands() {
		c.Args = noArgs
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmd.Help()
			}
			return ops.Usagef("no command given\n\n%s", cmd.UsageString())
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		argument, usage := pflag.UnquoteUsage(f)
		if argument == "FILE" {
			cobra.CheckErr(c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)))
		}
		if argument != "" {
			f.Value, f.Usage = named{f.Value, argument}, usage
		}
	})
	for _, sub := range c.Commands() {
		complete(sub)
	}
}

// named is a flag's value with the word that stands in its usage in backquotes: shells show a usage as it is.
type named struct {
	pflag.Value
	word string
}

func (n named) Type() string { return n.word }

// oneDash is a flag with one dash, which Go's package flag takes.
var oneDash = regexp.MustCompile(`^-[a-z][a-z-]+(=|$)`)

// sqlComment begins a statement, and no flag.
var sqlComment = regexp.MustCompile(`^--\s`)

// twoDashes gives flags with one dash the second, and has statements that begin with a comment come last, behind a --.
func twoDashes(root *cobra.Command, args []string) []string {
	list := []string{} // never nil, for which cobra takes the process's own
	takesValue := valueFlags(root)
	var statements []string
	isValue := false // of the flag before it
	for i, arg := range args {
		switch {
		case isValue:
			isValue = false
		case arg == "--":
			return slices.Concat(list, args[i:i+1], statements, args[i+1:])
		case sqlComment.MatchString(arg):
			statements = append(statements, arg)
			continue
		default:
			if oneDash.MatchString(arg) {
				arg = "-" + arg
			}
			isValue = takesValue[arg]
		}
		list = append(list, arg)
	}
	if statements != nil {
		list = append(append(list, "--"), statements...)
	}
	return list
}

// valueFlags are the flags, with their dashes, behind which a value stands.
func valueFlags(c *cobra.Command) map[string]bool {
	all := map[string]bool{}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal == "" {
			all["--"+f.Name] = true
		}
	})
	for _, sub := range c.Commands() {
		maps.Copy(all, valueFlags(sub))
	}
	return all
}

// flagError is an ops.UsageError; it names a negative number that was taken for a flag.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if n, no := strconv.ParseInt(unknown.GetSpecifiedShortnames(), 10, 64); no == nil {
			return ops.Usagef("%d is negative: write a whole number from 1", -n)
		}
	}
	return ops.Usagef("%w: see %s --help", err, cmd.CommandPath())
}

// noArgs is for a command without arguments, or one that has commands: it says which one was meant where one is near.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0, cmd.HasSubCommands() && args[0] == "help":
		return nil
	case !cmd.HasSubCommands():
		return ops.Usagef("unexpected argument %q: see %s --help", args[0], cmd.CommandPath())
	}
	var known []string
	for _, c := range cmd.Commands() {
		known = append(known, c.Name())
	}
	name := strings.TrimPrefix(cmd.CommandPath()+" "+args[0], cmd.Root().Name()+" ")
	if advice := vschema.Suggest(args[0], known); strings.HasPrefix(advice, "did you mean") {
		return ops.Usagef("unknown command %q: %s", name, advice)
	}
	return ops.Usagef("unknown command %q\n\n%s", name, cmd.UsageString())
}

// arguments is for a command with arguments; advice says what they are.
func arguments(least, most int, advice string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return ops.Usagef("%s: see %s --help", advice, cmd.CommandPath())
		}
		return nil
	}
}

// count is a flag's or an argument's whole number from 1.
type count int64

func (c *count) String() string { return strconv.FormatInt(int64(*c), 10) }
func (c *count) Type() string   { return "N" }

func (c *count) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return errors.New("write a whole number from 1")
	}
	*c = count(n)
	return nil
}

// countArgument reads the argument called name.
func countArgument(name, text string) (int64, error) {
	var c count
	if err := c.Set(text); err != nil {
		return 0, ops.Usagef("%s %q: %w", name, text, err)
	}
	return int64(c), nil
}

package main

import (
	"fmt"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/seqgate/seqgate/internal/app"
	"github.com/spf13/cobra"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page", Args: noArgs,
		Long: "Prints the manual page, made from the help of all commands. To read it:\nseqgate man | man -l -",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(md2man.Render([]byte(manual(cmd.Root()))))
			return err
		},
	}
}

// manual is the manual page in Markdown: one page for all commands, where cobra would make one for each.
func manual(root *cobra.Command) string {
	var calls, texts strings.Builder
	var add func(*cobra.Command)
	add = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			add(sub)
		}
		if c.HasSubCommands() || !c.IsAvailableCommand() {
			return
		}
		fmt.Fprintf(&calls, "    %s\n", c.UseLine())
		if c.Parent().Name() == "completion" {
			return // shells' own matter, told at length
		}
		fmt.Fprintf(&texts, "## %s\n\n%s\n\n```\n%s```\n\n", c.CommandPath(), strings.ReplaceAll(c.Long, "\n  ", "\n    "), c.LocalFlags().FlagUsagesWrapped(72))
	}
	add(root)
	return fmt.Sprintf("%% SEQGATE 1 \"\" \"seqgate %s\" \"User Commands\"\n# NAME\nseqgate \\- %s\n\n# SYNOPSIS\n\n%s\n# COMMANDS\n\n%s%s",
		app.Version(), root.Short, &calls, &texts, manualEnd)
}

// manualEnd is what the help of no command says.
const manualEnd = `# EXIT STATUS

0
: Success, and help that was asked for.

1
: Something failed, or a check found something.

2
: A wrong call, or wrong files.

# ENVIRONMENT

SEQGATE_CONFIG
: The configuration file, where neither --config nor --upstream is given.

SEQGATE_\*
: A key of the configuration by its path in capitals, such as SEQGATE_LOG_LEVEL. It wins over the file.

# SIGNALS

SIGTERM, SIGINT
: Stop: no new clients, statements in flight end, unused ids go back.

SIGHUP
: Read again what the configuration says is reloadable.

# FILES

/etc/seqgate/seqgate.yaml
: The configuration of the packaged service. Every key is explained in it.
`

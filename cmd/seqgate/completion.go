package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/seqgate/seqgate/internal/clidoc"
)

const completionUsage = `usage: seqgate completion bash|zsh|fish

Prints what completes seqgate's commands and flags in a shell.

  seqgate completion bash > /usr/share/bash-completion/completions/seqgate
  seqgate completion zsh  > /usr/share/zsh/vendor-completions/_seqgate
  seqgate completion fish > /usr/share/fish/vendor_completions.d/seqgate.fish
`

var completionScripts = map[string]func(clidoc.Program) string{
	"bash": clidoc.Program.Bash, "zsh": clidoc.Program.Zsh, "fish": clidoc.Program.Fish,
}

// completionCommands are the commands of completion, one for each shell.
func completionCommands() map[string]command {
	all := make(map[string]command)
	for shell, script := range completionScripts {
		all[shell] = printsForShell(shell, script)
	}
	return all
}

// runCompletion is `seqgate completion`.
func runCompletion(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usagef("no shell given\n\n%s", completionUsage)
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if _, err := io.WriteString(stdout, completionUsage); err != nil {
			return err
		}
		return flag.ErrHelp
	}
	script, ok := completionScripts[args[0]]
	if !ok {
		return usagef("unknown shell %q\n\n%s", args[0], completionUsage)
	}
	return printsForShell(args[0], script)(ctx, args[1:], stdout, stderr)
}

// printsForShell is the command that prints a shell's script.
func printsForShell(shell string, script func(clidoc.Program) string) command {
	return func(ctx context.Context, args []string, stdout, _ io.Writer) error {
		fs := newFlags("completion "+shell, "", "Prints the completion script for "+shell+".", stdout)
		if err := parseOnly(fs, args); err != nil {
			return err
		}
		p, err := collectHelp(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(stdout, script(p))
		return err
	}
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/seqgate/seqgate/internal/clidoc"
)

// helpCollector stands in a command's standard output when it is asked for its help, and takes it in parts instead of
// as text: the manual page and the completion of shells are made from the flags that the commands really have.
type helpCollector struct {
	io.Writer
	found []clidoc.Command
}

// add takes the help of one command.
func (h *helpCollector) add(arguments, about string, fs *flag.FlagSet) {
	c := clidoc.Command{Name: fs.Name(), Arguments: arguments, About: about}
	fs.VisitAll(func(f *flag.Flag) {
		argument, usage := flag.UnquoteUsage(f)
		c.Flags = append(c.Flags, clidoc.Flag{Name: f.Name, Argument: argument, Usage: usage, Default: shownDefault(f)})
	})
	h.found = append(h.found, c)
}

// shownDefault is a flag's default, empty for those that go without saying.
func shownDefault(f *flag.Flag) string {
	switch f.DefValue {
	case "false", "0", "0s":
		return ""
	}
	return f.DefValue
}

// collectHelp asks each of the commands, and theirs, for its help.
func collectHelp(ctx context.Context) (clidoc.Program, error) {
	p := clidoc.Program{Name: "seqgate", Summary: "globally unique ids for MySQL, filled in by a proxy", Version: version()}
	nested := map[string]map[string]command{"seq": seqCommands, "completion": completionCommands()}
	top := allCommands()
	for _, name := range slices.Sorted(maps.Keys(top)) {
		of := map[string]command{name: top[name]}
		if commands, ok := nested[name]; ok {
			of = commands
		}
		for _, verb := range slices.Sorted(maps.Keys(of)) {
			h := &helpCollector{Writer: io.Discard}
			if err := of[verb](ctx, []string{"--help"}, h, io.Discard); err != nil && !errors.Is(err, flag.ErrHelp) {
				return p, fmt.Errorf("help of %s: %w", verb, err)
			}
			p.Commands = append(p.Commands, h.found...)
		}
	}
	return p, nil
}

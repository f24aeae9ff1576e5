package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const seqUsage = `usage: seqgate seq COMMAND ...

Looks at sequences, and operates them by hand.

  seqgate seq list                                   every sequence: where it stands, what it fills, what is wrong
  seqgate seq next NAME [N]                          reserve N ids (1) and print the first and the last
  seqgate seq set NAME [NEXT_ID] [--cache N]         set next_id, cache or both
  seqgate seq reset NAME                             set next_id to the first id above those in use
  seqgate seq stripes NAME                           where the stripes are of a sequence that lies on several servers
  seqgate seq move NAME STRIPE SERVER                move one of them to another server
  seqgate seq import SYSTEM --from SOURCE NAME=KEY   take over from Leaf, tinyid, idgo, Redis or AUTO_INCREMENT

All take --config FILE or --upstream DSN. NAME is a sequence table, or keyspace.table. Each explains its flags with -h.
A server that gives no answer for 10 s is given up, while a long search for MAX(column) is waited for.
`

var seqCommands = map[string]command{
	"list":    runSeqList,
	"next":    runSeqNext,
	"set":     runSeqSet,
	"reset":   runSeqReset,
	"import":  runSeqImport,
	"stripes": runSeqStripes,
	"move":    runSeqMove,
}

// runSeq is `seqgate seq`.
func runSeq(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usagef("no command given\n\n%s", seqUsage)
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		if _, err := io.WriteString(stdout, seqUsage); err != nil {
			return err
		}
		return flag.ErrHelp
	}
	c, ok := seqCommands[args[0]]
	if !ok {
		return unknownCommand("seq ", args[0], slices.Collect(maps.Keys(seqCommands)), seqUsage)
	}
	return c(ctx, args[1:], stdout, stderr)
}

// parseArgs is parseFlags for a command whose flags may also stand after and between its arguments, which it returns.
// What follows "--" are arguments.
func parseArgs(fs *flag.FlagSet, args []string) ([]string, error) {
	var found []string
	for {
		if err := parseFlags(fs, args); err != nil {
			return nil, notNegative(args, err)
		}
		rest := fs.Args()
		if len(rest) == 0 {
			return found, nil
		}
		if read := len(args) - len(rest); read > 0 && args[read-1] == "--" {
			return append(found, rest...), nil
		}
		found, args = append(found, rest[0]), rest[1:]
	}
}

// notNegative is the error of parsing the flags in args; it names a negative number that was taken for a flag.
func notNegative(args []string, err error) error {
	for _, arg := range args {
		if _, no := strconv.ParseInt(arg, 10, 64); no == nil && strings.Contains(err.Error(), "not defined: "+arg+":") {
			return usagef("%s is negative: write a whole number from 1", arg)
		}
	}
	return err
}

// count is a flag's or an argument's whole number from 1.
type count int64

func (c *count) String() string { return strconv.FormatInt(int64(*c), 10) }

func (c *count) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return errors.New("write a whole number from 1")
	}
	*c = count(n)
	return nil
}

// countFlag adds a flag for a whole number from 1.
func countFlag(fs *flag.FlagSet, name string, value int64, usage string) *count {
	c := count(value)
	fs.Var(&c, name, usage)
	return &c
}

// countArgument reads the argument called name.
func countArgument(name, text string) (int64, error) {
	var c count
	if err := c.Set(text); err != nil {
		return 0, usagef("%s %q: %w", name, text, err)
	}
	return int64(c), nil
}

// openCluster connects to nothing yet.
func (s *source) openCluster(ctx context.Context) (*cluster, error) {
	cfg, err := s.load()
	if err != nil {
		return nil, err
	}
	return newCluster(ctx, cfg), nil
}

// inSequence says which sequence an error is about.
func inSequence(name tableName, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sequence %s: %w", name, err)
}

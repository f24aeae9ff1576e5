package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seqCommand is `seqgate seq NAME` as place.run takes a command.
func seqCommand(name string) func(context.Context, []string, *bytes.Buffer) error {
	return func(ctx context.Context, args []string, out *bytes.Buffer) error {
		return run(ctx, append([]string{"seq", name}, args...), out, out)
	}
}

// TestHelp holds that each command's help shows its flags: in the line that tells how it is called, and explained.
func TestHelp(t *testing.T) {
	tests := map[string]string{
		"init":        "cache config dry-run stopped upstream",
		"seq list":    "config json upstream",
		"explain":     "config database upstream",
		"seq next":    "config upstream",
		"seq set":     "cache config dry-run force upstream",
		"seq reset":   "config dry-run force upstream",
		"seq stripes": "config upstream",
		"seq move":    "config upstream",
		"seq import":  "cache config dry-run from margin upstream",
	}
	for command, flags := range tests {
		t.Run(command, func(t *testing.T) {
			var out bytes.Buffer
			err := run(t.Context(), append(strings.Fields(command), "-h"), &out, io.Discard)
			if exitCode(err) != 0 {
				t.Fatalf("exit code %d, %v, want 0", exitCode(err), err)
			}
			usage, rest, _ := strings.Cut(out.String(), "\n")
			if !strings.HasPrefix(usage, "usage: seqgate "+command+" ") {
				t.Errorf("first line %q, want how seqgate %s is called", usage, command)
			}
			if diff := cmp.Diff(strings.Fields(flags), flagNames(usage, `--([a-z-]+)`)); diff != "" {
				t.Errorf("flags in the first line (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(strings.Fields(flags), flagNames(rest, `(?m)^  -([a-z-]+)`)); diff != "" {
				t.Errorf("flags explained (-want +got):\n%s", diff)
			}
		})
	}
}

func flagNames(text, pattern string) []string {
	var names []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestSeqHelp(t *testing.T) {
	for _, args := range [][]string{{"seq", "help"}, {"seq", "-h"}, {"seq", "--help"}} {
		var out bytes.Buffer
		err := run(t.Context(), args, &out, io.Discard)
		if exitCode(err) != 0 || out.String() != seqUsage {
			t.Errorf("%v: exit code %d, output %q, want 0 and the usage", args, exitCode(err), out.String())
		}
	}
	for name := range seqCommands {
		if !strings.Contains(seqUsage, "\n  seqgate seq "+name+" ") {
			t.Errorf("the usage does not mention %s", name)
		}
	}
}

// TestSeqMisuse holds that a wrong call is told so before any server is asked.
func TestSeqMisuse(t *testing.T) {
	tests := []struct {
		args, want string
	}{
		{"", "no command given"},
		{"lits", `unknown command "seq lits"`},
		{"list x", `unexpected argument "x"`},
		{"list", "no configuration: give --config FILE or --upstream DSN"},
		{"next", "give the sequence's NAME"},
		{"next s 1 2", "give the sequence's NAME"},
		{"next s 0", `N "0": write a whole number from 1`},
		{"next s -1", "-1 is negative: write a whole number from 1"},
		{"next s ten", `N "ten": write a whole number from 1`},
		{"next s 1000000001", "ask for at most 1000000000 ids at once"},
		{"next --nope s", "flag provided but not defined: -nope"},
		{"set", "give the sequence's NAME"},
		{"set s", "nothing to set: give NEXT_ID, --cache N or both"},
		{"set s 0", `NEXT_ID "0": write a whole number from 1`},
		{"set s -- -5", `NEXT_ID "-5": write a whole number from 1`},
		{"set s 9223372036854775808", "write a whole number from 1"},
		{"set s --cache 0", `invalid value "0" for flag -cache`},
		{"set s 5 6", "give the sequence's NAME"},
		{"reset", "give the sequence's NAME"},
		{"reset s 5", "give the sequence's NAME"},
		{"stripes", "give the sequence's NAME"},
		{"stripes s --upstream u:p@tcp(h)/d", "sequence d.s lies on one server"},
		{"move s 1", "give the sequence's NAME, the STRIPE's number and the SERVER's name"},
		{"move s one a", `STRIPE "one": write its number`},
		{"import", "no system given: write one of auto_increment, idgo, leaf, redis, tinyid"},
		{"import laef --from x s=k", `unknown system "laef": did you mean "leaf"?`},
		{"import leaf s=k", "no source given"},
		{"import leaf --from x", "no sequences given"},
		{"import leaf --from x s", `"s": write NAME=KEY`},
		{"import leaf --from x =k", `"=k": write NAME=KEY`},
		{"import leaf --from x --margin -1 s=k", "--margin -1: write a whole number from 0"},
	}
	t.Setenv("SEQGATE_CONFIG", "")
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			err := run(t.Context(), append([]string{"seq"}, strings.Fields(tt.args)...), io.Discard, io.Discard)
			if exitCode(err) != 2 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("exit code %d, %v, want 2 and %q", exitCode(err), err, tt.want)
			}
		})
	}
}

func TestParseArgs(t *testing.T) {
	tests := []struct {
		args, want string
		force      bool
	}{
		{"a b", "a b", false},
		{"--force a b", "a b", true},
		{"a --force b", "a b", true},
		{"a b --force", "a b", true},
		{"a -- b --force", "a b --force", false},
		{"--force -- -- x", "-- x", true},
		{"", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			fs := flag.NewFlagSet("x", flag.ContinueOnError)
			force := fs.Bool("force", false, "")
			got, err := parseArgs(fs, strings.Fields(tt.args))
			if strings.Join(got, " ") != tt.want || *force != tt.force || err != nil {
				t.Errorf("parseArgs = %q, force %v, %v, want %q, %v", got, *force, err, tt.want, tt.force)
			}
		})
	}
}

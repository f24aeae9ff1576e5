package main

import (
	"bytes"
	"context"
	"fmt"
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

// TestHelp holds that each command's help shows its flags: in what says how it is called, and explained.
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
			_, usage, _ := strings.Cut(out.String(), "\nUsage:\n  seqgate "+command+" ")
			usage, rest, _ := strings.Cut(usage, "\n\n")
			if diff := cmp.Diff(strings.Fields(flags), flagNames(usage, `--([a-z-]+)`)); diff != "" {
				t.Errorf("flags in the usage (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(strings.Fields(flags), flagNames(rest, `(?m)^      --([a-z-]+)`)); diff != "" {
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
		if exitCode(err) != 0 || !strings.HasPrefix(out.String(), seqAbout) || !strings.Contains(out.String(), "\n  import ") {
			t.Errorf("%v: exit code %d, output %q, want 0 and the help", args, exitCode(err), out.String())
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
		{"next --nope s", "unknown flag: --nope: see seqgate seq next --help"},
		{"set", "give the sequence's NAME"},
		{"set s", "nothing to set: give NEXT_ID, --cache N or both"},
		{"set s 0", `NEXT_ID "0": write a whole number from 1`},
		{"set s -- -5", `NEXT_ID "-5": write a whole number from 1`},
		{"set s 9223372036854775808", "write a whole number from 1"},
		{"set s --cache 0", `invalid argument "0" for "--cache" flag: write a whole number from 1`},
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

// What stands behind a flag is its value, whatever it looks like, and a comment of SQL is no flag.
func TestTwoDashes(t *testing.T) {
	for _, tt := range []struct{ args, want []string }{
		{[]string{"explain", "-database", "-abc", "-upstream", "d", "SELECT 1"}, []string{"explain", "--database", "-abc", "--upstream", "d", "SELECT 1"}},
		{[]string{"explain", "--database", "--", "-config=f", "x"}, []string{"explain", "--database", "--", "--config=f", "x"}},
		{[]string{"explain", "--database=n", "-config", "-f"}, []string{"explain", "--database=n", "--config", "-f"}},
		{[]string{"seq", "list", "-json", "-config", "f"}, []string{"seq", "list", "--json", "--config", "f"}},
		{[]string{"explain", "-- a comment\nSELECT 1", "-config", "f"}, []string{"explain", "--config", "f", "--", "-- a comment\nSELECT 1"}},
		{[]string{"explain", "--\nSELECT 1"}, []string{"explain", "--", "--\nSELECT 1"}},
		{[]string{"explain", "-config", "f", "--", "-- x"}, []string{"explain", "--config", "f", "--", "-- x"}},
		{[]string{"explain", "-- x", "--", "-- y"}, []string{"explain", "--", "-- x", "-- y"}},
	} {
		if got := twoDashes(newRoot(), tt.args); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.args, got, tt.want)
		}
	}
}

// Flags may stand before, between and after arguments, and have one dash; what follows -- is no flag.
func TestFlagsAndArguments(t *testing.T) {
	tests := []struct {
		args, want string
		force      bool
		cache      int64
	}{
		{"a b", "a b", false, 0},
		{"--force a b", "a b", true, 0},
		{"a --force b", "a b", true, 0},
		{"a b --force", "a b", true, 0},
		{"-force a", "a", true, 0},
		{"a -force=false -cache 5", "a", false, 5},
		{"a -cache=6", "a", false, 6},
		{"a -- b -force", "a b -force", false, 0},
		{"--force -- -- x", "-- x", true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			cmd := newSeqSet()
			if err := cmd.ParseFlags(twoDashes(cmd, strings.Fields(tt.args))); err != nil {
				t.Fatal(err)
			}
			got, force, cache := strings.Join(cmd.Flags().Args(), " "), cmd.Flags().Lookup("force").Value.String(), cmd.Flags().Lookup("cache").Value.String()
			if got != tt.want || force != fmt.Sprint(tt.force) || cache != fmt.Sprint(tt.cache) {
				t.Errorf("arguments %q, force %s, cache %s, want %q, %v, %d", got, force, cache, tt.want, tt.force, tt.cache)
			}
		})
	}
}

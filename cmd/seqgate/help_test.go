package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command says what it is for, and so does each of its flags.
func TestHelpOfAllCommands(t *testing.T) {
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		if c.Short == "" || c.Long == "" {
			t.Errorf("%s does not say what it is for", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.Contains(f.Usage, "`") {
				t.Errorf("%s --%s says %q of what it is for", c.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot())
}

// The help of every command fits a terminal of 80 columns. That of completion's commands is cobra's.
func TestHelpFits(t *testing.T) {
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		var out strings.Builder
		if err := run(t.Context(), append(strings.Fields(c.CommandPath())[1:], "--help"), &out, io.Discard); err != nil {
			t.Errorf("%s: %v", c.CommandPath(), err)
		}
		for line := range strings.Lines(out.String()) {
			if n := len(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: a line of %d columns: %s", c.CommandPath(), n, line)
			}
		}
		for _, sub := range c.Commands() {
			if c.Name() != "completion" {
				check(sub)
			}
		}
	}
	check(newRoot())
}

// The scripts are read by their shells.
func TestCompletion(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}} {
		script, err := exec.Command(path, "completion", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(file, script, 0o600); err != nil {
			t.Fatal(err)
		}
		shell := needProgram(t, name)
		if shell == "" {
			continue
		}
		if out, err := exec.Command(shell, append(args, file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// What the scripts ask seqgate for: commands, flags, and files for flags that take a file.
func TestCompletions(t *testing.T) {
	for call, want := range map[string]string{
		"seq set --|":      "--cache --config --dry-run --force --help --upstream :4",
		"seq s|":           "set stripes :4",
		"seq set -cache |": ":4",
		"serve --config |": ":0",
		"serve --listen |": ":4",
		"init |":           ":4",
	} {
		args := strings.Split("__complete "+strings.TrimSuffix(call, "|"), " ")
		var out strings.Builder
		if err := run(t.Context(), args, &out, io.Discard); err != nil {
			t.Errorf("%s: %v", call, err)
		}
		got := strings.Join(strings.Fields(regexp.MustCompile(`\t.*`).ReplaceAllString(out.String(), "")), " ")
		if got != want {
			t.Errorf("%s: got %q, want %q", call, got, want)
		}
	}
}

// The manual page is accepted without a warning, and has the commands and their flags.
func TestMan(t *testing.T) {
	groff := needProgram(t, "groff")
	if groff == "" {
		t.Skip("groff is not installed")
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	page, err := exec.Command(path, "man").Output()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(groff, "-man", "-ww", "-Tascii", "-P-cbou")
	cmd.Stdin = strings.NewReader(string(page))
	var warnings strings.Builder
	cmd.Stderr = &warnings
	text, err := cmd.Output()
	if err != nil || warnings.String() != "" {
		t.Fatalf("groff: %v\n%s", err, &warnings)
	}
	for _, want := range []string{"seqgate serve", "seqgate seq import", "--config FILE", "--margin N", "SEQGATE_CONFIG", "EXIT STATUS"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// needProgram gives a program's path, empty where it is missing; where scripts/test-deps has run, it has to be there.
func needProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%v: scripts/test-deps installs it", err)
	}
	if err != nil {
		t.Logf("not tested: %v", err)
		return ""
	}
	return path
}

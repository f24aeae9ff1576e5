package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every command is asked for its help, and says what it is for.
func TestHelpOfAllCommands(t *testing.T) {
	p, err := collectHelp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	flags := make(map[string][]string)
	for _, c := range p.Commands {
		names = append(names, c.Name)
		if c.Summary() == "" {
			t.Errorf("%s does not say what it is for", c.Name)
		}
		for _, f := range c.Flags {
			flags[c.Name] = append(flags[c.Name], f.Name)
			if f.Usage == "" {
				t.Errorf("%s --%s does not say what it is for", c.Name, f.Name)
			}
		}
	}
	for name := range allCommands() {
		if !slices.ContainsFunc(names, func(n string) bool { return n == name || strings.HasPrefix(n, name+" ") }) {
			t.Errorf("%s has no help", name)
		}
	}
	for name := range seqCommands {
		if !slices.Contains(names, "seq "+name) {
			t.Errorf("seq %s has no help", name)
		}
	}
	if diff := cmp.Diff([]string{"config", "listen", "upstream"}, flags["serve"]); diff != "" {
		t.Errorf("flags of serve (-want +got):\n%s", diff)
	}
}

// The usage names every command that there is.
func TestUsageNamesAllCommands(t *testing.T) {
	for name := range allCommands() {
		if !strings.Contains(usage, "\n  seqgate "+name) {
			t.Errorf("the usage lacks %s", name)
		}
	}
	for name := range seqCommands {
		if !strings.Contains(seqUsage, "\n  seqgate seq "+name+" ") {
			t.Errorf("the usage of seq lacks %s", name)
		}
	}
}

// The scripts are read by their shells, and bash's knows the flags.
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
		if name != "bash" {
			continue
		}
		out, err := exec.Command(shell, "--norc", "-uc", `source "$1"; COMP_WORDS=(seqgate seq set --); COMP_CWORD=3; _seqgate; echo "${COMPREPLY[*]}"`, "sh", file).CombinedOutput()
		if want := "--cache --config --dry-run --force --upstream --help\n"; err != nil || string(out) != want {
			t.Errorf("flags of seq set: %v, %q, want %q", err, out, want)
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

func TestCompletionCalledWrongly(t *testing.T) {
	for _, args := range [][]string{nil, {"tcsh"}, {"bash", "--nope"}} {
		if err := runCompletion(t.Context(), args, &strings.Builder{}, &strings.Builder{}); exitCode(err) != 2 {
			t.Errorf("completion %v: %v, want a usage error", args, err)
		}
	}
}

package clidoc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program has what shells and roff could stumble over.
var program = Program{
	Name: "tool", Summary: "does it", Version: "v1.2.3", Date: "2026-01-02",
	Commands: []Command{
		{Name: "copy", Arguments: "[--file FILE] NAME", About: "Copies one's [own] files: all of them. It's slow.\n\n  .a  'b'\n  \\c  $HOME `x`\n\nThe end.", Flags: []Flag{
			{Name: "file", Argument: "FILE", Usage: "the `file` that isn't \\there: $(x) [y]"},
			{Name: "force", Usage: ".dots first"},
			{Name: "level", Argument: "N", Usage: "how far", Default: "3"},
		}},
		{Name: "job list", About: "Lists the jobs.", Flags: []Flag{{Name: "json", Usage: "as JSON"}}},
		{Name: "job stop", Arguments: "NAME", About: "Stops a job."},
		{Name: "version", About: "Prints the version."},
	},
}

// shell gives the path of a program that a test runs. All of them are in packages of Debian that scripts/test-deps installs.
func shell(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: scripts/test-deps installs it", err)
		}
		t.Skipf("%v", err)
	}
	return path
}

// output runs a command in an empty folder with two files, and gives what it prints.
func output(t *testing.T, script string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"script": script, "data one": "", "data.two": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "TERM=dumb", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func TestBash(t *testing.T) {
	const harness = `source ./script; complete -p tool >/dev/null || exit 1
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _tool; printf '%s:' "$*"; printf ' <%s>' "${COMPREPLY[@]}"; echo; }
try tool ''; try tool ver; try tool job ''; try tool job l; try tool job stop x -
try tool copy --f; try tool copy --file data; try tool copy -file data.; try tool copy --level ''; try tool none --`
	got := output(t, program.Bash(), shell(t, "bash"), "--norc", "-uc", harness)
	want := `tool : <copy> <job> <version>
tool ver: <version>
tool job : <list> <stop>
tool job l: <list>
tool job stop x -: <--help>
tool copy --f: <--file> <--force>
tool copy --file data: <data one> <data.two>
tool copy -file data.: <data.two>
tool copy --level : <>
tool none --: <>
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
}

func TestFish(t *testing.T) {
	const harness = `source ./script
for line in 'tool ' 'tool job ' 'tool job list --' 'tool copy --f' 'tool copy --file data'
  echo "$line:"; complete -C $line
end`
	got := output(t, program.Fish(), shell(t, "fish"), "--no-config", "-c", harness)
	want := `tool :
copy	Copies one's [own] files
job	see tool job --help
version	Prints the version
tool job :
list	Lists the jobs
stop	Stops a job
tool job list --:
--help	explain the command
--json	as JSON
tool copy --f:
--file	the ` + "`file`" + ` that isn't \there: $(x) [y]
--force	.dots first
tool copy --file data:
data one
data.two
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
}

// A zsh at a terminal of its own completes what has one continuation, and runs the line.
func TestZsh(t *testing.T) {
	const harness = `zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner 'PS1=; unsetopt beep; autoload -U compinit; compinit -u -D; source ./script; tool() { print -r -- "ran:${(j:|:)@}:end" }; print -r "be""gin"'
zpty -r -m inner out '*begin*' || exit 1
for line in 'tool ver' 'tool job st' 'tool copy --fo' 'tool copy --file data.' 'tool job list --j'; do
  zpty -w inner "$line"$'\t'
  zpty -r -m inner out '*ran:*:end*' || exit 1
  print -r -- "$line: ${${out##*ran:}%%:end*}"
done
zpty -d inner`
	got := output(t, program.Zsh(), shell(t, "zsh"), "-fc", harness)
	want := `tool ver: version
tool job st: job|stop
tool copy --fo: copy|--force
tool copy --file data.: copy|--file|data.two
tool job list --j: job|list|--json
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("completions (-want +got):\n%s", diff)
	}
}

var sections = []Section{{Heading: "Exit status", Items: []Item{{"0", "'Fine'."}, {"1", ".wrong \\ one"}}}}

func TestManIsAccepted(t *testing.T) {
	page := program.Man(sections...)
	got := output(t, page, shell(t, "groff"), "-man", "-ww", "-Tascii", "-P-c", "script")
	if strings.Contains(got, "warning") || strings.Contains(got, "error") {
		t.Errorf("groff:\n%s", got)
	}
	if path, err := exec.LookPath("mandoc"); err == nil {
		if got := output(t, page, path, "-T", "lint", "-W", "warning", "script"); got != "" {
			t.Errorf("mandoc:\n%s", got)
		}
	}
}

// What the page says is what was given, also where roff would see more in it.
func TestManText(t *testing.T) {
	got := output(t, program.Man(sections...), shell(t, "groff"), "-man", "-Tascii", "-P-cbou", "script")
	for _, want := range []string{
		"tool - does it\n", "tool copy [--file FILE] NAME\n", "tool job list\n", "Copies one's [own] files: all of them. It's slow.\n",
		"\n         .a  'b'\n         \\c  $HOME `x`\n\n       The end.\n", "--file FILE\n              the `file` that isn't \\there: $(x) [y]\n",
		"--force\n              .dots first\n", "--level N\n              how far (default 3)\n", "EXIT STATUS\n       0      'Fine'.\n\n       1      .wrong \\ one\n", "tool v1.2.3",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
}

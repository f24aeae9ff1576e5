package packagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const installDoc = "docs/install.md"

// docCommands are the lines of the document's blocks of commands, without comments.
func docCommands(t *testing.T) []string {
	t.Helper()
	parts := strings.Split(readFile(t, installDoc), "```")
	if len(parts)%2 == 0 {
		t.Fatalf("%s: a block has no end", installDoc)
	}
	var commands []string
	for i := 1; i < len(parts); i += 2 {
		about, text, _ := strings.Cut(parts[i], "\n")
		if about != "console" {
			continue
		}
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "  #")
			if line = strings.TrimSpace(line); line != "" {
				commands = append(commands, line)
			}
		}
	}
	return commands
}

// docChecks say for the first word of a command what is wrong with the others; empty is fine.
var docChecks = map[string]func(t *testing.T, args []string) string{
	"seqgate":     func(t *testing.T, args []string) string { return callsSeqgate(t, args) },
	"bin/seqgate": func(t *testing.T, args []string) string { return callsSeqgate(t, args) },
	"make": func(t *testing.T, args []string) string {
		cmd := exec.Command(program(t, "make"), append([]string{"-n"}, args...)...)
		cmd.Dir = root
		return failure(cmd)
	},
	"install": func(_ *testing.T, args []string) string {
		return wrongUnless(slices.Contains(args, "bin/seqgate"), "the program that make build makes is bin/seqgate")
	},
	"dpkg": func(t *testing.T, args []string) string {
		return wrongUnless(slices.Equal(args, []string{"--install", "bin/seqgate_*.deb"}) &&
			strings.Contains(readFile(t, "Makefile"), "\tscripts/package bin deb\n"), "make deb does not make that file")
	},
	"dnf": func(_ *testing.T, args []string) string {
		return wrongUnless(slices.Equal(args, []string{"install", "bin/seqgate-*.rpm"}), "make rpm does not make that file")
	},
	"editor": func(t *testing.T, args []string) string {
		return wrongUnless(strings.Contains(readFile(t, "deploy/packages/nfpm.yaml"), "dst: "+args[0]+","), "the package has no such file")
	},
	"systemctl": func(_ *testing.T, args []string) string {
		return existing("deploy/systemd/" + args[len(args)-1] + ".service")
	},
	"cp": func(_ *testing.T, args []string) string { return existing(args[0]) },
	"kubectl": func(_ *testing.T, args []string) string {
		switch {
		case slices.Equal(args[:2], []string{"apply", "-k"}):
			return existing(args[2] + "/kustomization.yaml")
		case slices.Equal(args[:2], []string{"apply", "-f"}):
			return wrongUnless(args[2] == "deploy/kubernetes/secret.yaml", "only the secret that was copied is known")
		}
		return "only apply -k and apply -f are known"
	},
	"helm": func(_ *testing.T, args []string) string {
		return wrongUnless(slices.Equal(args[:2], []string{"install", "seqgate"}), "only install seqgate is known") + existing(args[2]+"/Chart.yaml")
	},
	"docker": func(t *testing.T, args []string) string { return callsDocker(t, args) },
	"man": func(_ *testing.T, args []string) string {
		return wrongUnless(args[0] == "seqgate", "there is no such page")
	},
}

func wrongUnless(ok bool, what string) string {
	if ok {
		return ""
	}
	return what
}

// existing says what is wrong with a path from the repository's top.
func existing(path string) string {
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		return err.Error()
	}
	return ""
}

// failure runs a command, and says how it failed.
func failure(cmd *exec.Cmd) string {
	if out, err := cmd.CombinedOutput(); err != nil {
		return err.Error() + "\n" + string(out)
	}
	return ""
}

// callsSeqgate has the program read the arguments, and explain the command instead of running it.
func callsSeqgate(t *testing.T, args []string) string {
	path, err := seqgate()
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.Index(args, ">"); i >= 0 {
		args = args[:i]
	}
	return failure(exec.Command(path, append(slices.Clone(args), "--help")...))
}

// callsDocker holds build arguments to the Dockerfile, ports and files of run to it too, profiles to docker-compose.yml.
func callsDocker(t *testing.T, args []string) string {
	line, dockerfile := strings.Join(args, " "), readFile(t, "Dockerfile")
	for _, arg := range regexp.MustCompile(`--build-arg (\w+)=`).FindAllStringSubmatch(line, -1) {
		if !strings.Contains(dockerfile, "\nARG "+arg[1]+"=") {
			return "the Dockerfile has no ARG " + arg[1]
		}
	}
	for _, port := range regexp.MustCompile(`-p \d+:(\d+)`).FindAllStringSubmatch(line, -1) {
		if !strings.Contains(dockerfile, "\nEXPOSE "+port[1]+"\n") {
			return "the Dockerfile exposes no port " + port[1]
		}
	}
	for _, file := range regexp.MustCompile(`-v [^:]+:([^: ]+)`).FindAllStringSubmatch(line, -1) {
		if !strings.Contains(dockerfile, `"`+file[1]+`"]`) {
			return "the image's command has no " + file[1]
		}
	}
	for _, profile := range regexp.MustCompile(`--profile (\w+)`).FindAllStringSubmatch(line, -1) {
		if !strings.Contains(readFile(t, "docker-compose.yml"), "profiles: ["+profile[1]+"]") {
			return "docker-compose.yml has no profile " + profile[1]
		}
	}
	return wrongUnless(slices.Contains([]string{"build", "run", "compose"}, args[0]), "only build, run and compose are known")
}

func TestInstallCommands(t *testing.T) {
	commands := docCommands(t)
	if len(commands) < 15 {
		t.Errorf("%d commands in %s, want those of all sections: %q", len(commands), installDoc, commands)
	}
	for _, line := range commands {
		words := strings.Fields(line)
		check, ok := docChecks[words[0]]
		if !ok {
			t.Errorf("%s: nothing checks it", line)
			continue
		}
		if wrong := check(t, words[1:]); wrong != "" {
			t.Errorf("%s: %s", line, wrong)
		}
	}
}

// What the document says of numbers and paths is so in the files.
func TestInstallFacts(t *testing.T) {
	text := readFile(t, installDoc)
	for _, link := range regexp.MustCompile(`\]\(\.\./([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		if wrong := existing(link[1]); wrong != "" {
			t.Error(wrong)
		}
	}
	for says, file := range map[string]string{
		"systemd waits 60 s":     "TimeoutStopSec=60",
		"`/etc/default/seqgate`": "EnvironmentFile=-/etc/default/seqgate",
		"`/var/lib/seqgate`":     "StateDirectory=seqgate",
		"`/run/seqgate`":         "RuntimeDirectory=seqgate",
		"(exit code 2)":          "RestartPreventExitStatus=2",
		"after a second":         "RestartSec=1",
		"`Type=notify`":          "Type=notify",
	} {
		if !strings.Contains(text, says) || !strings.Contains(readFile(t, unitFile), "\n"+file+"\n") {
			t.Errorf("the document says %q, the unit %s: one of them does not", says, file)
		}
	}
}

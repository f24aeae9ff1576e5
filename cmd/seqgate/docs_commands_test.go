package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// otherPrograms are programs that the docs call beside seqgate, and what is wrong with their arguments; "" is nothing.
// What is nil is not the project's own and only called.
var otherPrograms = map[string]func(t *testing.T, args []string) string{
	"go":      goesWithGo,
	"make":    hasTarget,
	"scripts": nil, // see wrongCall
	"cp":      func(_ *testing.T, args []string) string { return wrongPath(args[0]) },
	"mariadb": nil, "mariadb-dump": nil, "grep": nil, "sed": nil, "curl": nil, "apt-get": nil, "editor": nil, "install": nil,
	"dpkg": nil, "systemctl": nil, "docker": nil, "kubectl": nil, "man": nil, "openssl": nil, "mysql": nil, "export": nil, "dnf": nil,
	"helm": func(_ *testing.T, args []string) string { return wrongPath(args[2]) }, // install NAME CHART
}

// Every command of the docs has flags and arguments that the program takes: it is asked for its help with them. Commands
// of the guides are run besides, by TestMoveFrom... and TestGettingStarted.
func TestDocsCommands(t *testing.T) {
	count := 0
	for _, b := range blocksOf(t, "sh", "console") {
		for _, command := range commandsIn(b) {
			count++
			if wrong := wrongCall(t, command); wrong != "" {
				t.Errorf("%s:%d: %s: %s", b.doc, b.line, strings.Join(command, " "), wrong)
			}
		}
	}
	if count < 60 {
		t.Errorf("%d commands were found, want those of all pages", count)
	}
}

// placeholder is what stands for an argument in running text, as [--dry-run], NAME and a|b.
var placeholder = regexp.MustCompile(`\[|\]|\||\.\.\.|…`)

// Commands in running text are right, too, as far as they are written out.
func TestDocsInlineCommands(t *testing.T) {
	for _, d := range documents(t) {
		for _, code := range d.inline() {
			command := words(code)
			if len(command) < 2 || command[0] != "seqgate" {
				continue
			}
			command = slices.DeleteFunc(command, placeholder.MatchString)
			if wrong := wrongCall(t, command); wrong != "" {
				t.Errorf("%s: %s: %s", d.path, code, wrong)
			}
		}
	}
}

// commandsIn are the commands of a block. Where lines begin with $, the others are what was printed.
func commandsIn(b docBlock) [][]string {
	text := strings.ReplaceAll(strings.ReplaceAll(b.text, "\\\n", " "), "|\n", "| ")
	if typed := regexp.MustCompile(`(?m)^\$ (.*\n)`).FindAllStringSubmatch(text, -1); typed != nil {
		text = ""
		for _, line := range typed {
			text += line[1]
		}
	}
	return slices.DeleteFunc(pipeline(words(text)), func(command []string) bool { return len(command) == 0 })
}

// words takes commands apart as a shell does, with quotes and without comments. The end of a line is a semicolon.
func words(text string) []string {
	var list []string
	var word strings.Builder
	in, comment, quote := false, false, rune(0)
	end := func(more ...string) {
		if in {
			list = append(list, word.String())
		}
		list = append(list, more...)
		in = false
		word.Reset()
	}
	for _, c := range text {
		comment = (comment || quote == 0 && c == '#' && !in) && c != '\n'
		switch {
		case comment:
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case quote == 0 && c == ' ':
			end()
		case quote == 0 && c == '\n':
			end(";")
		default:
			word.WriteRune(c)
			in = true
		}
	}
	end()
	return list
}

// pipeline divides words at |, && and ;, and leaves out where output goes and variables that are set.
func pipeline(list []string) [][]string {
	commands := [][]string{nil}
	for i := 0; i < len(list); i++ {
		last := &commands[len(commands)-1]
		switch w := list[i]; {
		case w == "|" || w == "&&" || w == ";":
			commands = append(commands, nil)
		case w == ">" || w == ">>" || w == "<":
			i++
		case len(*last) == 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(w):
		case w != "&":
			*last = append(*last, w)
		}
	}
	return commands
}

// wrongCall says what is wrong with a command, and is empty for a right one.
func wrongCall(t *testing.T, command []string) string {
	t.Helper()
	program, args := command[0], command[1:]
	if program == "go" && len(args) > 1 && args[0] == "run" && args[1] == "./cmd/seqgate" {
		program, args = "seqgate", args[2:]
	}
	switch {
	case filepath.Base(program) == "seqgate":
		return wrongFlags(args)
	case strings.HasPrefix(program, "scripts/"):
		return wrongPath(program)
	}
	check, ok := otherPrograms[program]
	if !ok {
		return "nothing checks it: add it to otherPrograms"
	}
	if check == nil {
		return ""
	}
	return check(t, args)
}

// wrongFlags has seqgate read the arguments, and explain the command instead of running it.
func wrongFlags(args []string) string {
	if err := run(context.Background(), append(slices.Clone(args), "--help"), io.Discard, io.Discard); err != nil {
		return err.Error()
	}
	return ""
}

func wrongPath(path string) string {
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		return err.Error()
	}
	return ""
}

// goesWithGo checks the packages that go is called for.
func goesWithGo(_ *testing.T, args []string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, "./") {
			if wrong := wrongPath(strings.TrimSuffix(arg, "...")); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

// hasTarget checks that the Makefile has what make is called for.
func hasTarget(t *testing.T, args []string) string {
	t.Helper()
	makefile, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, arg := range args {
		if !strings.Contains(arg, "=") && !regexp.MustCompile(`(?m)^`+arg+`(?: [a-z-]+)*:`).Match(makefile) {
			return fmt.Sprintf("the Makefile has no target %s", arg)
		}
	}
	return ""
}

// Package clidoc writes what goes with a program of commands and flags: its manual page, and completion for shells. It
// knows nothing of the program but what is given to it.
package clidoc

import (
	"slices"
	"strings"
)

// Program is what a program's commands say of themselves.
type Program struct {
	Name     string
	Summary  string // one line, without a full stop
	Version  string
	Date     string // of the version, as 2006-01-02; may be empty
	Commands []Command
}

// Command is a command or, with a space in its name, a command of a command.
type Command struct {
	Name      string // "serve", "seq list"
	Arguments string // as its help writes them after the name
	About     string // one or more paragraphs; lines that begin with spaces stay as they are
	Flags     []Flag
}

// Flag is a flag of a command.
type Flag struct {
	Name     string // without dashes
	Argument string // what its value is called, such as FILE; empty for a switch
	Usage    string
	Default  string // empty when it goes without saying
}

// Files reports whether the flag's value is the name of a file.
func (f Flag) Files() bool { return f.Argument == "FILE" }

// Summary is the first sentence of what a command says of itself, without its full stop.
func (c Command) Summary() string {
	text := strings.Join(strings.Fields(c.About), " ")
	for _, end := range []string{". ", ": "} {
		text, _, _ = strings.Cut(text, end)
	}
	return strings.TrimSuffix(text, ".")
}

// word is a word that may stand at a place of the command line.
type word struct{ text, summary string }

// words are the first words of the commands for "", the second ones of the commands that begin with parent for others.
func (p Program) words(parent string) []word {
	var list []word
	for _, c := range p.Commands {
		first, second, _ := strings.Cut(c.Name, " ")
		text, summary := first, c.Summary()
		switch {
		case parent == "" && second != "":
			summary = "see " + p.Name + " " + first + " --help"
		case parent == first:
			text = second
		case parent != "":
			continue
		}
		if text != "" && !slices.ContainsFunc(list, func(w word) bool { return w.text == text }) {
			list = append(list, word{text, summary})
		}
	}
	return list
}

// parents are the commands that have commands of their own.
func (p Program) parents() []string {
	var list []string
	for _, c := range p.Commands {
		if first, _, nested := strings.Cut(c.Name, " "); nested && !slices.Contains(list, first) {
			list = append(list, first)
		}
	}
	return list
}

func texts(words []word) string {
	var list []string
	for _, w := range words {
		list = append(list, w.text)
	}
	return strings.Join(list, " ")
}

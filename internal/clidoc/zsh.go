package clidoc

import (
	"fmt"
	"strings"
)

// Zsh is a completion script for zsh: a function file of fpath, or to be sourced.
func (p Program) Zsh() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %s\n# zsh completion for %s\n_%s() {\n", p.Name, p.Name, p.Name)
	b.WriteString("  local -a words_here\n  local name=$words[2]\n")
	b.WriteString("  if ((CURRENT == 2)); then\n" + zshWords(p.words("")) + "    return\n  fi\n  case $name in\n")
	for _, parent := range p.parents() {
		fmt.Fprintf(&b, "    %s)\n      if ((CURRENT == 3)); then\n%s        return\n      fi\n", parent, zshWords(p.words(parent)))
		b.WriteString("      name+=\" $words[3]\" ;;\n")
	}
	b.WriteString("  esac\n  case $name in\n")
	for _, c := range p.Commands {
		fmt.Fprintf(&b, "    %s)\n      _arguments '--help[explain the command]'", zshQuote(c.Name))
		for _, f := range c.Flags {
			fmt.Fprintf(&b, " \\\n        %s", zshQuote(f.zsh()))
		}
		b.WriteString(" '*:argument:_files' ;;\n")
	}
	fmt.Fprintf(&b, "  esac\n}\nif [[ $funcstack[1] == _%s ]]; then\n  _%s \"$@\"\nelse\n  compdef _%s %s\nfi\n", p.Name, p.Name, p.Name, p.Name)
	return b.String()
}

// zshWords offers words, each with what it does.
func zshWords(words []word) string {
	var b strings.Builder
	b.WriteString("    words_here=(")
	for _, w := range words {
		b.WriteString(" " + zshQuote(w.text+":"+strings.ReplaceAll(w.summary, ":", "\\:")))
	}
	b.WriteString(")\n    _describe command words_here\n")
	return b.String()
}

// zsh is the flag as _arguments wants it.
func (f Flag) zsh() string {
	text := "--" + f.Name + "[" + strings.NewReplacer("[", "(", "]", ")", ":", "\\:").Replace(f.Usage) + "]"
	switch {
	case f.Files():
		text += ":" + f.Argument + ":_files"
	case f.Argument != "":
		text += ":" + f.Argument + ": "
	}
	return text
}

// zshQuote quotes as zsh and other shells in the family of sh do.
func zshQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

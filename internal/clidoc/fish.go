package clidoc

import (
	"fmt"
	"strings"
)

// Fish is a completion script for fish.
func (p Program) Fish() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %s\n", p.Name)
	fmt.Fprintf(&b, `function __%s_at
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end
function __%s_in
    set -l words (commandline -opc)
    string match -q -- "$argv *" "$words[2..-1] "
end
`, p.Name, p.Name)
	fmt.Fprintf(&b, "complete -c %s -f\n", p.Name)
	for _, parent := range append([]string{""}, p.parents()...) {
		for _, w := range p.words(parent) {
			fmt.Fprintf(&b, "complete -c %s -n %s -a %s -d %s\n", p.Name, fishQuote("__"+p.Name+"_at "+parent), w.text, fishQuote(w.summary))
		}
	}
	for _, c := range p.Commands {
		for _, f := range append(c.Flags, Flag{Name: "help", Usage: "explain the command"}) {
			value := ""
			switch {
			case f.Files():
				value = " -r -F"
			case f.Argument != "":
				value = " -x"
			}
			fmt.Fprintf(&b, "complete -c %s -n %s -l %s%s -d %s\n", p.Name, fishQuote("__"+p.Name+"_in "+c.Name), f.Name, value, fishQuote(f.Usage))
		}
	}
	return b.String()
}

// fishQuote quotes for fish, where \ and ' are special in single quotes.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(strings.TrimSpace(s)) + "'"
}

package clidoc

import (
	"fmt"
	"strings"
)

// Bash is a completion script for bash. It needs no package bash-completion.
func (p Program) Bash() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# bash completion for %s\n", p.Name)
	fmt.Fprintf(&b, "_%s() {\n", p.Name)
	b.WriteString(`  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} flags='' files='' values=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
`)
	fmt.Fprintf(&b, "    COMPREPLY=($(compgen -W '%s' -- \"$current\"))\n    return\n  fi\n", texts(p.words("")))
	b.WriteString("  case $command in\n")
	for _, parent := range p.parents() {
		fmt.Fprintf(&b, "    %s)\n", parent)
		fmt.Fprintf(&b, "      ((COMP_CWORD > 2)) || { COMPREPLY=($(compgen -W '%s' -- \"$current\")); return; }\n", texts(p.words(parent)))
		b.WriteString("      command+=\" ${COMP_WORDS[2]}\" ;;\n")
	}
	b.WriteString("  esac\n  case $command in\n")
	for _, c := range p.Commands {
		flags, files, values := c.bashFlags()
		fmt.Fprintf(&b, "    '%s') flags='%s' files='%s' values='%s' ;;\n", c.Name, flags, files, values)
	}
	b.WriteString(`  esac
  case " $files " in *" ${previous/#--/-} "*) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;; esac
  case " $values " in *" ${previous/#--/-} "*) return ;; esac
  [[ $current == -* ]] && COMPREPLY=($(compgen -W "$flags" -- "$current"))
}
`)
	fmt.Fprintf(&b, "complete -o filenames -o bashdefault -F _%s %s\n", p.Name, p.Name)
	return b.String()
}

// bashFlags are all flags with two dashes, and with one dash those whose value is a file, and those with another value.
func (c Command) bashFlags() (all, files, values string) {
	var a, f, v []string
	for _, flag := range c.Flags {
		a = append(a, "--"+flag.Name)
		switch {
		case flag.Files():
			f = append(f, "-"+flag.Name)
		case flag.Argument != "":
			v = append(v, "-"+flag.Name)
		}
	}
	return strings.Join(append(a, "--help"), " "), strings.Join(f, " "), strings.Join(v, " ")
}

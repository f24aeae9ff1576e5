package clidoc

import (
	"fmt"
	"strings"
)

// Section is a part of a manual page that stands after the commands.
type Section struct {
	Heading string
	Items   []Item
}

// Item is what is explained, and how.
type Item struct{ Term, Text string }

// Man is the manual page of section 1, in the macros of man(7).
func (p Program) Man(sections ...Section) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" Made by the program itself from the help of its commands.\n.TH %s 1 \"%s\" %s \"User Commands\"\n",
		roffQuote(strings.ToUpper(p.Name)), p.Date, roffQuote(p.Name+" "+p.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", roffText(p.Name), roffText(p.Summary))
	for i, c := range p.Commands {
		if i > 0 {
			b.WriteString(".br\n")
		}
		fmt.Fprintf(&b, ".B %s\n%s\n", roffText(p.Name+" "+c.Name), roffLine(c.Arguments))
	}
	b.WriteString(".SH COMMANDS\n")
	for _, c := range p.Commands {
		c.man(&b, p.Name)
	}
	for _, s := range sections {
		fmt.Fprintf(&b, ".SH %s\n", roffText(strings.ToUpper(s.Heading)))
		for _, i := range s.Items {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roffText(i.Term), roffLine(i.Text))
		}
	}
	return b.String()
}

func (c Command) man(b *strings.Builder, program string) {
	fmt.Fprintf(b, ".SS %s\n", roffText(program+" "+c.Name))
	manParagraphs(b, c.About)
	for _, f := range c.Flags {
		b.WriteString(".TP\n" + f.manTerm() + "\n" + roffLine(f.Usage))
		if f.Default != "" {
			b.WriteString(roffText(" (default " + f.Default + ")"))
		}
		b.WriteString("\n")
	}
}

// manParagraphs writes text whose paragraphs are filled, but for lines that begin with a space, which stay as they are.
func manParagraphs(b *strings.Builder, text string) {
	fixed, broken := false, false // inside of lines that stay; after a line without text
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if line == "" {
			broken = true
			continue
		}
		indented := strings.HasPrefix(line, " ")
		if fixed && !indented {
			b.WriteString(".fi\n")
		}
		if i > 0 && (broken || indented != fixed) {
			b.WriteString(".PP\n")
		}
		if indented && !fixed {
			b.WriteString(".nf\n")
		}
		fixed, broken = indented, false
		b.WriteString(roffLine(line) + "\n")
	}
	if fixed {
		b.WriteString(".fi\n")
	}
}

// manTerm is the flag in bold with its value in italics.
func (f Flag) manTerm() string {
	if f.Argument == "" {
		return `.B \-\-` + roffText(f.Name)
	}
	return `.BI "\-\-` + roffText(f.Name) + ` " ` + roffQuote(f.Argument)
}

// roffText escapes what roff would read as more than text, but for what counts at a line's beginning only.
func roffText(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(s)
}

// roffLine is text that begins a line, where roff takes a . or ' for a request.
func roffLine(s string) string {
	if s = roffText(s); strings.HasPrefix(s, ".") || s == "" {
		return `\&` + s
	}
	return s
}

// roffQuote is one argument of a macro.
func roffQuote(s string) string { return `"` + roffText(s) + `"` }

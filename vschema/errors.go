package vschema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing wrong in a file, where it stands, and what to write instead.
type Error struct {
	File    string
	Line    int    // from 1; 0 when the error is of no one line
	Column  int    // from 1; 0 when not known
	Path    string // of the value in the file, such as keyspaces.main.tables.users; empty for the whole file
	Message string
}

// Error returns "file:line:column: path: message", without the parts that are not known.
func (e Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Line > 0 && e.Column > 0 {
		fmt.Fprintf(&b, ":%d", e.Column)
	}
	for _, part := range []string{e.Path, e.Message} {
		if b.Len() > 0 && part != "" {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	return b.String()
}

// Errors is every error of one or more files.
type Errors []Error

// Error returns one error a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Sort orders the errors of each file by their place in it; files stay in the order of their first error.
func (es Errors) Sort() {
	rank := map[string]int{}
	for _, e := range es {
		if _, seen := rank[e.File]; !seen {
			rank[e.File] = len(rank)
		}
	}
	slices.SortStableFunc(es, func(a, b Error) int {
		return cmp.Or(cmp.Compare(rank[a.File], rank[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

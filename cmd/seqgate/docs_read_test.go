package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository's top.
const root = "../.."

// document is a page of the documentation.
type document struct {
	path  string // from the repository's top
	text  string // without its blocks
	lines []string
	parts []docBlock
}

// docBlock is what stands between ``` lines of a page.
type docBlock struct {
	doc     string // its page
	line    int    // of its first line
	section string // the heading above it
	kind    string // the first word behind the opening ```
	text    string
}

// documents reads README.md, SECURITY.md and all of docs/.
func documents(t *testing.T) []document {
	t.Helper()
	paths, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d pages in docs: %v", len(paths), err)
	}
	internals, err := filepath.Glob(root + "/docs/internals/*.md")
	if err != nil || len(internals) < 5 {
		t.Fatalf("%d pages in docs/internals: %v", len(internals), err)
	}
	paths = append(paths, internals...)
	var all []document
	for _, path := range append(paths, root+"/README.md", root+"/SECURITY.md") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d := document{path: strings.TrimPrefix(path, root+"/")}
		d.read(t, string(data))
		all = append(all, d)
	}
	return all
}

// read takes a page apart. Blocks may be indented, as below an item of a list.
func (d *document) read(t *testing.T, text string) {
	t.Helper()
	var prose strings.Builder
	var open *docBlock
	section, indent := "", ""
	for i, line := range strings.Split(text, "\n") {
		fence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case fence && open == nil:
			indent, _, _ = strings.Cut(line, "`")
			kind, _, _ := strings.Cut(strings.TrimLeft(line, " `"), " ")
			open = &docBlock{doc: d.path, line: i + 2, section: section, kind: kind}
		case fence:
			d.parts = append(d.parts, *open)
			open = nil
		case open != nil:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		default:
			if strings.HasPrefix(line, "#") {
				section = strings.TrimLeft(line, "# ")
			}
			prose.WriteString(line + "\n")
			d.lines = append(d.lines, line)
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block has no end", d.path, open.line)
	}
	d.text = prose.String()
}

// blocksOf are those of all pages of one kind.
func blocksOf(t *testing.T, kinds ...string) []docBlock {
	t.Helper()
	var found []docBlock
	for _, d := range documents(t) {
		for _, b := range d.parts {
			for _, kind := range kinds {
				if b.kind == kind {
					found = append(found, b)
				}
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("no block of the kind %v", kinds)
	}
	return found
}

var inlineCode = regexp.MustCompile("`([^`\n]+)`")

// inline are the pieces of code in a page's running text.
func (d document) inline() []string {
	var found []string
	for _, m := range inlineCode.FindAllStringSubmatch(d.text, -1) {
		found = append(found, m[1])
	}
	return found
}

package mutation

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list in docs/internals/testing.md from what the code has now")

const root = "../.."

// The list stays true while the code changes: each fault still fits its file, and each test is still there.
func TestMutationsFit(t *testing.T) {
	names := regexp.MustCompile(`^[a-z0-9-]+$`)
	tests := map[string]map[string]bool{}
	seen := map[string]bool{}
	for _, group := range All() {
		for _, m := range group.Mutations {
			if !names.MatchString(m.Name) || seen[m.Name] {
				t.Errorf("%q is no name, or that of two mutations", m.Name)
			}
			seen[m.Name] = true
			checkFits(t, m)
			if tests[m.Package()] == nil {
				tests[m.Package()] = testsIn(t, m.Package())
			}
			if !tests[m.Package()][m.Function()] {
				t.Errorf("%s: there is no %s in %s", m.Name, m.Function(), m.Package())
			}
		}
	}
}

// checkFits fails t when m cannot be made, or what it makes cannot be Go or says the same.
func checkFits(t *testing.T, m Mutation) {
	source, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		t.Error(err)
		return
	}
	mutated, err := m.Apply(source)
	if err != nil {
		t.Error(err)
		return
	}
	if bytes.Equal(mutated, source) {
		t.Errorf("%s changes nothing", m.Name)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), m.File, mutated, parser.SkipObjectResolution); err != nil {
		t.Errorf("%s: %v", m.Name, err)
	}
}

// testsIn returns the test functions of a package, and the fuzz targets, whose seeds are tests too.
func testsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				found[f.Name.Name] = true
			}
		}
	}
	return found
}

// The page has just the list. -update writes it.
func TestMutationsInDocs(t *testing.T) {
	const begin, end = "<!-- mutations: written by go test ./internal/mutation -update -->\n", "<!-- end of mutations -->\n"
	page := filepath.Join(root, "docs", "internals", "testing.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the list: %q ... %q", page, begin, end)
	}
	want := head + begin + "\n" + tables() + end + tail
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s has another list: run go test ./internal/mutation -update", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tables writes the list in Markdown, a table for each promise.
func tables() string {
	var b strings.Builder
	for _, group := range All() {
		fmt.Fprintf(&b, "**%s**\n\n| `MUTATE=` | what is broken | file | caught by |\n|---|---|---|---|\n", group.Promise)
		for _, m := range group.Mutations {
			fmt.Fprintf(&b, "| %s | %s | `%s` | `%s` |\n", m.Name, m.Breaks, m.File, m.Function())
		}
		b.WriteString("\n")
	}
	return b.String()
}

package main

import (
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var docLink = regexp.MustCompile(`(?:\]\(| src=")([^)"\s]+)[)"]`)

// repository is where the files of this one are read that packages lack, as developers' pages.
const repository = "https://github.com/seqgate/seqgate/blob/main/"

// Links between pages lead to files and headings that exist.
func TestDocsLinks(t *testing.T) {
	anchors := map[string]map[string]bool{}
	pages := documents(t)
	for _, d := range pages {
		anchors[d.path] = anchorsOf(d)
	}
	for _, d := range pages {
		for _, m := range docLink.FindAllStringSubmatch(d.text, -1) {
			if page, ok := strings.CutPrefix(m[1], repository); ok { // what packages do not have
				file, _, _ := strings.Cut(page, "#")
				if _, err := os.Stat(filepath.Join(root, file)); err != nil {
					t.Errorf("%s: the link %s leads nowhere: %v", d.path, m[1], err)
				}
				continue
			}
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			path := d.path
			if file != "" {
				path = filepath.Join(filepath.Dir(d.path), file)
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", d.path, m[1], err)
			} else if of, isPage := anchors[path]; anchor != "" && isPage && !of[anchor] {
				t.Errorf("%s: %s has no heading #%s", d.path, path, anchor)
			}
		}
	}
}

// Every page can be found from docs/README.md.
func TestDocsIndex(t *testing.T) {
	index, err := os.ReadFile(root + "/docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range documents(t) {
		name, err := filepath.Rel("docs", d.path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "internals/") {
			name = repository + "docs/" + name
		}
		if name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}

// anchorsOf are the names of a page's headings as GitHub makes them: small letters, digits, hyphens for spaces.
func anchorsOf(d document) map[string]bool {
	anchors := map[string]bool{}
	for _, line := range d.lines {
		heading := strings.TrimLeft(line, "#")
		if heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		anchors[strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case unicode.IsLetter(c) || unicode.IsDigit(c) || c == '-' || c == '_':
				return unicode.ToLower(c)
			}
			return -1
		}, strings.TrimSpace(heading))] = true
	}
	return anchors
}

var (
	namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)(\\.\\.\\.)?`")
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// Tests and fuzz targets that the docs name as what holds a claim exist.
func TestDocsNameTests(t *testing.T) {
	all := testNames(t)
	for _, d := range documents(t) {
		for _, m := range namedTest.FindAllStringSubmatch(d.text, -1) {
			if found := all.has(m[1]) || m[2] != "" && all.hasPrefix(m[1]); !found {
				t.Errorf("%s names the test %s, which does not exist", d.path, m[1])
			}
		}
	}
}

type names map[string]bool

func (n names) has(name string) bool { return n[name] }

func (n names) hasPrefix(prefix string) bool {
	for name := range n {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// testNames are those of all tests of the repository.
func testNames(t *testing.T) names {
	t.Helper()
	all := names{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			all[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	listedMetric = regexp.MustCompile("(?m)^\\| `(seqgate_\\w+)` \\|")
	namedMetric  = regexp.MustCompile(`\bseqgate_\w+`)
	namedAlert   = regexp.MustCompile("`(Seqgate\\w+)`")
)

// ownTables are names that are no metrics: tables that seqgate makes.
var ownTables = names{"seqgate_servers": true, "seqgate_workers": true, "seqgate_transactions": true, "seqgate_used": true}

// Metrics and alerts that the docs name exist: those of docs/operating.md, which another test holds to the code.
func TestDocsMetrics(t *testing.T) {
	list, err := os.ReadFile(root + "/docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	alerts, err := os.ReadFile(root + "/deploy/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	known := names{}
	for _, m := range listedMetric.FindAllSubmatch(list, -1) {
		known[string(m[1])] = true
	}
	for _, d := range documents(t) {
		for _, code := range d.inline() {
			for _, name := range namedMetric.FindAllString(code, -1) {
				base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
				if !known[base] && !ownTables[name] && !known.hasPrefix(name+"_") {
					t.Errorf("%s names the metric %s, which does not exist", d.path, name)
				}
			}
		}
		for _, m := range namedAlert.FindAllStringSubmatch(d.text, -1) {
			if !strings.Contains(string(alerts), "alert: "+m[1]+"\n") {
				t.Errorf("%s names the alert %s, which does not exist", d.path, m[1])
			}
		}
	}
}

// Pictures are XML, small, and complete in themselves.
func TestDocsPictures(t *testing.T) {
	paths, err := filepath.Glob(root + "/docs/images/*.svg")
	charts, chartsErr := filepath.Glob(root + "/docs/internals/images/*.svg")
	if paths, err = append(paths, charts...), errors.Join(err, chartsErr); err != nil || len(paths) == 0 {
		t.Fatalf("no pictures: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(data, new(struct{ XMLName xml.Name })); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if len(data) > 32<<10 || strings.Contains(string(data), "href") {
			t.Errorf("%s has %d bytes, or leads elsewhere", path, len(data))
		}
	}
}

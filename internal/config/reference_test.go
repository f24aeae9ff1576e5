package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// The reference of the configuration is made of what the reader's own tables and error messages say, and of the comments in
// the sample, which other tests hold to the code.

const (
	configDoc   = "../../docs/configuration.md"
	configBegin = "<!-- the keys begin: go test ./internal/config -run TestConfigurationReference -update writes them -->\n"
	configEnd   = "<!-- the keys end -->\n"
)

// docs/configuration.md has all keys, as the code has them.
func TestConfigurationReference(t *testing.T) {
	data, err := os.ReadFile(configDoc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), configBegin)
	got, after, ended := strings.Cut(rest, configEnd)
	if !ok || !ended {
		t.Fatalf("%s has no place for the keys", configDoc)
	}
	want := configReference(t)
	if *update {
		if err := os.WriteFile(configDoc, []byte(before+configBegin+want+configEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what the code has; go test ./internal/config -run TestConfigurationReference -update writes it (-code +docs):\n%s", configDoc, diff)
	}
}

// configReference is the reference of all keys, in the sample's order.
func configReference(t *testing.T) string {
	t.Helper()
	entries, settings := sampleEntries(), newReader(loader(os.Getenv)).settings
	var b strings.Builder
	b.WriteString("\n")
	described := map[string]bool{}
	for _, e := range entries {
		if _, isKey := settings[e.path]; !isKey {
			fmt.Fprintf(&b, "### %s\n\n%s\n\n", e.path, e.about())
			continue
		}
		described[e.path] = true
		facts := e.facts()
		if e.with != "" { // the comment above is about this key too
			fmt.Fprintf(&b, "`%s`: %s\n\n", e.path, facts)
			continue
		}
		fmt.Fprintf(&b, "#### %s\n\n%s\n\n%s\n\n", e.path, facts, e.about())
		b.WriteString(itemFields(t, e.path))
	}
	for path := range settings {
		if !described[path] {
			t.Errorf("the sample does not have the key %s", path)
		}
	}
	return b.String()
}

// environmentOf is the variable that sets a key.
func environmentOf(path string) string {
	if _, plain := newReader(loader(os.Getenv)).plain[path]; !plain {
		return "in the file only"
	}
	return "`SEQGATE_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_")) + "`"
}

// sampleEntry is a key or a section of the sample, with the comment above it and the value that it has there.
type sampleEntry struct {
	path, value string
	commented   bool // it shows how the key is written, not its default
	comment     []string
	with        string   // the key that has the comment, if it is another one
	examples    []string // lines below a key that is a list
}

var (
	sampleLine    = regexp.MustCompile(`^( *)(# )?([a-z_]+):(?: (.*))?$`)
	sampleDefault = regexp.MustCompile(`Default: ([^.]+(?:\.[a-z][^.]*)*)\.`)
	// sampleFallback is what the line of a key's facts says already, where it ends the comment.
	sampleFallback = regexp.MustCompile(`\s+Default: [^.]+(?:\.[a-z][^.]*)*\.\s*$`)
	sampleItem     = regexp.MustCompile(`^  ([a-z_]+: (?:\{.*?\}|\S+)) +(.*)$`)
	sampleFile     = regexp.MustCompile(`docs/((\w[-\w]*)\.md(?:#[-\w]+)?)`)
	sampleReload   = regexp.MustCompile(` ?(?:Not reloadable|Reloaded)\.`)
)

// sampleEntries reads the sample line by line: a parser of YAML would leave out the keys that are comments.
func sampleEntries() []sampleEntry {
	settings := newReader(loader(os.Getenv)).settings
	var entries []sampleEntry
	var comment []string
	section := ""
	for line := range strings.Lines(string(sampleConfig)) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			comment, section = nil, ""
			continue
		}
		if m := sampleLine.FindStringSubmatch(line); m != nil {
			path := m[3]
			if m[1] != "" {
				path = section + "." + m[3]
			}
			_, isKey := settings[path]
			isSection := m[1] == "" && m[2] == "" && m[4] == ""
			if isKey || isSection {
				e := sampleEntry{path: path, value: m[4], commented: m[2] != "", comment: comment}
				if len(comment) == 0 && len(entries) > 0 { // said of several keys at once
					last := entries[len(entries)-1]
					e.comment, e.with = last.comment, cmp.Or(last.with, last.path)
				}
				entries = append(entries, e)
				comment = nil
				if isSection {
					section = path
				}
				continue
			}
		}
		text, isComment := strings.CutPrefix(strings.TrimLeft(line, " "), "#")
		switch {
		case isComment && strings.HasPrefix(text, "   - {"):
			last := &entries[len(entries)-1]
			last.examples = append(last.examples, strings.TrimSpace(text))
		case isComment:
			comment = append(comment, strings.TrimPrefix(text, " "))
		}
	}
	return entries
}

// about is the comment as Markdown: lines that are indented in it are items.
func (e sampleEntry) about() string {
	var b strings.Builder
	items := false
	for _, line := range e.comment {
		if m := sampleItem.FindStringSubmatch(line); m != nil {
			fmt.Fprintf(&b, "\n* `%s`: %s", m[1], m[2])
			items = true
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(line)
	}
	text := sampleReload.ReplaceAllString(b.String(), "")
	text = strings.TrimSpace(sampleFallback.ReplaceAllString(text, ""))
	text = sampleFile.ReplaceAllString(text, "[$2]($1)")
	if len(e.examples) > 0 {
		text += "\n\n```yaml\n"
		indent := ""
		for key := range strings.SplitSeq(e.path, ".") {
			text += indent + key + ":\n"
			indent += "  "
		}
		text += indent + strings.Join(e.examples, "\n"+indent) + "\n```"
	}
	if items {
		text = strings.Replace(text, "\n* ", "\n\n* ", 1)
	}
	return text
}

// fallback is the key's default.
func (e sampleEntry) fallback() string {
	switch said := sampleDefault.FindStringSubmatch(strings.Join(e.comment, " ")); {
	case e.path == "keyspaces":
		return "none: it is required"
	case !e.commented && e.value != "" && !slices.Contains([]string{`""`, "[]", "{}"}, e.value):
		return "`" + e.value + "`"
	case !e.commented || said == nil:
		return "none"
	default:
		return said[1]
	}
}

// facts are what a key takes, its default if it has one, whether it is reloaded, and its variable.
func (e sampleEntry) facts() string {
	facts := keyForm(e.path)
	if fallback := e.fallback(); fallback != "none" {
		facts += " · default: " + fallback
	}
	if reloadable[e.path] {
		facts += " · reloaded"
	}
	return facts + " · " + environmentOf(e.path)
}

// probe reads a text as a key's value, and gives the reader's first complaint about it.
func probe(path, text string) (complaint string, r *reader) {
	r = newReader(loader(func(string) string { return "" }))
	r.dir = "/probed"
	r.settings[path](textValue("", text))
	if len(r.errs) == 0 {
		return "", r
	}
	return r.errs[0].Message, r
}

// keyForm is what a key takes, as the reader's refusal of a question mark says.
func keyForm(path string) string {
	said, r := probe(path, "?")
	_, advice, _ := strings.Cut(said, "write ")
	switch {
	case strings.HasPrefix(said, "the environment variable"):
		return "the name of an environment variable"
	case strings.HasPrefix(said, "/probed/?"):
		return "the path of a file"
	case said == "" && strings.Contains(fmt.Sprintf("%+v %s %s", r.cfg, r.vschemaFile, r.caFile), "/probed/?"):
		return "the path of a file"
	case said == "":
		return "a text"
	case strings.HasPrefix(advice, "a list, "):
		return "a list, `" + strings.TrimPrefix(advice, "a list, ") + "`"
	case strings.HasPrefix(advice, "a mapping, "):
		return "a mapping"
	case strings.Contains(said, "is no duration"):
		return "a duration " + leastDuration(path)
	case strings.Contains(said, "is no count"):
		return advice + mostCount(path)
	case strings.HasPrefix(said, "unknown value"):
		return "`" + strings.ReplaceAll(strings.TrimPrefix(advice, "one of "), ", ", "`, `") + "`"
	}
	return strings.TrimPrefix(advice, "one ")
}

// leastDuration is the shortest duration that a key takes.
func leastDuration(path string) string {
	for _, d := range []time.Duration{0, time.Nanosecond, time.Millisecond, time.Second} {
		if said, _ := probe(path, d.String()); said == "" {
			return strings.Replace("from "+d.String(), "from 1ns", "above 0", 1)
		}
	}
	return "of more than a second"
}

// mostCount is the largest number that a key takes, where it is not that of 63 bits.
func mostCount(path string) string {
	refused := func(n int64) bool { said, _ := probe(path, fmt.Sprint(n)); return said != "" }
	if !refused(math.MaxInt64) {
		return ""
	}
	good, bad := int64(1), int64(math.MaxInt64)
	for bad-good > 1 {
		if middle := good + (bad-good)/2; refused(middle) {
			bad = middle
		} else {
			good = middle
		}
	}
	return fmt.Sprintf(" to %d", good)
}

// itemProbes show an item with an unknown key of each key that has keys of its own.
var itemProbes = map[string]string{
	"users":               "[{no_such_key: 1}]",
	"api.tokens":          "[{no_such_key: 1}]",
	"keyspaces":           "{k: {no_such_key: 1}}",
	"sequences.overrides": "{k.s: {no_such_key: 1}}",
	"tables.overrides":    "{k.t: {no_such_key: 1}}",
}

// itemFields lists the keys of what is in a list or a mapping, as the reader's refusal of another one names them.
func itemFields(t *testing.T, path string) string {
	t.Helper()
	r := newReader(loader(func(string) string { return "" }))
	if _, plain := r.plain[path]; plain {
		return ""
	}
	probed, errs := parseYAML("", []byte(cmp.Or(itemProbes[path], "?")))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	r.settings[path](probed)
	for _, e := range r.errs {
		if _, keys, ok := strings.Cut(e.Message, "unknown key: write "); ok {
			keys = strings.TrimPrefix(keys, "one of ")
			return "Keys of each: `" + strings.ReplaceAll(keys, ", ", "`, `") + "`.\n\n"
		}
	}
	t.Errorf("%s: the keys of its items are not known: add it to itemProbes (%v)", path, slices.Collect(maps.Values(itemProbes)))
	return ""
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/internal/app"
	"github.com/seqgate/seqgate/vschema"
)

// What docs/ and README.md show is right: each block is run, loaded or parsed. What is not stands in notChecked.

// notChecked are blocks that nothing here can check, by their page and how they begin, with the reason.
var notChecked = map[string]string{
	"docs/operating.md # prometheus.yml": "Prometheus's file; TestAlertRules and TestDashboard run the project's own against a real one",
	`docs/api.md {"error":`:              "an answer; the tests of proxy/idapi hold the form",
	`docs/operating.md {"reloaded":`:     "an answer; TestReloadConfig holds the form",
}

// unchecked reports whether a block is one of notChecked.
func (b docBlock) unchecked() bool {
	for begin := range notChecked {
		if doc, text, _ := strings.Cut(begin, " "); doc == b.doc && strings.HasPrefix(b.text, text) {
			return true
		}
	}
	return false
}

// knownKinds are the kinds of blocks, and by which test they are checked.
var knownKinds = map[string]string{
	"yaml": "TestDocsConfigurations", "json": "TestDocsVSchemas", "sh": "TestDocsCommands", "console": "TestDocsCommands",
	"sql": "TestDocsSQL", "go": "TestDocsGo", "haproxy": "TestDocsHAProxy",
	"text": "the guides, which compare what the command above prints, and TestFailures", "": "drawings and what programs print",
}

// Every block is of a kind that a test checks, and no exception is left of a block that is gone.
func TestDocsBlocks(t *testing.T) {
	found := map[string]bool{}
	for _, d := range documents(t) {
		for _, b := range d.parts {
			if _, ok := knownKinds[b.kind]; !ok {
				t.Errorf("%s:%d: no test checks blocks of the kind %q", b.doc, b.line, b.kind)
			}
			if b.kind == "" && regexp.MustCompile(`(?m)^\$? ?(?:seqgate|scripts/|make|go) [a-z-]`).MatchString(b.text) {
				t.Errorf("%s:%d: commands without a kind: write ```console", b.doc, b.line)
			}
			for begin := range notChecked {
				if doc, text, _ := strings.Cut(begin, " "); doc == b.doc && strings.HasPrefix(b.text, text) {
					found[begin] = true
				}
			}
		}
	}
	for begin := range notChecked {
		if !found[begin] {
			t.Errorf("there is no block %q any more: take it out of notChecked", begin)
		}
	}
}

// anySecret gives every variable a value that is long enough for a token, but those of seqgate's own keys.
func anySecret(name string) string {
	if strings.HasPrefix(name, "SEQGATE_") {
		return ""
	}
	return "0123456789abcdef-" + name
}

var secretFile = regexp.MustCompile(`/run/secrets/(\w+)`)

// Every configuration of the docs is one that seqgate takes.
func TestDocsConfigurations(t *testing.T) {
	schemas := blocksOf(t, "json")
	for _, b := range blocksOf(t, "yaml") {
		if b.unchecked() {
			continue
		}
		t.Run(fmt.Sprintf("%s:%d", b.doc, b.line), func(t *testing.T) {
			t.Chdir(t.TempDir())
			text := secretFile.ReplaceAllStringFunc(b.text, func(path string) string {
				name := filepath.Base(path)
				writeHere(t, name, anySecret(name))
				return name
			})
			if !strings.Contains(text, "\nkeyspaces:") {
				text = mainKeyspace + text
			}
			writeHere(t, "vschema.json", vschemaOf(b, schemas))
			writeHere(t, "seqgate.yaml", text)
			if _, err := app.Loader(anySecret).Load("seqgate.yaml"); wrongInAllBuilds(err) != nil {
				t.Error(err)
			}
		})
	}
}

// wrongInAllBuilds leaves out of a configuration's errors those that a build tag would mend.
func wrongInAllBuilds(err error) error {
	var errs vschema.Errors
	if !errors.As(err, &errs) {
		return err
	}
	errs = slices.DeleteFunc(errs, func(e vschema.Error) bool { return strings.HasPrefix(e.Message, "this seqgate was built without ") })
	if len(errs) == 0 {
		return nil
	}
	return errs
}

// anyVSchema is for configurations whose section shows none.
const anyVSchema = `{"keyspaces": {"main": {}, "customer": {"sharded": true, "vindexes": {"hash": {"type": "hash"}}}}}`

// vschemaOf is the vschema that stands in the section of a configuration.
func vschemaOf(of docBlock, all []docBlock) string {
	for _, b := range all {
		if b.doc == of.doc && b.section == of.section && strings.Contains(b.text, `"keyspaces"`) {
			return b.text
		}
	}
	return anyVSchema
}

// Every vschema of the docs is one that seqgate takes.
func TestDocsVSchemas(t *testing.T) {
	for _, b := range blocksOf(t, "json") {
		name := fmt.Sprintf("%s:%d", b.doc, b.line)
		text := b.text
		if strings.HasPrefix(text, `"`) { // some tables of a keyspace
			text = `{"keyspaces": {"main": {"tables": {` + text + `}}}}`
		}
		if b.unchecked() {
			if !json.Valid([]byte(text)) {
				t.Errorf("%s is no JSON", name)
			}
			continue
		}
		if _, err := vschema.Load(name, []byte(text)); err != nil {
			t.Error(err)
		}
	}
}

// Go code in the docs can be parsed; that it compiles is held by the examples of the packages.
func TestDocsGo(t *testing.T) {
	for _, b := range blocksOf(t, "go") {
		var imports, body []string
		for line := range strings.Lines(b.text) {
			switch {
			case strings.HasPrefix(line, "import "):
				imports = append(imports, line)
			case strings.TrimSpace(line) != "...":
				body = append(body, line)
			}
		}
		text := "package p\n" + strings.Join(imports, "") + "func _() {\n" + strings.Join(body, "") + "}\n"
		if _, err := format.Source([]byte(text)); err != nil {
			t.Errorf("%s:%d: %v", b.doc, b.line, err)
		}
	}
}

// The lines for HAProxy are those that TestRollingRestart and TestGalera run, but for addresses and times.
func TestDocsHAProxy(t *testing.T) {
	times := regexp.MustCompile(`\d+ms`)
	config := ""
	for _, name := range []string{"rolling_test.go", "galera_test.go"} {
		tested, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		config += times.ReplaceAllString(string(tested), "TIME")
	}
	placed := regexp.MustCompile(`^(server|backend|listen|bind) `)
	for _, b := range blocksOf(t, "haproxy") {
		for line := range strings.Lines(b.text) {
			line = times.ReplaceAllString(strings.TrimSpace(line), "TIME")
			if !placed.MatchString(line) && !strings.Contains(config, line) {
				t.Errorf("%s:%d: %q is not what the test uses", b.doc, b.line, line)
			}
		}
	}
}

var keyLike = regexp.MustCompile(`^([a-z_]+)\.([a-z_]+)(?:: .*)?$`)

// keyListed is a key where the reference in docs/configuration.md, which is made of the code, describes it.
var keyListed = regexp.MustCompile("(?m)^(?:#### |`)([a-z_.]+)(?:$|`: )")

// Keys of the configuration that the running text names exist.
func TestDocsKeys(t *testing.T) {
	keys, sections := map[string]bool{}, map[string]bool{}
	reference, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range keyListed.FindAllStringSubmatch(string(reference), -1) {
		keys[m[1]] = true
		if section, _, nested := strings.Cut(m[1], "."); nested {
			sections[section] = true
		}
	}
	files := []string{"md", "yaml", "json", "pem", "go", "sql", "deb"}
	for _, d := range documents(t) {
		for _, code := range d.inline() {
			m := keyLike.FindStringSubmatch(code)
			if m == nil || !sections[m[1]] || slices.Contains(files, m[2]) {
				continue
			}
			if !keys[m[1]+"."+m[2]] {
				t.Errorf("%s names the key %s, which does not exist", d.path, code)
			}
		}
	}
}

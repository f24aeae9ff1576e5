package route_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/route"
	"github.com/seqgate/seqgate/vschema"
)

var update = flag.Bool("update", false, "write the plans that are, in place of those that were wanted")

const planDir = "../../testdata/plan"

// newPlanner returns the planner of testdata/plan/vschema.json, with four shards of each sharded keyspace.
func newPlanner(tb testing.TB) *route.Planner {
	tb.Helper()
	v, shards := loadVSchema(tb)
	return route.New(v, shards, nil)
}

func loadVSchema(tb testing.TB) (*vschema.VSchema, map[string]*vschema.Shards) {
	tb.Helper()
	file := filepath.Join(planDir, "vschema.json")
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	v, err := vschema.Load(file, data)
	if err != nil {
		tb.Fatal(err)
	}
	shards := map[string]*vschema.Shards{}
	for _, k := range v.Keyspaces() {
		if k.Sharded {
			if shards[k.Name], err = k.NewShards([]string{"-40", "40-80", "80-c0", "c0-"}); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return v, shards
}

// TestGolden holds plans to testdata/plan/*.txt. Each case is the statement, and indented below it what becomes of it. A
// line "use keyspace mode..." is for the cases after it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(planDir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans in %s: %v", planDir, err)
	}
	planner := newPlanner(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := planFile(planner, want)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			compareLines(t, file, string(got), string(want))
		})
	}
}

// planFile writes the file anew with the plans that are.
func planFile(planner *route.Planner, file []byte) []byte {
	var out bytes.Buffer
	keyspace, mode := "", parser.Mode{}
	lines := bufio.NewScanner(bytes.NewReader(file))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "    "):
			continue
		case strings.HasPrefix(line, "use "):
			keyspace, mode = useLine(line)
			fmt.Fprintln(&out, line)
		case line == "" || strings.HasPrefix(line, "# "):
			fmt.Fprintln(&out, line)
		default:
			fmt.Fprintln(&out, line)
			for described := range strings.SplitSeq(describe(planner, line, keyspace, mode), "\n") {
				fmt.Fprintln(&out, "    "+described)
			}
		}
	}
	return out.Bytes()
}

// useLine reads "use keyspace mode...", where - is no keyspace.
func useLine(line string) (keyspace string, m parser.Mode) {
	words := strings.Fields(line)[1:]
	for _, word := range words[1:] {
		switch word {
		case "mariadb":
			m.MariaDB = true
		default:
			m = parser.NewMode(word, "utf8mb4", m.MariaDB)
		}
	}
	return strings.TrimPrefix(words[0], "-"), m
}

func describe(planner *route.Planner, sql, keyspace string, m parser.Mode) string {
	plan, err := planner.Plan([]byte(sql), keyspace, m)
	var refused *route.Error
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("error %d: %s", refused.Errno, refused.Message)
	case err != nil:
		return "not an error for clients: " + err.Error()
	}
	text := plan.String()
	if shards, err := plan.Shards(nil, nil); err == nil && (plan.Kind == route.One || plan.Kind == route.Keys) {
		text += fmt.Sprintf("\nshards %v", shards)
	}
	database := func(keyspace string) string { return keyspace + "_db" }
	one := string(plan.AppendSQL(nil, []byte(sql), false, database))
	if one != sql {
		text += "\nsql " + one
	}
	if plan.Scatter != nil {
		text += "\nseveral " + string(plan.AppendSQL(nil, []byte(sql), true, database))
	}
	return text
}

func compareLines(t *testing.T, file, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g) || i >= len(w):
			t.Fatalf("%s has %d lines, the plans %d", file, len(w), len(g))
		case g[i] != w[i]:
			t.Fatalf("%s:%d:\n got %s\nwant %s", file, i+1, g[i], w[i])
		}
	}
}

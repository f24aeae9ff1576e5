package route_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/parser"
	"github.com/seqgate/seqgate/proxy/route"
)

// goldenStatements returns the statements of all golden plans.
func goldenStatements(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(planDir, "*.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	var statements []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if line != "" && line[0] != ' ' && line[0] != '#' && !strings.HasPrefix(line, "use ") {
				statements = append(statements, line)
			}
		}
	}
	return statements
}

// outcome is everything that a session sees of a plan.
func outcome(plan *route.Plan, err error, sql []byte) string {
	if err != nil {
		return err.Error()
	}
	shards, shardsErr := plan.Shards(nil, nil)
	database := func(keyspace string) string { return keyspace + "`db" }
	return fmt.Sprintf("%s\n%+v %q %q %v %v %v\n%v %v\n%s\n%s", plan, plan.Kind, plan.Keyspace, plan.Table, plan.Functions, plan.Reads,
		plan.Assigns, shards, shardsErr, plan.AppendSQL(nil, sql, false, database), plan.AppendSQL(nil, sql, true, database))
}

// unreadable reports whether planning anew ends because the values of literals make the text none that can be read: then
// the server may be left to say so.
func unreadable(err error) bool { return err != nil && strings.Contains(err.Error(), "could not read") }

// TestCacheGivesWhatPlanningGives plans texts that differ in their literals, with and without the cache.
func TestCacheGivesWhatPlanningGives(t *testing.T) {
	planner := newPlanner(t)
	values := []string{"5", "6", "-7", "18446744073709551615", "18446744073709551616", "'5'", "'05'", "'a'", `'a\'b'`, "5.0", "0x35", "NULL", "''", "'x' 'y'"}
	for _, sql := range goldenStatements(t) {
		for _, value := range values {
			text := []byte(strings.ReplaceAll(sql, "5", value))
			for range 2 {
				for _, keyspace := range []string{"customer", "main", ""} {
					cached, cachedErr := planner.Plan(text, keyspace, parser.Mode{})
					anew, anewErr := planner.PlanAnew(text, keyspace, parser.Mode{})
					if got, want := outcome(cached, cachedErr, text), outcome(anew, anewErr, text); got != want && !unreadable(anewErr) {
						t.Fatalf("%s\ncached %s\n  anew %s", text, got, want)
					}
				}
			}
		}
	}
}

// TestPlannerServesManyAtOnce plans from several goroutines, more texts than the cache holds.
func TestPlannerServesManyAtOnce(t *testing.T) {
	planner := newPlanner(t)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 6000 {
				sql := fmt.Appendf(nil, "SELECT c%d, %d FROM users WHERE id = 5", i, g)
				plan, err := planner.Plan(sql, "customer", parser.Mode{})
				if err != nil {
					t.Error(err)
					return
				}
				if shards, err := plan.Shards(nil, nil); err != nil || len(shards) != 1 || shards[0] != 1 {
					t.Errorf("%s: shards %v, %v, want [1]", sql, shards, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// FuzzPlan plans two texts, which may have the same key in the cache, and holds that neither panics, that both give what
// planning anew gives, and that the text for the servers differs in the names of keyspaces only.
func FuzzPlan(f *testing.F) {
	statements := goldenStatements(f)
	for i, sql := range statements {
		f.Add(sql, strings.ReplaceAll(sql, "5", "'x'"), i%8)
	}
	planner := newPlanner(f)
	f.Fuzz(func(t *testing.T, first, second string, bits int) {
		m := parser.Mode{ANSIQuotes: bits&1 > 0, NoBackslashEscapes: bits&2 > 0, MariaDB: bits&4 > 0, EmptyStringIsNull: bits&8 > 0}
		if bits&16 > 0 {
			m.Charset = parser.CharsetByName("gbk")
		}
		for _, sql := range []string{first, second, first} {
			text := []byte(sql)
			cached, cachedErr := planner.Plan(text, "customer", m)
			anew, anewErr := planner.PlanAnew(text, "customer", m)
			if got, want := outcome(cached, cachedErr, text), outcome(anew, anewErr, text); got != want && !unreadable(anewErr) {
				t.Fatalf("%q\ncached %s\n  anew %s", sql, got, want)
			}
			if anewErr == nil {
				checkEdits(t, anew, text)
			}
		}
	})
}

// checkEdits holds that a name of a database stands in place of each keyspace's, and that nothing else changed.
func checkEdits(t *testing.T, plan *route.Plan, sql []byte) {
	t.Helper()
	var names []string
	edited := string(plan.AppendSQL(nil, sql, false, func(keyspace string) string {
		names = append(names, keyspace)
		return "\x01"
	}))
	parts := strings.Split(edited, "`\x01`")
	if len(parts) != len(names)+1 && !strings.Contains(string(sql), "\x01") {
		t.Fatalf("%q: %d names, %d places", sql, len(names), len(parts)-1)
	}
	rest := string(sql)
	for i, part := range parts {
		if !strings.HasPrefix(rest, part) {
			t.Fatalf("%q became %q", sql, edited)
		}
		if rest = rest[len(part):]; i < len(names) {
			n := len(names[i])
			if strings.HasPrefix(rest, "`") || strings.HasPrefix(rest, `"`) {
				n += 2
			}
			if !strings.EqualFold(strings.Trim(rest[:n], "`\""), names[i]) {
				t.Fatalf("%q: %q is not the name %q", sql, rest[:n], names[i])
			}
			rest = rest[n:]
		}
	}
	if rest != "" {
		t.Fatalf("%q became %q", sql, edited)
	}
}

func BenchmarkPlan(b *testing.B) {
	benchmarks := []struct{ name, sql string }{
		{"number", "SELECT id, name, email FROM users WHERE id = 12345"},
		{"text", "SELECT id, name FROM mails WHERE email = 'someone@example.com'"},
		{"update", "UPDATE users SET name = 'x', n = n + 1 WHERE id = 12345"},
		{"join", "SELECT u.id, o.n FROM users u JOIN orders o ON o.user_id = u.id WHERE u.id = 12345 ORDER BY o.n LIMIT 10"},
		{"scatter", "SELECT id, name FROM users WHERE n > 5 ORDER BY id LIMIT 10"},
	}
	planner := newPlanner(b)
	for _, bm := range benchmarks {
		sql := []byte(bm.sql)
		b.Run(bm.name+"/cached", func(b *testing.B) {
			b.ReportAllocs()
			var room [4]int
			for b.Loop() {
				plan, err := planner.Plan(sql, "customer", parser.Mode{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := plan.Shards(room[:0], nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bm.name+"/anew", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := planner.PlanAnew(sql, "customer", parser.Mode{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestNumbersAreKept holds that a plan which compares keys by their number is found by its text, until tables may be others.
func TestNumbersAreKept(t *testing.T) {
	planner := newPlanner(t)
	sql := []byte("SELECT id FROM users ORDER BY color")
	byNumber := func() bool {
		plan, err := planner.Plan(sql, "customer", parser.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		return plan.Scatter.Order[0].Number
	}
	if byNumber() {
		t.Fatal("a key is compared by its number before that was asked for")
	}
	if _, err := planner.PlanByNumbers(sql, "customer", parser.Mode{}, []int{0}); err != nil {
		t.Fatal(err)
	}
	if !byNumber() {
		t.Error("the plan by numbers is not kept")
	}
	planner.Forget()
	if byNumber() {
		t.Error("the plan by numbers is kept after Forget")
	}
}

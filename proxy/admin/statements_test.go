package admin

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/proxy/shapes"
)

func TestStatements(t *testing.T) {
	ended := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	h := New(Config{Statements: func() ([]shapes.Count, shapes.Count, []shapes.Slow) {
		table := shapes.New(1)
		table.Find("app", "main", []byte("SELECT ?")).Count(time.Millisecond, false, 7)
		table.Find("app", "main", []byte("DO ?")).Count(3*time.Millisecond, true, 0)
		all, others := table.Snapshot()
		return all, others, []shapes.Slow{{Ended: ended, User: "app", Keyspace: "main", Shards: "-", Took: 1730 * time.Millisecond, Rows: 5, Failed: true, Text: "DO ?"}}
	}})
	var got StatementsReport
	if err := json.Unmarshal(get(t, h, "/statements.json").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := StatementsReport{
		Statements: []StatementReport{{Statement: "SELECT ?", User: "app", Keyspace: "main", Calls: 1, Rows: 7, TotalSeconds: 0.001, P50Seconds: 0.00075, P99Seconds: 0.000995}},
		Others:     &StatementReport{Calls: 1, Errors: 1, TotalSeconds: 0.003, P50Seconds: 0.003, P99Seconds: 0.003},
		Slow:       []SlowReport{{Statement: "DO ?", User: "app", Keyspace: "main", Shards: "-", Ended: ended, Seconds: 1.73, Rows: 5, Failed: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	page := get(t, h, "/statements").Body.String()
	for _, text := range []string{"<code>SELECT ?</code><small>app, main</small>", "All others", "1 ms<small>25 %</small>", "1.73 s", ">yes<"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

// Where nothing is counted, the page says how to change that.
func TestNoStatements(t *testing.T) {
	page := get(t, New(Config{}), "/statements").Body.String()
	if !strings.Contains(page, "statement_shapes: 500") || !strings.Contains(page, "log.slow: 1s") || strings.Contains(page, "<table") {
		t.Error("the page does not say how statements are counted")
	}
	if got := get(t, New(Config{}), "/statements.json").Body.String(); !strings.Contains(got, `"statements": []`) || !strings.Contains(got, `"slow": []`) {
		t.Errorf("got %s", got)
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 ms", 420 * time.Microsecond: "0.42 ms", 999_400 * time.Microsecond: "999 ms", 999_600 * time.Microsecond: "1 s",
		1730 * time.Millisecond: "1.73 s", 99_949 * time.Millisecond: "99.9 s", 4 * time.Hour: "14 400 s (4 h 0 min)"} {
		if got := strings.ReplaceAll(took(d), "\u202f", " "); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

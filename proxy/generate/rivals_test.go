package generate

import (
	"errors"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/sequence/worker"
)

func TestRivals(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"time41-worker10-sequence12-1ms-since-5", "time41-worker8-sequence14-1ms-since-5", true},
		{"time41-worker10-sequence12-1ms-since-5", "time41-sequence12-worker10-1ms-since-5", true},
		{"time41-worker10-sequence12-1ms-since-5", "time41-worker5-sequence12-zone5-1ms-since-5-zone-3", true},
		{"time41-worker10-sequence12-1ms-since-5", "time41-worker10-sequence12-1ms-since-5", false},
		{"time41-worker5-sequence12-zone5-1ms-since-5-zone-1", "time41-worker5-sequence12-zone5-1ms-since-5-zone-3", false},
		{"time41-worker10-sequence12-1ms-since-5", "time41-worker8-sequence14-1ms-since-6", false},
		{"time41-worker10-sequence12-1ms-since-5", "time41-worker8-sequence14-2ms-since-5", false},
		{"time41-worker10-sequence12-1ms-since-5", "time40-worker9-sequence14-1ms-since-5", false},
		{"time41-worker10-sequence12-1ms-since-5", "time41-worker5-sequence7-1ms-since-5", false}, // 53 bits
		{"time41-worker10-sequence12-1ms-since-5", "-1", false},
		{"time41-worker10-sequence12-1ms-since-5", "time-1ms-since-5", false},
	} {
		if Rivals(tt.a, tt.b) != tt.want || Rivals(tt.b, tt.a) != tt.want {
			t.Errorf("%s and %s: want %v", tt.a, tt.b, tt.want)
		}
	}
}

// Layouts of one epoch and unit with other splits are not in one process, nor does a vschema bring the second one.
func TestRivalLayouts(t *testing.T) {
	const wide, narrow = `{"type": "snowflake", "params": {"bits": {"time": 41, "worker": 10, "sequence": 12}, "epoch": "2026-01-01T00:00:00Z"}}`,
		`{"type": "snowflake", "params": {"bits": {"time": 41, "worker": 8, "sequence": 14}, "epoch": "2026-01-01T00:00:00Z"}}`
	s := New(Config{Workers: StaticWorkers(1, "", worker.Config{})})
	defer closeSet(t, s)
	want := func(errs []GeneratorError, texts ...string) {
		t.Helper()
		if len(errs) != 1 {
			t.Fatalf("got %v, want one error", errs)
		}
		for _, text := range texts {
			if !strings.Contains(errs[0].Err.Error(), text) {
				t.Errorf("got %v, want %q", errs[0].Err, text)
			}
		}
	}
	both := load(t, `"a": `+wide+`, "b": `+narrow)
	want(s.Check(both), "the two would give equal ids")
	if err := s.Use(both); err == nil || !strings.Contains(err.Error(), "generator main.b: another generator with the same epoch and unit") {
		t.Errorf("Use: got %v", err)
	}
	want(s.Check(load(t, `"c": `+narrow)), "the two would give equal ids", "until it is started again")
}

// A process with a static worker id does not begin beside one with another layout whose ids may be the same, where the two
// keep what they reserve in one folder, and begins above what that one has reserved.
func TestRivalStatic(t *testing.T) {
	const wide, narrow = `"g": {"type": "snowflake", "params": {"bits": {"time": 41, "worker": 10, "sequence": 12}, "epoch": "2026-01-01T00:00:00Z"}}`,
		`"g": {"type": "snowflake", "params": {"bits": {"time": 41, "worker": 8, "sequence": 14}, "epoch": "2026-01-01T00:00:00Z"}}`
	dir := t.TempDir()
	open := func(generators string, id int64) (*Set, *Snowflake) {
		t.Helper()
		s, v := New(Config{Workers: StaticWorkers(id, dir, worker.Config{})}), load(t, generators)
		f, err := s.Snowflake(generator(t, v, "g"))
		if err != nil {
			t.Fatal(err)
		}
		return s, f
	}
	first, f := open(wide, 5)
	run, err := f.Next(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	second, _ := open(narrow, 1)
	if err := second.Ready(t.Context()); !errors.Is(err, worker.ErrNoWorkerID) || !strings.Contains(err.Error(), "worker5.json, a layout with which it gives ids that may be the same") {
		t.Errorf("beside a layout with the same ids: got %v", err)
	}
	closeSet(t, second)
	closeSet(t, first)
	third, f := open(narrow, 1)
	defer closeSet(t, third)
	next, err := f.Next(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if next.First>>22 <= run.First>>22 {
		t.Errorf("the former layout gave id %d, then this one %d: not of a later millisecond", run.First, next.First)
	}
}

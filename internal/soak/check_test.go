package soak

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// at is a span in seconds.
func at(begin, end int) Span {
	return Span{time.Duration(begin) * time.Second, time.Duration(end) * time.Second}
}

// sound is a history without a fault in it: of two processes, with a rollback, a lost answer and a timeout.
func sound() *History {
	insert := Call{Sequence: "a", Statement: "insert"}
	call := func(client, number int, process string, s Span, n, first int64, rows Fate) Call {
		c := insert
		c.Client, c.Number, c.Process, c.Span, c.N, c.First, c.Rows = client, number, process, s, n, first, rows
		return c
	}
	failed := func(c Call, o Outcome) Call {
		c.Outcome, c.Error = o, "its text"
		return c
	}
	return &History{
		Calls: []Call{
			call(1, 1, "1.1", at(0, 1), 1, 1, Kept),
			call(1, 2, "1.1", at(2, 3), 2, 2, Kept),
			call(1, 3, "1.1", at(4, 5), 1, 4, Undone), // rolled back, or NEXT VALUE
			call(2, 1, "2.1", at(0, 1), 1, 11, Kept),
			call(2, 2, "2.1", at(2, 3), 1, 12, Unknown), // COMMIT was not answered
			failed(call(2, 3, "2.1", at(4, 5), 1, 0, Unknown), Lost),
			failed(call(2, 4, "2.1", at(6, 7), 3, 0, Unknown), Refused),
			call(3, 1, "1.1", at(0, 9), 1, 5, Kept), // beside all others
		},
		Rows: []Row{
			{"a", 1, 1, 1, 0}, {"a", 2, 1, 2, 0}, {"a", 3, 1, 2, 1}, {"a", 11, 2, 1, 0}, {"a", 5, 3, 1, 0},
			{"a", 13, 2, 3, 0}, // the answer was lost, not the row
		},
		Faults:    []Fault{{Span: at(5, 6), What: "kill", Lost: 6}},
		Sequences: map[string]Sequence{"a": {Begin: 1, End: 21}},
		Calm:      at(20, 30),
	}
}

func TestSoundHistory(t *testing.T) {
	for _, v := range sound().Check() {
		t.Error(v)
	}
}

// What a client sent before it lost its connection may be done after what others sent later.
func TestLostCallEndsLater(t *testing.T) {
	h := sound()
	h.Calls[4].Span = at(6, 7) // got an id below that of 2.3, which was lost before
	for _, v := range h.Check() {
		t.Error(v)
	}
}

// Each broken promise is found, and by its own rule alone.
func TestCheck(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(h *History)
		rule  string
		calls []string // of the violation
	}{
		{"id acknowledged twice", func(h *History) { h.Calls[2].First = 12 }, "unique", []string{"1.3", "2.2"}},
		{"blocks overlap", func(h *History) { h.Calls[2].N, h.Calls[2].First = 2, 10 }, "unique", []string{"1.3", "2.1"}},
		{"id acknowledged, and in the row of a call that failed", func(h *History) { h.Calls[4].First = 13 }, "unique", []string{"2.2", "2.3"}},
		{"ids of one process go backwards", func(h *History) { h.Calls[7].Span = at(2, 3) }, "increasing", []string{"3.1", "1.3"}},
		{"ids of an ordered sequence go backwards", func(h *History) {
			h.Sequences["a"] = Sequence{Begin: 1, End: 21, Ordered: true}
			h.Calls[1].Span = at(0, 1)
			h.Calls[3].Span, h.Calls[4].Span = at(0, 3), at(0, 3) // call 1.3 begins after them
		}, "increasing", []string{"2.2", "1.3"}},
		{"acknowledged row missing", func(h *History) { h.Rows = h.Rows[1:] }, "rows", []string{"1.1"}},
		{"half a statement missing", func(h *History) { h.Rows = slices.Delete(h.Rows, 2, 3) }, "rows", []string{"1.2"}},
		{"row with another id", func(h *History) { h.Rows[3].ID = 14 }, "rows", []string{"2.1"}},
		{"row in another table", func(h *History) { h.Rows[3].Sequence = "b" }, "rows", []string{"2.1"}},
		{"row twice", func(h *History) { h.Rows[2].Pos, h.Rows[2].ID = 0, 2 }, "rows", []string{"1.2"}},
		{"rows out of order", func(h *History) { h.Rows[1].Pos, h.Rows[2].Pos = 1, 0 }, "rows", []string{"1.2"}},
		{"rolled back row there", func(h *History) { h.Rows = append(h.Rows, Row{"a", 4, 1, 3, 0}) }, "rows", []string{"1.3"}},
		{"half an unanswered statement there", func(h *History) { h.Rows = append(h.Rows, Row{"a", 14, 2, 4, 0}) }, "rows", []string{"2.4"}},
		{"row of no call", func(h *History) { h.Rows = append(h.Rows, Row{"a", 15, 9, 9, 0}) }, "rows", nil},
		{"row behind an id", func(h *History) { h.Sequences["a"] = Sequence{Begin: 1, End: 13} }, "ahead", []string{"2.3"}},
		{"too many ids lost", func(h *History) { h.Sequences["a"] = Sequence{Begin: 1, End: 31} }, "gaps", nil},
		{"another sequence's fault", func(h *History) { h.Faults[0].Sequence = "b"; h.Sequences["a"] = Sequence{Begin: 1, End: 28} }, "gaps", nil},
		{"call hangs", func(h *History) { h.Calls[6].Outcome = Hung }, "an answer", []string{"2.4"}},
		{"unexpected error", func(h *History) { h.Calls[6].Outcome = Unexpected }, "an answer", []string{"2.4"}},
		{"error without a fault", func(h *History) {
			h.Calls[6].Opened, h.Calls[6].Span = 21*time.Second, at(22, 23)
		}, "an answer", []string{"2.4"}},
		{"insert id 0", func(h *History) { h.Calls[2].First = 0 }, "an answer", []string{"1.3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := sound()
			tt.spoil(h)
			vs := h.Check()
			if len(vs) != 1 {
				t.Fatalf("got %d violations, want one: %v", len(vs), vs)
			}
			if vs[0].Rule != tt.rule {
				t.Errorf("got %v, want the rule %q", vs[0], tt.rule)
			}
			var names []string
			for _, c := range vs[0].Calls {
				names = append(names, strings.Fields(c.String())[1])
			}
			if diff := cmp.Diff(tt.calls, names); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

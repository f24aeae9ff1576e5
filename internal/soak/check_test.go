package soak

import (
	"fmt"
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

func row(sequence string, id int64, client, number int, pos int64) Row {
	return Row{Sequence: sequence, ID: id, Client: client, Number: number, Pos: pos}
}

// sound is a history with nothing wrong: of two processes, with a rollback, a lost answer and a timeout; then, of sequence b, a
// transaction whose COMMIT was lost, and a statement over several shards that was committed in part.
func sound() *History {
	call := func(sequence string, client, number int, process string, s Span, n, first int64, rows Fate) Call {
		return Call{Client: client, Number: number, Process: process, Opened: s.Begin, Span: s, Sequence: sequence, Statement: "insert",
			N: n, First: first, Rows: rows}
	}
	failed := func(c Call, o Outcome) Call {
		c.Outcome, c.Error = o, "Error 1205 (HY000): its text"
		return c
	}
	inTx := func(c Call) Call {
		c.Tx = 1
		return c
	}
	inParts := func(c Call) Call {
		c.Parts = true
		return c
	}
	h := &History{
		Calls: []Call{
			call("a", 1, 1, "1.1", at(0, 1), 1, 1, Kept),
			call("a", 1, 2, "1.1", at(2, 3), 2, 2, Kept),
			call("a", 1, 3, "1.1", at(4, 5), 1, 4, Undone), // rolled back, or NEXT VALUE
			call("a", 2, 1, "2.1", at(0, 1), 1, 11, Kept),
			call("a", 2, 2, "2.1", at(2, 3), 1, 12, Unknown), // COMMIT was not answered
			failed(call("a", 2, 3, "2.1", at(4, 5), 1, 0, Unknown), Lost),
			failed(call("a", 2, 4, "2.1", at(6, 7), 3, 0, Unknown), Refused),
			call("a", 3, 1, "1.1", at(0, 9), 1, 5, Kept), // beside all others
			inTx(call("b", 4, 1, "1.1", at(2, 3), 1, 3, Unknown)),
			inTx(call("b", 4, 2, "1.1", at(4, 5), 1, 4, Unknown)),
			failed(Call{Client: 4, Number: 3, Process: "1.1", Span: at(5, 6), Statement: "COMMIT"}, Lost),
			failed(inParts(call("b", 5, 1, "1.1", at(6, 7), 2, 0, Unknown)), Lost),
		},
		Rows: []Row{
			row("a", 1, 1, 1, 0), row("a", 2, 1, 2, 0), row("a", 3, 1, 2, 1), row("a", 11, 2, 1, 0), row("a", 5, 3, 1, 0),
			row("a", 13, 2, 3, 0), // the answer was lost, not the row
			row("b", 3, 4, 1, 0), row("b", 4, 4, 2, 0), row("b", 6, 5, 1, 1),
		},
		Faults: []Fault{
			{Span: at(5, 6), What: "kill", Gate: 2, Lost: 6, Causes: Causes{Lost: true, Linger: []uint16{1205}}},
			{Span: at(5, 6), What: "lock", Gate: 1, Causes: Causes{Lost: true, During: []uint16{1290}, Linger: []uint16{1205}}},
		},
		Sequences: map[string]Sequence{"a": {Begin: 1, End: 21}, "b": {Begin: 1, End: 8}},
		Gates: []Gate{
			{Process: "1.1", Before: Resources{20, 50 << 20}, After: Resources{22, 60 << 20}},
			{Process: "2.1", Before: Resources{20, 50 << 20}, After: Resources{22, 50<<20 + MostRaceMemory}, Race: true},
		},
		Calm:    at(100, 110),
		Bounded: true,
	}
	for i := range h.Rows {
		h.Rows[i].Shard, h.Rows[i].Want = 1, 1
	}
	return h
}

// refuse has the last call of the sound history begin at a second, and refused with an error.
func refuse(number, begin int) func(h *History) {
	return func(h *History) {
		c := &h.Calls[11]
		c.Outcome, c.Error, c.Span = Refused, fmt.Sprintf("Error %d (HY000): so it is", number), at(begin, begin+1)
	}
}

func TestSoundHistory(t *testing.T) {
	for name, change := range map[string]func(h *History){
		"as it is":                          func(*History) {},
		"an error during its fault":         refuse(1290, 6),
		"an error that lingers":             refuse(1205, 20),
		"what was lost is done after later": func(h *History) { h.Calls[4].Span = at(6, 7) }, // got an id below that of 2.3
	} {
		t.Run(name, func(t *testing.T) {
			h := sound()
			change(h)
			for _, v := range h.Check() {
				t.Error(v)
			}
		})
	}
}

// Each broken promise is found, and by its own rule alone.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(h *History)
		rule  string
		calls string // of the violation
	}{
		{"id acknowledged twice", func(h *History) { h.Calls[2].First = 12 }, "unique", "1.3 2.2"},
		{"blocks overlap", func(h *History) { h.Calls[2].N, h.Calls[2].First = 2, 10 }, "unique", "1.3 2.1"},
		{"id acknowledged, and in the row of a call that failed", func(h *History) { h.Calls[4].First = 13 }, "unique", "2.2 2.3"},
		{"id of a generator twice", func(h *History) {
			g := Call{Client: 6, Number: 1, Sequence: "flakes", N: 1, First: 7}
			again := g
			again.Number = 2
			h.Calls = append(h.Calls, g, again)
		}, "unique", "6.1 6.2"},
		{"ids of one process go backwards", func(h *History) { h.Calls[7].Span = at(2, 3) }, "increasing", "3.1 1.3"},
		{"ids of an ordered sequence go backwards", func(h *History) {
			h.Sequences["a"] = Sequence{Begin: 1, End: 21, Ordered: true}
			h.Calls[1].Span = at(0, 1)
			h.Calls[3].Span, h.Calls[4].Span = at(0, 3), at(0, 3) // call 1.3 begins after them
		}, "increasing", "2.2 1.3"},
		{"acknowledged row missing", func(h *History) { h.Rows = h.Rows[1:] }, "rows", "1.1"},
		{"half a statement missing", func(h *History) { h.Rows = slices.Delete(h.Rows, 2, 3) }, "rows", "1.2"},
		{"row with another id", func(h *History) { h.Rows[3].ID = 14 }, "rows", "2.1"},
		{"row in another table", func(h *History) { h.Rows[3].Sequence = "b" }, "rows", "2.1"},
		{"row twice", func(h *History) { h.Rows[2].Pos, h.Rows[2].ID = 0, 2 }, "rows", "1.2"},
		{"rows out of order", func(h *History) { h.Rows[1].Pos, h.Rows[2].Pos = 1, 0 }, "rows", "1.2"},
		{"rolled back row there", func(h *History) { h.Rows = append(h.Rows, row("a", 4, 1, 3, 0)) }, "rows", "1.3"},
		{"half an unanswered statement there", func(h *History) { h.Rows = append(h.Rows, row("a", 14, 2, 4, 0)) }, "rows", "2.4"},
		{"half of a statement in two phases", func(h *History) { h.Calls[11].Parts = false }, "rows", "5.1"},
		{"row of no call", func(h *History) { h.Rows = append(h.Rows, row("a", 15, 9, 9, 0)) }, "rows", ""},
		{"row in another shard", func(h *History) { h.Rows[0].Shard = 0 }, "placed", ""},
		{"half of a transaction", func(h *History) { h.Rows = slices.Delete(h.Rows, 7, 8) }, "atomic", "4.1 4.2"},
		{"row behind an id", func(h *History) { h.Sequences["a"] = Sequence{Begin: 1, End: 13} }, "ahead", "2.3"},
		{"too many ids lost", func(h *History) { h.Sequences["a"] = Sequence{Begin: 1, End: 31} }, "gaps", ""},
		{"another sequence's fault", func(h *History) { h.Faults[0].Sequence = "b"; h.Sequences["a"] = Sequence{Begin: 1, End: 28} }, "gaps", ""},
		{"call hangs", func(h *History) { h.Calls[6].Outcome = Hung }, "an answer", "2.4"},
		{"unexpected error", func(h *History) { h.Calls[6].Outcome = Unexpected }, "an answer", "2.4"},
		{"error in the calm", func(h *History) {
			h.Calls[6].Opened, h.Calls[6].Span, h.Faults[0].End = 101*time.Second, at(102, 103), 104*time.Second
		}, "an answer", "2.4"},
		{"insert id 0", func(h *History) { h.Calls[2].First = 0 }, "an answer", "1.3"},
		{"error of another gate's fault", func(h *History) { h.Calls[11].Process = "3.1" }, "explained", "5.1"},
		{"error long after the fault", func(h *History) { h.Calls[11].Opened, h.Calls[11].Span = 40*time.Second, at(41, 42) }, "explained", "5.1"},
		{"error of another kind of fault", refuse(1114, 5), "explained", "5.1"},
		{"error that outlives its cause", refuse(1290, 7), "explained", "5.1"},
		{"loss without a cause", func(h *History) { h.Faults[0].Causes.Lost = false }, "explained", "2.3"},
		{"connection without a process", func(h *History) { h.Calls[11].Process = "" }, "explained", "5.1"},
		{"goroutines left", func(h *History) { h.Gates[0].After.Goroutines = 20 + MostGoroutines + 1 }, "resources", ""},
		{"memory grown", func(h *History) { h.Gates[0].After.Memory = 50<<20 + MostMemory + 1 }, "resources", ""},
	} {
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
			if diff := cmp.Diff(tt.calls, strings.Join(names, " ")); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

package chaos

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seqgate/seqgate/internal/soak"
)

func at(begin, end int) soak.Span {
	return soak.Span{Begin: time.Duration(begin) * time.Second, End: time.Duration(end) * time.Second}
}

// sound is a history with nothing wrong: two statements, a transaction whose COMMIT was lost, and one over several shards that
// was committed in part.
func sound() *History {
	insert := func(client, number, tx int, s soak.Span, n, first int64, rows soak.Fate) soak.Call {
		return soak.Call{Client: client, Number: number, Tx: tx, Process: "1.1", Opened: s.Begin, Span: s, Sequence: "user",
			Statement: "insert", N: n, First: first, Rows: rows}
	}
	parts := insert(3, 1, 0, at(6, 7), 2, 0, soak.Unknown)
	parts.Parts, parts.Outcome = true, soak.Lost
	h := &History{
		History: soak.History{
			Calls: []soak.Call{
				insert(1, 1, 0, at(0, 1), 2, 1, soak.Kept),
				insert(2, 1, 1, at(2, 3), 1, 3, soak.Unknown),
				insert(2, 2, 1, at(4, 5), 1, 4, soak.Unknown),
				{Client: 2, Number: 3, Process: "1.1", Opened: 2 * time.Second, Span: at(5, 6), Statement: "COMMIT", Outcome: soak.Lost},
				parts,
			},
			Rows: []soak.Row{
				{Sequence: "user", ID: 1, Client: 1, Number: 1, Pos: 0}, {Sequence: "user", ID: 2, Client: 1, Number: 1, Pos: 1},
				{Sequence: "user", ID: 3, Client: 2, Number: 1}, {Sequence: "user", ID: 4, Client: 2, Number: 2},
				{Sequence: "user", ID: 6, Client: 3, Number: 1, Pos: 1},
			},
			Sequences: map[string]soak.Sequence{"user": {Begin: 1, End: 8}},
			Calm:      at(100, 110),
		},
		Faults: []Fault{{soak.Fault{Span: at(5, 6), What: "kill"}, 1, Causes{Lost: true, During: []uint16{1290}, Linger: []uint16{1205}}}},
		Gates: []Usage{
			{Process: "1.1", Before: Resources{20, 50 << 20}, After: Resources{22, 60 << 20}},
			{Process: "2.1", Before: Resources{20, 50 << 20}, After: Resources{22, 50<<20 + MostRaceMemory}, Race: true},
		},
	}
	for _, r := range h.Rows {
		h.Placed = append(h.Placed, Placed{Row: r, Shard: 1, Want: 1})
	}
	return h
}

// refuse has the last call of the sound history begin at a second, and refused with an error.
func refuse(number, begin int) func(h *History) {
	return func(h *History) {
		c := &h.Calls[4]
		c.Outcome, c.Error, c.Span = soak.Refused, fmt.Sprintf("Error %d (HY000): so it is", number), at(begin, begin+1)
	}
}

// Errors that a fault causes are explained by it.
func TestExplained(t *testing.T) {
	for name, spoil := range map[string]func(h *History){"during": refuse(1290, 6), "after": refuse(1205, 20)} {
		t.Run(name, func(t *testing.T) {
			h := sound()
			spoil(h)
			for _, v := range h.Check() {
				t.Error(v)
			}
		})
	}
}

func TestSoundHistory(t *testing.T) {
	for _, v := range sound().Check() {
		t.Error(v)
	}
}

// Each broken promise is found, and by its own rule alone.
func TestCheck(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(h *History)
		rule  string
	}{
		{"row in another shard", func(h *History) { h.Placed[0].Shard = 0 }, "placed"},
		{"half of a transaction", func(h *History) { h.Rows = slices.Delete(h.Rows, 3, 4) }, "atomic"},
		{"half of a statement in two phases", func(h *History) { h.Calls[4].Parts = false }, "rows"},
		{"acknowledged row missing", func(h *History) { h.Rows = h.Rows[1:] }, "rows"},
		{"acknowledged row twice", func(h *History) { h.Rows = append(h.Rows, h.Rows[0]) }, "rows"},
		{"rolled back row there", func(h *History) { h.Calls[2].Rows = soak.Undone }, "rows"},
		{"id given twice", func(h *History) {
			h.Calls[3].Sequence, h.Calls[3].N, h.Calls[3].First, h.Calls[3].Process = "user", 1, 2, "1.2"
		}, "unique"},
		{"sequence behind its ids", func(h *History) { h.Sequences["user"] = soak.Sequence{Begin: 1, End: 6} }, "ahead"},
		{"error of another gate's fault", func(h *History) { h.Calls[4].Process = "2.1" }, "explained"},
		{"error long after the fault", func(h *History) { h.Calls[4].Opened, h.Calls[4].Span = 40*time.Second, at(41, 42) }, "explained"},
		{"error of another kind of fault", refuse(1114, 5), "explained"},
		{"error that outlives its cause", refuse(1290, 7), "explained"},
		{"loss without a cause", func(h *History) { h.Faults[0].Causes.Lost = false; h.Calls = h.Calls[4:]; h.Rows = h.Rows[4:] }, "explained"},
		{"connection without a process", func(h *History) { h.Calls[4].Process = "" }, "explained"},
		{"unexpected error", func(h *History) { h.Calls[4].Outcome = soak.Unexpected }, "an answer"},
		{"call hangs", func(h *History) { h.Calls[4].Outcome = soak.Hung }, "an answer"},
		{"error in the calm", func(h *History) {
			h.Calls[4].Opened, h.Calls[4].Span, h.Faults[0].End = 101*time.Second, at(102, 103), 104*time.Second
		}, "an answer"},
		{"goroutines left", func(h *History) { h.Gates[0].After.Goroutines = 20 + MostGoroutines + 1 }, "resources"},
		{"memory grown", func(h *History) { h.Gates[0].After.Memory = 50<<20 + MostMemory + 1 }, "resources"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := sound()
			tt.spoil(h)
			vs := h.Check()
			if len(vs) != 1 || vs[0].Rule != tt.rule {
				t.Errorf("got %v, want one violation of %q", vs, tt.rule)
			}
		})
	}
}

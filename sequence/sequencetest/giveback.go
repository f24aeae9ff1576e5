package sequencetest

import (
	"math"
	"strings"
	"testing"

	"github.com/seqgate/seqgate/sequence"
)

// testRelease checks that a tail goes back only when nobody reserved after it.
func testRelease(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	releaser, ok := store.(sequence.Releaser)
	if !ok {
		t.Skip("the store takes nothing back")
	}
	req := h.create(t, "s", 1, 10)
	req.Need = 1
	first, second := reserve(t, store, req), reserve(t, store, req)
	for _, tt := range []struct {
		unused sequence.Range
		given  bool
		next   int64
	}{
		{sequence.Range{First: 4, N: 7}, false, 21},
		{sequence.Range{First: 15, N: 6}, true, 15},
		{sequence.Range{First: 15, N: 6}, false, 15},
		{first.Range, false, 15},
	} {
		given, err := releaser.Release(t.Context(), req, tt.unused)
		if err != nil || given != tt.given {
			t.Errorf("release %v: got %v, %v, want %v", tt.unused, given, err, tt.given)
		}
		h.wantRow(t, "s", Row{tt.next, 10})
	}
	if got := reserve(t, store, req); got.First != 15 {
		t.Errorf("got %v after %v of %v went back", got, 6, second)
	}
}

// testRaise checks that a row is brought above an id and never lowered.
func testRaise(t *testing.T, h Harness) {
	const last = math.MaxInt64
	store := h.Open(t, h.Addr)
	raiser, ok := store.(sequence.Raiser)
	if !ok {
		t.Skip("the store raises nothing")
	}
	req := h.create(t, "s", 100, 10)
	h.exec(t, "INSERT INTO s VALUES (1, 7, 10)")
	for _, tt := range []struct {
		after int64
		want  Row
	}{
		{0, Row{100, 10}}, {98, Row{100, 10}}, {99, Row{100, 10}}, {100, Row{101, 10}}, {5000, Row{5001, 10}}, {5000, Row{5001, 10}},
		{4000, Row{5001, 10}}, {last - 1, Row{last, 10}}, {last - 1, Row{last, 10}}, {last, Row{last, 0}}, {last, Row{last, 0}},
		{last - 1, Row{last, 0}}, {1, Row{last, 0}},
	} {
		for _, req.Cache = range []int64{0, 10} {
			req.After = tt.after
			before := h.row(t, "s")
			raised, err := raiser.Raise(t.Context(), req)
			if err != nil || raised != (before != tt.want) {
				t.Errorf("raise above %d: got raised %v, %v, want the row %v made %v", tt.after, raised, err, before, tt.want)
			}
			h.wantRow(t, "s", tt.want)
		}
	}
	req.Need, req.After, req.Cache = 1, 0, 0
	_, err := store.Reserve(t.Context(), req)
	wantError(t, err, sequence.ErrExhausted)

	req.Row = 1
	if got := reserve(t, store, req); got.First != 7 {
		t.Errorf("the other row: got %v, want it left alone at 7", got)
	}

	for _, edit := range []string{"0", "-5", "-9223372036854775808"} {
		h.exec(t, "UPDATE s SET next_id = "+edit+", cache = 10 WHERE id = 0")
		req.Row, req.After = 0, 20
		if _, err := raiser.Raise(t.Context(), req); err != nil {
			t.Errorf("raise a row at %s: %v", edit, err)
		}
		h.wantRow(t, "s", Row{21, 10})
	}
}

// testRaiseRefusals checks that a row which cannot be raised is not passed over in silence.
func testRaiseRefusals(t *testing.T, h Harness) {
	raiser, ok := h.Open(t, h.Addr).(sequence.Raiser)
	if !ok {
		t.Skip("the store raises nothing")
	}
	for _, tt := range []struct {
		name, edit string
		kind       error
		text       string
	}{
		{"null", "UPDATE s SET next_id = NULL", sequence.ErrBadRow, "unusable next_id: NULL"},
		{"row", "DELETE FROM s", sequence.ErrNoRow, "VALUES (0, 5001, 1000)"},
		{"rows", "ALTER TABLE s DROP PRIMARY KEY; INSERT INTO s VALUES (0, 7, 10)", sequence.ErrBadRow, "several rows"},
		{"comment", "ALTER TABLE s COMMENT ''", sequence.ErrNotSequence, "comment"},
		{"column", "ALTER TABLE s DROP next_id", sequence.ErrNotSequence, "lacks the columns"},
		{"narrow", "ALTER TABLE s MODIFY next_id TINYINT", sequence.ErrBadRow, "MODIFY next_id BIGINT"},
		{"table", "DROP TABLE s", sequence.ErrNoTable, "VALUES (0, 5001, 1000)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h.exec(t, "DROP TABLE IF EXISTS s")
			req := h.create(t, "s", 1, 10)
			h.exec(t, strings.Split(tt.edit, "; ")...)
			req.After = 5000
			_, err := raiser.Raise(t.Context(), req)
			wantError(t, err, tt.kind, tt.text)
		})
	}
}

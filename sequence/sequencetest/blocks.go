package sequencetest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/sequence"
)

// testBlocks checks single reservations: the rule of Vitess, each by a new process and by one that knows the row.
func testBlocks(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	for _, tt := range []struct {
		name string
		row  Row
		req  sequence.Request
		want sequence.Reservation
	}{
		{"first", Row{1, 1000}, sequence.Request{Need: 1},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 1000}}},
		{"larger than the cache", Row{1, 10}, sequence.Request{Need: 25},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 30}}},
		{"step", Row{1, 10}, sequence.Request{Need: 1, Step: 95},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 100}}},
		{"tail where the row adjoins", Row{11, 10}, sequence.Request{Need: 25, Tail: 5, After: 10},
			sequence.Reservation{Range: sequence.Range{First: 11, N: 20}}},
		{"tail where it does not", Row{1000, 10}, sequence.Request{Need: 25, Tail: 5, After: 10},
			sequence.Reservation{Range: sequence.Range{First: 1000, N: 30}}},
		{"set back", Row{5, 10}, sequence.Request{Need: 25, Tail: 5, After: 60},
			sequence.Reservation{Range: sequence.Range{First: 61, N: 30}, Raised: true}},
		{"next_id 0", Row{0, 10}, sequence.Request{Need: 1},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 10}}},
		{"negative next_id", Row{-5, 10}, sequence.Request{Need: 1},
			sequence.Reservation{Range: sequence.Range{First: 1, N: 10}}},
		{"most negative next_id", Row{math.MinInt64, 10}, sequence.Request{Need: 1, After: 60},
			sequence.Reservation{Range: sequence.Range{First: 61, N: 10}, Raised: true}},
		{"a billion at cache 1", Row{1, 1}, sequence.Request{Need: sequence.MaxN},
			sequence.Reservation{Range: sequence.Range{First: 1, N: sequence.MaxN}}},
		{"large next_id", Row{math.MaxInt64 - 1000, 10}, sequence.Request{Need: 25},
			sequence.Reservation{Range: sequence.Range{First: math.MaxInt64 - 1000, N: 30}}},
		{"up to the last but one", Row{math.MaxInt64 - 10, 10}, sequence.Request{Need: 1},
			sequence.Reservation{Range: sequence.Range{First: math.MaxInt64 - 10, N: 10}}},
	} {
		for name, known := range map[string]int64{"new": 0, "known": tt.row.Cache, "changed": tt.row.Cache + 7} {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				table := strings.ReplaceAll(t.Name(), "/", "_")
				table = table[max(0, len(table)-60):]
				req := h.create(t, table, tt.row.NextID, tt.row.Cache)
				req.Need, req.Tail, req.Step, req.After, req.Cache = tt.req.Need, tt.req.Tail, tt.req.Step, tt.req.After, known
				got := reserve(t, store, req)
				want := tt.want
				want.Cache, want.Found, want.Server = tt.row.Cache, tt.row.NextID, got.Server
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("reservation (-want +got):\n%s", diff)
				}
				h.wantRow(t, table, Row{want.First + want.N, tt.row.Cache})
			})
		}
	}
}

// testExact checks blocks that hold just the ids asked for, whatever the cache.
func testExact(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	req := h.create(t, "s", 1, 10)
	req.Exact = true
	for _, want := range []sequence.Range{{First: 1, N: 1}, {First: 2, N: 25}, {First: 27, N: 10}} {
		req.Need, req.Step, req.Tail = want.N, 100, 5
		res := reserve(t, store, req)
		if res.Range != want {
			t.Errorf("got %v, want %v", res.Range, want)
		}
		req.After, req.Cache = res.Last(), res.Cache
	}
	h.wantRow(t, "s", Row{37, 10})

	req.Need, req.Max = 4, 40
	if got, want := reserve(t, store, req).Range, (sequence.Range{First: 37, N: 4}); got != want {
		t.Errorf("up to the end: got %v, want %v", got, want)
	}
	_, err := store.Reserve(t.Context(), req)
	wantError(t, err, sequence.ErrExhausted)
}

// testRows checks that a request moves the row that it names and no other.
func testRows(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	req := h.create(t, "s", 1, 10)
	h.exec(t, "INSERT INTO s VALUES (1, 5000, 10), (-7, 70, 10)")
	req.Need = 1
	for _, tt := range []struct {
		row  int64
		want sequence.Range
	}{
		{0, sequence.Range{First: 1, N: 10}}, {1, sequence.Range{First: 5000, N: 10}}, {-7, sequence.Range{First: 70, N: 10}},
	} {
		req.Row, req.After, req.Cache = tt.row, 0, 0
		for range 3 {
			res := reserve(t, store, req)
			if res.Range != tt.want {
				t.Errorf("row %d: got %v, want %v", tt.row, res.Range, tt.want)
			}
			tt.want.First += tt.want.N
			req.After, req.Cache = res.Last(), res.Cache
		}
	}
	h.wantRow(t, "s", Row{31, 10})
	req.Row = 2
	_, err := store.Reserve(t.Context(), req)
	wantError(t, err, sequence.ErrNoRow, "no row with id 2", "VALUES (2, ")
}

// testNames checks names that need quoting.
func testNames(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	for _, table := range []string{"order", "with space", "back`tick", "quo'te\"s", "größe_seq", "a.b", "semi;colon"} {
		t.Run(table, func(t *testing.T) {
			req := h.create(t, table, 1, 10)
			req.Need = 1
			for _, req.Cache = range []int64{0, 10} {
				reserve(t, store, req)
			}
			h.wantRow(t, table, Row{21, 10})
		})
	}
}

// testSizes checks blocks of all sizes by one process: nothing is lost on the way, nothing twice.
func testSizes(t *testing.T, h Harness) {
	h.create(t, "s", 1, 10)
	reg := h.registry(t, h.Addr, sequence.Config{Timeout: 30 * time.Second})
	seq := h.sequence(t, reg, "s")
	var ids IDs
	began := time.Now()
	for n := range int64(200) {
		for _, n := range []int64{1, n + 1, 3} {
			if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), n) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	ids.NoDuplicates(t)
	ids.Increasing(t)
	if failures := seq.Status().Failures; failures > 0 && time.Since(began) > shortestLimit {
		t.Logf("%d attempts failed, as on a busy machine, and may have cost their blocks", failures)
		return
	}
	if got := ids.Unused(); got != 0 {
		t.Errorf("got %d ids left out, want 0", got)
	}
	if err := reg.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.wantRow(t, "s", Row{ids.Count() + 1, 10})
}

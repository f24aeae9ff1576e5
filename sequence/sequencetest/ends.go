package sequencetest

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/seqgate/seqgate/sequence"
)

// testEnd checks the last ids there are: all are given, and then none.
func testEnd(t *testing.T, h Harness) {
	const last = math.MaxInt64
	h.create(t, "s", last-7, 1000)
	reg := h.registry(t, h.Addr, sequence.Config{})
	seq := h.sequence(t, reg, "s")
	var ids IDs
	for range 8 {
		if err := ids.Take(func() (sequence.Range, error) { return seq.Next(t.Context(), 1) }); err != nil {
			t.Fatal(err)
		}
	}
	ids.NoDuplicates(t)
	if got := ids.sorted()[7].First; got != last {
		t.Errorf("got the last id %d, want %d", got, last)
	}
	for _, process := range []*sequence.Sequence{seq, h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "s")} {
		for range 2 {
			_, err := process.Next(t.Context(), 1)
			wantError(t, err, sequence.ErrExhausted, "sequence main.s ", "9223372036854775807")
		}
	}

	req := h.create(t, "few_left", last-7, 3)
	store := h.Open(t, h.Addr)
	req.Need, req.Cache = 9, 3
	_, err := store.Reserve(t.Context(), req)
	wantError(t, err, sequence.ErrExhausted)
	h.wantRow(t, "few_left", Row{last - 7, 3})
	req.Need = 1
	for _, want := range []sequence.Range{{First: last - 7, N: 3}, {First: last - 4, N: 3}, {First: last - 1, N: 2}} {
		if got := reserve(t, store, req); got.Range != want {
			t.Errorf("got %v, want %v", got.Range, want)
		}
	}

	// Two processes at the very last id: one of them gets it.
	h.create(t, "last", last, 10)
	var won IDs
	var all sync.WaitGroup
	for range 4 {
		other := h.sequence(t, h.registry(t, h.Addr, sequence.Config{}), "last")
		all.Go(func() {
			if err := won.Take(func() (sequence.Range, error) { return other.Next(t.Context(), 1) }); err != nil {
				wantError(t, err, sequence.ErrExhausted)
			}
		})
	}
	all.Wait()
	if won.Count() != 1 {
		t.Errorf("got the last id %d times, want once", won.Count())
	}

	// An end that comes earlier leaves the row where others may go on.
	req = h.create(t, "own_end", 120, 10)
	req.Need, req.Max, req.Cache = 1, 127, 10
	if got, want := reserve(t, store, req).Range, (sequence.Range{First: 120, N: 8}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	h.wantRow(t, "own_end", Row{128, 10})
	_, err = store.Reserve(t.Context(), req)
	wantError(t, err, sequence.ErrExhausted, "127")
}

// testColumnEnds checks the largest id of each integer type as the last one allowed: all ids up to it are given, no
// larger one, and the row stays fit for the day the column is widened.
func testColumnEnds(t *testing.T, h Harness) {
	store := h.Open(t, h.Addr)
	for name, last := range map[string]int64{
		"tinyint": math.MaxInt8, "tinyint_unsigned": math.MaxUint8, "smallint": math.MaxInt16, "smallint_unsigned": math.MaxUint16,
		"mediumint": 1<<23 - 1, "mediumint_unsigned": 1<<24 - 1, "int": math.MaxInt32, "int_unsigned": math.MaxUint32,
		"float": 1 << 24, "double": 1 << 53, "bigint_but_one": math.MaxInt64 - 1,
	} {
		t.Run(name, func(t *testing.T) {
			req := h.create(t, name, last-12, 10)
			req.Need, req.Max = 1, last
			for _, want := range []sequence.Range{{First: last - 12, N: 10}, {First: last - 2, N: 3}} {
				res := reserve(t, store, req)
				if res.Range != want {
					t.Errorf("got %v, want %v", res.Range, want)
				}
				req.After, req.Cache = res.Last(), res.Cache
			}
			for _, req.Cache = range []int64{0, 10} {
				for _, req.After = range []int64{0, last} {
					_, err := store.Reserve(t.Context(), req)
					wantError(t, err, sequence.ErrExhausted, fmt.Sprintf("left up to the last id %d: 0", last))
				}
			}
			h.wantRow(t, name, Row{last + 1, 10})
			if last < math.MaxInt64-1 {
				req.After, req.Max = last, 0
				if got, want := reserve(t, store, req).Range, (sequence.Range{First: last + 1, N: 10}); got != want {
					t.Errorf("with a wider column: got %v, want %v", got, want)
				}
			}
		})
	}
}

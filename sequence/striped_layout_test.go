package sequence

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStripeLayout(t *testing.T) {
	l := StripeLayout{Stripes: 3, Chunk: 4}
	for _, tt := range []struct {
		stripe    int
		count, id int64
	}{
		{1, 1, 1}, {1, 3, 3}, {2, 1, 5}, {2, 3, 7}, {3, 1, 9}, {3, 3, 11}, // the first chunks, without the counts 0
		{1, 4, 12}, {1, 7, 15}, {2, 4, 16}, {3, 7, 23}, {1, 8, 24},
	} {
		if got := l.id(tt.stripe, tt.count); got != tt.id {
			t.Errorf("id of count %d of stripe %d: got %d, want %d", tt.count, tt.stripe, got, tt.id)
		}
	}
	for id, want := range map[int64][3]int64{ // counts of the three stripes
		0: {0, 0, 0}, 1: {1, 0, 0}, 3: {3, 0, 0}, 4: {3, 0, 0}, 5: {3, 1, 0}, 11: {3, 3, 3}, 12: {4, 3, 3}, 17: {7, 5, 3}, 23: {7, 7, 7},
	} {
		if got := [3]int64{l.upTo(1, id), l.upTo(2, id), l.upTo(3, id)}; got != want {
			t.Errorf("counts up to id %d: got %v, want %v", id, got, want)
		}
	}
}

// Each id from 1 belongs to one stripe and one count, but for the counts 0, which are not used.
func TestStripesCoverIDs(t *testing.T) {
	for _, l := range []StripeLayout{{2, 1}, {3, 4}, {16, 10}, {1000, 3}} {
		count := map[int]int64{}
		for id := range int64(10_000) {
			stripe := l.owner(id)
			if got := l.id(stripe, count[stripe]); got != id {
				t.Fatalf("%+v: got the id %d for count %d of stripe %d, want %d", l, got, count[stripe], stripe, id)
			}
			count[stripe]++
		}
	}
}

// within returns n if it is from low to high, else some number that is.
func within(n, low, high int64) int64 {
	if low <= n && n <= high {
		return n
	}
	return low + int64(uint64(n)%uint64(high-low+1))
}

func FuzzStripeLayout(f *testing.F) {
	f.Add(16, int64(1_000_000), int64(1), int64(1))
	f.Add(2, int64(1), int64(maxID-1), int64(maxID)/2)
	f.Add(1000, int64(MaxN), int64(maxID-1), int64(maxID))
	f.Add(3, int64(7), int64(maxID-7), int64(20))
	f.Fuzz(func(t *testing.T, stripes int, chunk, id, count int64) {
		l := StripeLayout{int(within(int64(stripes), 2, 1000)), within(chunk, 1, MaxN)}
		id, count = within(id, 0, maxID-1), within(count, 1, maxID)
		for _, stripe := range []int{1, l.Stripes/2 + 1, l.Stripes, l.owner(id)} {
			last := l.upTo(stripe, maxID)
			if last < 1 || last > maxID/2+MaxN {
				t.Fatalf("stripe %d: got the last count %d", stripe, last)
			}
			c := count%last + 1
			g := l.id(stripe, c)
			if g < 1 || l.owner(g) != stripe || l.upTo(stripe, g) != c {
				t.Fatalf("count %d of stripe %d: got the id %d of stripe %d, count %d", c, stripe, g, l.owner(g), l.upTo(stripe, g))
			}
			if c < last && (l.id(stripe, c+1) <= g || c != l.chunkEnd(c) && l.id(stripe, c+1) != g+1) {
				t.Fatalf("stripe %d: got %d and %d for the counts %d and %d", stripe, g, l.id(stripe, c+1), c, c+1)
			}
			below := l.upTo(stripe, id)
			if below > 0 && l.id(stripe, below) > id || below < last && l.id(stripe, below+1) <= id {
				t.Fatalf("stripe %d: got %d as the largest count up to the id %d", stripe, below, id)
			}
		}
	})
}

func TestStripeRequest(t *testing.T) {
	l := StripeLayout{Stripes: 3, Chunk: 10}
	for _, tt := range []struct {
		name   string
		q      Request
		stripe int
		next   int64
		want   Request // of the row; no Need for none
	}{
		{"first", Request{Need: 1}, 2, 1, Request{Row: 2, Need: 1, After: 0, Max: 9}},
		{"row ahead", Request{Need: 1}, 2, 25, Request{Row: 2, Need: 1, After: 24, Max: 29}},
		{"above a smaller stripe's id", Request{Need: 1, After: 35}, 2, 1, Request{Row: 2, Need: 1, After: 9, Max: 19}},
		{"above an own id", Request{Need: 1, After: 42, Tail: 5}, 2, 13, Request{Row: 2, Need: 1, After: 12, Max: 19}},
		{"above a larger stripe's id", Request{Need: 1, After: 55}, 2, 1, Request{Row: 2, Need: 1, After: 19, Max: 29}},
		{"at the end of a chunk", Request{Need: 1, After: 49}, 2, 1, Request{Row: 2, Need: 1, After: 19, Max: 29}},
		{"just enough in the chunk", Request{Need: 3}, 2, 17, Request{Row: 2, Need: 3, After: 16, Max: 19}},
		{"too few in the chunk", Request{Need: 4}, 2, 17, Request{Row: 2, Need: 4, After: 19, Max: 29}},
		{"a whole chunk", Request{Need: 10}, 2, 1, Request{Row: 2, Need: 10, After: 9, Max: 19}},
		{"own end within the chunk", Request{Need: 1, Max: 44}, 2, 11, Request{Row: 2, Need: 1, After: 10, Max: 14}},
		{"past an own end", Request{Need: 1, Max: 44}, 2, 15, Request{}},
		{"too few up to an own end", Request{Need: 4, Max: 44}, 2, 12, Request{}},
		{"end before the stripe's next chunk", Request{Need: 1, Max: 35, After: 29}, 2, 10, Request{}},
		{"used up", Request{Need: 1}, 2, maxID, Request{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := l.request(tt.q, tt.stripe, tt.next)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != (tt.want.Need > 0) {
				t.Errorf("request (-want +got), %v:\n%s", ok, diff)
			}
		})
	}
}

// Whatever a row holds, what it gives is a contiguous block of ids of the stripe as the request wants it.
func FuzzStripeReservation(f *testing.F) {
	f.Add(16, int64(1_000_000), 3, int64(1), int64(0), int64(0), int64(0), int64(1), int64(1), int64(1000))
	f.Add(3, int64(10), 2, int64(4), int64(500), int64(42), int64(0), int64(13), int64(17), int64(7))
	f.Add(2, int64(MaxN), 1, int64(MaxN), int64(MaxN), int64(maxID)/2, int64(maxID), int64(1), int64(maxID), int64(maxID))
	f.Fuzz(func(t *testing.T, stripes int, chunk int64, stripe int, need, step, after, last, seen, next, cache int64) {
		l := StripeLayout{int(within(int64(stripes), 2, 1000)), within(chunk, 1, MaxN)}
		stripe, need = int(within(int64(stripe), 1, int64(l.Stripes))), within(need, 1, l.Chunk)
		step, after, last, cache = within(step, 0, maxID-1), within(after, 0, maxID-1), within(last, 0, maxID-1), within(cache, 1, maxID)
		q := Request{Need: need, Step: step, After: after, Max: last}
		local, ok := l.request(q, stripe, seen)
		if !ok {
			return
		}
		if local.After+1 < 1 || local.Max-local.After < need || local.Max > l.chunkEnd(local.After+1) {
			t.Fatalf("got the request %+v", local)
		}
		res, _, err := local.plan(row{next, cache})
		if err != nil {
			return
		}
		got := l.reservation(q, stripe, res)
		if got.First <= after || got.Last() > q.last() || got.N < need || l.owner(got.First) != stripe || l.owner(got.Last()) != stripe {
			t.Fatalf("got %+v for %+v", got, q)
		}
		if l.id(stripe, res.Last()) != got.Last() || got.N > l.Chunk {
			t.Fatalf("got %+v of the counts %+v, want a contiguous block", got, res)
		}
		if got.Raised && (l.owner(after) != stripe || got.Found > after) {
			t.Fatalf("got Raised in %+v, after %d", got, after)
		}
	})
}

// Only a row that is behind the ids which it gave to this process is raised; a jump over other stripes is not.
func TestStripeRaised(t *testing.T) {
	l := StripeLayout{Stripes: 3, Chunk: 10}
	for _, tt := range []struct {
		name         string
		after, found int64
		want         bool
	}{
		{"first block", 0, 1, false},
		{"its own latest block", 42, 13, false},
		{"set back", 42, 12, true},
		{"set back to nothing", 42, -5, true},
		{"after a block of another stripe", 35, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := l.reservation(Request{After: tt.after}, 2, Reservation{Range: Range{20, 5}, Found: tt.found, Raised: true})
			if got.Raised != tt.want {
				t.Errorf("got Raised %v, want %v", got.Raised, tt.want)
			}
		})
	}
}

func TestNewStripedRefuses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		servers  []StripeServer
		strategy string
		layout   StripeLayout
		text     string
	}{
		{"no servers", nil, StrategyCAS, StripeLayout{}, "at least one server"},
		{"no name", []StripeServer{{}}, StrategyCAS, StripeLayout{}, `not ""`},
		{"name with a quote", []StripeServer{{Name: "a'b"}}, StrategyCAS, StripeLayout{}, `not "a'b"`},
		{"name of a plain sequence's comment", []StripeServer{{Name: "vitess_sequence"}}, StrategyCAS, StripeLayout{}, `not "vitess_sequence"`},
		{"twice the same", []StripeServer{{Name: "a"}, {Name: "a"}}, StrategyCAS, StripeLayout{}, `not "a"`},
		{"strategy", []StripeServer{{Name: "a"}}, "no", StripeLayout{}, `"no"`},
		{"one stripe", []StripeServer{{Name: "a"}}, StrategyCAS, StripeLayout{Stripes: 1}, "2 to 1000"},
		{"too large a chunk", []StripeServer{{Name: "a"}}, StrategyCAS, StripeLayout{Chunk: MaxN + 1}, "1 to 1000000000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := NewStriped(tt.servers, tt.strategy, tt.layout, nil); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want an error with %q", err, tt.text)
			}
		})
	}
}

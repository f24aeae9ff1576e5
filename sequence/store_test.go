package sequence

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const top = int64(maxID)

func TestPlan(t *testing.T) {
	for _, tt := range []struct {
		name   string
		req    Request
		row    row
		want   Range
		after  row
		raised bool
	}{
		{"first block", Request{Need: 1}, row{1, 1000}, Range{1, 1000}, row{1001, 1000}, false},
		{"several caches", Request{Need: 25}, row{1, 10}, Range{1, 30}, row{31, 10}, false},
		{"exactly one cache", Request{Need: 10}, row{1, 10}, Range{1, 10}, row{11, 10}, false},
		{"step", Request{Need: 1, Step: 35}, row{1, 10}, Range{1, 40}, row{41, 10}, false},
		{"step under the cache", Request{Need: 1, Step: 3}, row{1, 10}, Range{1, 10}, row{11, 10}, false},
		{"tail counts where the block adjoins", Request{Need: 25, Tail: 5, After: 10}, row{11, 10}, Range{11, 20}, row{31, 10}, false},
		{"tail that suffices", Request{Need: 2, Tail: 5, After: 10}, row{11, 10}, Range{11, 10}, row{21, 10}, false},
		{"tail does not count elsewhere", Request{Need: 25, Tail: 5, After: 10}, row{12, 10}, Range{12, 30}, row{42, 10}, false},
		{"row moved forwards", Request{Need: 1, After: 10}, row{1000, 10}, Range{1000, 10}, row{1010, 10}, false},
		{"row moved backwards", Request{Need: 1, After: 60}, row{5, 10}, Range{61, 10}, row{71, 10}, true},
		{"row moved back by one", Request{Need: 1, After: 60}, row{60, 10}, Range{61, 10}, row{71, 10}, true},
		{"next_id 0", Request{Need: 1}, row{0, 10}, Range{1, 10}, row{11, 10}, false},
		{"negative next_id", Request{Need: 1}, row{-5, 10}, Range{1, 10}, row{11, 10}, false},
		{"smallest next_id", Request{Need: 1}, row{-top - 1, 10}, Range{1, 10}, row{11, 10}, false},
		{"a billion with cache 1", Request{Need: MaxN}, row{1, 1}, Range{1, MaxN}, row{MaxN + 1, 1}, false},
		{"last ids", Request{Need: 1}, row{top - 7, 1000}, Range{top - 7, 8}, usedUp, false},
		{"last id", Request{Need: 1}, row{top, 1000}, Range{top, 1}, usedUp, false},
		{"ends one before the last id", Request{Need: 1}, row{top - 10, 10}, Range{top - 10, 10}, row{top, 10}, false},
		{"exactly all that is left", Request{Need: 8}, row{top - 7, 3}, Range{top - 7, 8}, usedUp, false},
		{"tail helps out at the end", Request{Need: 5, Tail: 3, After: top - 2}, row{top - 1, 10}, Range{top - 1, 2}, usedUp, false},
		{"huge cache", Request{Need: 1}, row{1, top}, Range{1, top}, usedUp, false},
		{"huge step", Request{Need: 1, Step: top}, row{1, 1000}, Range{1, top}, usedUp, false},
		{"own end", Request{Need: 1, Max: 127}, row{100, 1000}, Range{100, 28}, row{128, 1000}, false},
		{"last id at an own end", Request{Need: 1, Max: 127}, row{127, 1000}, Range{127, 1}, row{128, 1000}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, after, err := tt.req.plan(tt.row)
			if err != nil {
				t.Fatal(err)
			}
			want := Reservation{Range: tt.want, Cache: tt.row.cache, Found: tt.row.next, Raised: tt.raised}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("reservation (-want +got):\n%s", diff)
			}
			if after != tt.after {
				t.Errorf("row afterwards: got %+v, want %+v", after, tt.after)
			}
		})
	}
}

func TestPlanRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		req  Request
		row  row
		kind error
		text string
	}{
		{"cache 0", Request{Need: 1}, row{5, 0}, ErrBadRow, "unusable cache: 0; run: UPDATE `d`.`s` SET cache = 1000 WHERE id = 0"},
		{"negative cache", Request{Need: 1}, row{5, -1}, ErrBadRow, "unusable cache: -1"},
		{"used up", Request{Need: 1}, usedUp, ErrExhausted, "ids wanted: 1, left up to the last id 9223372036854775807: 0;"},
		{"too few left", Request{Need: 9}, row{top - 7, 10}, ErrExhausted, "ids wanted: 9, left up to the last id 9223372036854775807: 8;"},
		{"this process was given the last", Request{Need: 1, After: top}, row{1, 10}, ErrExhausted, ": 0;"},
		{"past an own end", Request{Need: 1, Max: 127}, row{128, 10}, ErrExhausted, "left up to the last id 127: 0;"},
		{"far past an own end", Request{Need: 1, Max: 127}, row{top, 10}, ErrExhausted, ": 0;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Database, tt.req.Table = "d", "s"
			res, _, err := tt.req.plan(tt.row)
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), "sequence d.s ") || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v and %q, want %q with %q", res, err, tt.kind, tt.text)
			}
		})
	}
}

// The arithmetic is right for all values, by arithmetic without bounds.
func FuzzPlan(f *testing.F) {
	f.Add(int64(1), int64(0), int64(0), int64(0), int64(0), int64(1), int64(1000))
	f.Add(int64(5), int64(3), int64(7), top-2, int64(0), top-1, int64(10))
	f.Add(int64(MaxN), int64(0), top, int64(100), int64(127), -top-1, top)
	f.Fuzz(func(t *testing.T, need, tail, step, after, last, next, cache int64) {
		if need < 1 || need > MaxN || tail < 0 || step < 0 || after < 0 || last < 0 || cache < 1 {
			t.Skip("not reachable")
		}
		req := Request{Need: need, Tail: tail, Step: step, After: after, Max: last}
		res, to, err := req.plan(row{next, cache})
		end := new(big.Int).Add(big.NewInt(res.First), big.NewInt(res.N)) // exclusive
		if err != nil {
			free := new(big.Int).Sub(big.NewInt(req.last()), big.NewInt(max(next, after, 1)))
			if !errors.Is(err, ErrExhausted) || free.Cmp(big.NewInt(need)) > 0 {
				t.Errorf("got %v", err)
			}
			return
		}
		short := res.N < need && !(next == after+1 && res.N >= need-tail)
		if res.First < 1 || res.First < next || res.First <= after || short || end.Cmp(new(big.Int).Add(big.NewInt(req.last()), big.NewInt(1))) > 0 {
			t.Errorf("got %+v", res)
		}
		if res.Last() != req.last() && res.N%cache != 0 {
			t.Errorf("got %d ids, want a multiple of %d", res.N, cache)
		}
		if to != usedUp && (end.Cmp(big.NewInt(to.next)) != 0 || to.cache != cache) || to == usedUp && res.Last() != maxID {
			t.Errorf("got the row %+v after %+v", to, res)
		}
	})
}

// The statement of Increment must mean what plan computes: TestStore runs it on servers, this holds its bounds.
func TestIncrementSQL(t *testing.T) {
	const where = " WHERE id = 0 AND cache = 10 AND next_id <= "
	for _, tt := range []struct {
		name string
		req  Request
		want string // "" for no statement
	}{
		{"cache not known", Request{Need: 1}, ""},
		{"first", Request{Need: 1, Cache: 10}, "1) + 10" + where + "9223372036854775797"},
		{"later", Request{Need: 25, After: 60, Cache: 10}, "61) + 30" + where + "9223372036854775777"},
		{"with a tail", Request{Need: 25, Tail: 5, After: 60, Cache: 10}, "61) + IF(next_id = 61, 20, 30)" + where + "9223372036854775777"},
		{"with a tail that makes no difference", Request{Need: 5, Tail: 3, After: 60, Cache: 10}, "61) + 10" + where + "9223372036854775797"},
		{"room for exactly one", Request{Need: 1, After: top - 11, Cache: 10}, "9223372036854775797) + 10" + where + "9223372036854775797"},
		{"the last id is left to plan", Request{Need: 1, After: top - 10, Cache: 10}, ""},
		{"nothing left", Request{Need: 1, After: top, Cache: 10}, ""},
		{"own end", Request{Need: 1, Max: 127, After: 100, Cache: 10}, "101) + 10" + where + "118"},
		{"near an own end", Request{Need: 1, Max: 127, After: 118, Cache: 10}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Database, tt.req.Table = "d", "s"
			got, ok := tt.req.incrementSQL()
			want := tt.want
			if want != "" {
				want = "UPDATE `d`.`s` SET next_id = GREATEST(CAST(LAST_INSERT_ID(next_id) AS SIGNED), " + want
			}
			if got != want || ok != (want != "") {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestNewStore(t *testing.T) {
	for _, strategy := range []string{StrategyForUpdate, StrategyCAS, StrategyIncrement} {
		s, err := NewStore(strategy, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.(interface{ String() string }).String(); got != strategy {
			t.Errorf("got a store %q, want %q", got, strategy)
		}
	}
	if _, err := NewStore("optimistic", nil); err == nil || !strings.Contains(err.Error(), "use for_update, cas or increment") {
		t.Errorf("got %v, want an error that names the strategies", err)
	}
}

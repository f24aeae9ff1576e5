package snowflake_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/sequence/snowflake"
)

func TestDecode(t *testing.T) {
	readme := snowflake.Layout{Name: "readme", Epoch: date(2016, 9, 20).Add(-8 * time.Hour).UnixMilli(), Unit: time.Second,
		Fields: [4]snowflake.Field{{Name: snowflake.Time, Bits: 29}, {Name: snowflake.Worker, Bits: 21}, {Name: snowflake.Sequence, Bits: 13}}}
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	tests := []struct {
		name   string
		layout snowflake.Layout
		id     int64
		want   snowflake.Decoded
	}{
		// The example of Wikipedia's article on Snowflake ids: machine 378 is data center 11, worker 26.
		{"a post of 2022", preset(t, "twitter"), 1541815603606036480,
			snowflake.Decoded{Layout: "twitter", Time: at("2022-06-28T16:07:40.105Z"), Zone: 11, Worker: 26}},
		{"the same as Leaf sees it", preset(t, "leaf"), 1541815603606036480,
			snowflake.Decoded{Layout: "leaf", Time: at("2022-06-28T16:07:40.105Z"), Worker: 378}},
		// The example in uid-generator's README, made in Beijing.
		{"uid-generator's example", readme, 180363646902239241,
			snowflake.Decoded{Layout: "readme", Time: at("2017-01-19T04:15:46Z"), Worker: 4, Sequence: 9}},
		{"sonyflake: sequence before worker", preset(t, "sonyflake"), 100<<24 | 3<<16 | 0xbeef,
			snowflake.Decoded{Layout: "sonyflake", Time: at("2014-09-01T00:00:01Z"), Worker: 0xbeef, Sequence: 3}},
		{"the last of js53", preset(t, "js53"), 1<<53 - 1,
			snowflake.Decoded{Layout: "js53", Time: at("2094-09-07T15:47:35.551Z"), Worker: 31, Sequence: 127}},
		{"the last of all", preset(t, "zone_hash"), math.MaxInt64,
			snowflake.Decoded{Layout: "zone_hash", Time: at("2094-09-07T15:47:35.551Z"), Zone: 15, Worker: 511, Sequence: 511}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.layout.Decode(tt.id)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("id %d (-want +got):\n%s", tt.id, diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, id := range []int64{0, -1, math.MinInt64, 1 << 53} {
		if d, err := preset(t, "js53").Decode(id); !errors.Is(err, snowflake.ErrNotID) {
			t.Errorf("%d: got %+v, %v, want ErrNotID", id, d, err)
		}
	}
	if d, err := (snowflake.Layout{}).Decode(1); !errors.Is(err, snowflake.ErrLayout) {
		t.Errorf("no layout: got %+v, %v, want ErrLayout", d, err)
	}
}

func TestExplain(t *testing.T) {
	tests := []struct {
		name string
		id   int64
		want []string
	}{
		{"a post of 2022", 1541815603606036480, []string{"twitter", "leaf", "uid_generator_2016"}},
		{"the id of a sequence", 12, nil},
		{"negative", -7054502269219225600, nil},
		{"js53", 60_000_000 << 12, []string{"twitter", "leaf", "uid_generator", "uid_generator_2016", "sonyflake", "js53", "zone_hash"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range snowflake.Explain(tt.id, date(2026, 1, 1)) {
				got = append(got, d.Layout)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("layouts of %d (-want +got):\n%s", tt.id, diff)
			}
		})
	}
}

// Whatever the number: no panic, and the fields make up the number again.
func FuzzDecode(f *testing.F) {
	f.Add(int64(1541815603606036480))
	f.Add(int64(-1))
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, id int64) {
		for _, d := range snowflake.Explain(id, date(2026, 1, 1)) {
			l := preset(t, d.Layout)
			if got := encode(l, d); got != id {
				t.Errorf("%s: %+v makes %d, want %d", d.Layout, d, got, id)
			}
		}
	})
}

// encode puts an id together from the highest bit down.
func encode(l snowflake.Layout, d snowflake.Decoded) int64 {
	values := map[string]int64{
		snowflake.Time: int64(d.Time.Sub(time.UnixMilli(l.Epoch)) / l.Unit),
		snowflake.Zone: d.Zone, snowflake.Worker: d.Worker, snowflake.Sequence: d.Sequence,
	}
	id := int64(0)
	for _, f := range l.Fields {
		id = id<<f.Bits | values[f.Name]
	}
	return id
}

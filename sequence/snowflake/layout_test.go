package snowflake_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seqgate/seqgate/sequence"
	"github.com/seqgate/seqgate/sequence/snowflake"
)

func preset(tb testing.TB, name string) snowflake.Layout {
	tb.Helper()
	l, ok := snowflake.Preset(name)
	if !ok {
		tb.Fatalf("no preset %q", name)
	}
	return l
}

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func TestPresets(t *testing.T) {
	tests := []struct {
		name                         string
		time, zone, worker, sequence int
		ends                         string
	}{
		{"twitter", 41, 5, 5, 12, "2080-07-10T17:30:30Z"},
		{"leaf", 41, 0, 10, 12, "2080-07-10T17:30:30Z"},
		{"uid_generator", 28, 0, 22, 13, "2033-07-04T21:24:16Z"},
		{"uid_generator_2016", 28, 0, 22, 13, "2024-11-20T13:24:16Z"},
		{"sonyflake", 39, 0, 16, 8, "2188-11-16T03:28:58Z"},
		{"js53", 41, 0, 5, 7, "2094-09-07T15:47:35Z"},
		{"zone_hash", 41, 4, 9, 9, "2094-09-07T15:47:35Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := preset(t, tt.name)
			if err := l.Validate(); err != nil {
				t.Fatal(err)
			}
			got := []int{l.Bits(snowflake.Time), l.Bits(snowflake.Zone), l.Bits(snowflake.Worker), l.Bits(snowflake.Sequence)}
			if diff := cmp.Diff([]int{tt.time, tt.zone, tt.worker, tt.sequence}, got); diff != "" {
				t.Errorf("bits of time, zone, worker and sequence (-want +got):\n%s", diff)
			}
			if got := l.Ends().Format(time.RFC3339); got != tt.ends {
				t.Errorf("ends at %s, want %s", got, tt.ends)
			}
		})
	}
	if got := len(snowflake.Presets()); got != len(tests) {
		t.Errorf("%d presets, want the %d of this test", got, len(tests))
	}
	if _, ok := snowflake.Preset("nope"); ok {
		t.Error("there is a preset nope")
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(l *snowflake.Layout)
		want   string // in the error; none when empty
	}{
		{"as it is", func(*snowflake.Layout) {}, ""},
		{"53 bits", func(l *snowflake.Layout) { l.Fields[3].Bits = 2 }, ""},
		{"any order of the rest", func(l *snowflake.Layout) { l.Fields[1], l.Fields[3] = l.Fields[3], l.Fields[1] }, ""},
		{"too few bits", func(l *snowflake.Layout) { l.Fields[0].Bits = 40 }, "have 62 bits, want 63, or 53"},
		{"too many bits", func(l *snowflake.Layout) { l.Fields[3].Bits = 13 }, "have 64 bits"},
		{"no bits", func(l *snowflake.Layout) { l.Fields[1].Bits = 0 }, "0 bits for the zone"},
		{"negative bits", func(l *snowflake.Layout) { l.Fields[1].Bits, l.Fields[2].Bits = -5, 15 }, "-5 bits for the zone"},
		{"no such field", func(l *snowflake.Layout) { l.Fields[1].Name = "rack" }, `field "rack"`},
		{"twice", func(l *snowflake.Layout) { l.Fields[1].Name = snowflake.Worker }, "two fields worker"},
		{"no worker", func(l *snowflake.Layout) { l.Fields[1].Bits, l.Fields[2] = 10, snowflake.Field{} }, "no field worker"},
		{"time not first", func(l *snowflake.Layout) { l.Fields[0], l.Fields[1] = l.Fields[1], l.Fields[0] }, "ids would not increase"},
		{"unit too small", func(l *snowflake.Layout) { l.Unit = 999 }, "a unit of 999ns"},
		{"unit too large", func(l *snowflake.Layout) { l.Unit = time.Hour }, "a unit of 1h"},
		{"too long a life", func(l *snowflake.Layout) { l.Unit = 10 * time.Millisecond }, "41 bits of 10ms are over 292 years"},
		{"old epoch", func(l *snowflake.Layout) { l.Epoch = -1 }, "before 1970"},
		{"always at 0", func(l *snowflake.Layout) { l.Start.Bound = 1 }, "a start bound of 1"},
		{"start past the end", func(l *snowflake.Layout) { l.Start.Bound = 4097 }, "take 2 to 4096"},
		{"no layout", func(l *snowflake.Layout) { *l = snowflake.Layout{} }, "no field time"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := preset(t, "twitter")
			tt.change(&l)
			err := l.Validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("got %v, want it valid", err)
				}
				return
			}
			if !errors.Is(err, snowflake.ErrLayout) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an ErrLayout with %q", err, tt.want)
			}
		})
	}
}

func TestCheckAndWarning(t *testing.T) {
	l := preset(t, "uid_generator_2016") // 2016-05-19T16:00:00Z to 2024-11-20T13:24:16Z
	tests := []struct {
		name string
		now  time.Time
		err  error
		warn string
	}{
		{"epoch in the future", date(2016, 5, 19), snowflake.ErrLayout, ""},
		{"young", date(2016, 5, 20), nil, ""},
		{"over 2 years to go", date(2022, 11, 20), nil, ""},
		{"under 2 years to go", date(2022, 11, 22), nil, "gives its last id at 2024-11-20T13:24:16Z, in 729 days"},
		{"last second", l.Ends().Add(-1), nil, "in 0 days"},
		{"over", l.Ends(), sequence.ErrExhausted, "in 0 days"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := l.Check(tt.now); !errors.Is(err, tt.err) {
				t.Errorf("Check: got %v, want %v", err, tt.err)
			}
			got := l.Warning(tt.now)
			if !strings.Contains(got, tt.warn) || tt.warn == "" && got != "" {
				t.Errorf("Warning: got %q, want %q", got, tt.warn)
			}
		})
	}
}

func TestHashZone(t *testing.T) {
	l := preset(t, "zone_hash")
	seen := make(map[int64]bool)
	for _, name := range []string{"", "beijing", "shanghai", "eu-central-1a", "eu-central-1b", "us-east-1"} {
		zone := l.HashZone(name)
		if zone < 0 || zone > l.Max(snowflake.Zone) || zone != l.HashZone(name) {
			t.Errorf("zone of %q: got %d, want one number of 0 to %d", name, zone, l.Max(snowflake.Zone))
		}
		seen[zone] = true
	}
	if len(seen) < 3 {
		t.Errorf("6 names give %d zones, want them spread", len(seen))
	}
	if got := preset(t, "leaf").HashZone("beijing"); got != 0 {
		t.Errorf("layout without zones: got %d, want 0", got)
	}
}
